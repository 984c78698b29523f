//! Drives runs from the command line until a human is needed, and reports the result.

use crate::answering::{self, HumanAnswer, open_gates};
use crate::context::CommandContext;
use crate::gate;
use crate::host::redactor;
use crate::progress;
use crate::prompt::{GatePrompt, PromptReply};
use crate::retrying;
use crate::workplace::Workplace;
use remand_engine::bundle;
use remand_engine::host::{DriveEnd, Host};
use remand_engine::workshop::{Workshop, missing_from_folder, not_on_branch};
use remand_kernel::state::End;
use remand_ledger::fact::Delivery;
use remand_ledger::query::RequestFate;
use remand_ledger::{Reader, RunId, RunView};
use remand_terminal::output::{print, print_line, tell};
use remand_terminal::{CommandFailure, ExitCode, Ink, Stop, invocation, line};
use serde_json::json;
use std::collections::BTreeMap;

/// Drives the runs until each is over or needs a human. At a terminal, asks at every gate, whatever the mode.
pub fn drive(
    context: &CommandContext<'_>,
    workplace: &Workplace,
    mut host: Host<Workshop>,
) -> Result<ExitCode, CommandFailure> {
    let stop = Stop::listen();
    let mut watch = progress::view(context.json, &stop);
    let (reader, redactor) = (workplace.reader()?, redactor(&workplace.config)?);
    let prompt = GatePrompt { reader: &reader, stop: &stop };
    let mut submitted: Option<i64> = None;
    loop {
        let ends = host.drive(watch.as_mut())?;
        if let Some(request) = submitted.take()
            && let RequestFate::Refused(why) = reader.fate(request)?
        {
            tell(&format!("refused: {why}"));
        }
        let waiting = ends.iter().find(|(_, end)| **end == DriveEnd::Waiting).map(|(run, _)| run.clone());
        if let Some(run) = waiting
            && !context.json
            && GatePrompt::is_possible()
            && let Some(gate) = open_gates(&reader, &run)?.first()
        {
            let submit =
                |answer: &HumanAnswer| answering::submit(host.store(), &reader, &redactor, gate, answer);
            match prompt.ask(gate, |run| ends.contains_key(run), submit)? {
                PromptReply::Answered(request) => submitted = Some(request),
                PromptReply::Overtaken(request) => {
                    tell(&format!("\n{}", PromptReply::describe_request(&request)))
                }
                PromptReply::NoAnswer => {
                    tell("no answer; the gate stays open");
                    return report_all(context, workplace, &reader, &ends);
                }
            }
            continue;
        }
        drop(watch);
        return report_all(context, workplace, &reader, &ends);
    }
}

fn report_all(
    context: &CommandContext<'_>,
    workplace: &Workplace,
    reader: &Reader,
    ends: &BTreeMap<RunId, DriveEnd>,
) -> Result<ExitCode, CommandFailure> {
    let mut exit = ExitCode::Done;
    for (run, end) in ends {
        exit = exit.max_with(report(context, workplace, reader, run, end)?);
    }
    Ok(exit)
}

/// Prints the state of a run and what the user can do next.
fn report(
    context: &CommandContext<'_>,
    workplace: &Workplace,
    reader: &Reader,
    run: &RunId,
    end: &DriveEnd,
) -> Result<ExitCode, CommandFailure> {
    let view = reader.run_view(run)?;
    let (row, gates) = (&view.row, &view.gates);
    let commit = last_commit(reader, run)?;
    let exit = match end {
        DriveEnd::Over(End::Done) if commit.is_none() => ExitCode::HandedOver,
        DriveEnd::Over(End::Done) => ExitCode::Done,
        DriveEnd::Over(End::Failed { .. } | End::Stopped { .. } | End::Cancelled { .. }) => ExitCode::Failed,
        DriveEnd::Waiting => ExitCode::Waiting,
        DriveEnd::Left => ExitCode::Interrupted,
    };
    let resume = invocation::command(format!("resume {run}"));
    let retry = match end {
        DriveEnd::Over(_) => retrying::command_for(reader, run),
        DriveEnd::Waiting | DriveEnd::Left => None,
    };
    if matches!(end, DriveEnd::Over(_)) {
        let folder = workplace.home.run(run);
        let missing = [
            ("the documents of the run are not on its branch", not_on_branch(&folder)),
            ("the folder of the run is incomplete", missing_from_folder(&folder)),
        ];
        for (what, why) in missing {
            if let Some(why) = why {
                tell(&format!("{what}: {why}; fix this, then run `{resume}`"));
            }
        }
    }
    if context.json {
        let gates: Vec<_> =
            gates.iter().map(|gate| json!({ "gate": gate.command, "question": gate.question })).collect();
        print_line(&json!({
            "run": run, "stage": row.stage, "ended": row.ended, "confidence": view.confidence(),
            "branch": row.branch, "used": row.used, "untold": view.unreported_tokens, "gates": gates,
            "retry": retry, "exit": exit.number(),
        }))?;
        return Ok(exit);
    }
    let mut text = String::new();
    match end {
        DriveEnd::Over(_) => {
            let ended = line::one(row.ended.as_deref().unwrap_or("over"));
            let confidence = view.confidence().name();
            text.push_str(&format!("\nrun {run}: {ended}, confidence {confidence}\n"));
            if let Some(outcome) = outcome(reader, &view, exit, commit.as_ref())? {
                text.push_str(&format!("{outcome}\n"));
            }
            if let Some(retry) = &retry {
                text.push_str(&format!(
                    "retry: `{retry}` continues at the failed phase and keeps everything before it\n"
                ));
            }
            let page = workplace.home.run(run).join(bundle::FILE);
            if page.exists() {
                text.push_str(&format!("evidence: {}\n", page.display()));
            }
            text.push_str("details:\n");
            for name in ["log", "evidence", "diff"] {
                text.push_str(&format!("  {}\n", invocation::command(format!("{name} {run}"))));
            }
        }
        DriveEnd::Waiting if gates.is_empty() => {
            text.push_str(&format!("\nrun {run} is paused; `{resume}` continues it\n"));
        }
        DriveEnd::Waiting => {
            text.push_str(&format!("\nrun {run} is waiting for you:\n"));
            for gate in gates {
                text.push_str(&format!("\n{}", gate::text_of(reader, gate, gates, Ink::of_stdout())?));
            }
        }
        DriveEnd::Left => {
            let cancel = invocation::command(format!("cancel {run}"));
            text.push_str(&format!("\nstopped run {run}; `{resume}` continues it, `{cancel}` ends it\n"));
        }
    }
    print(&text)?;
    Ok(exit)
}

/// The last commit of the run's work.
fn last_commit(reader: &Reader, run: &RunId) -> Result<Option<Delivery>, CommandFailure> {
    let mut deliveries = reader.deliveries(run)?.into_iter().map(|row| row.delivery);
    Ok(deliveries.rfind(|delivery| matches!(delivery, Delivery::Committed { .. })))
}

/// The result of a run that is over: the commit, or why there is none.
fn outcome(
    reader: &Reader,
    view: &RunView,
    exit: ExitCode,
    commit: Option<&Delivery>,
) -> Result<Option<String>, CommandFailure> {
    match exit {
        ExitCode::Done => Ok(commit.map(describe_delivery)),
        ExitCode::HandedOver => Ok(view.delivery.as_ref().map(describe_delivery)),
        ExitCode::User
        | ExitCode::Refused
        | ExitCode::Failed
        | ExitCode::Waiting
        | ExitCode::Interrupted
        | ExitCode::Internal => {
            let rulings = reader.rulings(&view.row.run, 0)?;
            Ok(rulings.last().map(|row| format!("{}: {}", row.ruling.phase, row.ruling.why)))
        }
    }
}

fn describe_delivery(delivery: &Delivery) -> String {
    match delivery {
        Delivery::Committed { commit, branch, file } => {
            let file = file.as_ref().map_or_else(String::new, |file| format!(", as {file}"));
            format!("committed {commit} on {branch}{file}")
        }
        Delivery::Refused { reason } => format!("not committed: {reason}"),
        Delivery::HandedOver { reason, take, discard } => {
            format!("not committed: {reason}; take the work with `{take}`, or discard it with `{discard}`")
        }
        Delivery::Nothing => "the run changed nothing".to_string(),
    }
}
