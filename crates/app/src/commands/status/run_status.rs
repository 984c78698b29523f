//! The status of one run: its position, tasks, spending, findings and gates.

use super::{spending, tasks};
use crate::finding_counts::count_findings;
use crate::gate::{answer_command, other_options};
use crate::retrying;
use crate::workplace::Workplace;
use remand_engine::clock;
use remand_engine::lock::DriverLock;
use remand_ledger::query::{RunRow, RunStage};
use remand_ledger::{Reader, RunId, RunView};
use remand_terminal::table::{Cell, FieldList, indented};
use remand_terminal::{CommandFailure, Ink, Tone, amount, invocation, line};
use remand_views::progress::output_command;
use serde::Serialize;
use serde_json::{Value, json};

/// Everything that is shown about one run.
pub struct RunStatus {
    view: RunView,
    driver: Option<String>,
    /// Why the run failed, if it did.
    failure: Option<RunFailure>,
    /// The command that retries the run, if it is over and can be retried.
    retry: Option<String>,
}

/// Why a run failed, and where to read more.
#[derive(Debug, Serialize)]
struct RunFailure {
    why: String,
    /// The command that prints the whole output of the dispatch that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
}

impl RunFailure {
    fn read(reader: &Reader, row: &RunRow) -> Result<Option<RunFailure>, CommandFailure> {
        if row.stage != RunStage::Failed {
            return Ok(None);
        }
        let rulings = reader.rulings(&row.run, 0)?;
        let Some(last) = rulings.last() else { return Ok(None) };
        let dispatches = reader.dispatches(&row.run)?;
        let failed = dispatches.iter().rfind(|dispatch| dispatch.phase == last.ruling.phase);
        let failed = failed.filter(|dispatch| dispatch.failure.is_some());
        Ok(Some(RunFailure {
            why: last.ruling.why.clone(),
            output: failed.map(|dispatch| output_command(&row.run, &dispatch.command)),
        }))
    }
}

impl RunStatus {
    pub fn read(workplace: &Workplace, reader: &Reader, run: &RunId) -> Result<RunStatus, CommandFailure> {
        let view = reader.run_view(run)?;
        let failure = RunFailure::read(reader, &view.row)?;
        let retry = view.row.stage.is_over().then(|| retrying::command_for(reader, run)).flatten();
        Ok(RunStatus { driver: DriverLock::holder(&workplace.home.run(run)), view, failure, retry })
    }

    pub fn json(&self) -> Value {
        let view = &self.view;
        let confidence = view.confidence();
        json!({
            "run": view.row,
            "driver": self.driver,
            "by": view.by,
            "confidence": { "level": confidence, "means": confidence.definition() },
            "budgets": view.detail.as_ref().map(|detail| &detail.budgets),
            "tasks": view.tasks,
            "findings": count_findings(&view.findings),
            "gates": view.gates,
            "requests": view.requests,
            "untold": view.unreported_tokens,
            "problem": self.problem(),
            "failure": self.failure,
            "retry": self.retry,
        })
    }

    pub fn text(&self, ink: Ink) -> String {
        let view = &self.view;
        let mut text = self.fields().render(ink);
        if !view.tasks.is_empty() {
            text.push_str(&format!("\n{}", tasks::table(&view.tasks).render(ink)));
        }
        let unanswered = if view.requests > 0 { &[] } else { view.gates.as_slice() };
        for gate in unanswered {
            text.push_str(&format!("\n{}", ink.paint(Tone::Doubtful, "waiting for an answer")));
            text.push_str(&format!("\n{}", indented(&gate.question, 2)));
            let how = format!("answer with `{}`{}", answer_command(gate, &view.gates), other_options(gate));
            text.push_str(&indented(&how, 2));
        }
        if let Some(problem) = self.problem() {
            text.push_str(&format!("\n{}", ink.paint(Tone::Bad, "this status is incomplete")));
            text.push_str(&format!("\n{}", indented(&format!("{problem}; `remand audit` shows why"), 2)));
        }
        text
    }

    /// Why the status is incomplete, if it is.
    fn problem(&self) -> Option<String> {
        match (&self.view.detail, self.view.lag) {
            (_, 1..) => {
                let events = amount::counted(self.view.lag, "event");
                Some(format!("this version cannot replay the run, so the last {events} are missing"))
            }
            (None, 0) => Some("this version cannot replay the run".to_string()),
            (Some(_), 0) => None,
        }
    }

    fn fields(&self) -> FieldList {
        let (view, row, now) = (&self.view, &self.view.row, clock::now().0);
        let mut fields = FieldList::new();
        fields.add("run", Cell::new(&row.run.0).toned(Tone::Strong));
        fields.add("workflow", format!("{}, {}, version {}", row.workflow, row.mode, row.version));
        fields.add(&row.subject, line::cut(&line::first(&row.request), 300));
        let by = view.by.as_ref().map(|by| format!(", by {}", line::one(by))).unwrap_or_default();
        let age = amount::age(now, row.created_at.0);
        let started = format!("{}, {age} ago{by}", clock::iso(row.created_at));
        fields.add("started", started);
        let last = amount::age(now, row.updated_at.0);
        fields.add("outcome", Cell::new(row.outcome()).toned(Tone::of_stage(row.stage)));
        fields.add(if row.stage.is_over() { "ended" } else { "last event" }, format!("{last} ago"));
        if let Some(failure) = &self.failure {
            fields.add("because", &failure.why);
            failure.output.iter().for_each(|output| fields.add("whole output", output));
        }
        self.retry.iter().for_each(|retry| fields.add("retry", retry));
        if !row.place.is_empty() {
            fields.add("at", &row.place);
        }
        if !row.stage.is_over() {
            fields.add("driven by", self.describe_driver());
        }
        fields.add("branch", format!("{}, from {}", row.branch, row.base.get(..12).unwrap_or(&row.base)));
        if let Some(commit) = view.detail.as_ref().and_then(|detail| detail.reverted.as_ref()) {
            let undone = format!("by {}, which reverts the commit of the run", short(commit));
            fields.add("undone", Cell::new(undone).toned(Tone::Doubtful));
        }
        fields.add("risk", &row.risk);
        let so_far = if row.stage.is_over() { "" } else { " so far" };
        let level = view.confidence();
        fields.add("confidence", format!("{}{so_far}: {}", level.name(), level.definition()));
        spending::add(&mut fields, view);
        let budgets = view.detail.iter().flat_map(|detail| &detail.budgets);
        let left: Vec<String> =
            budgets.map(|budget| format!("{} {} of {}", budget.budget, budget.left, budget.full)).collect();
        if !left.is_empty() {
            fields.add("budgets left", left.join(", "));
        }
        fields.add("findings", count_findings(&view.findings).describe());
        fields
    }

    fn describe_driver(&self) -> String {
        let resume = invocation::command(format!("resume {}", self.view.row.run));
        match (&self.driver, self.view.row.stage) {
            (Some(driver), _) => driver.clone(),
            (None, RunStage::Waiting) if self.view.requests > 0 => {
                format!("no process; an answer is recorded, continue with `{resume}`")
            }
            (None, RunStage::Waiting) if !self.view.gates.is_empty() => {
                "no process; the run waits for an answer".to_string()
            }
            (None, _) => format!("no process; continue with `{resume}`"),
        }
    }
}

/// The first digits of a commit id.
fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}
