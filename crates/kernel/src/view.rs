//! Rulings and commands in words: what faces show, with names instead of ids.

use crate::command::{Command, QuestionKind};
use crate::ids::{Lane, PhaseId};
use crate::program::{Action, Program, Work};
use crate::ruling::{Rule, Ruling, Verdict, Why};
use crate::signal::Failure;
use crate::state::{End, State};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::Serialize;

/// A ruling with names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RulingView {
    pub phase: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    pub signal: String,
    /// Which part of the law decided.
    pub rule: String,
    /// What was decided, as a workflow file would say it.
    pub action: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    pub budgets: Vec<ChargeView>,
    /// Budgets that were found empty on the way.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exhausted: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<String>,
    pub confidence: String,
    pub why: String,
}

/// A budget before and after, with its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChargeView {
    pub budget: String,
    pub before: u16,
    pub after: u16,
}

/// A ruling in names. Task names come from the state, before or after the step alike.
pub fn ruling(program: &Program, state: &State, ruling: &Ruling) -> RulingView {
    let (action, target) = match &ruling.verdict {
        Verdict::Follow { action, target } => {
            (action_words(program, action), target.map(|id| program.phase(id).name.clone()))
        }
        Verdict::Again { failure, attempt } => {
            (format!("dispatch again after {}, attempt {attempt}", failure.name()), None)
        }
        Verdict::Hold => ("hold: a human is asked".to_string(), None),
        Verdict::GoOn => ("go on".to_string(), None),
        Verdict::Pause => ("pause".to_string(), None),
        Verdict::Cancel => ("cancel".to_string(), None),
        Verdict::RollBack { round, .. } => (format!("roll back to the start of round {round}"), None),
        Verdict::RemoveApproach { at } => (format!("take approach {} off the list", at + 1), None),
        Verdict::Reattribute { finding, from, to } => {
            let from = if from.is_empty() { "nobody".to_string() } else { from.join(", ") };
            (format!("attribute {finding} to {} instead of {from}", to.join(", ")), None)
        }
    };
    RulingView {
        phase: program.phase(ruling.phase).name.clone(),
        task: task_name(program, state, ruling.phase, ruling.lane),
        signal: program.signal(ruling.signal).to_string(),
        rule: match ruling.rule {
            Rule::Route { line } => format!("line {line}"),
            Rule::Retry => "retry".to_string(),
            Rule::Stands => "stands".to_string(),
            Rule::Default => "default answer".to_string(),
            Rule::Hold => "hold".to_string(),
            Rule::Human => "human".to_string(),
        },
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
            (Why::Said, Work::Operation { .. }) => "the engine found it".to_string(),
            (Why::Said, _) => "its own verdict".to_string(),
            (other, _) => why(program, other),
        },
    }
}

/// What the reason of a hold at a limit begins with.
const LIMIT: &str = "the limit on ";

impl RulingView {
    /// The ruling in one line.
    pub fn line(&self) -> String {
        let mut line = match &self.task {
            Some(task) => format!("{}[{task}]", self.phase),
            None => self.phase.clone(),
        };
        // Who is kept from beginning by a limit is not somebody without a result.
        let is_limit = self.rule == "hold" && self.why.starts_with(LIMIT);
        let signal = if is_limit { "limit reached" } else { &self.signal };
        line.push_str(&format!(": {signal} → {}", self.action));
        if self.action == "next"
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

/// Who a lane belongs to.
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

/// An action as a workflow file would say it.
pub fn action_words(program: &Program, action: &Action) -> String {
    let name = |id: &PhaseId| program.phase(*id).name.as_str();
    match action {
        Action::Next => "next".to_string(),
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

/// The reason of a ruling, in one sentence.
fn why(program: &Program, why: &Why) -> String {
    match why {
        Why::Said => "it was said".to_string(),
        Why::OnlyMinor { verdict } => {
            format!(
                "`{}` with minor findings only counts as accepted; they are follow-ups",
                program.signal(*verdict)
            )
        }
        Why::ByKind { verdict, assumed: false } => {
            format!("`{}`, and this is the earliest kind among its findings", program.signal(*verdict))
        }
        Why::ByKind { verdict, assumed: true } => {
            format!("`{}`, and no finding names its kind, so production is assumed", program.signal(*verdict))
        }
        Why::Tally { members } => {
            let said: Vec<&str> = members
                .iter()
                .map(|member| member.map_or("nothing", |signal| program.signal(signal)))
                .collect();
            format!("the members said {}", said.join(", "))
        }
        Why::Detected { sentence } => sentence.clone(),
        Why::SecurityBlocker { finding } => {
            format!("finding {finding} is a security blocker, whatever the verdict")
        }
        Why::Failed { failure, detail } if detail.is_empty() => failure_words(*failure).to_string(),
        Why::Failed { failure, detail } => format!("{}: {detail}", failure_words(*failure)),
        Why::Injected { phases, assumed } => {
            let names: Vec<&str> = phases.iter().map(|id| program.phase(*id).name.as_str()).collect();
            if *assumed {
                format!(
                    "no finding names its origin, so the most recent work is assumed: {}",
                    names.join(", ")
                )
            } else {
                format!("the findings were injected by {}; the earliest goes first", names.join(", "))
            }
        }
        Why::BelowQuorum { have, need } => format!("{have} of at least {need} members came back"),
        Why::SameInputs => "nothing that it read has changed, and nothing is addressed to it".to_string(),
        Why::Autonomous => "the run is autonomous, so the default is taken and recorded".to_string(),
        Why::Limit { limit } => format!("{LIMIT}{limit} is reached"),
        Why::Human { by, note } if note.is_empty() => format!("{by} decided"),
        Why::Human { by, note } => format!("{by} decided: {note}"),
        Why::Supposed => "it is supposed".to_string(),
    }
}

fn failure_words(failure: Failure) -> &'static str {
    match failure {
        Failure::Malformed => "the result does not obey its contract",
        Failure::Transient => "a passing fault",
        Failure::Environment => "the environment failed",
        Failure::Violation => "it stepped outside its permissions",
        Failure::Timeout => "it took too long",
        Failure::Crashed => "it ended without a positive end",
        Failure::Denied => "it was refused for good",
        Failure::OverBudget => "a limit of the run is reached",
        Failure::Cancelled => "it was cancelled",
        Failure::Conflict => "merging failed",
        Failure::Unchanged => "it changed nothing",
    }
}

/// How a run ended, in one sentence.
pub fn end(program: &Program, end: &End) -> String {
    match end {
        End::Done => "done".to_string(),
        End::Failed { phase, signal, exhausted } => {
            let at = format!("failed at {}: {}", program.phase(*phase).name, program.signal(*signal));
            match exhausted {
                Some(budget) => format!("{at}, with {} exhausted", program.budget(*budget).name),
                None => at,
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
                line.push_str(&format!(", in the place of {}", program.contract(nearest).title()));
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
                QuestionKind::Hold(reason) => format!("whether to go on: {reason}"),
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
