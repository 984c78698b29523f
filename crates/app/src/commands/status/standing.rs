//! Where one run stands: its place, its tasks, what it spent and what is open.

use super::{spending, tasks};
use crate::cli;
use crate::commands::findings;
use crate::commands::gates::{answer_command, other_options};
use crate::commands::runs::tone;
use crate::exit::Failure;
use crate::table::{Cell, Fields, Ink, Tone, amount, indented, line};
use crate::workplace::{Workplace, of_ledger};
use remand_kernel::program::{Program, Scope};
use remand_ledger::query::{FindingRow, GateRow, RunRow, RunStage};
use remand_ledger::{Reader, ReplayError, ReplayFrom, Replayed, replay};
use remand_runtime::clock;
use remand_runtime::lock::DriverLock;
use serde_json::{Value, json};

/// All that is shown of one run.
pub struct Standing {
    row: RunRow,
    driver: Option<String>,
    replayed: Result<Replayed, ReplayError>,
    tasks: Vec<tasks::TaskView>,
    findings: Vec<FindingRow>,
    gates: Vec<GateRow>,
    /// What was asked of the run, such as an answer, and not taken yet.
    requests: usize,
    /// Dispatches that ended without telling their tokens.
    untold: u64,
}

impl Standing {
    pub fn read(workplace: &Workplace, reader: &Reader, row: RunRow) -> Result<Standing, Failure> {
        let replayed = replay(reader, &row.run, ReplayFrom::Snapshot);
        let summaries = reader.task_summaries(&row.run).map_err(|error| of_ledger(&error))?;
        let gates = reader.gates(&row.run).map_err(|error| of_ledger(&error))?;
        Ok(Standing {
            driver: DriverLock::holder(&workplace.home.run(&row.run)),
            tasks: tasks::views(summaries, replayed.as_ref().ok()),
            findings: reader.findings(&row.run).map_err(|error| of_ledger(&error))?,
            gates: gates.into_iter().filter(GateRow::is_open).collect(),
            requests: reader.requests(&row.run).map_err(|error| of_ledger(&error))?.len(),
            untold: reader.totals(&row.run).map_err(|error| of_ledger(&error))?.untold,
            replayed,
            row,
        })
    }

    pub fn json(&self) -> Value {
        let budgets: Option<Vec<Value>> = self.replayed.as_ref().ok().map(|replayed| {
            let all = budgets(replayed);
            all.iter()
                .map(|(name, left, full)| json!({ "budget": name, "left": left, "full": full }))
                .collect()
        });
        json!({
            "run": self.row,
            "driver": self.driver,
            "confidence": { "level": self.row.trusted(), "means": self.row.trusted().definition() },
            "budgets": budgets,
            "tasks": self.tasks,
            "findings": findings::tally(&self.findings),
            "gates": self.gates,
            "requests": self.requests,
            "untold": self.untold,
            "problem": self.replayed.as_ref().err().map(ToString::to_string),
        })
    }

    pub fn text(&self, ink: Ink) -> String {
        let mut text = self.fields().render(ink);
        if !self.tasks.is_empty() {
            text.push_str(&format!("\n{}", tasks::table(&self.tasks).render(ink)));
        }
        let unanswered = if self.requests > 0 { &[] } else { self.gates.as_slice() };
        for gate in unanswered {
            text.push_str(&format!("\n{}", ink.paint(Tone::Doubtful, "waits for an answer")));
            text.push_str(&format!("\n{}", indented(&gate.question, 2)));
            let how = format!("answer with `{}`{}", answer_command(gate, &self.gates), other_options(gate));
            text.push_str(&indented(&how, 2));
        }
        if let Err(error) = &self.replayed {
            text.push_str(&format!("\n{}", ink.paint(Tone::Bad, "budgets and tasks cannot be told")));
            text.push_str(&format!("\n{}", indented(&format!("{error}; {}", error.hint()), 2)));
        }
        text
    }

    fn fields(&self) -> Fields {
        let (row, now) = (&self.row, clock::now().0);
        let mut fields = Fields::new();
        fields.add("run", Cell::new(&row.run.0).toned(Tone::Strong));
        fields.add("workflow", format!("{}, {}, by version {}", row.workflow, row.mode, row.version));
        fields.add(&row.subject, line::cut(&line::first(&row.request), 300));
        let begun = format!("{}, {} ago", clock::iso(row.created_at), amount::age(now, row.created_at.0));
        fields.add("begun", begun);
        let since = amount::age(now, row.updated_at.0);
        let stage = match &row.ended {
            Some(ended) => format!("{ended}, {since} ago"),
            None => format!("{} for {since}", row.stage.name()),
        };
        fields.add("stage", Cell::new(stage).toned(tone(row.stage)));
        if !row.place.is_empty() {
            fields.add("at", &row.place);
        }
        if !row.stage.is_over() {
            fields.add("driven by", self.driver_words());
        }
        fields.add("branch", format!("{}, from {}", row.branch, row.base.get(..12).unwrap_or(&row.base)));
        if let Some(commit) =
            self.replayed.as_ref().ok().and_then(|replayed| replayed.state.reverted.as_ref())
        {
            let undone =
                format!("by {}: what the run committed is not on its branch any more", short(commit));
            fields.add("undone", Cell::new(undone).toned(Tone::Doubtful));
        }
        fields.add("risk", &row.risk);
        let so_far = if row.stage.is_over() { "" } else { " so far" };
        let level = row.trusted();
        fields.add("confidence", format!("{}{so_far}: {}", level.name(), level.definition()));
        let replayed = self.replayed.as_ref().ok();
        spending::add(&mut fields, row, replayed.map(|replayed| replayed.state.granted), self.untold);
        if let Some(replayed) = replayed {
            let left = budgets(replayed);
            let left: Vec<String> =
                left.iter().map(|(name, left, full)| format!("{name} {left} of {full}")).collect();
            if !left.is_empty() {
                fields.add("budgets left", left.join(", "));
            }
        }
        fields.add("findings", findings::tally(&self.findings).words());
        fields
    }

    fn driver_words(&self) -> String {
        let resume = cli::command(format!("resume {}", self.row.run));
        match (&self.driver, self.row.stage) {
            (Some(driver), _) => driver.clone(),
            (None, RunStage::Waiting) if self.requests > 0 => {
                format!("nobody; an answer is recorded: `{resume}`")
            }
            (None, RunStage::Waiting) if !self.gates.is_empty() => {
                "nobody; it waits for an answer".to_string()
            }
            (None, _) => format!("nobody: `{resume}`"),
        }
    }
}

/// Enough of a commit to recognise it.
fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}

/// The budgets of the run itself with what is left of each; those of a sub-flow are kept for each task.
fn budgets(replayed: &Replayed) -> Vec<(String, u16, u16)> {
    let (program, state) = (&replayed.program, &replayed.state);
    let amounts = state.left.iter().zip(&state.full);
    let all = program.budgets.iter().zip(amounts);
    all.filter(|(budget, _)| !is_of_a_task(program, budget.scope))
        .map(|(budget, (left, full))| (budget.name.clone(), *left, *full))
        .collect()
}

fn is_of_a_task(program: &Program, scope: Scope) -> bool {
    match scope {
        Scope::Entry(phase) | Scope::Phase(phase) => program.phase(phase).owner.is_some(),
        Scope::Run | Scope::Subject => false,
    }
}
