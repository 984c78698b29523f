//! What is worth telling about a run in its present state.

use crate::notice::{AskingGate, NearLimit, NoticeKind, NoticeTexts, RunNotice, SilentAgent};
use remand_ledger::query::GateRow;
use remand_ledger::view::{CommandKind, RunChange};
use remand_ledger::{Millis, RunView};

/// The share of a limit, in percent, at which the user gets a notice.
const NEAR: u128 = 80;

/// What the state of a run does not contain.
#[derive(Clone, Debug, Default)]
pub struct NoticeContext {
    /// The kinds that the user wants.
    pub kinds: Vec<NoticeKind>,
    pub repository: String,
    /// Whether notices contain text of the run.
    pub texts: bool,
    pub now: Millis,
    /// The event that ended the run last.
    pub finished: Option<u64>,
    pub silent: Vec<SilentAgent>,
}

/// The last of these events that ended the run.
pub fn terminal_seq(changes: &[RunChange]) -> Option<u64> {
    let ends = |change: &&RunChange| change.commands.iter().any(|it| it.kind == CommandKind::Finish);
    changes.iter().rev().find(ends).map(|change| change.seq)
}

/// The notices about the state of a run. The same state gives the same ids, so a caller can tell what is new.
pub fn due(view: &RunView, context: &NoticeContext) -> Vec<RunNotice> {
    let mut notices: Vec<RunNotice> = Vec::new();
    notices.extend(view.gates.iter().map(|gate| about_gate(view, context, gate)));
    if !view.row.stage.is_over() {
        notices.extend(near_limits(view).map(|limit| about_limit(view, context, limit)));
        notices.extend(context.silent.iter().map(|agent| about_silence(view, context, agent)));
    }
    if let Some(seq) = context.finished.filter(|_| view.row.stage.is_over()) {
        notices.push(about_end(view, context, seq));
    }
    notices.retain(|notice| context.kinds.contains(&notice.kind));
    notices
}

fn notice(view: &RunView, context: &NoticeContext, kind: NoticeKind, key: &str, title: String) -> RunNotice {
    let row = &view.row;
    let texts = NoticeTexts { request: row.request.clone(), ..NoticeTexts::default() };
    RunNotice {
        id: format!("{}/{key}", row.run),
        kind,
        run: row.run.clone(),
        workflow: row.workflow.clone(),
        repository: context.repository.clone(),
        at: context.now,
        title,
        next: format!("remand status {}", row.run),
        gate: None,
        limit: None,
        stage: None,
        agent: None,
        texts: context.texts.then_some(texts),
    }
}

fn about_gate(view: &RunView, context: &NoticeContext, gate: &GateRow) -> RunNotice {
    let title = format!("{} waits for you at {}", view.row.workflow, gate.phase);
    let key = format!("gate-{}", file_name(&gate.command));
    let mut notice = notice(view, context, NoticeKind::Gate, &key, title);
    notice.next = format!("remand gates {}", view.row.run);
    notice.gate = Some(AskingGate {
        gate: gate.command.clone(),
        phase: gate.phase.clone(),
        options: gate.options.iter().map(|option| option.name.clone()).collect(),
        default: gate.default.clone(),
        mandatory: gate.mandatory,
    });
    if let Some(texts) = &mut notice.texts {
        texts.question = Some(gate.question.clone());
    }
    notice
}

fn near_limits(view: &RunView) -> impl Iterator<Item = NearLimit> + '_ {
    view.allowances().into_iter().filter_map(|allowance| {
        let (used, amount) = (allowance.used_since_grant, allowance.amount?);
        let is_near = used < amount && u128::from(used) * 100 >= u128::from(amount) * NEAR;
        is_near.then_some(NearLimit { limit: allowance.limit, used, amount })
    })
}

fn about_limit(view: &RunView, context: &NoticeContext, near: NearLimit) -> RunNotice {
    let percent = u128::from(near.used) * 100 / u128::from(near.amount).max(1);
    let title = format!("{} has used {percent}% of its limit: {}", view.row.workflow, near.limit.name());
    // A limit that was raised is another limit.
    let granted = view.allowances().into_iter().find(|it| it.limit == near.limit);
    let granted = granted.map_or(0, |it| it.used - it.used_since_grant);
    let key = format!("limit-{}-{granted}", near.limit.name().replace(' ', "-"));
    RunNotice { limit: Some(near), ..notice(view, context, NoticeKind::Limit, &key, title) }
}

fn about_silence(view: &RunView, context: &NoticeContext, agent: &SilentAgent) -> RunNotice {
    let minutes = agent.silent_ms / 60_000;
    let since = if minutes == 0 { format!("{} s", agent.silent_ms / 1000) } else { format!("{minutes} min") };
    let title = format!("{} in {} has been silent for {since}", agent.role, agent.phase);
    let key = format!("silent-{}-{}", file_name(&agent.dispatch), agent.number);
    RunNotice { agent: Some(agent.clone()), ..notice(view, context, NoticeKind::Silent, &key, title) }
}

fn about_end(view: &RunView, context: &NoticeContext, seq: u64) -> RunNotice {
    let row = &view.row;
    let title = format!("{} is over: {}", row.workflow, row.stage.name());
    let mut notice = notice(view, context, NoticeKind::Over, &format!("over-{seq}"), title);
    notice.stage = Some(row.stage);
    notice.next = format!("remand evidence {}", row.run);
    if let Some(texts) = &mut notice.texts {
        texts.reason.clone_from(&row.reason);
    }
    notice
}

/// An id of a command as part of a file name.
fn file_name(id: &str) -> String {
    id.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' || c == '-' { c } else { '_' }).collect()
}
