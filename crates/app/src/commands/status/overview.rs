//! The overview: all runs in progress, with their driving processes or open gates, and the run that ended last.

use crate::gate::{answer_command, other_options};
use crate::workplace::Workplace;
use remand_engine::clock;
use remand_engine::lock::DriverLock;
use remand_ledger::Reader;
use remand_ledger::query::{GateRow, RunRow, RunStage};
use remand_terminal::table::indented;
use remand_terminal::{CommandFailure, Ink, Tone, amount, invocation, line};
use serde_json::{Value, json};

/// The maximum number of runs in progress that are listed.
const MAX_LISTED: usize = 20;

/// All runs in progress, and the last that ended.
pub struct Overview {
    in_progress: usize,
    pub listed: Vec<RunInProgress>,
    pub ended: Option<RunRow>,
    now: i64,
}

/// A run that is not over.
pub struct RunInProgress {
    pub row: RunRow,
    pub driver: Option<String>,
    pub gates: Vec<GateRow>,
}

impl Overview {
    pub fn read(workplace: &Workplace, reader: Option<&Reader>) -> Result<Overview, CommandFailure> {
        let now = clock::now().0;
        let Some(reader) = reader else {
            return Ok(Overview { in_progress: 0, listed: Vec::new(), ended: None, now });
        };
        let rows = reader.runs()?;
        let (over, mut in_progress): (Vec<RunRow>, Vec<RunRow>) =
            rows.into_iter().partition(|row| row.stage.is_over());
        let count = in_progress.len();
        in_progress.truncate(MAX_LISTED);
        let mut listed = Vec::new();
        for row in in_progress {
            let gates = reader.gates(&row.run)?;
            let gates = gates.into_iter().filter(GateRow::is_open).collect();
            let driver = DriverLock::holder(&workplace.home.run(&row.run));
            listed.push(RunInProgress { row, driver, gates });
        }
        let ended = over.into_iter().max_by_key(|row| row.updated_at);
        Ok(Overview { in_progress: count, listed, ended, now })
    }

    pub fn json(&self) -> Value {
        let listed: Vec<Value> = self
            .listed
            .iter()
            .map(|run| json!({ "run": run.row, "driver": run.driver, "gates": run.gates }))
            .collect();
        json!({ "count": self.in_progress, "runs": listed, "ended": self.ended })
    }

    pub fn text(&self, ink: Ink) -> String {
        let mut text = match self.in_progress {
            0 => "no run is in progress\n".to_string(),
            count => {
                let verb = if count == 1 { "is" } else { "are" };
                format!("{} {verb} in progress\n", amount::counted(count as u64, "run"))
            }
        };
        for run in &self.listed {
            text.push('\n');
            text.push_str(&run.text(ink, self.now));
        }
        if self.in_progress > self.listed.len() {
            let hidden = amount::counted((self.in_progress - self.listed.len()) as u64, "older run");
            text.push_str(&format!("\n{hidden} not shown: `remand runs --all`\n"));
        }
        if let Some(row) = &self.ended {
            let when = amount::age(self.now, row.updated_at.0);
            text.push_str(&format!("\nlast run that ended, {when} ago\n\n"));
            let about = format!("{}, confidence {}", line::one(&row.workflow), row.confidence_level().name());
            let run = ink.paint(Tone::Strong, &row.run.0);
            text.push_str(&format!("{run}  {about}\n"));
            text.push_str(&indented(&line::cut(&line::first(&row.request), 96), 2));
            text.push_str(&ink.paint(Tone::of_stage(row.stage), &indented(&line::one(&row.outcome()), 2)));
            let log = invocation::command(format!("log {}", row.run));
            text.push_str(&indented(&format!("Details: `{log}`"), 2));
        }
        text
    }
}

impl RunInProgress {
    fn text(&self, ink: Ink, now: i64) -> String {
        let row = &self.row;
        let stage = ink.paint(Tone::of_stage(row.stage), row.stage.name());
        let run = ink.paint(Tone::Strong, &row.run.0);
        let last = amount::age(now, row.updated_at.0);
        let mut text = format!("{run}  {}, {stage}, last event {last} ago\n", line::one(&row.workflow));
        text.push_str(&indented(&line::cut(&line::first(&row.request), 96), 2));
        if !row.place.is_empty() {
            text.push_str(&indented(&format!("at {}", row.place), 2));
        }
        for gate in &self.gates {
            text.push_str(&indented(&format!("asks: {}", line::one(&gate.question)), 2));
            text.push_str(&indented(
                &format!("answer with `{}`{}", answer_command(gate, &self.gates), other_options(gate)),
                2,
            ));
        }
        let resume = format!("`{}`", invocation::command(format!("resume {}", row.run)));
        let driver = match (&self.driver, row.stage) {
            (Some(driver), _) => format!("driven by {driver}"),
            (None, RunStage::Waiting) if !self.gates.is_empty() => return text,
            (None, _) => format!("continue with {resume}"),
        };
        text.push_str(&indented(&driver, 2));
        text
    }
}
