//! A phase as a box in the drawing: its text, and the rows where its edges leave.

use crate::edges::{EdgeKind, EdgeTarget, EdgeTone, RouteEdge};
use crate::label::label;
use crate::marks::{EdgeMarks, RunMarks};
use crate::measure::{width, wrap};
use crate::phrase::{budget_name, remarks, who};
use remand_kernel::ids::PhaseId;
use remand_kernel::program::Program;

/// Font sizes and the height of a row, in pixels.
pub const NAME_SIZE: i32 = 13;
pub const TEXT_SIZE: i32 = 11;
pub const ROW: i32 = 16;
/// The distance between arrows that enter a box on the same side.
pub const ENTRY_DISTANCE: i32 = 8;
pub const PADDING: i32 = 10;
/// Boxes are as wide as their text, within these limits.
const MIN_WIDTH: i32 = 190;
const MAX_WIDTH: i32 = 320;

/// Where an edge leaves its box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CardSide {
    Left,
    Right,
    /// Down to the box below; the label is next to the arrow.
    Below,
    /// The edge has no line: the row shows where it ends.
    Inside,
}

/// A row of a box: one edge.
#[derive(Clone, Debug)]
pub struct CardRow {
    /// The index of the edge.
    pub edge: usize,
    pub side: CardSide,
    pub tone: EdgeTone,
    /// The name of the phase or end that the edge leads to.
    pub target: String,
    pub lines: Vec<String>,
    /// The top of the row, from the top of the box.
    pub top: i32,
}

/// A box.
#[derive(Clone, Debug)]
pub struct Card {
    pub id: PhaseId,
    /// Who does the phase, and under which conditions.
    pub head: Vec<String>,
    pub rows: Vec<CardRow>,
    /// The labels of the arrow to the box below.
    pub below: Vec<(String, EdgeTone)>,
    /// The edges that lead to the box below.
    pub down: Vec<usize>,
    pub head_height: i32,
    pub width: i32,
    pub height: i32,
    pub x: i32,
    pub y: i32,
}

impl Card {
    pub fn new(
        program: &Program,
        id: PhaseId,
        edges: &[RouteEdge],
        marks: Option<(&RunMarks, &EdgeMarks)>,
        side: impl Fn(&RouteEdge) -> CardSide,
    ) -> Card {
        let phase = program.phase(id);
        let head: Vec<String> = [vec![who(program, phase)], remarks(program, phase)].concat();
        let mut rows = Vec::new();
        let (mut below, mut down) = (Vec::new(), Vec::new());
        let mut text_width = width(&phase.name, NAME_SIZE + 1).max(MIN_WIDTH);
        for line in &head {
            text_width = text_width.max(width(line, TEXT_SIZE));
        }
        for (at, edge) in edges.iter().enumerate().filter(|(_, edge)| edge.from == id) {
            // A no-break space keeps the budget on the same line as its slash.
            let text = edge_text(program, at, edges, marks).replace(" / ", " /\u{a0}");
            let side = side(edge);
            if side == CardSide::Below {
                below.push((text, edge.tone()));
                down.push(at);
                continue;
            }
            let target = target_name(program, edge);
            // Bold text is wider, and a pill has a margin.
            let target_width = width(&target, TEXT_SIZE + 1) + 14;
            let lines = wrap(&text, TEXT_SIZE, MAX_WIDTH - target_width);
            text_width =
                lines.iter().map(|line| width(line, TEXT_SIZE) + target_width).fold(text_width, i32::max);
            rows.push(CardRow { edge: at, side, tone: edge.tone(), target, lines, top: 0 });
        }
        let width = text_width + 2 * PADDING;
        Card { id, head, rows, below, down, head_height: 0, width, height: 0, x: 0, y: 0 }
    }

    /// Sets the heights, with room for `entries` arrows that enter on one side. `between` is the height of the
    /// sub-flow between the head and the rows.
    pub fn set_heights(&mut self, entries: i32, between: i32) {
        let lines = i32::try_from(self.head.len()).unwrap_or(0);
        self.head_height = (24 + lines * ROW).max((entries + 1) * ENTRY_DISTANCE);
        let mut top = self.head_height + between;
        for row in &mut self.rows {
            row.top = top;
            top += ROW * i32::try_from(row.lines.len()).unwrap_or(1);
        }
        self.height = if self.rows.is_empty() && between == 0 { top } else { top + ENTRY_DISTANCE };
    }

    /// The y at which the line of a row starts.
    pub fn port(&self, row: &CardRow) -> i32 {
        self.y + row.top + ROW / 2
    }

    /// Wraps the labels below the box, so they stay right of the arrow and within the column.
    pub fn wrap_below(&mut self, limit: i32) {
        let labels = std::mem::take(&mut self.below);
        for (label, tone) in labels {
            self.below.extend(wrap(&label, TEXT_SIZE, limit).into_iter().map(|line| (line, tone)));
        }
    }

    /// The height that the labels below the box need.
    pub fn labels_height(&self) -> i32 {
        i32::try_from(self.below.len()).unwrap_or(0) * ROW
    }
}

/// The label of an edge; of a run also what is left of its budgets, and how often it was taken.
fn edge_text(
    program: &Program,
    at: usize,
    edges: &[RouteEdge],
    marks: Option<(&RunMarks, &EdgeMarks)>,
) -> String {
    let edge = &edges[at];
    let mut label = label(program, edge, edges);
    let Some((run, taken)) = marks else { return label.line() };
    let spends: Vec<String> = edge
        .spends
        .iter()
        .map(|budget| {
            let name = budget_name(program, edge.from, *budget);
            match run.left.get(budget) {
                Some((left, full)) => format!("{name}\u{a0}{left}/{full}"),
                None => name.to_string(),
            }
        })
        .collect();
    label.spends = spends.join(", ");
    match taken.count(at) {
        0 => label.line(),
        count => format!("{}\u{a0}×{count}", label.line()),
    }
}

fn target_name(program: &Program, edge: &RouteEdge) -> String {
    match (&edge.to, edge.kind) {
        (EdgeTarget::Phase(_), EdgeKind::Raise(signal)) => format!("raise {}", program.signal(signal)),
        (EdgeTarget::Phase(id), EdgeKind::Restore) => format!("restore {}", program.phase(*id).name),
        (
            EdgeTarget::Phase(id),
            EdgeKind::Next
            | EdgeKind::Pass
            | EdgeKind::To
            | EdgeKind::Remand
            | EdgeKind::Return
            | EdgeKind::Close,
        ) => program.phase(*id).name.clone(),
        (EdgeTarget::Injector, _) => "injector".to_string(),
        (EdgeTarget::Caller, _) => "return".to_string(),
        (EdgeTarget::End(end), _) => end.name(),
    }
}
