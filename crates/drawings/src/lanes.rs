//! The lines of the drawing: edges to the same phase join in one vertical lane, and no two lanes overlap.

use crate::card::{Card, CardSide};
use crate::edges::{EdgeKind, EdgeTarget, EdgeTone, RouteEdge};
use remand_kernel::ids::PhaseId;
use remand_kernel::program::Program;
use std::collections::BTreeMap;

/// The distance between lanes.
pub const LANE_DISTANCE: i32 = 10;

/// The space in which a line runs up or down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Channel {
    /// Left of the main column, for edges that lead back.
    Left,
    /// Between the main column and the asides.
    Middle,
    /// Right of the asides.
    Right,
    /// Inside the frame of a sub-flow.
    InnerLeft(PhaseId),
    InnerRight(PhaseId),
}

impl Channel {
    /// Whether the channel is inside a frame.
    pub fn is_inner(self) -> bool {
        match self {
            Channel::InnerLeft(_) | Channel::InnerRight(_) => true,
            Channel::Left | Channel::Middle | Channel::Right => false,
        }
    }

    /// Whether the channel is inside the frame of this phase.
    pub fn is_inside(self, frame: PhaseId) -> bool {
        match self {
            Channel::InnerLeft(owner) | Channel::InnerRight(owner) => owner == frame,
            Channel::Left | Channel::Middle | Channel::Right => false,
        }
    }
}

/// Edges that join in one lane.
#[derive(Clone, Debug)]
pub struct DrawnWire {
    pub channel: Channel,
    pub to: EdgeTarget,
    pub tone: EdgeTone,
    /// The indexes of the edges.
    pub edges: Vec<usize>,
    /// The lane, counted from the main column outwards.
    pub lane: i32,
    pub x: i32,
    pub sources: Vec<DrawnPoint>,
    /// The edge that leaves at each source.
    pub source_edges: Vec<usize>,
    pub heads: Vec<DrawnPoint>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawnPoint {
    pub x: i32,
    pub y: i32,
}

/// Where an edge leaves its box.
pub fn side(program: &Program, edge: &RouteEdge, last: Option<PhaseId>) -> CardSide {
    let phase = program.phase(edge.from);
    match (&edge.to, channel(program, edge)) {
        (EdgeTarget::End(crate::edges::RunEnd::Done), _) if last == Some(edge.from) => CardSide::Below,
        (EdgeTarget::End(_) | EdgeTarget::Caller, _) => CardSide::Inside,
        (EdgeTarget::Phase(_) | EdgeTarget::Injector, None) => CardSide::Inside,
        (EdgeTarget::Phase(_), Some(_))
            if matches!(edge.kind, EdgeKind::Next | EdgeKind::Pass) && !phase.aside =>
        {
            CardSide::Below
        }
        (_, Some(Channel::Left | Channel::InnerLeft(_))) => CardSide::Left,
        (_, Some(Channel::Middle)) => {
            if phase.aside {
                CardSide::Left
            } else {
                CardSide::Right
            }
        }
        (_, Some(Channel::Right | Channel::InnerRight(_))) => CardSide::Right,
    }
}

/// The channel that an edge runs in; `None` for an edge to an end or to the caller.
pub fn channel(program: &Program, edge: &RouteEdge) -> Option<Channel> {
    let from = program.phase(edge.from);
    let to = match &edge.to {
        EdgeTarget::Phase(id) => *id,
        EdgeTarget::Injector if from.aside => return Some(Channel::Middle),
        EdgeTarget::Injector => return Some(Channel::Left),
        EdgeTarget::Caller | EdgeTarget::End(_) => return None,
    };
    let target = program.phase(to);
    Some(match (from.owner, target.owner) {
        (Some(owner), _) if owner == to => Channel::InnerRight(owner),
        (Some(owner), Some(other)) if owner == other && to <= edge.from => Channel::InnerLeft(owner),
        (Some(owner), Some(other)) if owner == other => Channel::InnerRight(owner),
        (_, _) if from.aside && target.aside => Channel::Right,
        (_, _) if from.aside || target.aside || to > edge.from => Channel::Middle,
        (_, _) => Channel::Left,
    })
}

/// Groups the edges that are drawn as lines.
pub fn wires(program: &Program, edges: &[RouteEdge], last: Option<PhaseId>) -> Vec<DrawnWire> {
    let mut wires: Vec<DrawnWire> = Vec::new();
    for (at, edge) in edges.iter().enumerate() {
        let Some(channel) = channel(program, edge) else {
            continue;
        };
        match side(program, edge, last) {
            CardSide::Below | CardSide::Inside => continue,
            CardSide::Left | CardSide::Right => {}
        }
        let same =
            |wire: &&mut DrawnWire| wire.channel == channel && wire.to == edge.to && wire.tone == edge.tone();
        match wires.iter_mut().find(same) {
            Some(wire) => wire.edges.push(at),
            None => wires.push(DrawnWire {
                channel,
                to: edge.to.clone(),
                tone: edge.tone(),
                edges: vec![at],
                lane: 0,
                x: 0,
                sources: Vec::new(),
                source_edges: Vec::new(),
                heads: Vec::new(),
            }),
        }
    }
    wires.sort_by(|a, b| (a.channel, &a.to, a.tone).cmp(&(b.channel, &b.to, b.tone)));
    wires
}

impl DrawnWire {
    /// The phases that the wire leads to.
    pub fn targets(&self, program: &Program) -> Vec<PhaseId> {
        match &self.to {
            EdgeTarget::Phase(id) => vec![*id],
            EdgeTarget::Injector => program.injects.clone(),
            EdgeTarget::Caller | EdgeTarget::End(_) => Vec::new(),
        }
    }

    /// The side at which the wire enters the target's box.
    pub fn entry_side(&self, aside: bool) -> CardSide {
        match self.channel {
            Channel::Left | Channel::InnerLeft(_) => CardSide::Left,
            Channel::Middle if aside => CardSide::Left,
            Channel::Middle | Channel::Right | Channel::InnerRight(_) => CardSide::Right,
        }
    }

    pub fn span(&self) -> (i32, i32) {
        let all = || self.sources.iter().chain(&self.heads).map(|point| point.y);
        (all().min().unwrap_or(0), all().max().unwrap_or(0))
    }

    /// Finds the points at which the wire leaves its boxes.
    pub fn find_sources(&mut self, cards: &[&Card]) {
        for card in cards {
            for row in card.rows.iter().filter(|row| self.edges.contains(&row.edge)) {
                let x = if row.side == CardSide::Left { card.x } else { card.x + card.width };
                self.sources.push(DrawnPoint { x, y: card.port(row) });
                self.source_edges.push(row.edge);
            }
        }
    }
}

/// Gives each wire, short ones first, the innermost lane of its channel that is free over the wire's whole length.
pub fn assign_lanes(wires: &mut [DrawnWire]) -> BTreeMap<Channel, i32> {
    /// The minimum distance between lines in the same lane.
    const MIN_DISTANCE: i32 = 12;
    let mut order: Vec<usize> = (0..wires.len()).collect();
    order.sort_by_key(|at| {
        let (top, bottom) = wires[*at].span();
        (bottom - top, top)
    });
    let mut placed: Vec<usize> = Vec::new();
    let mut counts: BTreeMap<Channel, i32> = BTreeMap::new();
    for at in order {
        let (top, bottom) = wires[at].span();
        let taken: Vec<i32> = placed
            .iter()
            .map(|other| &wires[*other])
            .filter(|other| other.channel == wires[at].channel)
            .filter(|other| other.span().0 <= bottom + MIN_DISTANCE && top <= other.span().1 + MIN_DISTANCE)
            .map(|other| other.lane)
            .collect();
        let lane = (0..).find(|lane| !taken.contains(lane)).unwrap_or(0);
        wires[at].lane = lane;
        placed.push(at);
        let count = counts.entry(wires[at].channel).or_insert(0);
        *count = (*count).max(lane + 1);
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire(top: i32, bottom: i32) -> DrawnWire {
        DrawnWire {
            channel: Channel::Left,
            to: EdgeTarget::Phase(PhaseId(0)),
            tone: EdgeTone::Back,
            edges: Vec::new(),
            lane: 0,
            x: 0,
            sources: vec![DrawnPoint { x: 0, y: bottom }],
            source_edges: vec![0],
            heads: vec![DrawnPoint { x: 0, y: top }],
        }
    }

    fn lanes(mut wires: Vec<DrawnWire>) -> Vec<i32> {
        assign_lanes(&mut wires);
        wires.iter().map(|wire| wire.lane).collect()
    }

    #[test]
    fn lines_next_to_each_other_have_separate_lanes_and_the_longest_is_outermost() {
        assert_eq!(lanes(vec![wire(0, 300), wire(100, 200), wire(50, 250)]), [2, 0, 1]);
    }

    #[test]
    fn lines_above_each_other_share_a_lane() {
        assert_eq!(lanes(vec![wire(0, 100), wire(200, 300)]), [0, 0]);
    }

    #[test]
    fn lines_that_almost_touch_do_not_share_a_lane() {
        assert_eq!(lanes(vec![wire(0, 100), wire(104, 200)]), [1, 0]);
    }
}
