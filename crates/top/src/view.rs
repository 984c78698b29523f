//! What the screen shows and what keys do to it: the list of runs, or one run.

use crate::keys::Key;
use crate::list::{ListWish, RunRows};
use crate::paint::Paint;
use crate::run::{RunScreen, RunWish};
use ratatui::Frame;
use ratatui::text::{Line, Text};
use remand_engine::clock;
use remand_ledger::{Millis, RunId};
use remand_terminal::{Ink, Tone};
use remand_views::{RepositoryState, RunList, RunSight, RunSite, ViewProblem, Watched};
use std::time::Instant;

/// The view is at least this narrow; a smaller terminal cuts it off.
const MIN_WIDTH: usize = 20;

/// What the view needs of the machine.
pub trait Desk {
    /// Opens the page of a run in the user's browser, and says what happened.
    fn open_page(&self, repository: &RepositoryState, run: &RunId) -> Result<String, String>;

    /// Shows the change of a run in the user's pager, at the terminal that the view has given back.
    fn page_diff(&self, repository: &RepositoryState, run: &RunId) -> Result<(), String>;
}

/// The whole view.
pub struct TopView<'s> {
    site: &'s RunSite,
    paint: Paint,
    rows: RunRows,
    run: Option<RunScreen>,
    message: Option<(Tone, String)>,
}

/// What the loop does after a key.
pub enum TopWish {
    Nothing,
    Quit,
    OpenPage(RepositoryState, RunId),
    Diff(RepositoryState, RunId),
}

impl<'s> TopView<'s> {
    pub fn new(site: &'s RunSite, ink: Ink) -> Result<TopView<'s>, ViewProblem> {
        let rows = RunRows::new(RunList::read(site)?);
        Ok(TopView { site, paint: Paint(ink), rows, run: None, message: None })
    }

    /// Shows one run.
    pub fn open(&mut self, repository: &RepositoryState, run: &RunId) -> Result<(), ViewProblem> {
        self.run = Some(RunScreen::new(RunSight::read(self.site, repository, run, clock::now())?));
        Ok(())
    }

    /// What has to change before anything is read again.
    pub fn watched(&self) -> Watched {
        match &self.run {
            None => Watched::Home,
            Some(screen) => Watched::Run {
                repository: screen.sight.repository.id.clone(),
                run: screen.sight.view.row.run.clone(),
                command: screen.sight.transcript.as_ref().map(|(row, _)| row.command.clone()),
            },
        }
    }

    /// Reads what is shown again.
    pub fn update(&mut self, now: Instant) {
        let read = match &mut self.run {
            None => RunList::read(self.site).map(|list| self.rows.update(list, now)),
            Some(screen) => {
                let (repository, run) = (screen.sight.repository.clone(), screen.sight.view.row.run.clone());
                RunSight::read(self.site, &repository, &run, clock::now()).map(|sight| {
                    if let Some(news) = screen.update(sight) {
                        self.message = Some((Tone::Doubtful, news.to_string()));
                    }
                })
            }
        };
        if let Err(problem) = read {
            self.tell(Err(problem.to_string()));
        }
    }

    /// Shows the outcome of something in the last line, until the next key.
    pub fn tell(&mut self, outcome: Result<String, String>) {
        self.message = Some(match outcome {
            Ok(done) => (Tone::Good, done),
            Err(why) => (Tone::Bad, why),
        });
    }

    pub fn press(&mut self, key: Key, now: Instant) -> TopWish {
        self.message = None;
        if key == Key::Interrupt {
            return TopWish::Quit;
        }
        let Some(screen) = &mut self.run else {
            match self.rows.press(key, now) {
                ListWish::Nothing => {}
                ListWish::Quit => return TopWish::Quit,
                ListWish::Open(repository, run) => {
                    if let Err(problem) = self.open(&repository, &run) {
                        self.tell(Err(problem.to_string()));
                    }
                }
            }
            return TopWish::Nothing;
        };
        let wish = screen.press(key);
        let (repository, row) = (screen.sight.repository.clone(), screen.sight.view.row.clone());
        match wish {
            RunWish::Nothing => {}
            RunWish::Back => {
                self.run = None;
                self.update(now);
            }
            RunWish::OpenPage => return TopWish::OpenPage(repository, row.run),
            RunWish::Diff => return TopWish::Diff(repository, row.run),
            RunWish::Answer(sent) => {
                let reader = repository.reader().map_err(|error| error.to_string());
                let outcome = self.door().and_then(|door| {
                    door.answer(&repository, &reader?, &sent.gate, &sent.answer)?;
                    Ok(format!("{} is recorded.", sent.answer.option))
                });
                self.done(outcome, now);
            }
            RunWish::Cancel => {
                let outcome = self.door().and_then(|door| door.cancel(&repository, &row));
                self.done(outcome.map(|()| "The run is being cancelled.".to_string()), now);
            }
            RunWish::Resume => {
                let outcome = self.door().and_then(|door| door.resume(&repository, &row));
                self.done(outcome.map(|()| "A process continues the run.".to_string()), now);
            }
        }
        TopWish::Nothing
    }

    fn door(&self) -> Result<&'s dyn remand_views::RunDoor, String> {
        let door: Option<&'s dyn remand_views::RunDoor> = self.site.door.as_deref();
        door.ok_or_else(|| "This view only shows: it was started with --read-only.".to_string())
    }

    fn done(&mut self, outcome: Result<String, String>, now: Instant) {
        self.update(now);
        self.tell(outcome);
    }

    /// Draws everything, as it is at this time.
    pub fn draw(&mut self, frame: &mut Frame<'_>, now: Millis) {
        let area = frame.area();
        let (width, height) = (usize::from(area.width).max(MIN_WIDTH), usize::from(area.height));
        let body = height.saturating_sub(2);
        let paint = self.paint;
        let (mut lines, keys) = match &mut self.run {
            Some(screen) => (screen.lines(paint, width, body, now), screen.keys()),
            None => {
                let heading = self.rows.heading();
                let mut lines = vec![paint.ends((Tone::Strong, "↩ remand"), (Tone::Plain, &heading), width)];
                lines.extend(self.rows.search_line().map(|line| paint.cut(Tone::Plain, &line, width)));
                let room = body.saturating_sub(lines.len());
                lines.extend(self.rows.lines(paint, width, room, now));
                let keys = if self.rows.is_searching {
                    "enter keep  esc clear"
                } else {
                    "↑↓ move  enter open  / search  q quit"
                };
                (lines, keys.to_string())
            }
        };
        lines.resize(body, Line::default());
        let message = self.message.as_ref().map(|(tone, text)| paint.cut(*tone, text, width));
        lines.push(message.unwrap_or_default());
        lines.push(paint.cut(Tone::Faint, &keys, width));
        frame.render_widget(Text::from(lines), area);
    }
}
