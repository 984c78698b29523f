//! A chart of convergence: open gaps at the end of each round.

use remand_kernel::gaps::Board;

/// The maximum width of a bar.
const MAX_WIDTH: u32 = 40;

/// Draws one bar for the inventory and one for each round.
pub fn open_gaps(board: &Board) -> String {
    let rows = board.rows();
    let first = rows.first().map_or(0, |row| row.start);
    let max_open = rows.iter().map(|row| row.end).chain([first]).max().unwrap_or(0).max(1);
    let mut text = "open gaps after each round\n".to_string();
    text.push_str(&bar("start", first, max_open, ""));
    for row in rows {
        let remark = if row.state.counts() { "" } else { " (not counted)" };
        text.push_str(&bar(&row.round.to_string(), row.end, max_open, remark));
    }
    text
}

fn bar(name: &str, open: u32, max_open: u32, remark: &str) -> String {
    // An open gap always gets at least one block.
    let length = if open == 0 { 0 } else { (open * MAX_WIDTH / max_open.max(1)).max(1) };
    let scaled = if max_open <= MAX_WIDTH { open * (MAX_WIDTH / max_open) } else { length };
    let blocks = "█".repeat(scaled as usize);
    let between = if blocks.is_empty() { "" } else { " " };
    format!("  {name:>5}  {blocks}{between}{open}{remark}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    // SR-07
    #[test]
    fn bars_are_to_scale_and_an_open_gap_is_always_visible() {
        assert_eq!(bar("1", 0, 8, ""), "      1  0\n");
        assert_eq!(bar("2", 2, 8, ""), format!("      2  {} 2\n", "█".repeat(10)));
        assert_eq!(bar("3", 1, 400, " (not counted)"), "      3  █ 1 (not counted)\n");
    }
}
