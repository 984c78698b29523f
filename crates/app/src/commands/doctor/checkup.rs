//! The list of what was looked at: how each thing is, and the remedy where it is not well.

use crate::exit::Failure;
use crate::table::{Cell, Fit, Ink, Table, Tone, amount};
use serde::Serialize;
use serde_json::{Value, json};

/// The part about who can be dispatched: where it is not well, a run has to name somebody.
pub const AGENTS: &str = "agents";

/// The part about an agent that was tried.
pub const DISPATCH: &str = "dispatch";

/// How one thing is; the order is the order of badness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Health {
    Ok,
    /// Work is possible, but not all that it could be.
    Warn,
    /// Work is not possible before it is mended.
    Fail,
}

impl Health {
    fn cell(self) -> Cell {
        match self {
            Health::Ok => Cell::new("ok").toned(Tone::Good),
            Health::Warn => Cell::new("warn").toned(Tone::Doubtful),
            Health::Fail => Cell::new("FAIL").toned(Tone::Bad),
        }
    }
}

#[derive(Debug, Serialize)]
struct Line {
    part: &'static str,
    health: Health,
    what: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    remedy: String,
}

/// Everything that was looked at, in order.
#[derive(Debug, Default)]
pub struct Checkup {
    lines: Vec<Line>,
}

impl Checkup {
    pub fn ok(&mut self, part: &'static str, what: impl Into<String>) {
        self.add(part, Health::Ok, what, "");
    }

    pub fn warn(&mut self, part: &'static str, what: impl Into<String>, remedy: impl Into<String>) {
        self.add(part, Health::Warn, what, remedy);
    }

    pub fn fail(&mut self, part: &'static str, what: impl Into<String>, remedy: impl Into<String>) {
        self.add(part, Health::Fail, what, remedy);
    }

    /// What would end any other command ends only its own line here.
    pub fn of_failure(&mut self, part: &'static str, failure: &Failure) {
        let what =
            std::iter::once(&failure.what).chain(&failure.causes).map(String::as_str).collect::<Vec<_>>();
        self.fail(part, what.join(": "), &failure.hint);
    }

    fn add(
        &mut self,
        part: &'static str,
        health: Health,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.lines.push(Line { part, health, what: what.into(), remedy: remedy.into() });
    }

    pub fn worst(&self) -> Health {
        self.lines.iter().map(|line| line.health).max().unwrap_or(Health::Ok)
    }

    pub fn json(&self) -> Value {
        json!({ "health": self.worst(), "lines": self.lines })
    }

    pub fn text(&self, ink: Ink) -> String {
        let mut table = Table::list(&[Fit::Whole, Fit::Whole, Fit::Wrap], 0);
        let mut before = "";
        for line in &self.lines {
            let part = if line.part == before { "" } else { line.part };
            table.row(vec![line.health.cell(), Cell::new(part), Cell::new(&line.what)]);
            if !line.remedy.is_empty() {
                table.row(vec![Cell::new(""), Cell::new(""), Cell::new(format!("remedy: {}", line.remedy))]);
            }
            before = line.part;
        }
        format!("{}\n{}\n", table.render(ink), self.verdict())
    }

    fn verdict(&self) -> String {
        let count = |health| self.lines.iter().filter(|line| line.health == health).count() as u64;
        let is_alone = self.lines.iter().any(|line| line.part == AGENTS && line.health == Health::Warn)
            && !self.lines.iter().any(|line| line.part == DISPATCH);
        match (count(Health::Fail), count(Health::Warn)) {
            (0, _) if is_alone => {
                "no agent is there to do the work; nothing else keeps a run from it".to_string()
            }
            (0, 0) => "everything is there".to_string(),
            (0, warnings) => format!("ready to work, with {}", amount::counted(warnings, "warning")),
            (failures, _) => format!("{} to be mended before a run", amount::counted(failures, "thing")),
        }
    }
}
