//! The places of boxes and lines in the picture: the main flow in a column, asides right of it, lines in lanes between.
//!
//! Boxes and ports of the main column are at multiples of 8, those of asides at an offset of 4, so that their lines
//! never coincide.

use crate::card::{Card, ENTRY, ROW, Side};
use crate::edges::RouteEdge;
use crate::lanes::{Channel, DrawnPoint, DrawnWire, LANE, assign, side, wires};
use crate::leaders::{by_leaders, leaders};
use remand_kernel::ids::PhaseId;
use remand_kernel::program::Program;
use std::collections::BTreeMap;

const GRID: i32 = 8;
const MARGIN: i32 = 24;
/// The space above the first box: title and description.
const TOP: i32 = 72;
/// The least distance of boxes.
const GAP: i32 = 32;
/// The strip in a frame where a sub-flow ends and its owner counts.
pub const BAR: i32 = 32;

/// A picture: boxes and lines with their places.
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
pub fn layout(program: &Program, edges: &[RouteEdge]) -> Layout {
    let flow = |owner: Option<PhaseId>, aside: bool| -> Vec<PhaseId> {
        program.flow(owner).filter(|id| owner.is_some() || program.phase(*id).aside == aside).collect()
    };
    let (main, asides) = (flow(None, false), flow(None, true));
    let last = main.last().copied();
    let build = |ids: &[PhaseId]| -> Vec<Card> {
        ids.iter().map(|id| Card::new(program, *id, edges, |edge| side(program, edge, last))).collect()
    };
    let inner =
        main.iter().map(|id| (*id, build(&flow(Some(*id), false)))).filter(|(_, cards)| !cards.is_empty());
    let inner: BTreeMap<PhaseId, Vec<Card>> = inner.collect();
    let mut layout = Layout {
        asides: build(&by_leaders(program, edges, &asides)),
        main: build(&main),
        inner,
        wires: wires(program, edges, last),
        width: 0,
        height: 0,
    };
    layout.fix_sizes(program);
    layout.place_down(program, edges);
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

    /// Widths, and heights with room for the arrows that enter.
    fn fix_sizes(&mut self, program: &Program) {
        let mut entries: BTreeMap<(PhaseId, Side), i32> = BTreeMap::new();
        for wire in &self.wires {
            for id in wire.targets(program) {
                *entries.entry((id, wire.enters(program.phase(id).aside))).or_insert(0) += 1;
            }
        }
        let most = |id: PhaseId| {
            [Side::Left, Side::Right].map(|side| *entries.get(&(id, side)).unwrap_or(&0)).into_iter().max()
        };
        let column: i32 =
            self.main.iter().chain(self.inner.values().flatten()).map(|card| card.width).max().unwrap_or(0);
        let aside = self.asides.iter().map(|card| card.width).max().unwrap_or(0);
        for card in self.main.iter_mut().chain(self.inner.values_mut().flatten()) {
            card.wrap_below(column / 2 - 8);
        }
        for cards in self.inner.values_mut() {
            for card in cards.iter_mut() {
                card.fix_heights(most(card.id).unwrap_or(0), 0);
                card.width = column;
            }
        }
        for card in &mut self.main {
            let between = self.inner.get(&card.id).map_or(0, |cards| stack_height(cards) + BAR);
            // The arrows of a sub-flow enter its strip, not the frame's head.
            let most =
                if between > 0 { most(card.id).unwrap_or(0).min(4) } else { most(card.id).unwrap_or(0) };
            card.fix_heights(most, between);
            card.width = column;
        }
        for card in &mut self.asides {
            card.fix_heights(most(card.id).unwrap_or(0), 0);
            card.width = aside;
        }
    }

    /// Places boxes from top to bottom; the main column is stretched when the asides need more height.
    fn place_down(&mut self, program: &Program, edges: &[RouteEdge]) {
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

    /// Puts each aside as near as possible to where it belongs, without overlap.
    fn place_asides(&mut self, program: &Program, edges: &[RouteEdge]) {
        let places = leaders(program, edges);
        let wanted: Vec<i32> = self
            .asides
            .iter()
            .map(|card| {
                let place = places.get(&card.id).copied().unwrap_or(0);
                let at = usize::try_from(place / 1000).unwrap_or(0).min(self.main.len().saturating_sub(1));
                let (Some(above), below) = (self.main.get(at), self.main.get(at + 1)) else {
                    return TOP;
                };
                let next = below.map_or(above.y + above.height, |below| below.y);
                above.y + (next - above.y) * (place % 1000) / 1000
            })
            .collect();
        let mut groups: Vec<Group> = Vec::new();
        let mut heights = 0;
        for (card, wanted) in self.asides.iter().zip(wanted) {
            // Subtracts the heights above, so that all boxes of a group vote for the same place.
            groups.push(Group { sum: i64::from(wanted - heights), count: 1 });
            heights += card.height + GAP;
            while let [.., upper, lower] = groups.as_mut_slice() {
                if upper.place() <= lower.place() {
                    break;
                }
                upper.sum += lower.sum;
                upper.count += lower.count;
                groups.pop();
            }
        }
        let places =
            groups.iter().flat_map(|group| (0..group.count).map(|_| group.place())).collect::<Vec<i64>>();
        let mut heights = 0;
        for (card, place) in self.asides.iter_mut().zip(places) {
            let y = i32::try_from(place).unwrap_or(0).max(TOP) + heights;
            card.y = snap(y) + GRID / 2;
            heights += snap(card.height + GAP);
        }
    }

    fn draw_wires(&mut self, program: &Program) {
        // Lanes depend on heights alone, and widths on lanes: places across come last.
        self.connect(program);
        let counts = assign(&mut self.wires);
        let lanes = |channel: Channel| counts.get(&channel).copied().unwrap_or(0) * LANE + 20;
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
            let out = (wire.lane + 1) * LANE;
            wire.x = match wire.channel {
                Channel::Left => main_x - left - out,
                Channel::Middle => main_right + out,
                Channel::Right => aside_right + out,
                Channel::InnerLeft(_) => main_x - out,
                Channel::InnerRight(_) => main_x + column + out,
            };
            (wire.sources, wire.heads) = (Vec::new(), Vec::new());
        }
        self.connect(program);
        self.width = aside_right + lanes(Channel::Right) + MARGIN;
    }

    /// Finds the points at which wires leave and enter boxes.
    fn connect(&mut self, program: &Program) {
        let mut taken: BTreeMap<(PhaseId, Side), i32> = BTreeMap::new();
        let mut wires = std::mem::take(&mut self.wires);
        let cards = self.cards();
        for wire in &mut wires {
            wire.find_sources(&cards);
            for id in wire.targets(program) {
                let Some(card) = cards.iter().find(|card| card.id == id) else {
                    continue;
                };
                let side = wire.enters(program.phase(id).aside);
                let number = taken.entry((id, side)).or_insert(0);
                *number += 1;
                let head = match (wire.channel, self.inner.get(&id).and_then(|inner| inner.last())) {
                    (Channel::InnerRight(_), Some(last)) => {
                        DrawnPoint { x: last.x + last.width, y: bar_top(last) + *number * ENTRY }
                    }
                    (_, _) if side == Side::Left => DrawnPoint { x: card.x, y: card.y + *number * ENTRY },
                    (_, _) => DrawnPoint { x: card.x + card.width, y: card.y + *number * ENTRY },
                };
                wire.heads.push(head);
            }
        }
        self.wires = wires;
    }
}

/// Boxes that touch and share one displacement.
struct Group {
    sum: i64,
    count: i64,
}

impl Group {
    fn place(&self) -> i64 {
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

/// The next multiple of the grid.
fn snap(y: i32) -> i32 {
    (y + GRID - 1).div_euclid(GRID) * GRID
}

const _: () = assert!(ROW % GRID == 0 && ENTRY % GRID == 0 && GAP % GRID == 0 && TOP % GRID == 0);

#[cfg(test)]
#[path = "layout_tests.rs"]
mod tests;
