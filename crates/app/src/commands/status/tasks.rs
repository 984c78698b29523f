//! The table of a run's tasks: state, check results, and rounds left.

use remand_ledger::view::TaskOverview;
use remand_terminal::Tone;
use remand_terminal::table::{Cell, ColumnFit, TextTable};

pub fn table(tasks: &[TaskOverview]) -> TextTable {
    let mut table = TextTable::new(&[
        ("task", ColumnFit::Cut),
        ("state", ColumnFit::Cut),
        ("passed", ColumnFit::Whole),
        ("failed", ColumnFit::Whole),
        ("regressed", ColumnFit::Whole),
        ("left", ColumnFit::Wrap),
    ]);
    for task in tasks {
        let summary = &task.summary;
        let alarming = |count: u64| {
            let cell = Cell::new(count.to_string());
            if count > 0 { cell.toned(Tone::Bad) } else { cell }
        };
        let has_results = summary.iteration.is_some() || summary.passed + summary.failed > 0;
        let left: Vec<String> =
            task.rounds_left.iter().map(|(name, left)| format!("{name} {left}")).collect();
        let mut cells = vec![Cell::new(&summary.task), Cell::new(task.state.to_string())];
        if has_results {
            cells.push(Cell::new(summary.passed.to_string()));
            cells.push(alarming(summary.failed));
            cells.push(alarming(summary.regressions));
        } else {
            cells.extend(["-", "-", "-"].map(Cell::new));
        }
        cells.push(Cell::new(left.join(", ")));
        table.row(cells);
    }
    table
}
