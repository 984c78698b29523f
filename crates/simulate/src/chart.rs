//! Drawings of simulations as SVG: the spread of each variant, or lines over a number that is varied.

use crate::simulation::SimulationSummary;
use crate::statistics::{Spread, length, ratio};
use std::fmt::Write;

/// A variant in a drawing.
#[derive(Clone, Debug)]
pub struct ChartVariant<'s> {
    /// What the variant is called, without the number on the horizontal axis.
    pub name: String,
    /// The number on the horizontal axis, if one is varied.
    pub number: Option<f64>,
    pub summary: &'s SimulationSummary,
}

/// What a drawing says next to its lines.
#[derive(Clone, Debug)]
pub struct ChartText<'t> {
    pub title: &'t str,
    /// How the drawing can be made again.
    pub origin: &'t str,
    /// The name of the horizontal axis.
    pub axis: &'t str,
}

/// One panel: a quantity with its value, and the half of its interval or its range.
struct Panel {
    title: &'static str,
    mean: fn(&SimulationSummary) -> f64,
    spread: fn(&SimulationSummary) -> Option<Spread>,
    error: fn(&SimulationSummary) -> f64,
}

const PANELS: [Panel; 4] = [
    Panel {
        title: "cost of a run, dollars",
        mean: |summary| summary.money.mean,
        spread: |summary| Some(summary.money),
        error: |summary| 1.96 * summary.money.error,
    },
    Panel {
        title: "dispatches",
        mean: |summary| summary.dispatches.mean,
        spread: |summary| Some(summary.dispatches),
        error: |summary| 1.96 * summary.dispatches.error,
    },
    Panel {
        title: "defects in a commit, worse than minor",
        mean: |summary| summary.flaws.mean,
        spread: |summary| Some(summary.flaws),
        error: |summary| 1.96 * summary.flaws.error,
    },
    Panel {
        title: "runs that commit, percent",
        mean: |summary| 100.0 * summary.ends.committed,
        spread: |_| None,
        error: |summary| {
            let share = summary.ends.committed;
            196.0 * (share * (1.0 - share) / ratio(summary.runs.max(1), 1)).sqrt()
        },
    },
];

/// Colours that people with any colour vision can tell apart.
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

const STYLE: &str = "<style>
text{font:11px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:#1e293b}
.page{fill:#fbfcfe}.title{font-size:15px;font-weight:700}.panel{font-weight:700}.small{fill:#475569}
.grid{stroke:#e2e8f0}.bar{fill:#cbd5e1}.middle{stroke:#475569;stroke-width:2}.mean{fill:#0072b2}
</style>
";

/// The drawing: lines if a number is varied, else the spreads.
pub fn chart(text: &ChartText<'_>, variants: &[ChartVariant<'_>]) -> String {
    match variants.iter().all(|variant| variant.number.is_some()) && variants.len() > 2 {
        true => lines(text, variants),
        false => spreads(text, variants),
    }
}

fn open(text: &ChartText<'_>, width: f64, height: f64) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\">\n{STYLE}\
         <rect class=\"page\" width=\"{width:.0}\" height=\"{height:.0}\" rx=\"6\"/>\n"
    );
    let _ = writeln!(svg, "<title>{}</title>", escaped(text.title));
    label(&mut svg, (16.0, 26.0), "title", "start", text.title);
    let origin = wrapped(text.origin, width);
    for (at, line) in origin.iter().rev().enumerate() {
        label(&mut svg, (16.0, height - 10.0 - LINE * ratio(at, 1)), "small", "start", line);
    }
    svg
}

/// The height of a line of text.
const LINE: f64 = 15.0;

/// Words in lines that fit a width.
fn wrapped(text: &str, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split(' ') {
        let Some(last) = lines.last_mut() else { continue };
        if !last.is_empty() && 6.2 * ratio(last.len() + word.len(), 1) > width - 40.0 {
            lines.push(word.to_string());
        } else {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}

fn label(svg: &mut String, (x, y): (f64, f64), class: &str, anchor: &str, text: &str) {
    let text = escaped(text);
    let _ = writeln!(
        svg,
        "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>"
    );
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// One row for each variant and one panel for each quantity: from the 10th to the 90th percentile, the median and the
/// mean.
fn spreads(text: &ChartText<'_>, variants: &[ChartVariant<'_>]) -> String {
    const ROW: f64 = 26.0;
    const PANEL: f64 = 190.0;
    const LEFT: f64 = 250.0;
    let rows = length(variants);
    let width = LEFT + PANEL * ratio(PANELS.len(), 1) + 10.0;
    let origin = LINE * length(&wrapped(text.origin, width));
    let height = 86.0 + ROW * rows + origin;
    let mut svg = open(text, width, height);
    for (at, variant) in variants.iter().enumerate() {
        let y = 72.0 + ROW * ratio(at, 1);
        label(&mut svg, (16.0, y + 4.0), "name", "start", &variant.name);
    }
    for (column, panel) in PANELS.iter().enumerate() {
        let left = LEFT + PANEL * ratio(column, 1);
        label(&mut svg, (left, 50.0), "panel", "start", panel.title);
        let top = variants.iter().map(|variant| {
            (panel.spread)(variant.summary)
                .map_or_else(|| (panel.mean)(variant.summary), |spread| spread.p90.max(spread.mean))
        });
        let top = top.fold(f64::EPSILON, f64::max);
        let x = |value: f64| left + (PANEL - 70.0) * value / top;
        for (at, variant) in variants.iter().enumerate() {
            let y = 72.0 + ROW * ratio(at, 1);
            let mean = (panel.mean)(variant.summary);
            let (from, to) =
                (panel.spread)(variant.summary).map_or((0.0, mean), |spread| (spread.p10, spread.p90));
            let (start, width) = (x(from), (x(to) - x(from)).max(1.0));
            let _ = writeln!(
                svg,
                "<rect class=\"bar\" x=\"{start:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"12\" rx=\"2\"/>",
                y - 6.0
            );
            if let Some(spread) = (panel.spread)(variant.summary) {
                let middle = x(spread.p50);
                let _ = writeln!(
                    svg,
                    "<line class=\"middle\" x1=\"{middle:.1}\" x2=\"{middle:.1}\" y1=\"{:.1}\" y2=\"{:.1}\"/>",
                    y - 7.0,
                    y + 7.0
                );
                let _ =
                    writeln!(svg, "<circle class=\"mean\" cx=\"{:.1}\" cy=\"{y:.1}\" r=\"3.5\"/>", x(mean));
            }
            label(&mut svg, (x(to.max(mean)) + 8.0, y + 4.0), "small", "start", &number(mean));
        }
    }
    label(
        &mut svg,
        (16.0, height - 12.0 - origin),
        "small",
        "start",
        "bar: 8 of 10 runs; line: median; dot and number: mean",
    );
    svg.push_str("</svg>\n");
    svg
}

/// One panel for each quantity, and one line for each variant, over the number that is varied.
fn lines(text: &ChartText<'_>, variants: &[ChartVariant<'_>]) -> String {
    const WIDTH: f64 = 250.0;
    const HEIGHT: f64 = 190.0;
    let mut names: Vec<&str> = Vec::new();
    for variant in variants {
        if !names.contains(&variant.name.as_str()) {
            names.push(&variant.name);
        }
    }
    let legend = 18.0 * length(&names);
    let width = 2.0 * WIDTH + 130.0;
    let origin = LINE * length(&wrapped(text.origin, width));
    let mut svg = open(text, width, 2.0 * HEIGHT + 190.0 + legend + origin);
    for (at, name) in names.iter().enumerate() {
        let y = 50.0 + 18.0 * ratio(at, 1);
        let colour = COLOURS[at % COLOURS.len()];
        let _ = writeln!(svg, "<circle cx=\"22\" cy=\"{:.1}\" r=\"5\" fill=\"{colour}\"/>", y - 4.0);
        label(&mut svg, (34.0, y), "name", "start", if name.is_empty() { "as it is" } else { name });
    }
    let numbers = variants.iter().filter_map(|variant| variant.number);
    let (least, greatest) = (numbers.clone().fold(f64::MAX, f64::min), numbers.fold(f64::MIN, f64::max));
    for (column, panel) in PANELS.iter().enumerate() {
        let left = 54.0 + (WIDTH + 60.0) * ratio(column % 2, 1);
        let top = 70.0 + legend + (HEIGHT + 60.0) * ratio(column / 2, 1);
        draw_panel(&mut svg, (left, top), (WIDTH, HEIGHT), (least, greatest), panel, &names, variants);
        label(&mut svg, (left + WIDTH / 2.0, top + HEIGHT + 32.0), "small", "middle", text.axis);
    }
    svg.push_str("</svg>\n");
    svg
}

fn draw_panel(
    svg: &mut String,
    (left, top): (f64, f64),
    (width, height): (f64, f64),
    (least, greatest): (f64, f64),
    panel: &Panel,
    names: &[&str],
    variants: &[ChartVariant<'_>],
) {
    let highest =
        variants.iter().map(|variant| (panel.mean)(variant.summary) + (panel.error)(variant.summary));
    let highest = round_top(highest.fold(f64::EPSILON, f64::max));
    let x = |number: f64| left + width * (number - least) / (greatest - least).max(f64::EPSILON);
    let y = |value: f64| top + height * (1.0 - (value / highest).clamp(0.0, 1.0));
    label(svg, (left, top - 8.0), "panel", "start", panel.title);
    for part in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let at = y(highest * part);
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{left:.1}\" x2=\"{:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>",
            left + width
        );
        label(svg, (left - 6.0, at + 4.0), "small", "end", &number(highest * part));
    }
    for (at, name) in names.iter().enumerate() {
        let colour = COLOURS[at % COLOURS.len()];
        let mut points: Vec<(f64, f64, f64)> = variants
            .iter()
            .filter(|variant| variant.name == *name)
            .filter_map(|variant| {
                Some((variant.number?, (panel.mean)(variant.summary), (panel.error)(variant.summary)))
            })
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let line: Vec<String> =
            points.iter().map(|(number, mean, _)| format!("{:.1},{:.1}", x(*number), y(*mean))).collect();
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            line.join(" ")
        );
        for (value, mean, error) in points {
            let _ = writeln!(
                svg,
                "<line x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"{1:.1}\" y2=\"{2:.1}\" stroke=\"{colour}\"/><circle cx=\"{0:.1}\" \
                 cy=\"{3:.1}\" r=\"3\" fill=\"{colour}\"/>",
                x(value),
                y(mean - error),
                y(mean + error),
                y(mean)
            );
            if at == 0 {
                label(svg, (x(value), top + height + 16.0), "small", "middle", &number(value));
            }
        }
    }
}

/// The lowest number above a value that four lines divide into round parts.
fn round_top(value: f64) -> f64 {
    let unit = libm::pow(10.0, libm::floor(libm::log10(value / 4.0)));
    let steps = [1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
    let step = steps.into_iter().find(|step| 4.0 * step * unit >= value).unwrap_or(10.0);
    4.0 * step * unit
}

/// A number with the digits that a reader can use.
fn number(value: f64) -> String {
    let text = match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    };
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}
