//! The list of all runs: what needs the user first. Rows keep their places while somebody moves in the list.

use crate::keys::Key;
use crate::paint::Paint;
use ratatui::text::Line;
use remand_ledger::{Millis, RunId};
use remand_terminal::{Tone, amount, line};
use remand_views::{ListedRun, RepositoryState, RunGroup, RunList, cost};
use std::time::{Duration, Instant};

/// After so long without a key nobody moves in the list, and it is sorted again.
const QUIET: Duration = Duration::from_secs(10);

/// The repository and the id of a run.
type RunKey = (String, RunId);

/// The list with what is selected and searched.
pub struct RunRows {
    list: RunList,
    /// The rows, each in the group in which it was sorted.
    order: Vec<(RunGroup, RunKey)>,
    selected: Option<RunKey>,
    /// The first line that is shown.
    scroll: usize,
    search: String,
    pub is_searching: bool,
    last_key: Option<Instant>,
}

/// What a key asks for.
pub enum ListWish {
    Nothing,
    Quit,
    Open(RepositoryState, RunId),
}

fn key_of(run: &ListedRun) -> RunKey {
    (run.repository.id.clone(), run.row.run.clone())
}

impl RunRows {
    pub fn new(list: RunList) -> RunRows {
        let mut rows = RunRows {
            list,
            order: Vec::new(),
            selected: None,
            scroll: 0,
            search: String::new(),
            is_searching: false,
            last_key: None,
        };
        rows.sort();
        rows
    }

    /// Shows what is there now. While somebody moves in the list, every row keeps its place, and new ones come last.
    pub fn update(&mut self, list: RunList, now: Instant) {
        self.list = list;
        if self.last_key.is_none_or(|last| now.duration_since(last) >= QUIET) {
            self.sort();
        } else {
            let found = self.found();
            self.order.retain(|(_, key)| found.iter().any(|(_, known)| known == key));
            let new = found.into_iter().filter(|(_, key)| !self.order.iter().any(|(_, known)| known == key));
            self.order.extend(new.collect::<Vec<_>>());
            self.select_something();
        }
    }

    /// The rows in order: by group, then the run that was started last.
    fn found(&self) -> Vec<(RunGroup, RunKey)> {
        let mut runs: Vec<&ListedRun> =
            self.list.runs.iter().filter(|run| run.is_about(&self.search)).collect();
        runs.sort_by_key(|run| (run.group(), std::cmp::Reverse((run.row.created_at, run.row.run.clone()))));
        runs.into_iter().map(|run| (run.group(), key_of(run))).collect()
    }

    fn sort(&mut self) {
        let before = self.selected_line();
        self.order = self.found();
        self.select_something();
        // The selected row stays where it is on the screen.
        if let (Some(before), Some(after)) = (before, self.selected_line()) {
            self.scroll = (self.scroll + after).saturating_sub(before);
        }
    }

    fn select_something(&mut self) {
        if self.selected_row().is_none() {
            self.selected = self.order.first().map(|(_, key)| key.clone());
        }
    }

    fn selected_row(&self) -> Option<usize> {
        self.order.iter().position(|(_, key)| Some(key) == self.selected.as_ref())
    }

    /// The line of the selected row, counted from the top of the list.
    fn selected_line(&self) -> Option<usize> {
        let row = self.selected_row()?;
        let groups = self.order[..=row].chunk_by(|one, other| one.0 == other.0).count();
        Some(row * 2 + groups * 2 - 1)
    }

    fn run(&self, key: &RunKey) -> Option<&ListedRun> {
        self.list.runs.iter().find(|run| key_of(run) == *key)
    }

    pub fn press(&mut self, key: Key, now: Instant) -> ListWish {
        self.last_key = Some(now);
        let last = self.order.len().saturating_sub(1);
        let at = self.selected_row().unwrap_or(0);
        let go = |to: usize| self.order.get(to.min(last)).map(|(_, key)| key.clone());
        match key {
            Key::Char(c) if self.is_searching => {
                self.search.push(c);
                self.sort();
            }
            Key::Backspace if self.is_searching => {
                self.search.pop();
                self.sort();
            }
            Key::Escape if self.is_searching || !self.search.is_empty() => {
                self.is_searching = false;
                self.search.clear();
                self.sort();
            }
            Key::Enter if self.is_searching => self.is_searching = false,
            Key::Up | Key::Char('k') => self.selected = go(at.saturating_sub(1)),
            Key::Down | Key::Char('j') => self.selected = go(at + 1),
            Key::PageUp => self.selected = go(at.saturating_sub(10)),
            Key::PageDown => self.selected = go(at + 10),
            Key::Home => self.selected = go(0),
            Key::End => self.selected = go(last),
            Key::Char('/') => self.is_searching = true,
            Key::Char('s') => self.sort(),
            Key::Enter | Key::Right => {
                if let Some(run) = self.selected.as_ref().and_then(|key| self.run(key)) {
                    return ListWish::Open(run.repository.clone(), run.row.run.clone());
                }
            }
            Key::Char('q') | Key::Escape => return ListWish::Quit,
            _ => {}
        }
        ListWish::Nothing
    }

    /// One line that counts the runs.
    pub fn heading(&self) -> String {
        let count = |group| self.list.runs.iter().filter(|run| run.group() == group).count() as u64;
        let needs = match count(RunGroup::NeedsYou) {
            1 => "1 run needs you".to_string(),
            count => format!("{} need you", amount::counted(count, "run")),
        };
        format!("{needs} · {} running", amount::grouped(count(RunGroup::Running)))
    }

    pub fn search_line(&self) -> Option<String> {
        let is_shown = self.is_searching || !self.search.is_empty();
        let cursor = if self.is_searching { "▏" } else { "" };
        is_shown.then(|| format!("search: {}{cursor}", self.search))
    }

    /// The part of the list that fits.
    pub fn lines(&mut self, paint: Paint, width: usize, height: usize, now: Millis) -> Vec<Line<'static>> {
        if let Some(line) = self.selected_line() {
            let first = if line <= 1 { 0 } else { line };
            self.scroll = self.scroll.min(first).max((line + 2).saturating_sub(height));
        }
        let mut lines: Vec<Line<'static>> = Vec::new();
        for state in &self.list.unread {
            let text = format!("{}: {}", state.name, state.error);
            lines.push(paint.cut(Tone::Bad, &text, width));
        }
        if self.order.is_empty() {
            let text = if self.list.runs.is_empty() {
                "No runs yet. Start one with `remand run \"what you want\"`, or watch `remand demo`."
            } else {
                "No run matches this search."
            };
            lines.extend(paint.wrapped(Tone::Plain, text, 0, width));
        }
        let mut group = None;
        for (of_group, key) in &self.order {
            if group != Some(*of_group) {
                if group.is_some() {
                    lines.push(Line::default());
                }
                group = Some(*of_group);
                lines.push(paint.cut(Tone::Strong, of_group.heading(), width));
            }
            if let Some(run) = self.run(key) {
                let is_selected = self.selected.as_ref() == Some(key);
                lines.extend(row(paint, run, is_selected, width, now));
            }
        }
        lines.into_iter().skip(self.scroll).take(height).collect()
    }
}

/// The two lines of a run.
fn row(paint: Paint, run: &ListedRun, is_selected: bool, width: usize, now: Millis) -> [Line<'static>; 2] {
    let row = &run.row;
    let mark = if is_selected { "▸ " } else { "  " };
    let title = format!("{mark}{}", run.title());
    let tone = if is_selected { Tone::Strong } else { Tone::Plain };
    let first = paint.ends((tone, &title), (Tone::of_stage(row.stage), row.stage.name()), width);
    let cost = cost(row.used.money, row.used.unpriced, row.used.dispatches);
    let age = format!("{} ago", amount::age(now.0, row.updated_at.0));
    let figures = if width >= 80 {
        format!("{cost} · {} · {age}", amount::time(row.used.time))
    } else {
        format!("{cost} · {age}")
    };
    let about = format!("{} · {}", run.repository.name, line::one(&row.workflow));
    let why = run.why();
    let detail = if why.is_empty() { about } else { format!("{why} · {about}") };
    [first, paint.ends((Tone::Faint, &format!("  {detail}")), (Tone::Faint, &figures), width)]
}
