//! The tasks of a run: where each is, what of its checks passed, and the rounds that it has left.

use crate::table::{Cell, Fit, Table, Tone};
use remand_kernel::program::{Program, Work};
use remand_kernel::state::{State, TaskProgress, TaskRun};
use remand_ledger::Replayed;
use remand_ledger::query::TaskSummary;
use serde::Serialize;

/// One task as people see it.
#[derive(Debug, Serialize)]
pub struct TaskView {
    #[serde(flatten)]
    summary: TaskSummary,
    state: String,
    /// What is left of the rounds of its own.
    left: Vec<(String, u16)>,
}

/// Every task with its state, as far as the run can be lived through again.
pub fn views(summaries: Vec<TaskSummary>, replayed: Option<&Replayed>) -> Vec<TaskView> {
    let view = |summary: TaskSummary| {
        let at = replayed.and_then(|replayed| position(replayed, &summary.task));
        let state = match replayed {
            None => "unknown".to_string(),
            Some(_) if !summary.listed => "not planned any more".to_string(),
            Some(replayed) => state(&replayed.program, &replayed.state, &summary, at),
        };
        let left = match (replayed, at) {
            (Some(replayed), Some(run)) => rounds(&replayed.program, run),
            (None, _) | (Some(_), None) => Vec::new(),
        };
        TaskView { summary, state, left }
    };
    summaries.into_iter().map(view).collect()
}

/// The task on its way through the sub-flow, while the run is in it.
fn position<'r>(replayed: &'r Replayed, task: &str) -> Option<&'r TaskRun> {
    let (program, state) = (&replayed.program, &replayed.state);
    let list = match &program.phase(state.main.phase).work {
        Work::Flow { list, .. } => *list,
        Work::Role { .. }
        | Work::Each { .. }
        | Work::Panel { .. }
        | Work::Operation { .. }
        | Work::Ask { .. } => return None,
    };
    let at = state.lists[list.index()].iter().position(|item| item.id == task)?;
    state.tasks.get(at)
}

fn state(program: &Program, state: &State, summary: &TaskSummary, run: Option<&TaskRun>) -> String {
    let finished = state.finished.contains_key(&summary.task);
    match run.map(|run| (run.progress, run)) {
        Some((TaskProgress::Running, run)) => format!("in {}", program.phase(run.desk.phase).name),
        Some((TaskProgress::Waiting, _)) => {
            let lacking: Vec<&str> = summary
                .needs
                .iter()
                .filter(|need| !state.finished.contains_key(*need))
                .map(String::as_str)
                .collect();
            if lacking.is_empty() { "waits".to_string() } else { format!("waits for {}", lacking.join(", ")) }
        }
        Some((TaskProgress::Stands, _)) => "stands".to_string(),
        Some((TaskProgress::Blocked, _)) => "blocked".to_string(),
        Some((TaskProgress::Exited(_), _)) if finished => "finished".to_string(),
        Some((TaskProgress::Exited(signal), _)) => format!("ended with {}", program.signal(signal)),
        None if finished => "finished".to_string(),
        None => "not finished".to_string(),
    }
}

fn rounds(program: &Program, run: &TaskRun) -> Vec<(String, u16)> {
    run.left.iter().map(|(budget, left)| (program.budget(*budget).name.clone(), *left)).collect()
}

pub fn table(views: &[TaskView]) -> Table {
    let mut table = Table::new(&[
        ("task", Fit::Cut),
        ("state", Fit::Cut),
        ("passed", Fit::Whole),
        ("failed", Fit::Whole),
        ("regressed", Fit::Whole),
        ("left", Fit::Wrap),
    ]);
    for view in views {
        let bad = |count: u64| {
            let cell = Cell::new(count.to_string());
            if count > 0 { cell.toned(Tone::Bad) } else { cell }
        };
        let verified = view.summary.iteration.is_some() || view.summary.passed + view.summary.failed > 0;
        let left: Vec<String> = view.left.iter().map(|(name, left)| format!("{name} {left}")).collect();
        let mut cells = vec![Cell::new(&view.summary.task), Cell::new(&view.state)];
        if verified {
            cells.push(Cell::new(view.summary.passed.to_string()));
            cells.push(bad(view.summary.failed));
            cells.push(bad(view.summary.regressions));
        } else {
            cells.extend(["-", "-", "-"].map(Cell::new));
        }
        cells.push(Cell::new(left.join(", ")));
        table.row(cells);
    }
    table
}
