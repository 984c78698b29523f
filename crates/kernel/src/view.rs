//! Rulings and commands in words, with names instead of ids, as user interfaces show them.

use crate::command::{Command, QuestionKind};
use crate::ids::{Lane, ListId, PhaseId, SignalId};
use crate::program::{Action, Items, Program, Work};
use crate::ruling::{Disposition, FailedMember, Rule, Ruling, Why};
use crate::signal::Failure;
use crate::state::{End, State};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use serde::{Serialize, Serializer};

/// A ruling in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RulingView {
    pub phase: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    pub signal: String,
    /// Which rule decided.
    pub rule: RuleView,
    /// What was decided, as a workflow file would write it.
    pub action: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    pub budgets: Vec<ChargeView>,
    /// Budgets that were empty, so another route was followed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exhausted: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<String>,
    pub confidence: String,
    pub why: String,
    /// The limit of the run that was reached, if that is the reason for a hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
}

/// The rule that decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleView {
    /// A route, by its line in the workflow file.
    Route { line: u32 },
    /// A rule that every workflow has.
    General { name: String },
}

impl RuleView {
    fn of(rule: Rule) -> RuleView {
        let name = match rule {
            Rule::Route { line } => return RuleView::Route { line },
            Rule::Retry => "retry",
            Rule::Stands => "stands",
            Rule::Default => "default answer",
            Rule::Hold => "hold",
            Rule::Human => "human",
        };
        RuleView::General { name: name.to_string() }
    }

    /// Where to read the rule: `quick.yaml:18`, or its name.
    pub fn source(&self, workflow: &str) -> String {
        match self {
            RuleView::Route { line } => format!("{workflow}.yaml:{line}"),
            RuleView::General { name } => name.clone(),
        }
    }
}

/// The words before the line in the stored form.
const LINE: &str = "line ";

impl fmt::Display for RuleView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RuleView::Route { line } => write!(f, "{LINE}{line}"),
            RuleView::General { name } => f.write_str(name),
        }
    }
}

impl From<String> for RuleView {
    fn from(stored: String) -> RuleView {
        match stored.strip_prefix(LINE).and_then(|line| line.parse().ok()) {
            Some(line) => RuleView::Route { line },
            None => RuleView::General { name: stored },
        }
    }
}

impl Serialize for RuleView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A budget before and after, with its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChargeView {
    pub budget: String,
    pub before: u16,
    pub after: u16,
}

/// Puts a ruling into words. Task names come from the state, which may be the one before or after the step.
pub fn ruling(program: &Program, state: &State, ruling: &Ruling) -> RulingView {
    let (action, target) = match &ruling.verdict {
        Disposition::Follow { action, target } => {
            (action_words(program, action), target.map(|id| program.phase(id).name.clone()))
        }
        Disposition::Again { failure, attempt } => {
            (format!("retry after {}: attempt {attempt}", failure.name()), None)
        }
        Disposition::Hold => ("hold and ask a human".to_string(), None),
        Disposition::GoOn => ("continue".to_string(), None),
        Disposition::Retry => ("retry".to_string(), None),
        Disposition::Pause => ("pause".to_string(), None),
        Disposition::Cancel => ("cancel".to_string(), None),
        Disposition::RollBack { round, .. } => (format!("roll back to the start of round {round}"), None),
        Disposition::RemoveApproach { at } => (format!("remove approach {} from the list", at + 1), None),
        Disposition::Reattribute { finding, from, to } => {
            let from = if from.is_empty() { "nobody".to_string() } else { from.join(", ") };
            (format!("attribute {finding} to {} instead of {from}", to.join(", ")), None)
        }
    };
    RulingView {
        phase: program.phase(ruling.phase).name.clone(),
        task: task_name(program, state, ruling.phase, ruling.lane),
        signal: program.signal(ruling.signal).to_string(),
        rule: RuleView::of(ruling.rule),
        action,
        target,
        budgets: ruling
            .charges
            .iter()
            .map(|charge| ChargeView {
                budget: program.budget(charge.budget).name.clone(),
                before: charge.before,
                after: charge.after,
            })
            .collect(),
        exhausted: ruling.exhausted.iter().map(|id| program.budget(*id).name.clone()).collect(),
        effects: ruling.effects.iter().map(|effect| effect.name().to_string()).collect(),
        confidence: ruling.confidence.name().to_string(),
        why: match (&ruling.why, &program.phase(ruling.phase).work) {
            (Why::Said, Work::Operation { .. }) => "the operation's result".to_string(),
            (Why::Said, _) => "the role's verdict".to_string(),
            (Why::BelowQuorum { have, failed: Some(failed), .. }, _) => {
                failed_members(&members_of(program, ruling.phase), *have, failed)
            }
            (Why::Tally { members }, _) => tally_words(program, state, ruling.phase, members),
            (other, _) => reason(program, other),
        },
        limit: match &ruling.why {
            Why::Limit { limit } if ruling.rule == Rule::Hold => Some(limit.clone()),
            _ => None,
        },
    }
}

/// The keyword of [`Action::Next`].
const NEXT: &str = "next";

impl RulingView {
    /// The ruling as one line.
    pub fn line(&self) -> String {
        let mut line = match &self.task {
            Some(task) => format!("{}[{task}]", self.phase),
            None => self.phase.clone(),
        };
        // At a limit the dispatch never started, so "no-result" would mislead.
        let signal = if self.limit.is_some() { "limit reached" } else { &self.signal };
        line.push_str(&format!(": {signal} → {}", self.action));
        if self.action == NEXT
            && let Some(target) = &self.target
        {
            line.push_str(&format!(" ({target})"));
        }
        for charge in &self.budgets {
            line.push_str(&format!(", {} {} → {}", charge.budget, charge.before, charge.after));
        }
        if !self.effects.is_empty() {
            line.push_str(&format!(", with {}: confidence {}", self.effects.join(" and "), self.confidence));
        }
        line
    }
}

/// The id of a lane's task.
fn task_name(program: &Program, state: &State, phase: PhaseId, lane: Lane) -> Option<String> {
    let Lane::Task { index, .. } = lane else {
        return None;
    };
    let owner = program.phase(phase).owner?;
    let Work::Flow { list, .. } = &program.phase(owner).work else {
        return None;
    };
    state.lists[list.index()].get(usize::from(index)).map(|item| item.id.clone())
}

/// The result of each member of a phase, with the member's name.
fn tally_words(program: &Program, state: &State, phase: PhaseId, members: &[Option<SignalId>]) -> String {
    let listed = |list: ListId, at: usize| state.lists[list.index()].get(at).map(|item| item.id.clone());
    let (name, missing): (&dyn Fn(usize) -> Option<String>, &str) = match &program.phase(phase).work {
        Work::Flow { list, .. } => (&move |at| listed(*list, at), "not started"),
        Work::Each { items: Items::Fixed(names), .. } => (&|at| names.get(at).cloned(), "no result"),
        Work::Each { items: Items::Listed { list, .. }, .. } => (&move |at| listed(*list, at), "no result"),
        Work::Role { .. } | Work::Panel { .. } | Work::Operation { .. } | Work::Ask { .. } => {
            (&|_| None, "no result")
        }
    };
    let words: Vec<String> = members
        .iter()
        .enumerate()
        .map(|(at, member)| {
            let result = member.map_or(missing, |signal| program.signal(signal));
            match name(at) {
                Some(name) => format!("{name}: {result}"),
                None => result.to_string(),
            }
        })
        .collect();
    words.join(", ")
}

/// The members of a phase by their role, in the plural.
fn members_of(program: &Program, phase: PhaseId) -> String {
    let title = match program.phase(phase).contracts() {
        [contract] => program.contract(*contract).title(),
        _ => String::new(),
    };
    // A mode follows the role: `reviewer/design`.
    let role = title.split('/').next().unwrap_or_default();
    let is_person = ["er", "or", "ist"].iter().any(|ending| role.ends_with(ending));
    if is_person { format!("{role}s") } else { "members".to_string() }
}

/// How many members failed, and why the first of them did.
fn failed_members(members: &str, have: u16, failed: &FailedMember) -> String {
    let why = failure_reason(failed.failure, &failed.detail);
    let of = number_word(failed.of);
    match failed.of.saturating_sub(have) {
        0 | 1 => format!("one of {of} {members} failed: {why}"),
        more => format!("{} of {of} {members} failed, the first because: {why}", number_word(more)),
    }
}

/// A small number as a word.
fn number_word(number: u16) -> String {
    const WORDS: [&str; 10] =
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
    WORDS.get(usize::from(number)).map_or_else(|| number.to_string(), |word| (*word).to_string())
}

fn failure_reason(failure: Failure, detail: &str) -> String {
    match detail {
        "" => failure_words(failure).to_string(),
        detail => format!("{}: {detail}", failure_words(failure)),
    }
}

/// An action as a workflow file would write it.
pub fn action_words(program: &Program, action: &Action) -> String {
    let name = |id: &PhaseId| program.phase(*id).name.as_str();
    match action {
        Action::Next => NEXT.to_string(),
        Action::To(target) => format!("to {}", name(target)),
        Action::Remand(target) => format!("remand {}", name(target)),
        Action::RemandInjector => "remand injector".to_string(),
        Action::Restore(target) => format!("restore {}", name(target)),
        Action::Return => "return".to_string(),
        Action::Raise(signal) => format!("raise {}", program.signal(*signal)),
        Action::Done => "done".to_string(),
        Action::Fail => "fail".to_string(),
        Action::Stop(why) if why.is_empty() => "stop".to_string(),
        Action::Stop(why) => format!("stop {why}"),
        Action::Hold => "hold".to_string(),
        Action::Ignore => "ignore".to_string(),
    }
}

/// The reason for a ruling, in one sentence.
fn reason(program: &Program, why: &Why) -> String {
    match why {
        Why::Said => "the result itself".to_string(),
        Why::OnlyMinor { verdict } => {
            format!(
                "`{}` counts as accepted, because all findings are minor; they become follow-ups",
                program.signal(*verdict)
            )
        }
        Why::ByKind { verdict, assumed: false } => {
            format!("`{}`, routed by the earliest kind among its findings", program.signal(*verdict))
        }
        Why::ByKind { verdict, assumed: true } => {
            format!("`{}`; no finding names its kind, so production is assumed", program.signal(*verdict))
        }
        Why::Tally { members } => {
            let results: Vec<&str> = members
                .iter()
                .map(|member| member.map_or("no result", |signal| program.signal(signal)))
                .collect();
            results.join(", ")
        }
        Why::Detected { sentence } => sentence.clone(),
        Why::SecurityBlocker { finding } => {
            format!("finding {finding} is a security blocker, which overrides the verdict")
        }
        Why::Failed { failure, detail } => failure_reason(*failure, detail),
        Why::Injected { phases, assumed } => {
            let names: Vec<&str> = phases.iter().map(|id| program.phase(*id).name.as_str()).collect();
            if *assumed {
                format!(
                    "no finding names its origin, so the most recent phase is assumed: {}",
                    names.join(", ")
                )
            } else {
                format!("the findings were injected by {}; work resumes at the earliest", names.join(", "))
            }
        }
        Why::BelowQuorum { have, need, failed: None } => {
            format!("results from {have} members, but {need} are needed")
        }
        Why::BelowQuorum { have, failed: Some(failed), .. } => failed_members("members", *have, failed),
        Why::SameInputs => "its inputs are unchanged, and it has no findings to deal with".to_string(),
        Why::Autonomous => "the run is autonomous, so the default answer applies".to_string(),
        Why::Limit { limit } => format!("the limit on {limit} is reached"),
        Why::Human { by, note } if note.is_empty() => format!("{by} decided"),
        Why::Human { by, note } => format!("{by} decided: {note}"),
        Why::Supposed => "assumed".to_string(),
    }
}

fn failure_words(failure: Failure) -> &'static str {
    match failure {
        Failure::Malformed => "the result violates its contract",
        Failure::Transient => "a temporary fault",
        Failure::Environment => "the environment failed",
        Failure::Violation => "it exceeded its permissions",
        Failure::Timeout => "it timed out",
        Failure::Crashed => "it ended without reporting success",
        Failure::Denied => "it was permanently refused",
        Failure::OverBudget => "a limit of the run is reached",
        Failure::Cancelled => "it was cancelled",
        Failure::Conflict => "the merge failed",
        Failure::Unchanged => "it changed nothing",
    }
}

/// How a run ended, in one sentence.
pub fn end(program: &Program, end: &End) -> String {
    match end {
        End::Done => "done".to_string(),
        End::Failed { phase, signal, exhausted } => {
            let failed = format!("failed at {}: {}", program.phase(*phase).name, program.signal(*signal));
            match exhausted {
                Some(budget) => format!("{failed}, with {} exhausted", program.budget(*budget).name),
                None => failed,
            }
        }
        End::Stopped { why } if why.is_empty() => "stopped".to_string(),
        End::Stopped { why } => format!("stopped: {why}"),
        End::Cancelled { by } => format!("cancelled by {by}"),
    }
}

/// A command in one line.
pub fn command(program: &Program, command: &Command) -> String {
    match command {
        Command::Dispatch(dispatch) => {
            let mut line = format!(
                "dispatch {} for {}",
                program.contract(dispatch.contract).title(),
                program.phase(dispatch.id.phase).name
            );
            if let Some(task) = &dispatch.task {
                line.push_str(&format!("[{task}]"));
            }
            if let Some(item) = &dispatch.item {
                line.push_str(&format!(" ({item})"));
            }
            if dispatch.advisory {
                line.push_str(" as advisor");
            }
            if let Some(nearest) = dispatch.nearest {
                line.push_str(&format!(", by the agent of {}", program.contract(nearest).title()));
            }
            match dispatch.findings.len() {
                0 => {}
                1 => line.push_str(" with 1 finding"),
                many => line.push_str(&format!(" with {many} findings")),
            }
            line
        }
        Command::Operate { operation, task, .. } => match task {
            Some(task) => format!("do {}[{task}]", program.operation(*operation).name),
            None => format!("do {}", program.operation(*operation).name),
        },
        Command::Ask(question) => {
            let options: Vec<&str> = question.options.iter().map(|signal| program.signal(*signal)).collect();
            let withheld: Vec<String> = question
                .withheld
                .iter()
                .map(|(signal, budget)| match budget {
                    Some(budget) => {
                        format!("{} ({} is used up)", program.signal(*signal), program.budget(*budget).name)
                    }
                    None => program.signal(*signal).to_string(),
                })
                .collect();
            let asked = match &question.kind {
                QuestionKind::Phase => program.phase(question.id.phase).name.clone(),
                QuestionKind::Hold(reason) => format!("whether to continue: {reason}"),
                QuestionKind::Origin => "which phases injected the defects".to_string(),
            };
            let mut line = format!("ask {asked}: {}", options.join(", "));
            if !withheld.is_empty() {
                line.push_str(&format!("; not offered: {}", withheld.join(", ")));
            }
            line
        }
        Command::Cancel { id } => format!("cancel {}", program.phase(id.phase).name),
        Command::Discard { artifacts } => {
            let names: Vec<&str> =
                artifacts.iter().map(|id| program.artifacts[id.index()].as_str()).collect();
            format!("discard {}", names.join(", "))
        }
        Command::Restore { round, .. } => format!("restore the start of round {round}"),
        Command::Finish { end: how } => format!("finish: {}", end(program, how)),
    }
}
