//! The positions of boxes and lines in the drawing: the main flow in a column, asides to its right, lines in lanes
//! between them.
//!
//! Boxes and ports of the main column are at multiples of 8, those of asides at an offset of 4, so their lines never
//! coincide.

use crate::asides::{order_asides, vertical_positions};
use crate::card::{Card, CardSide, ENTRY_DISTANCE, ROW};
use crate::edges::RouteEdge;
use crate::lanes::{Channel, DrawnPoint, DrawnWire, LANE_DISTANCE, assign_lanes, side, wires};
use crate::marks::{EdgeMarks, RunMarks};
use remand_kernel::ids::PhaseId;
use remand_kernel::program::Program;
use std::collections::BTreeMap;

const GRID: i32 = 8;
const MARGIN: i32 = 24;
/// The space above the first box: title and description.
const TOP: i32 = 72;
/// The minimum distance between boxes.
const GAP: i32 = 32;
/// The height of the strip at the end of a sub-flow's frame, which shows the tally.
pub const BAR_HEIGHT: i32 = 32;

/// A drawing: boxes and lines with their positions.
#[derive(Clone, Debug)]
pub struct Layout {
    pub main: Vec<Card>,
    pub asides: Vec<Card>,
    /// The boxes of each sub-flow.
    pub inner: BTreeMap<PhaseId, Vec<Card>>,
    pub wires: Vec<DrawnWire>,
    pub width: i32,
    pub height: i32,
}

/// Lays out the edges of a program.
pub fn layout(program: &Program, edges: &[RouteEdge], marks: Option<(&RunMarks, &EdgeMarks)>) -> Layout {
    let flow = |owner: Option<PhaseId>, aside: bool| -> Vec<PhaseId> {
        program.flow(owner).filter(|id| owner.is_some() || program.phase(*id).aside == aside).collect()
    };
    let (main, asides) = (flow(None, false), flow(None, true));
    let last = main.last().copied();
    let build = |ids: &[PhaseId]| -> Vec<Card> {
        ids.iter().map(|id| Card::new(program, *id, edges, marks, |edge| side(program, edge, last))).collect()
    };
    let inner =
        main.iter().map(|id| (*id, build(&flow(Some(*id), false)))).filter(|(_, cards)| !cards.is_empty());
    let inner: BTreeMap<PhaseId, Vec<Card>> = inner.collect();
    let mut layout = Layout {
        asides: build(&order_asides(program, edges, &asides)),
        main: build(&main),
        inner,
        wires: wires(program, edges, last),
        width: 0,
        height: 0,
    };
    layout.set_sizes(program);
    layout.place_vertically(program, edges);
    layout.draw_wires(program);
    layout
}

impl Layout {
    /// All boxes.
    pub fn cards(&self) -> Vec<&Card> {
        self.main.iter().chain(&self.asides).chain(self.inner.values().flatten()).collect()
    }

    /// The x of the arrows between the boxes of the main column; frames are not always centred on it.
    pub fn axis(&self) -> i32 {
        let narrow = self.main.iter().find(|card| !self.inner.contains_key(&card.id));
        let inner = self.inner.values().flatten().next();
        narrow.or(inner).map_or(0, |card| card.x + card.width / 2)
    }

    /// Sets widths, and heights with room for the arrows that enter.
    fn set_sizes(&mut self, program: &Program) {
        let mut entries: BTreeMap<(PhaseId, CardSide), i32> = BTreeMap::new();
        for wire in &self.wires {
            for id in wire.targets(program) {
                *entries.entry((id, wire.entry_side(program.phase(id).aside))).or_insert(0) += 1;
            }
        }
        let max_entries = |id: PhaseId| {
            [CardSide::Left, CardSide::Right]
                .map(|side| *entries.get(&(id, side)).unwrap_or(&0))
                .into_iter()
                .max()
        };
        let column: i32 =
            self.main.iter().chain(self.inner.values().flatten()).map(|card| card.width).max().unwrap_or(0);
        let aside = self.asides.iter().map(|card| card.width).max().unwrap_or(0);
        for card in self.main.iter_mut().chain(self.inner.values_mut().flatten()) {
            card.wrap_below(column / 2 - 8);
        }
        for cards in self.inner.values_mut() {
            for card in cards.iter_mut() {
                card.set_heights(max_entries(card.id).unwrap_or(0), 0);
                card.width = column;
            }
        }
        for card in &mut self.main {
            let between = self.inner.get(&card.id).map_or(0, |cards| stack_height(cards) + BAR_HEIGHT);
            // The arrows of a sub-flow enter its strip, not the frame's head.
            let entries = max_entries(card.id).unwrap_or(0);
            card.set_heights(if between > 0 { entries.min(4) } else { entries }, between);
            card.width = column;
        }
        for card in &mut self.asides {
            card.set_heights(max_entries(card.id).unwrap_or(0), 0);
            card.width = aside;
        }
    }

    /// Places boxes from top to bottom; the main column is stretched if the asides need more height.
    fn place_vertically(&mut self, program: &Program, edges: &[RouteEdge]) {
        let gaps = i32::try_from(self.main.len().saturating_sub(1)).unwrap_or(0).max(1);
        let main: i32 = self.main.iter().map(|card| card.height + gap_below(card)).sum();
        let asides: i32 = self.asides.iter().map(|card| card.height + GAP).sum();
        let stretch = snap(((asides - main) / gaps).max(0));
        let mut y = TOP;
        for card in &mut self.main {
            card.y = y;
            if let Some(inner) = self.inner.get_mut(&card.id) {
                stack(inner, y + card.head_height + GAP / 2);
            }
            y += card.height + snap(gap_below(card)) + stretch;
        }
        self.place_asides(program, edges);
        let bottom =
            self.cards().iter().map(|card| card.y + card.height + card.labels_height()).max().unwrap_or(TOP);
        self.height = bottom + 2 * GAP;
    }

    /// Puts each aside as near as possible to its ideal position, without overlap.
    fn place_asides(&mut self, program: &Program, edges: &[RouteEdge]) {
        let positions = vertical_positions(program, edges);
        let ideal: Vec<i32> = self
            .asides
            .iter()
            .map(|card| {
                let position = positions.get(&card.id).copied().unwrap_or(0);
                let at = usize::try_from(position / 1000).unwrap_or(0).min(self.main.len().saturating_sub(1));
                let (Some(above), below) = (self.main.get(at), self.main.get(at + 1)) else {
                    return TOP;
                };
                let next = below.map_or(above.y + above.height, |below| below.y);
                above.y + (next - above.y) * (position % 1000) / 1000
            })
            .collect();
        let mut groups: Vec<Group> = Vec::new();
        let mut heights = 0;
        for (card, ideal) in self.asides.iter().zip(ideal) {
            // With the heights above subtracted, the ideal positions in a group can be averaged.
            groups.push(Group { sum: i64::from(ideal - heights), count: 1 });
            heights += card.height + GAP;
            while let [.., upper, lower] = groups.as_mut_slice() {
                if upper.offset() <= lower.offset() {
                    break;
                }
                upper.sum += lower.sum;
                upper.count += lower.count;
                groups.pop();
            }
        }
        let offsets =
            groups.iter().flat_map(|group| (0..group.count).map(|_| group.offset())).collect::<Vec<i64>>();
        let mut heights = 0;
        for (card, offset) in self.asides.iter_mut().zip(offsets) {
            let y = i32::try_from(offset).unwrap_or(0).max(TOP) + heights;
            card.y = snap(y) + GRID / 2;
            heights += snap(card.height + GAP);
        }
    }

    fn draw_wires(&mut self, program: &Program) {
        // Lanes depend only on vertical positions, and widths on lanes, so horizontal positions come last.
        self.connect(program);
        let counts = assign_lanes(&mut self.wires);
        let lanes = |channel: Channel| counts.get(&channel).copied().unwrap_or(0) * LANE_DISTANCE + 20;
        let frame = |id: PhaseId| (lanes(Channel::InnerLeft(id)), lanes(Channel::InnerRight(id)));
        let column = self.main.first().map_or(0, |card| card.width);
        let left = self.inner.keys().map(|id| frame(*id).0).max().unwrap_or(0);
        let right = self.inner.keys().map(|id| frame(*id).1).max().unwrap_or(0);
        let main_x = MARGIN + lanes(Channel::Left) + left;
        let main_right = main_x + column + right;
        let aside_x = main_right + lanes(Channel::Middle);
        for card in &mut self.main {
            card.x = main_x;
            if self.inner.contains_key(&card.id) {
                let (left, right) = frame(card.id);
                card.x -= left;
                card.width += left + right;
            }
        }
        for card in self.inner.values_mut().flatten() {
            card.x = main_x;
        }
        for card in &mut self.asides {
            card.x = aside_x;
        }
        let aside_right = self.asides.first().map_or(main_right, |card| card.x + card.width);
        for wire in &mut self.wires {
            let distance = (wire.lane + 1) * LANE_DISTANCE;
            wire.x = match wire.channel {
                Channel::Left => main_x - left - distance,
                Channel::Middle => main_right + distance,
                Channel::Right => aside_right + distance,
                Channel::InnerLeft(_) => main_x - distance,
                Channel::InnerRight(_) => main_x + column + distance,
            };
            (wire.sources, wire.source_edges, wire.heads) = (Vec::new(), Vec::new(), Vec::new());
        }
        self.connect(program);
        self.width = aside_right + lanes(Channel::Right) + MARGIN;
    }

    /// Finds the points at which wires leave and enter boxes.
    fn connect(&mut self, program: &Program) {
        let mut entries: BTreeMap<(PhaseId, CardSide), i32> = BTreeMap::new();
        let mut wires = std::mem::take(&mut self.wires);
        let cards = self.cards();
        for wire in &mut wires {
            wire.find_sources(&cards);
            for id in wire.targets(program) {
                let Some(card) = cards.iter().find(|card| card.id == id) else {
                    continue;
                };
                let side = wire.entry_side(program.phase(id).aside);
                let number = entries.entry((id, side)).or_insert(0);
                *number += 1;
                let head = match (wire.channel, self.inner.get(&id).and_then(|inner| inner.last())) {
                    (Channel::InnerRight(_), Some(last)) => {
                        DrawnPoint { x: last.x + last.width, y: bar_top(last) + *number * ENTRY_DISTANCE }
                    }
                    (_, _) if side == CardSide::Left => {
                        DrawnPoint { x: card.x, y: card.y + *number * ENTRY_DISTANCE }
                    }
                    (_, _) => DrawnPoint { x: card.x + card.width, y: card.y + *number * ENTRY_DISTANCE },
                };
                wire.heads.push(head);
            }
        }
        self.wires = wires;
    }
}

/// Boxes that touch and share one offset, the average of their ideal offsets.
struct Group {
    sum: i64,
    count: i64,
}

impl Group {
    fn offset(&self) -> i64 {
        self.sum / self.count
    }
}

/// The top of the strip below the last box of a sub-flow.
pub fn bar_top(last: &Card) -> i32 {
    last.y + last.height + snap(gap_below(last)) - GAP / 2
}

fn gap_below(card: &Card) -> i32 {
    GAP + card.labels_height()
}

fn stack(cards: &mut [Card], top: i32) {
    let mut y = top;
    for card in cards {
        card.y = y;
        y += card.height + snap(gap_below(card));
    }
}

fn stack_height(cards: &[Card]) -> i32 {
    GAP / 2 + cards.iter().map(|card| card.height + snap(gap_below(card))).sum::<i32>()
}

/// Rounds up to a multiple of the grid.
fn snap(y: i32) -> i32 {
    (y + GRID - 1).div_euclid(GRID) * GRID
}

const _: () = assert!(ROW % GRID == 0 && ENTRY_DISTANCE % GRID == 0 && GAP % GRID == 0 && TOP % GRID == 0);

#[cfg(test)]
#[path = "layout_tests.rs"]
mod tests;
