//! The legend below the drawing: the key, shared routes, and budgets.

use crate::card::{ROW, TEXT_SIZE};
use crate::lanes::DrawnPoint;
use crate::measure::width;
use crate::phrase::{scope_phrase, size_phrase, then_phrase};
use crate::shared::SharedEnd;
use remand_kernel::program::Program;

const LEFT: i32 = 24;
/// The distance between items in a row.
const SPACING: i32 = 24;

/// The legend with the positions of its parts.
#[derive(Clone, Debug, Default)]
pub struct Legend {
    /// Sample lines with their style class.
    pub samples: Vec<(&'static str, DrawnPoint)>,
    /// Sample boxes with their style class and corner radius.
    pub boxes: Vec<(&'static str, i32, DrawnPoint)>,
    /// Labels with their style class.
    pub labels: Vec<(String, &'static str, DrawnPoint)>,
    pub width: i32,
    pub height: i32,
}

/// Lays out the legend below `top`.
pub fn legend(program: &Program, shared: &[SharedEnd], top: i32) -> Legend {
    let mut legend = Legend::default();
    let mut x = LEFT;
    let mut lines = vec![("forward", "on"), ("back", "remand"), ("exhausted", "budget spent")];
    if program.phases.iter().any(|phase| phase.owner.is_some()) {
        lines.push(("raise", "raise out of the sub-flow"));
    }
    for (class, text) in lines {
        legend.samples.push((class, DrawnPoint { x, y: top }));
        x = legend.add_text(text.to_string(), "", DrawnPoint { x: x + 38, y: top + 4 }) + SPACING;
    }
    let mut y = top + ROW + 4;
    x = LEFT;
    let boxes = [
        ("box", 2, "role"),
        ("box engine", 2, "engine"),
        ("box human", 2, "human"),
        ("box aside", 6, "aside"),
    ];
    for (class, radius, text) in boxes {
        legend.boxes.push((class, radius, DrawnPoint { x, y }));
        x = legend.add_text(text.to_string(), "", DrawnPoint { x: x + 30, y: y + 4 }) + SPACING;
    }
    legend.add_text("* found by a detector".to_string(), "", DrawnPoint { x, y: y + 4 });
    y += ROW * 2;
    for one in shared {
        legend.add_text(format!("everywhere {}", one.phrase(program)), "", DrawnPoint { x: LEFT, y });
        y += ROW;
    }
    y += if shared.is_empty() { 0 } else { ROW / 2 };
    y = legend.add_budgets(program, y);
    legend.height = y - top + ROW / 2;
    legend
}

impl Legend {
    /// Adds a string and returns its right edge.
    fn add_text(&mut self, text: String, class: &'static str, at: DrawnPoint) -> i32 {
        let right = at.x + width(&text, TEXT_SIZE + i32::from(class == "to"));
        self.width = self.width.max(right + LEFT);
        self.labels.push((text, class, at));
        right
    }

    /// Adds one row per budget, with name and description in two columns, and returns the bottom.
    fn add_budgets(&mut self, program: &Program, top: i32) -> i32 {
        let names = program.budgets.iter().map(|budget| width(&budget.name, TEXT_SIZE + 1));
        let column = LEFT + names.max().unwrap_or(0) + 16;
        let mut y = top;
        for budget in &program.budgets {
            let then = then_phrase(program, budget).map(|then| format!(", then {then}")).unwrap_or_default();
            let description = format!(
                "{} {}{then}",
                size_phrase(program, budget.size),
                scope_phrase(program, budget.scope)
            );
            self.add_text(budget.name.clone(), "to", DrawnPoint { x: LEFT, y });
            self.add_text(description, "", DrawnPoint { x: column, y });
            y += ROW;
        }
        y
    }
}
