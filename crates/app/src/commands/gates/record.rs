//! Describes the gates of one run and their answers.

use crate::commands::runs::heading;
use crate::gate::phase_and_task;
use remand_engine::clock;
use remand_kernel::Event;
use remand_ledger::query::{GateRow, RefusedRequest, RunRow};
use remand_terminal::table::indented;
use remand_terminal::{Ink, Tone, invocation, line};

pub fn text(row: &RunRow, gates: &[GateRow], refused: &[RefusedRequest], ink: Ink) -> String {
    let mut text = format!("{}\n", heading(row));
    if gates.is_empty() {
        text.push_str("no gate was reached\n");
    }
    for gate in gates {
        let header = format!("{}  {}, {}", clock::iso(gate.opened_at), phase_and_task(gate), gate.mode);
        text.push_str(&format!("\n{}\n", ink.paint(Tone::Strong, &line::cut(&header, 100))));
        text.push_str(&indented(&gate.question, 2));
        text.push_str(&indented(&answer(gate), 2));
        let note = gate.note.as_deref().unwrap_or_default();
        if !note.is_empty() {
            text.push_str(&indented(&format!("note: {}", line::one(note)), 2));
        }
        for attempt in refused {
            if let Event::Answered { id, option, by, .. } = &attempt.request.event
                && id.to_string() == gate.command
            {
                let (option, by, why) = (line::one(option), line::one(by), line::one(&attempt.why));
                let when = clock::iso(attempt.request.at);
                text.push_str(&indented(&format!("refused: {option}, by {by} at {when}: {why}"), 2));
            }
        }
    }
    text
}

fn answer(gate: &GateRow) -> String {
    let options: Vec<String> = gate.options.iter().map(|option| line::one(&option.name)).collect();
    let options = format!("options: {}", options.join(", "));
    let when = |at| clock::iso(at);
    match (&gate.option, gate.answered_at, gate.withdrawn_at) {
        (Some(option), Some(_), _) if gate.auto => {
            format!("{option}, chosen by default without asking; {options}")
        }
        (Some(option), Some(at), _) => {
            let by = gate.by.as_deref().map_or("someone", |by| by);
            let set: Vec<&str> =
                gate.flags.iter().filter(|(_, on)| *on).map(|(name, _)| name.as_str()).collect();
            let set = if set.is_empty() { String::new() } else { format!(", with {}", set.join(", ")) };
            format!("{option}{set}, answered by {} at {}; {options}", line::one(by), when(at))
        }
        (_, _, Some(at)) => format!("withdrawn at {} without an answer; {options}", when(at)),
        (_, _, None) => {
            format!("open: `{}` shows how to answer", invocation::command(format!("gates {}", gate.run)))
        }
    }
}
