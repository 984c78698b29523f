//! Whether what a window shows has changed.

use crate::problem::PageProblem;
use crate::site::{PageSite, RepositoryState};
use remand_engine::dispatch::transcript_path;
use remand_ledger::query::RunStage;
use remand_ledger::{Reader, RunId};
use std::collections::BTreeMap;
use std::fmt::Write;

/// What a window shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Watched {
    Home,
    Run {
        repository: String,
        run: RunId,
        /// A dispatch whose transcript the window shows.
        command: Option<String>,
    },
}

/// Reads a text that changes whenever the page does.
#[derive(Debug, Default)]
pub struct Pulse {
    readers: BTreeMap<String, (RepositoryState, Reader)>,
}

impl Pulse {
    pub fn read(&mut self, site: &PageSite, watched: &Watched) -> Result<String, PageProblem> {
        match watched {
            Watched::Home => self.of_home(site),
            Watched::Run { repository, run, command } => {
                self.of_run(site, repository, run, command.as_deref())
            }
        }
    }

    fn of_home(&mut self, site: &PageSite) -> Result<String, PageProblem> {
        let all = site.repositories().map_err(|source| unreadable(site, source))?;
        self.readers.retain(|id, _| all.iter().any(|state| state.id == *id));
        let mut text = String::new();
        for state in all {
            let id = state.id.clone();
            // A ledger that cannot be read now is tried again when the page is.
            let Ok(reader) = self.reader(state) else {
                let _ = write!(text, "{id} ");
                continue;
            };
            // The head of the journal also moves when a run ends between two looks.
            let (head, requests) = (reader.head()?.count, reader.all_requests()?.len());
            let _ = write!(text, "{id}:{head}:{requests}");
            for row in reader.runs_under_way()? {
                if row.stage == RunStage::Interrupted {
                    let _ = write!(text, ",{}", row.run);
                }
            }
            text.push(' ');
        }
        Ok(blake3::hash(text.as_bytes()).to_hex()[..16].to_string())
    }

    fn of_run(
        &mut self,
        site: &PageSite,
        repository: &str,
        run: &RunId,
        command: Option<&str>,
    ) -> Result<String, PageProblem> {
        if !self.readers.contains_key(repository) {
            let found = site.repository(repository).map_err(|source| unreadable(site, source))?;
            let state = found.ok_or_else(|| PageProblem::missing("this repository has no runs"))?;
            self.reader(state)?;
        }
        let Some((state, reader)) = self.readers.get(repository) else {
            return Err(PageProblem::missing("this repository has no runs"));
        };
        let row = reader.run(&run.0)?;
        let requests = reader.requests(run)?.len();
        let driven = u8::from(state.is_driven(run));
        let mut text = format!("{}-{}-{requests}-{driven}", row.seq, row.stage.name().replace(' ', "-"));
        if let Some(command) = command {
            let file = transcript_path(&state.home.run(run), command);
            let length = std::fs::metadata(file).map_or(0, |found| found.len());
            let _ = write!(text, "-{length}");
        }
        Ok(text)
    }

    fn reader(&mut self, state: RepositoryState) -> Result<&Reader, PageProblem> {
        use std::collections::btree_map::Entry;
        let (_, reader) = match self.readers.entry(state.id.clone()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let reader = state.reader()?;
                new.insert((state, reader))
            }
        };
        Ok(reader)
    }
}

fn unreadable(site: &PageSite, source: std::io::Error) -> PageProblem {
    PageProblem::File { what: site.state.display().to_string(), source }
}
