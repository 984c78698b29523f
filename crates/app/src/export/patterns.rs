//! `dispatch-patterns.md`: how the phases of the workflow are dispatched.

use super::files::ExportedFile;
use super::overview::EXPORT_MARKER;
use super::{Export, cell, coded, target};
use remand_drawings::phrase;
use remand_kernel::program::{Items, Phase, Program, TallyRow, TallyTest, Work};
use std::fmt::Write;

/// One way to dispatch a phase.
struct Pattern {
    title: &'static str,
    about: &'static str,
    applies: fn(&Work) -> bool,
}

const PATTERNS: &[Pattern] = &[
    Pattern {
        title: "Pattern A: parallel",
        about: "The role is dispatched once for each item, in parallel and independently. When all dispatches have ended, \
                the first row of the tally that holds gives the signal. With fewer results than the quorum, the \
                signal is `no-result`.",
        applies: |work| matches!(work, Work::Each { .. }),
    },
    Pattern {
        title: "Pattern B: sequential",
        about: "One dispatch of one role. Its verdict is the signal.",
        applies: |work| matches!(work, Work::Role { .. }),
    },
    Pattern {
        title: "Pattern C: waves",
        about: "Each item of a list goes through a sub-flow in its own work tree, after the items that it \
                depends on, with at most the stated number in parallel. When all have ended, the tally gives the signal.",
        applies: |work| matches!(work, Work::Flow { .. }),
    },
    Pattern {
        title: "Pattern D: panel",
        about: "Roles with a veto work in parallel, with advisors whose results are only recorded. The most severe verdict \
                of a member is the signal.",
        applies: |work| matches!(work, Work::Panel { .. }),
    },
    Pattern {
        title: "Operations",
        about: "The engine does the work without a dispatch, and its result is evidence.",
        applies: |work| matches!(work, Work::Operation { .. }),
    },
    Pattern {
        title: "Questions",
        about: "A human answers. In autonomous mode a question gets its default as the answer; a question without a default waits.",
        applies: |work| matches!(work, Work::Ask { .. }),
    },
];

pub fn file(export: &Export<'_>) -> ExportedFile {
    const NAME: &str = "dispatch-patterns";
    let program = export.program;
    let front =
        target::reference_front(export.tool, NAME, "Reference: how phases are dispatched; not an agent.");
    let mut text = format!("{front}{EXPORT_MARKER}\n\n# Dispatch patterns of `{}`\n", program.name);
    for pattern in PATTERNS {
        let phases: Vec<&Phase> =
            program.phases.iter().filter(|phase| (pattern.applies)(&phase.work)).collect();
        if phases.is_empty() {
            continue;
        }
        let _ = write!(text, "\n## {}\n\n{}\n\n", pattern.title, pattern.about);
        text.push_str("| phase | who | rule | retries after a failure |\n| --- | --- | --- | --- |\n");
        for phase in phases {
            let retries = match phase.contracts().is_empty() {
                true => String::new(),
                false => phase.retries.to_string(),
            };
            let who = cell(&phrase::who(program, phase));
            let _ =
                writeln!(text, "| `{}` | {who} | {} | {retries} |", phase.name, cell(&rule(program, phase)));
        }
    }
    ExportedFile { path: target::reference(export.tool, "dispatch-patterns.md"), text }
}

/// The rule that decides how a phase ends.
fn rule(program: &Program, phase: &Phase) -> String {
    let signals = |ids: &mut dyn Iterator<Item = _>| -> String {
        let names: Vec<&str> = ids.map(|id| program.signal(id)).collect();
        coded(names)
    };
    match &phase.work {
        Work::Each { items, tally, quorum, diverse, contract } => {
            let mut parts = Vec::new();
            if let Items::Fixed(names) = items {
                parts.push(format!("items {}", coded(names.iter().map(String::as_str))));
            }
            if let Some(quorum) = quorum {
                parts.push(format!("quorum {quorum}"));
            }
            if *diverse {
                parts.push("each by a different model if there are several".to_string());
            }
            let decision = if tally.is_empty() {
                signals(&mut program.contract(*contract).says.iter().copied())
            } else {
                rows(program, tally)
            };
            parts.push(decision);
            parts.join("; ")
        }
        Work::Flow { tally, .. } => rows(program, tally),
        Work::Role { contract, .. } => signals(&mut program.contract(*contract).says.iter().copied()),
        Work::Panel { members, .. } => {
            signals(&mut members.iter().flat_map(|id| program.contract(*id).says.iter().copied()))
        }
        Work::Operation { operation } => signals(&mut program.operation(*operation).results.iter().copied()),
        Work::Ask { options, .. } => signals(&mut options.iter().map(|choice| choice.signal)),
    }
}

fn rows(program: &Program, tally: &[TallyRow]) -> String {
    let row = |row: &TallyRow| {
        let test = match row.test {
            TallyTest::Any(signal) => format!("any {}", program.signal(signal)),
            TallyTest::All(signal) => format!("all {}", program.signal(signal)),
            TallyTest::AtLeast(least, signal) => format!("at least {least} {}", program.signal(signal)),
            TallyTest::Otherwise => "otherwise".to_string(),
        };
        format!("`{}` if {test}", program.signal(row.signal)).replace("if otherwise", "otherwise")
    };
    tally.iter().map(row).collect::<Vec<_>>().join(", ")
}
