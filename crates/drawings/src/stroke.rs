//! The lines of the drawing as SVG paths.

use crate::edges::EdgeTone;
use crate::lanes::{DrawnPoint, DrawnWire};
use crate::marks::EdgeMarks;

/// The style class of a tone.
pub fn tone_class(tone: EdgeTone) -> &'static str {
    match tone {
        EdgeTone::Forward => "forward",
        EdgeTone::Back => "back",
        EdgeTone::Exhausted => "exhausted",
        EdgeTone::Raise => "raise",
    }
}

/// Draws a wire from every source to the first head, and from there to the other heads.
pub fn draw_wire(wire: &DrawnWire, marks: &EdgeMarks, out: &mut String) {
    let class = tone_class(wire.tone);
    let Some(first) = wire.heads.first() else {
        return;
    };
    for (source, edge) in wire.sources.iter().zip(&wire.source_edges) {
        let taken = marks.classes(&[*edge]);
        out.push_str(&format!(
            "<path class=\"wire {class}{taken}\" d=\"{}\"/>\n",
            elbow(*source, wire.x, *first)
        ));
    }
    for head in wire.heads.iter().skip(1) {
        let start = DrawnPoint { x: wire.x, y: first.y };
        out.push_str(&format!("<path class=\"wire {class}\" d=\"{}\"/>\n", elbow(start, wire.x, *head)));
    }
    for head in &wire.heads {
        let back = if wire.x < head.x { -8 } else { 8 };
        out.push_str(&format!("<path class=\"{class}-fill\" d=\"M{} {}l{back} -4v8z\"/>\n", head.x, head.y));
    }
}

/// A path from a point across to the lane, along the lane, and across to the head, with round corners.
fn elbow(from: DrawnPoint, lane: i32, to: DrawnPoint) -> String {
    let tip = to.x + if lane < to.x { -6 } else { 6 };
    let radius = 5.min((to.y - from.y).abs() / 2);
    let down = if to.y >= from.y { radius } else { -radius };
    let out = if lane < from.x { radius } else { -radius };
    let back = if lane < to.x { radius } else { -radius };
    if from.x == lane {
        return format!("M{lane} {}V{}Q{lane} {} {} {}H{tip}", from.y, to.y - down, to.y, lane + back, to.y);
    }
    format!(
        "M{} {}H{}Q{lane} {} {lane} {}V{}Q{lane} {} {} {}H{tip}",
        from.x,
        from.y,
        lane + out,
        from.y,
        from.y + down,
        to.y - down,
        to.y,
        lane + back,
        to.y
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_corner_never_overshoots_a_short_lane() {
        let path = elbow(DrawnPoint { x: 50, y: 10 }, 30, DrawnPoint { x: 50, y: 14 });
        assert_eq!(path, "M50 10H32Q30 10 30 12V12Q30 14 32 14H44");
    }
}
