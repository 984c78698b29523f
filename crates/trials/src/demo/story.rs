//! Reports a demonstration as a story: what passed, what was caught, and where it was sent.

use remand_engine::host::{CommittedStep, DriveWatch};
use remand_kernel::event::{Event, Outcome};
use remand_kernel::finding::Severity;
use remand_kernel::ids::PhaseId;
use remand_kernel::program::{Program, Work};
use remand_kernel::ruling::{Disposition, Rule, Ruling};
use remand_kernel::view;
use remand_ledger::fact::NoteKind;
use remand_ledger::query::GateRow;
use remand_terminal::output::print;
use remand_terminal::table::terminal_width;
use remand_terminal::{Ink, Stop, Tone, line};

/// How far the rest of a wrapped line is indented.
const HANG: usize = 4;

/// Prints a line for each success and a paragraph for each defect that is caught.
#[derive(Debug)]
pub struct Story {
    stop: Stop,
    output: StoryOutput,
    pub caught: usize,
}

/// Whether the story is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoryOutput {
    Printed,
    Silent,
}

impl Story {
    pub fn new(stop: Stop, output: StoryOutput) -> Story {
        Story { stop, output, caught: 0 }
    }

    /// Prints whole lines; a closed pipe does not stop the demonstration.
    pub fn say(&self, text: &str) {
        if self.output == StoryOutput::Printed && !text.is_empty() {
            let _ = print(&format!("{text}\n"));
        }
    }

    fn blank_line(&self) {
        if self.output == StoryOutput::Printed {
            let _ = print("\n");
        }
    }

    /// Prints a text, each of its lines wrapped at words on a terminal.
    pub fn say_text(&self, text: &str) {
        for line in text.lines() {
            match line {
                "" => self.blank_line(),
                line => self.say_line(Tone::Plain, line),
            }
        }
        if !text.is_empty() {
            self.blank_line();
        }
    }

    /// Prints one line, wrapped at words on a terminal.
    fn say_line(&self, tone: Tone, text: &str) {
        let lines = match terminal_width() {
            Some(width) => line::hanging(text, HANG, width),
            None => vec![text.to_string()],
        };
        for line in lines {
            self.say(&Ink::of_stdout().paint(tone, &line));
        }
    }

    /// Prints a question to a human, and what the demonstration did instead.
    pub fn answer(&self, gate: &GateRow, did: &str, note: &str) {
        let note = if note.is_empty() { String::new() } else { format!(" (“{note}”)") };
        self.blank_line();
        self.say_line(Tone::Doubtful, &format!("? {:<24} {}", gate.phase, gate.question));
        for option in &gate.withheld {
            let why = option
                .exhausted
                .as_ref()
                .map_or_else(String::new, |budget| format!(" (budget {budget} is used up)"));
            self.say_line(Tone::Plain, &format!("    not offered: {}{why}", option.name));
        }
        self.say_line(Tone::Plain, &format!("  ! the demonstration {did}{note}"));
        self.blank_line();
    }

    fn report(&mut self, committed: &CommittedStep<'_>, ruling: &Ruling) {
        let shown = view::ruling(committed.program, committed.state, ruling);
        let position = match &shown.task {
            Some(task) => format!("{} {task}", shown.phase),
            None => shown.phase.clone(),
        };
        let goes_back = match &ruling.verdict {
            Disposition::Follow { action, .. } => action.is_back(),
            Disposition::Again { .. } => true,
            Disposition::Hold
            | Disposition::GoOn
            | Disposition::Retry
            | Disposition::Pause
            | Disposition::Cancel
            | Disposition::RollBack { .. }
            | Disposition::RemoveApproach { .. }
            | Disposition::Reattribute { .. } => false,
        };
        if !goes_back {
            let remark =
                if ruling.rule == Rule::Stands { " (still valid: nothing it read has changed)" } else { "" };
            self.say_line(Tone::Plain, &format!("  {position:<24} {}{remark}", shown.signal));
            return;
        }
        let sign = if is_intended(committed.program, ruling) { ' ' } else { '✗' };
        self.caught += usize::from(sign == '✗');
        self.blank_line();
        let tone = if sign == '✗' { Tone::Bad } else { Tone::Plain };
        self.say_line(tone, &format!("{sign} {position:<24} {}", shown.signal));
        for line in evidence(committed, ruling.phase) {
            self.say_line(Tone::Plain, &format!("    {line}"));
        }
        let spent: Vec<String> = shown
            .budgets
            .iter()
            .map(|charge| format!("{} {} → {}", charge.budget, charge.before, charge.after))
            .collect();
        let spent = if spent.is_empty() { String::new() } else { format!(" ({})", spent.join(", ")) };
        let to = match &shown.target {
            Some(target) => format!("sent back to {target}{spent}"),
            None => shown.action.clone(),
        };
        self.say_line(Tone::Doubtful, &format!("  ↩ {to}"));
        self.blank_line();
    }
}

/// Whether work goes back without a defect: a human decided so, or an operation had its normal result.
fn is_intended(program: &Program, ruling: &Ruling) -> bool {
    match &program.phase(ruling.phase).work {
        Work::Ask { .. } => true,
        Work::Operation { operation, .. } => {
            program.operation(*operation).results.first() == Some(&ruling.signal)
        }
        Work::Role { .. } | Work::Each { .. } | Work::Panel { .. } | Work::Flow { .. } => false,
    }
}

/// What the ruling is based on: findings with their claims, failed checks, violations.
fn evidence(committed: &CommittedStep<'_>, phase: PhaseId) -> Vec<String> {
    let mut lines: Vec<String> = committed
        .facts
        .notes
        .iter()
        .filter(|note| note.kind == NoteKind::Violation)
        .map(|note| format!("{}; undone", note.text))
        .collect();
    let reported = match committed.event {
        Event::Ended { outcome: Outcome::Said(report), .. } => report.findings.len(),
        _ => 0,
    };
    let owner = |id: PhaseId| committed.program.phase(id).owner;
    let of_phase = |id: PhaseId| id == phase || owner(id) == Some(phase);
    let filed = &committed.state.findings;
    let has_tally = matches!(committed.program.phase(phase).work, Work::Each { .. } | Work::Flow { .. });
    let from = if has_tally { 0 } else { filed.len().saturating_sub(reported) };
    lines.extend(
        filed[from..]
            .iter()
            .filter(|filed| of_phase(filed.phase) && filed.finding.severity > Severity::Minor)
            .filter(|filed| filed.status == remand_kernel::state::FiledStatus::Open)
            .map(|filed| match filed.finding.id.contains(':') {
                // The ids of the engine's findings repeat the claim.
                true => format!("found by the engine: {}", filed.finding.claim),
                false => format!("{}: {}", filed.finding.id, filed.finding.claim),
            }),
    );
    lines.dedup();
    lines
}

impl DriveWatch for Story {
    fn committed(&mut self, committed: &CommittedStep<'_>) {
        for ruling in &committed.step.rulings {
            self.report(committed, ruling);
        }
    }

    fn should_stop(&self) -> bool {
        self.stop.is_set()
    }
}
