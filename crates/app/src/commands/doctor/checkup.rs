//! The results of the doctor: the health of each item, and how to fix it.

use crate::installed_agents::NoDefaultAgent;
use remand_terminal::table::{Cell, ColumnFit, TextTable};
use remand_terminal::{CommandFailure, Ink, Tone, amount};
use serde::Serialize;
use serde_json::{Value, json};

/// The item about the default agent.
pub const AGENTS: &str = "agents";

/// The item about a test dispatch.
pub const DISPATCH: &str = "dispatch";

/// The health of one item, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Health {
    Ok,
    /// A run works, with restrictions.
    Warn,
    /// No run works before this is fixed.
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

/// All items, in order.
#[derive(Debug, Default)]
pub struct Checkup {
    lines: Vec<Line>,
    /// What the user must do before a run has an agent.
    missing_agent: Option<&'static str>,
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

    /// Adds an item for a failure that would end any other command.
    pub fn add_failure(&mut self, part: &'static str, failure: &CommandFailure) {
        let what =
            std::iter::once(&failure.what).chain(&failure.causes).map(String::as_str).collect::<Vec<_>>();
        self.fail(part, what.join(": "), &failure.hint);
    }

    /// Adds an item for a missing default agent.
    pub fn add_missing_agent(&mut self, lack: NoDefaultAgent) {
        self.missing_agent = Some(lack.remedy());
        let failure = CommandFailure::from(lack);
        self.warn(AGENTS, failure.what, failure.hint);
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
        let mut table = TextTable::list(&[ColumnFit::Whole, ColumnFit::Whole, ColumnFit::Wrap], 0);
        let mut previous = "";
        for line in &self.lines {
            let part = if line.part == previous { "" } else { line.part };
            table.row(vec![line.health.cell(), Cell::new(part), Cell::new(&line.what)]);
            if !line.remedy.is_empty() {
                table.row(vec![Cell::new(""), Cell::new(""), Cell::new(format!("fix: {}", line.remedy))]);
            }
            previous = line.part;
        }
        format!("{}\n{}\n", table.render(ink), self.verdict())
    }

    fn verdict(&self) -> String {
        let count = |health| self.lines.iter().filter(|line| line.health == health).count() as u64;
        // A test dispatch names its agent.
        let missing_agent =
            self.missing_agent.filter(|_| !self.lines.iter().any(|line| line.part == DISPATCH));
        match (count(Health::Fail), count(Health::Warn), missing_agent) {
            (0, 0, _) => "everything is ready".to_string(),
            (0, 1, Some(remedy)) => format!("{remedy}; everything else is ready."),
            (0, warnings, Some(remedy)) => {
                format!(
                    "{remedy}; everything else is ready, with {}.",
                    amount::counted(warnings - 1, "warning")
                )
            }
            (0, warnings, None) => format!("ready, with {}", amount::counted(warnings, "warning")),
            (failures, _, _) => format!("{} to fix before a run", amount::counted(failures, "problem")),
        }
    }
}
