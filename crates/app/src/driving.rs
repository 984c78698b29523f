//! Drives runs from the command line until a human is needed, and reports the result.

use crate::answering::{self, HumanAnswer, open_gates};
use crate::closing::RunClosing;
use crate::context::CommandContext;
use crate::host::redactor;
use crate::notifying::watch::NotifyingWatch;
use crate::progress;
use crate::prompt::{GatePrompt, PromptReply};
use crate::workplace::Workplace;
use remand_engine::host::{DriveEnd, Host};
use remand_engine::workshop::Workshop;
use remand_ledger::query::RequestFate;
use remand_ledger::{Reader, RunId};
use remand_terminal::output::{print, print_line, tell};
use remand_terminal::{CommandFailure, ExitCode, Ink, Stop};
use std::collections::BTreeMap;

/// Drives the runs until each is over or needs a human. At a terminal, asks at every gate, whatever the mode.
pub fn drive(
    context: &CommandContext<'_>,
    workplace: &Workplace,
    mut host: Host<Workshop>,
) -> Result<ExitCode, CommandFailure> {
    let stop = Stop::listen();
    let view = progress::view(context.json, &stop, host.effects().activity());
    let mut watch = NotifyingWatch::new(view, workplace)?;
    let (reader, redactor) = (workplace.reader()?, redactor(&workplace.config)?);
    let prompt = GatePrompt { reader: &reader, stop: &stop };
    let mut submitted: Option<i64> = None;
    loop {
        let ends = host.drive(&mut watch)?;
        watch.settled(ends.keys());
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
        let closing = RunClosing::read(workplace, reader, run)?.left_at(end);
        closing.warn();
        match context.json {
            true => print_line(&closing.json())?,
            false => print(&closing.text(Ink::of_stdout())?)?,
        }
        exit = exit.max_with(closing.exit());
    }
    Ok(exit)
}
