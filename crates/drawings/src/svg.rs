//! The drawing as SVG. It needs no browser and no fonts, and the same program gives the same bytes.

use crate::card::{Card, CardRow, CardSide, NAME_SIZE, PADDING, ROW, TEXT_SIZE};
use crate::edges::{EdgeTone, edges};
use crate::lanes::DrawnPoint;
use crate::layout::{BAR_HEIGHT, Layout, bar_top, layout};
use crate::legend::{Legend, legend};
use crate::marks::{EdgeMarks, RunMarks};
use crate::measure::width;
use crate::shared::take_shared;
use crate::stroke::{draw_wire, tone_class};
use remand_kernel::program::{Phase, Program, Work};

/// The program as a standalone SVG document.
pub fn svg(program: &Program) -> String {
    draw(program, None)
}

/// The program with the marks of a run, for a page that has the styles.
pub fn run_svg(program: &Program, marks: &RunMarks) -> String {
    draw(program, Some(marks))
}

fn draw(program: &Program, run: Option<&RunMarks>) -> String {
    let mut edges = edges(program);
    let shared = take_shared(program, &mut edges);
    let taken = run.map(|run| EdgeMarks::of(run, &edges)).unwrap_or_default();
    let layout = layout(program, &edges, run.map(|run| (run, &taken)));
    let pen = Pen { program, layout: &layout, run, taken: &taken };
    let legend = legend(program, &shared, layout.height);
    let title = width(&program.about, TEXT_SIZE + 1) + 48;
    let (width, height) = (layout.width.max(legend.width).max(title), layout.height + legend.height);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"{}\" aria-label=\"{}\">\n{}",
        // A picture has no links inside.
        if run.is_some() { "group" } else { "img" },
        escape(&format!("Workflow {}", program.name)),
        if run.is_some() { "" } else { STYLE }
    );
    out.push_str(&format!("<rect class=\"page\" width=\"{width}\" height=\"{height}\" rx=\"8\"/>\n"));
    out.push_str(&format!("<text x=\"24\" y=\"32\" class=\"title\">{}</text>\n", escape(&program.name)));
    out.push_str(&format!("<text x=\"24\" y=\"52\" class=\"about\">{}</text>\n", escape(&program.about)));
    for wire in layout.wires.iter().filter(|wire| !wire.channel.is_inner()) {
        draw_wire(wire, &taken, &mut out);
    }
    draw_column(&pen, &layout.main, &mut out);
    for card in &layout.asides {
        draw_card(&pen, card, &mut out);
    }
    draw_legend(&legend, &mut out);
    out.push_str("</svg>\n");
    out
}

/// What every part of a drawing needs.
struct Pen<'d> {
    program: &'d Program,
    layout: &'d Layout,
    run: Option<&'d RunMarks>,
    taken: &'d EdgeMarks,
}

impl Pen<'_> {
    /// The style classes of a box at which the run is or was.
    fn card_marks(&self, card: &Card) -> &'static str {
        match self.run {
            Some(run) if run.here.contains_key(&card.id) => " here",
            Some(run) if run.visits.contains_key(&card.id) => " seen",
            Some(_) => " unseen",
            None => "",
        }
    }

    /// The lanes that are at a box, and how often it was left, on its upper edge.
    fn draw_badges(&self, card: &Card, out: &mut String) {
        let Some(run) = self.run else { return };
        if let Some(count) = run.visits.get(&card.id) {
            self.draw_badge(&format!("×{count}"), "count", (card.x + card.width, card.y), out);
        }
        if let Some(lanes) = run.here.get(&card.id) {
            let text = match lanes.as_slice() {
                [] => "here".to_string(),
                [one] => one.clone(),
                [first, second] => format!("{first}, {second}"),
                [first, others @ ..] => format!("{first} and {} more", others.len()),
            };
            let left = card.x + width(&text, TEXT_SIZE) + 16;
            self.draw_badge(&text, "now", (left, card.y), out);
        }
    }

    fn draw_badge(&self, text: &str, class: &str, (right, y): (i32, i32), out: &mut String) {
        let wide = width(text, TEXT_SIZE) + 14;
        out.push_str(&format!(
            "<g class=\"badge {class}\"><rect x=\"{}\" y=\"{}\" width=\"{wide}\" height=\"16\" rx=\"8\"/>\
             <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text></g>\n",
            right - wide + 6,
            y - 8,
            right - wide / 2 + 6,
            y + 4,
            escape(text)
        ));
    }
}

const STYLE: &str = "<style>
text{font:11px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:#1e293b}
.page{fill:#fbfcfe}
.title{font-size:18px;font-weight:700}.about{font-size:12px;fill:#475569}
.name{font-size:13px;font-weight:700}.who{fill:#475569}.when{fill:#475569;font-style:italic}
.box{fill:#fff;stroke:#64748b;stroke-width:1.2}.engine{fill:#eef2f7}.human{fill:#fff7db}
.aside{stroke-dasharray:5 3}.frame{fill:#f4f7fb;stroke:#94a3b8;stroke-width:1.5}.bar{fill:#e2e8f0;stroke:#94a3b8}
.wire{fill:none;stroke-width:1.5}.to{font-weight:700}
.forward{stroke:#475569}.back{stroke:#c2410c;stroke-width:2}.exhausted{stroke:#7c3aed}.raise{stroke:#0f766e}
.forward-fill{fill:#475569}.back-fill{fill:#c2410c}.exhausted-fill{fill:#7c3aed}.raise-fill{fill:#0f766e}
.pill{fill:#e2e8f0;stroke:#64748b}.pill-done{fill:#dcfce7;stroke:#15803d}.pill-fail{fill:#fee2e2;stroke:#b91c1c}
</style>
";

/// Draws a column of boxes with the arrows between them.
fn draw_column(pen: &Pen<'_>, cards: &[Card], out: &mut String) {
    let Pen { program, layout, .. } = pen;
    for (at, card) in cards.iter().enumerate() {
        match layout.inner.get(&card.id) {
            Some(inner) => draw_frame(pen, card, inner, out),
            None => draw_card(pen, card, out),
        }
        if card.below.is_empty() {
            continue;
        }
        let x = layout.axis();
        let from = card.y + card.height;
        match (cards.get(at + 1), program.phase(card.id).owner) {
            (Some(next), _) => draw_down(pen, card, (x, from, next.y), out),
            (None, Some(_)) => draw_down(pen, card, (x, from, bar_top(card)), out),
            (None, None) => {
                let end = from + card.labels_height() + 24;
                draw_down(pen, card, (x, from, end), out);
                draw_pill("done", DrawnPoint { x: x - 30, y: end }, 60, out);
            }
        }
    }
}

/// Draws the arrow to the box below, with its labels.
fn draw_down(pen: &Pen<'_>, card: &Card, (x, from, to): (i32, i32, i32), out: &mut String) {
    let is_direct = card.below.iter().any(|(_, tone)| *tone == EdgeTone::Forward);
    let tone = if is_direct { EdgeTone::Forward } else { EdgeTone::Exhausted };
    let class = tone_class(tone);
    let taken = pen.taken.classes(&card.down);
    out.push_str(&format!("<path class=\"wire {class}{taken}\" d=\"M{x} {from}V{}\"/>\n", to - 6));
    out.push_str(&format!("<path class=\"{class}-fill\" d=\"M{x} {to}l-4 -8h8z\"/>\n"));
    for (at, (label, tone)) in card.below.iter().enumerate() {
        let y = from + 17 + ROW * i32::try_from(at).unwrap_or(0);
        let class = if *tone == EdgeTone::Exhausted { " class=\"exhausted-fill\"" } else { "" };
        out.push_str(&format!("<text x=\"{}\" y=\"{y}\"{class}>{}</text>\n", x + 8, escape(label)));
    }
}

/// Draws the frame of a sub-flow: head, boxes, the strip for the tally, and the frame's rows.
fn draw_frame(pen: &Pen<'_>, card: &Card, inner: &[Card], out: &mut String) {
    let Pen { layout, taken, .. } = pen;
    out.push_str(&rect(card, &format!("frame{}", pen.card_marks(card)), 6));
    draw_head(pen, card, out);
    if let (Some(first), Some(last)) = (inner.first(), inner.last()) {
        let x = first.x + first.width / 2;
        out.push_str(&format!("<path class=\"forward-fill\" d=\"M{x} {}l-4 -8h8z\"/>\n", first.y));
        for wire in layout.wires.iter().filter(|wire| wire.channel.is_inside(card.id)) {
            draw_wire(wire, taken, out);
        }
        let y = bar_top(last);
        let height = BAR_HEIGHT - 4;
        out.push_str(&format!(
            "<rect class=\"bar\" x=\"{}\" y=\"{y}\" width=\"{}\" height=\"{height}\" rx=\"3\"/>\n",
            last.x, last.width
        ));
        out.push_str(&format!(
            "<text x=\"{x}\" y=\"{}\" text-anchor=\"middle\" class=\"when\">tally of all items</text>\n",
            y + height / 2 + 4
        ));
    }
    draw_column(pen, inner, out);
    draw_rows(card, out);
    pen.draw_badges(card, out);
}

fn draw_card(pen: &Pen<'_>, card: &Card, out: &mut String) {
    let phase = pen.program.phase(card.id);
    let class = format!("{}{}", card_class(phase), pen.card_marks(card));
    out.push_str(&rect(card, &class, if phase.aside { 12 } else { 4 }));
    draw_head(pen, card, out);
    draw_rows(card, out);
    pen.draw_badges(card, out);
}

fn card_class(phase: &Phase) -> String {
    let work = match &phase.work {
        Work::Role { .. } | Work::Each { .. } | Work::Panel { .. } | Work::Flow { .. } => "",
        Work::Operation { .. } => " engine",
        Work::Ask { .. } => " human",
    };
    format!("box{work}{}", if phase.aside { " aside" } else { "" })
}

fn rect(card: &Card, class: &str, radius: i32) -> String {
    format!(
        "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{radius}\"/>\n",
        card.x, card.y, card.width, card.height
    )
}

fn draw_head(pen: &Pen<'_>, card: &Card, out: &mut String) {
    let x = card.x + card.width / 2;
    let mut y = card.y + NAME_SIZE + 6;
    let phase = pen.program.phase(card.id);
    let name = escape(&phase.name);
    let name = format!("<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\" class=\"name\">{name}</text>");
    match pen.run {
        Some(run) => {
            let file = escape(&run.file);
            out.push_str(&format!("<a href=\"{file}#L{}\">{name}</a>\n", phase.line));
        }
        None => out.push_str(&format!("{name}\n")),
    }
    for (at, line) in card.head.iter().enumerate() {
        y += ROW;
        let class = if at == 0 { "who" } else { "when" };
        let line = escape(line);
        out.push_str(&format!(
            "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\" class=\"{class}\">{line}</text>\n"
        ));
    }
}

fn draw_rows(card: &Card, out: &mut String) {
    for row in &card.rows {
        match row.side {
            CardSide::Left | CardSide::Right => draw_row(card, row, out),
            CardSide::Inside => draw_end_row(card, row, out),
            CardSide::Below => {}
        }
    }
}

/// Draws a row whose line leaves at the left or right, with the target at that side.
fn draw_row(card: &Card, row: &CardRow, out: &mut String) {
    let left = row.side == CardSide::Left;
    let (x, anchor) = if left { (card.x + PADDING, "start") } else { (card.x + card.width - PADDING, "end") };
    let target_width = width(&row.target, TEXT_SIZE + 1) + 14;
    for (at, line) in row.lines.iter().enumerate() {
        let y = card.port(row) + 4 + ROW * i32::try_from(at).unwrap_or(0);
        let line = escape(line);
        let x_line = if left { x + target_width } else { x - target_width };
        out.push_str(&format!("<text x=\"{x_line}\" y=\"{y}\" text-anchor=\"{anchor}\">{line}</text>\n"));
    }
    let class = tone_class(row.tone);
    let target = escape(&row.target);
    out.push_str(&format!(
        "<text x=\"{x}\" y=\"{}\" text-anchor=\"{anchor}\" class=\"to {class}-fill\">{target}</text>\n",
        card.port(row) + 4
    ));
}

/// Draws a row that leads to an end, with the end in the row.
fn draw_end_row(card: &Card, row: &CardRow, out: &mut String) {
    let pill = width(&row.target, TEXT_SIZE) + 10;
    let right = card.x + card.width - PADDING / 2;
    let class = if row.tone == EdgeTone::Exhausted { " class=\"exhausted-fill\"" } else { "" };
    for (at, line) in row.lines.iter().enumerate() {
        let y = card.port(row) + 4 + ROW * i32::try_from(at).unwrap_or(0);
        let x = right - pill - 6;
        out.push_str(&format!(
            "<text x=\"{x}\" y=\"{y}\" text-anchor=\"end\"{class}>{}</text>\n",
            escape(line)
        ));
    }
    draw_pill(&row.target, DrawnPoint { x: right - pill, y: card.port(row) - 7 }, pill, out);
}

fn draw_pill(text: &str, at: DrawnPoint, width: i32, out: &mut String) {
    let class = match text {
        "done" => "pill pill-done",
        "fail" => "pill pill-fail",
        _ => "pill",
    };
    out.push_str(&format!(
        "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{width}\" height=\"15\" rx=\"7\"/>\n",
        at.x, at.y
    ));
    out.push_str(&format!(
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
        at.x + width / 2,
        at.y + 11,
        escape(text)
    ));
}

fn draw_legend(legend: &Legend, out: &mut String) {
    for (class, at) in &legend.samples {
        out.push_str(&format!("<path class=\"wire {class}\" d=\"M{} {}h26\"/>\n", at.x, at.y));
        out.push_str(&format!("<path class=\"{class}-fill\" d=\"M{} {}l-8 -4v8z\"/>\n", at.x + 32, at.y));
    }
    for (class, radius, at) in &legend.boxes {
        let (x, y) = (at.x, at.y - 6);
        out.push_str(&format!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"24\" height=\"13\" rx=\"{radius}\"/>\n"
        ));
    }
    for (text, class, at) in &legend.labels {
        out.push_str(&format!(
            "<text x=\"{}\" y=\"{}\" class=\"{class}\">{}</text>\n",
            at.x,
            at.y,
            escape(text)
        ));
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn text_is_escaped() {
        let text = svg(&sample::program());
        assert!(
            text.contains("Shows &lt;everything&gt; &amp; more.") && text.contains("go on &quot;now&quot;")
        );
    }

    #[test]
    fn the_same_program_gives_the_same_bytes() {
        assert_eq!(svg(&sample::program()), svg(&sample::program()));
    }

    #[test]
    fn the_background_is_drawn() {
        assert!(svg(&sample::program()).contains("<rect class=\"page\""));
    }
}
