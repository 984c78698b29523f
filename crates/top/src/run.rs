//! One run on the screen: what it is about, its open gates, and one of its panels; on a wide terminal two.

use crate::answer::{AnswerForm, FormWish};
use crate::keys::Key;
use crate::paint::Paint;
use crate::panels::{Panel, advice};
use ratatui::text::Line;
use remand_ledger::Millis;
use remand_terminal::{Tone, amount, line};
use remand_views::{GivenAnswer, OpenGate, RunSight};

/// From this width on, the panel `here` stays at the left of another one.
const TWO_COLUMNS: usize = 110;

/// A run with what somebody looks at.
pub struct RunScreen {
    pub sight: RunSight,
    panel: Panel,
    /// The lines above what is shown; `None` follows the end.
    scroll: Option<usize>,
    form: Option<AnswerForm>,
    asks_to_cancel: bool,
    /// The lines of the panel when it was drawn last, and how many fitted.
    drawn: (usize, usize),
}

/// What a key asks for.
pub enum RunWish {
    Nothing,
    Back,
    Answer(Box<OpenGateAnswer>),
    Cancel,
    Resume,
    OpenPage,
    Diff,
}

/// An answer, with the gate as it was seen.
pub struct OpenGateAnswer {
    pub gate: remand_ledger::query::GateRow,
    pub answer: GivenAnswer,
}

impl RunScreen {
    pub fn new(sight: RunSight) -> RunScreen {
        RunScreen {
            sight,
            panel: Panel::Here,
            scroll: Some(0),
            form: None,
            asks_to_cancel: false,
            drawn: (0, 0),
        }
    }

    /// Shows the run as it is now. What somebody types stays, unless the gate was answered elsewhere.
    pub fn update(&mut self, sight: RunSight) -> Option<&'static str> {
        self.sight = sight;
        let is_open = |form: &AnswerForm| {
            let mut gates = self.sight.gates.iter().filter(|open| open.given.is_none());
            gates.any(|open| open.gate.command == form.gate.command)
        };
        if self.form.as_ref().is_some_and(|form| !is_open(form)) {
            self.form = None;
            return Some("This gate was answered elsewhere.");
        }
        None
    }

    fn unanswered(&self) -> Option<&OpenGate> {
        self.sight.gates.iter().find(|open| open.given.is_none())
    }

    pub fn press(&mut self, key: Key) -> RunWish {
        if let Some(form) = &mut self.form {
            match form.press(key) {
                FormWish::Nothing => {}
                FormWish::Close => self.form = None,
                FormWish::Send(answer) => {
                    let gate = form.gate.clone();
                    self.form = None;
                    return RunWish::Answer(Box::new(OpenGateAnswer { gate, answer }));
                }
            }
            return RunWish::Nothing;
        }
        if self.asks_to_cancel {
            self.asks_to_cancel = false;
            return if key == Key::Char('y') { RunWish::Cancel } else { RunWish::Nothing };
        }
        match key {
            Key::Char('q') | Key::Escape | Key::Left => return RunWish::Back,
            Key::Tab => self.turn(1),
            Key::BackTab => self.turn(Panel::ALL.len() - 1),
            Key::Char(digit @ '1'..='5') => self.show(Panel::ALL[digit as usize - '1' as usize]),
            Key::Up | Key::Char('k') => self.scroll_to(|top| top.saturating_sub(1)),
            Key::Down | Key::Char('j') => self.scroll_to(|top| top + 1),
            Key::PageUp => self.scroll_to(|top| top.saturating_sub(10)),
            Key::PageDown | Key::Char(' ') => self.scroll_to(|top| top + 10),
            Key::Home | Key::Char('g') => self.scroll = Some(0),
            Key::End | Key::Char('G') => self.scroll = None,
            Key::Char('a') => self.form = self.unanswered().map(AnswerForm::new),
            Key::Char('c') => self.asks_to_cancel = !self.sight.view.row.stage.is_over(),
            Key::Char('r') => return RunWish::Resume,
            Key::Char('o') => return RunWish::OpenPage,
            Key::Char('d') => return RunWish::Diff,
            _ => {}
        }
        RunWish::Nothing
    }

    fn turn(&mut self, by: usize) {
        let at = Panel::ALL.iter().position(|panel| *panel == self.panel).unwrap_or(0);
        self.show(Panel::ALL[(at + by) % Panel::ALL.len()]);
    }

    fn show(&mut self, panel: Panel) {
        self.panel = panel;
        self.scroll = if panel.grows() { None } else { Some(0) };
    }

    fn scroll_to(&mut self, change: impl Fn(usize) -> usize) {
        let (lines, fitting) = self.drawn;
        let end = lines.saturating_sub(fitting);
        let top = change(self.scroll.unwrap_or(end).min(end));
        // Whoever scrolls to the end follows it again.
        self.scroll = if top >= end && self.panel.grows() { None } else { Some(top.min(end)) };
    }

    pub fn lines(&mut self, paint: Paint, width: usize, height: usize, now: Millis) -> Vec<Line<'static>> {
        let mut lines = self.head(paint, width);
        match &self.form {
            Some(form) => lines.extend(form.lines(paint, width)),
            None => lines.extend(self.gates(paint, width, height, now)),
        }
        let is_wide = width >= TWO_COLUMNS;
        lines.push(self.tabs(paint, width));
        let room = height.saturating_sub(lines.len());
        if is_wide {
            let left = width * 2 / 5;
            let beside = Panel::Here.lines(&self.sight, paint, left, now);
            let shown = self.part(self.beside(), paint, width - left - 3, room, now);
            lines.extend(columns(beside, shown, left, room));
        } else {
            lines.extend(self.part(self.panel, paint, width, room, now));
        }
        lines.truncate(height);
        lines
    }

    /// The panel at the right of the first one.
    fn beside(&self) -> Panel {
        if self.panel == Panel::Here { Panel::Events } else { self.panel }
    }

    /// What fits of a panel.
    fn part(
        &mut self,
        panel: Panel,
        paint: Paint,
        width: usize,
        room: usize,
        now: Millis,
    ) -> Vec<Line<'static>> {
        let all = panel.lines(&self.sight, paint, width, now);
        self.drawn = (all.len(), room);
        let end = all.len().saturating_sub(room);
        // Beside the first panel, the events follow their end.
        let scroll = if panel == self.panel { self.scroll } else { None };
        let top = scroll.unwrap_or(end).min(end);
        all.into_iter().skip(top).take(room).collect()
    }

    fn head(&self, paint: Paint, width: usize) -> Vec<Line<'static>> {
        let row = &self.sight.view.row;
        let title = line::first(&row.request);
        let stage = (Tone::of_stage(row.stage), row.stage.name());
        let confidence = format!("{} confidence", self.sight.view.confidence().name());
        let about = format!("{} · {} · {}", line::one(&row.workflow), row.mode, self.sight.repository.name);
        let mut lines = vec![
            paint.ends((Tone::Strong, &title), stage, width),
            paint.ends((Tone::Faint, &about), (Tone::Faint, &confidence), width),
        ];
        lines.extend(paint.wrapped(Tone::Plain, &self.sight.standing(), 2, width));
        if let Some(reason) = &row.reason {
            lines.extend(paint.wrapped(Tone::of_stage(row.stage), &line::one(reason), 2, width));
        }
        if let Some(advice) = advice(&self.sight) {
            lines.extend(paint.wrapped(Tone::Doubtful, advice, 2, width));
        }
        if self.asks_to_cancel {
            let text = "Cancel this run? y cancels it, any other key does not.";
            lines.extend(paint.wrapped(Tone::Bad, text, 2, width));
        }
        lines
    }

    /// The open gates; the panel keeps at least half of the screen.
    fn gates(&self, paint: Paint, width: usize, height: usize, now: Millis) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        for open in &self.sight.gates {
            lines.push(Line::default());
            let question = format!("? {}", line::one(&open.gate.question));
            lines.extend(paint.wrapped(Tone::Doubtful, &question, 2, width));
            if let Some(given) = &open.given {
                lines.extend(paint.wrapped(Tone::Good, &format!("  {given}"), 0, width));
                continue;
            }
            for text in &open.request.context {
                lines.extend(paint.wrapped(Tone::Plain, &format!("  {}", line::one(text)), 2, width));
            }
            let options: Vec<String> =
                open.gate.options.iter().map(|option| line::one(&option.name)).collect();
            let asked = amount::age(now.0, open.gate.opened_at.0);
            let options = format!("  a answers: {} (asked {asked} ago)", options.join(", "));
            lines.extend(paint.wrapped(Tone::Strong, &options, 2, width));
        }
        lines.truncate(height / 2);
        lines
    }

    fn tabs(&self, paint: Paint, width: usize) -> Line<'static> {
        let mut parts = Vec::new();
        let is_narrow = width < 60;
        for (at, panel) in Panel::ALL.into_iter().enumerate() {
            let is_shown = panel == self.panel;
            let name = if is_narrow && !is_shown { "" } else { panel.name() };
            let count = match panel {
                Panel::Findings if !self.sight.view.findings.is_empty() && !name.is_empty() => {
                    format!(" {}", self.sight.view.findings.len())
                }
                _ => String::new(),
            };
            let text = format!("{} {name}{count}", at + 1);
            let text =
                if is_shown { format!("[{}]", text.trim_end()) } else { format!(" {} ", text.trim_end()) };
            parts.push(paint.part(if is_shown { Tone::Strong } else { Tone::Faint }, &text));
        }
        Line::from(parts)
    }

    pub fn keys(&self) -> String {
        if let Some(form) = &self.form {
            return form.keys().to_string();
        }
        let mut keys = Vec::new();
        if self.unanswered().is_some() {
            keys.push("a answer");
        }
        if !self.sight.view.row.stage.is_over() {
            keys.push("c cancel");
            if advice(&self.sight).is_some() {
                keys.push("r continue");
            }
        }
        keys.extend(["d diff", "o page", "1-5 tab", "q back"]);
        keys.join("  ")
    }
}

/// Two columns with a line between them.
fn columns(
    left: Vec<Line<'static>>,
    right: Vec<Line<'static>>,
    width: usize,
    height: usize,
) -> Vec<Line<'static>> {
    let (mut left, mut right) = (left.into_iter(), right.into_iter());
    let row = |_| {
        let mut line = left.next().unwrap_or_default();
        let gap = width.saturating_sub(line.width());
        line.spans.push(" ".repeat(gap).into());
        line.spans.push(" │ ".into());
        line.spans.extend(right.next().unwrap_or_default().spans);
        line
    };
    (0..height).map(row).collect()
}
