//! A drawing for the terminal: phases in file order from top to bottom, ways back as brackets on the left.

use crate::columns::{WIDTH, pad, wrap};
use crate::edges::{EdgeKind, EdgeTarget, RouteEdge, edges};
use crate::label::label;
use crate::phrase::{remarks, scope_phrase, size_phrase, then_phrase, who};
use crate::shared::{SharedEnd, take_shared};
use remand_kernel::ids::PhaseId;
use remand_kernel::program::Program;

/// Signals are wrapped at this width.
const SIGNALS_WIDTH: usize = 36;

/// The drawing, at most 110 columns wide.
pub fn text(program: &Program) -> String {
    let mut edges = edges(program);
    let shared = take_shared(program, &mut edges);
    let lanes = lanes(&edges, program);
    let gutter = lanes.iter().map(|lane| lane.column + 1).max().unwrap_or(0);
    let mut lines = Vec::new();
    for id in program.phase_ids() {
        phase_lines(program, id, &edges, WIDTH - 2 * gutter - 2, &mut lines);
    }
    lines.pop();
    let mut text = String::new();
    for part in wrap(&format!("{}: {}", program.name, program.about), WIDTH) {
        text.push_str(&format!("{part}\n"));
    }
    text.push('\n');
    let spans: Vec<Span> = lanes.iter().map(|lane| lane.span(&lines)).collect();
    for (at, line) in lines.iter().enumerate() {
        let gutter = gutter_at(&spans, gutter, at);
        let joined = if gutter.ends_with('─') { &line.joined } else { &line.text };
        // On the main line, the arrow's head replaces the last character of the gutter, so the line stays straight.
        let gutter =
            if joined.starts_with('▶') { &gutter[..gutter.len() - '─'.len_utf8()] } else { &gutter };
        text.push_str(format!("{gutter}{joined}").trim_end());
        text.push('\n');
    }
    write_footer(program, &shared, &mut text);
    text
}

struct Line {
    text: String,
    /// The same line if a bracket ends at it.
    joined: String,
    /// The phase that starts here.
    head: Option<PhaseId>,
    /// The index of the edge that leaves here.
    edge: Option<usize>,
}

/// A bracket at the left that joins the edges that lead back to the same phases.
struct Lane {
    column: usize,
    heads: Vec<PhaseId>,
    edges: Vec<usize>,
}

/// The lines of the drawing that a bracket connects.
#[derive(Clone)]
struct Span {
    column: usize,
    heads: Vec<usize>,
    tails: Vec<usize>,
}

impl Lane {
    fn span(&self, lines: &[Line]) -> Span {
        let heads = |line: &Line| line.head.is_some_and(|head| self.heads.contains(&head));
        let tails = |line: &Line| line.edge.is_some_and(|edge| self.edges.contains(&edge));
        let find = |wanted: &dyn Fn(&Line) -> bool| {
            lines.iter().enumerate().filter(|(_, line)| wanted(line)).map(|(at, _)| at).collect::<Vec<_>>()
        };
        Span { column: self.column, heads: find(&heads), tails: find(&tails) }
    }
}

impl Span {
    fn first(&self) -> usize {
        self.heads.iter().chain(&self.tails).copied().min().unwrap_or(0)
    }

    fn last(&self) -> usize {
        self.heads.iter().chain(&self.tails).copied().max().unwrap_or(0)
    }
}

/// Whether an edge leads up in the file. Such edges are drawn as brackets; the others are only written.
fn leads_up(edge: &RouteEdge) -> bool {
    match &edge.to {
        EdgeTarget::Phase(to) => {
            *to <= edge.from && !matches!(edge.kind, EdgeKind::Raise(_) | EdgeKind::Next | EdgeKind::Pass)
        }
        EdgeTarget::Injector => true,
        EdgeTarget::Caller | EdgeTarget::End(_) => false,
    }
}

/// The brackets, each in the innermost column in which it overlaps no other.
fn lanes(edges: &[RouteEdge], program: &Program) -> Vec<Lane> {
    let mut lanes: Vec<Lane> = Vec::new();
    for (at, edge) in edges.iter().enumerate().filter(|(_, edge)| leads_up(edge)) {
        let heads = match &edge.to {
            EdgeTarget::Phase(to) => vec![*to],
            EdgeTarget::Injector | EdgeTarget::Caller | EdgeTarget::End(_) => program.injects.clone(),
        };
        match lanes.iter_mut().find(|lane| lane.heads == heads) {
            Some(lane) => lane.edges.push(at),
            None => lanes.push(Lane { column: 0, heads, edges: vec![at] }),
        }
    }
    let reach = |lane: &Lane| {
        let ends = || lane.heads.iter().copied().chain(lane.edges.iter().map(|at| edges[*at].from));
        (ends().min().unwrap_or(PhaseId(0)), ends().max().unwrap_or(PhaseId(0)))
    };
    lanes.sort_by_key(|lane| {
        let (first, last) = reach(lane);
        (last.0 - first.0, first)
    });
    for at in 0..lanes.len() {
        let (first, last) = reach(&lanes[at]);
        let taken: Vec<usize> = lanes[..at]
            .iter()
            .filter(|other| reach(other).0 <= last && first <= reach(other).1)
            .map(|other| other.column)
            .collect();
        lanes[at].column = (0..).find(|column| !taken.contains(column)).unwrap_or(0);
    }
    lanes
}

/// The brackets on one line; column 0 is next to the text.
fn gutter_at(spans: &[Span], columns: usize, at: usize) -> String {
    let mut cells = vec![' '; columns * 2 + 2];
    let width = cells.len();
    for span in spans.iter().filter(|span| span.first() <= at && at <= span.last()) {
        let x = width - 4 - span.column * 2;
        let (head, tail) = (span.heads.contains(&at), span.tails.contains(&at));
        if head || tail {
            for cell in &mut cells[x + 1..width - 1] {
                // A line that crosses another bracket passes over it.
                *cell = match *cell {
                    '│' | '┼' | '├' => '┼',
                    '┌' | '┬' => '┬',
                    '└' | '┴' => '┴',
                    _ => '─',
                };
            }
            cells[width - 1] = '─';
        }
        cells[x] = match (head || tail, at == span.first(), at == span.last()) {
            (false, _, _) if cells[x] == '─' => '┼',
            (false, _, _) => '│',
            (true, true, true) => '─',
            (true, true, false) => '┌',
            (true, false, true) => '└',
            (true, false, false) => '├',
        };
    }
    cells.into_iter().collect()
}

fn phase_lines(program: &Program, id: PhaseId, edges: &[RouteEdge], width: usize, lines: &mut Vec<Line>) {
    let phase = program.phase(id);
    let is_after_main =
        program.flow(None).filter(|other| !program.phase(*other).aside).all(|other| other < id);
    let stem = match (phase.owner, phase.aside) {
        (None, false) => Stem { plain: "", head: "▶", joint: "┤" },
        (None, true) if is_after_main => Stem { plain: "    ", head: "───▶", joint: "────" },
        (None, true) => Stem { plain: "│   ", head: "┼──▶", joint: "┼───" },
        (Some(_), false) => Stem { plain: "│   ", head: "┼──▶", joint: "┼───┤" },
        (Some(_), true) => Stem {
            plain: "│   │   ", head: "┼───┼──▶", joint: "┼───┼───"
        },
    };
    let (mark, line) = if phase.aside { ("◇", " ") } else { ("●", "│") };
    let about = [vec![who(program, phase)], remarks(program, phase)].concat().join("; ");
    let head = format!("{mark} {}  ({about})", phase.name);
    let cut = |text: String| clip(&text, width);
    lines.push(Line {
        text: cut(format!("{}{head}", stem.plain)),
        joined: cut(format!("{}{head}", stem.head)),
        head: Some(id),
        edge: None,
    });
    let start = stem.plain.chars().count() + 5;
    let room = width.saturating_sub(start + SIGNALS_WIDTH + 2).max(20);
    for (at, edge) in edges.iter().enumerate().filter(|(_, edge)| edge.from == id) {
        let cause = wrap(&label(program, edge, edges).cause(), SIGNALS_WIDTH);
        let destination = wrap(&destination(program, edge), room);
        for row in 0..cause.len().max(destination.len()) {
            let cause = cause.get(row).map_or("", String::as_str);
            let destination = destination.get(row).map_or("", String::as_str);
            let rest = format!("{}  {destination}", pad(cause, SIGNALS_WIDTH));
            lines.push(Line {
                text: cut(format!("{}{rest}", pad(&format!("{}{line}", stem.plain), start))),
                joined: cut(format!("{}{rest}", pad(stem.joint, start))),
                head: None,
                edge: (row == 0).then_some(at),
            });
        }
    }
    let text = format!("{}{line}", stem.plain).trim_end().to_string();
    lines.push(Line { joined: text.clone(), text, head: None, edge: None });
}

/// The characters between the brackets and a phase's text.
struct Stem {
    plain: &'static str,
    /// For a bracket that ends at the phase.
    head: &'static str,
    /// For a bracket that starts at a route.
    joint: &'static str,
}

/// Where an edge leads, with an arrow for the direction.
fn destination(program: &Program, edge: &RouteEdge) -> String {
    let mut text = match &edge.to {
        EdgeTarget::Phase(to) => {
            let name = &program.phase(*to).name;
            match edge.kind {
                EdgeKind::Next | EdgeKind::Pass => "↓".to_string(),
                EdgeKind::Raise(signal) => format!("raise {}", program.signal(signal)),
                EdgeKind::To => format!("→ {name}"),
                EdgeKind::Remand | EdgeKind::Restore => format!("↑ {} {name}", edge.kind.name()),
                EdgeKind::Return | EdgeKind::Close => name.clone(),
            }
        }
        EdgeTarget::Injector => "↑ remand injector".to_string(),
        EdgeTarget::Caller => "return".to_string(),
        EdgeTarget::End(end) => format!("■ {}", end.name()),
    };
    if !edge.spends.is_empty() {
        text.push_str(&format!(" spending {}", edge.spent_budgets(program)));
    }
    if let Some(effect) = edge.effect {
        text.push_str(&format!(" with {}", effect.name()));
    }
    text
}

/// Writes the shared routes, the budgets and the key.
fn write_footer(program: &Program, shared: &[SharedEnd], text: &mut String) {
    let everywhere = shared.iter().map(|one| ("everywhere", one.phrase(program)));
    let budgets = program.budgets.iter().map(|budget| {
        let (size, scope) = (size_phrase(program, budget.size), scope_phrase(program, budget.scope));
        let then = then_phrase(program, budget).map(|then| format!(", then {then}")).unwrap_or_default();
        ("budget", format!("{}: {size} {scope}{then}", budget.name))
    });
    text.push('\n');
    for (heading, description) in everywhere.chain(budgets) {
        for (at, line) in wrap(&description, WIDTH - 12).iter().enumerate() {
            let heading = if at == 0 { heading } else { "" };
            text.push_str(&format!("{}{line}\n", pad(heading, 12)));
        }
    }
    text.push_str("● phase  ◇ aside  ↓ next  ↑ back  ■ end  * found by a detector\n");
}

fn clip(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_string();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{kept}…")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_way_back_is_a_bracket_from_its_signal_to_its_phase() {
        let text = text(&sample::program());
        let lines: Vec<&str> = text.lines().collect();
        let at = |part: &str| lines.iter().position(|line| line.contains(part)).unwrap();
        let (head, tail, last) = (at("● plan"), at("needs-work, block  "), at("unverified, unsafe  "));
        assert!(lines[head].starts_with("┌──▶● plan"), "{text}");
        assert!(lines[tail].starts_with("├───┤"), "{text}");
        assert!(
            lines[head + 1..last].iter().all(|line| line.starts_with('│') || line.starts_with('├')),
            "{text}"
        );
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let mut program = sample::program();
        program.phases[0].name = "a-very-long-name-".repeat(9);
        let text = text(&program);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
    }

    #[test]
    fn brackets_that_cross_or_meet_are_drawn_completely() {
        let inner = Span { column: 0, heads: vec![1], tails: vec![3] };
        let outer = Span { column: 1, heads: vec![1], tails: vec![2] };
        let drawn: Vec<String> =
            (1..=3).map(|at| gutter_at(&[inner.clone(), outer.clone()], 2, at)).collect();
        assert_eq!(drawn, ["┌─┬───", "└─┼───", "  └───"]);
    }

    #[test]
    fn an_aside_is_marked_as_one() {
        assert!(text(&sample::program()).contains("◇ decide  (human)"));
    }
}
