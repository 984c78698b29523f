//! Tests that the layout keeps lines and boxes apart.

use super::*;
use crate::edges::{EdgeTarget, edges};
use crate::sample;

/// A straight piece of a wire: its fixed coordinate, its start and its end.
type Piece = (i32, i32, i32);

fn pieces(wire: &DrawnWire) -> (Vec<Piece>, Piece) {
    let ends = wire.sources.iter().chain(&wire.heads);
    let across = ends.map(|point| (point.y, point.x.min(wire.x), point.x.max(wire.x))).collect();
    let (top, bottom) = wire.span();
    (across, (wire.x, top, bottom))
}

fn overlap(one: Piece, other: Piece) -> bool {
    one.0 == other.0 && one.1 < other.2 && other.1 < one.2
}

fn check_wires(layout: &Layout) {
    for (at, one) in layout.wires.iter().enumerate() {
        for other in &layout.wires[at + 1..] {
            let ((rows, lane), (other_rows, other_lane)) = (pieces(one), pieces(other));
            assert!(!overlap(lane, other_lane), "{:?} and {:?} share a lane", one.to, other.to);
            for row in &rows {
                for other_row in &other_rows {
                    assert!(!overlap(*row, *other_row), "{:?} and {:?} share a line", one.to, other.to);
                }
            }
        }
    }
}

fn check_boxes(layout: &Layout) {
    let columns = [&layout.main, &layout.asides].into_iter().chain(layout.inner.values());
    for pair in columns.flat_map(|cards| cards.windows(2)) {
        assert!(
            pair[0].y + pair[0].height + pair[0].labels_height() < pair[1].y,
            "{:?} is too low",
            pair[0].id
        );
    }
    for wire in &layout.wires {
        let (_, (x, top, bottom)) = pieces(wire);
        for card in layout.cards() {
            let is_in_frame = wire.channel.is_inside(card.id);
            let is_outside =
                x <= card.x || x >= card.x + card.width || bottom <= card.y || top >= card.y + card.height;
            assert!(is_in_frame || is_outside, "the lane to {:?} runs through {:?}", wire.to, card.id);
        }
    }
}

#[test]
fn no_two_lines_overlap() {
    let program = sample::program();
    check_wires(&layout(&program, &edges(&program), None));
}

#[test]
fn boxes_do_not_overlap_and_no_lane_runs_through_one() {
    let program = sample::program();
    check_boxes(&layout(&program, &edges(&program), None));
}

#[test]
fn every_way_back_runs_left_of_the_main_column() {
    let program = sample::program();
    let layout = layout(&program, &edges(&program), None);
    let back = layout.wires.iter().find(|wire| wire.to == EdgeTarget::Phase(sample::PLAN)).unwrap();
    assert!(layout.main.iter().all(|card| back.x < card.x));
    assert_eq!(back.sources.len(), 2);
}

#[test]
fn an_aside_is_right_of_the_phase_that_leads_to_it() {
    let program = sample::program();
    let layout = layout(&program, &edges(&program), None);
    let tasks = layout.main.iter().find(|card| card.id == sample::TASKS).unwrap();
    let decide = &layout.asides[0];
    assert!(decide.x > tasks.x + tasks.width);
    assert!((tasks.y..tasks.y + tasks.height).contains(&decide.y));
}

#[test]
fn lines_of_asides_are_between_the_lines_of_the_main_column() {
    let program = sample::program();
    let layout = layout(&program, &edges(&program), None);
    let main = layout.main.iter().chain(layout.inner.values().flatten());
    assert!(main.flat_map(|card| card.rows.iter().map(|row| card.port(row))).all(|y| y % GRID == 0));
    let asides = layout.asides.iter();
    assert!(asides.flat_map(|card| card.rows.iter().map(|row| card.port(row))).all(|y| y % GRID == GRID / 2));
    assert!(layout.asides.iter().all(|card| !card.rows.is_empty()));
}
