//! Detects changes of a watched view: the list of all runs, or one run.

use crate::problem::ViewProblem;
use crate::repository::RepositoryState;
use crate::site::RunSite;
use remand_engine::dispatch::transcript_path;
use remand_ledger::query::RunStage;
use remand_ledger::{Reader, RunId};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The problem of a repository without runs.
const NO_RUNS: &str = "this repository has no runs";

/// The view that a window or a terminal shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Watched {
    /// The list of all runs.
    Home,
    Run {
        repository: String,
        run: RunId,
        /// A dispatch whose transcript is shown.
        command: Option<String>,
    },
}

/// Reads a short text that changes whenever the view changes. Keeps the ledgers open between two reads.
#[derive(Debug, Default)]
pub struct Pulse {
    readers: BTreeMap<String, (RepositoryState, Reader)>,
}

impl Pulse {
    pub fn read(&mut self, site: &RunSite, watched: &Watched) -> Result<String, ViewProblem> {
        match watched {
            Watched::Home => self.of_home(site),
            Watched::Run { repository, run, command } => {
                self.of_run(site, repository, run, command.as_deref())
            }
        }
    }

    fn of_home(&mut self, site: &RunSite) -> Result<String, ViewProblem> {
        let all = site.repositories()?;
        self.readers.retain(|id, _| all.iter().any(|state| state.id == *id));
        let mut text = String::new();
        for state in all {
            let id = state.id.clone();
            // The list itself reports a ledger that cannot be read.
            let Ok(reader) = self.reader(state) else {
                let _ = write!(text, "{id} ");
                continue;
            };
            // The head also shows a run that started and ended between two reads.
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
        site: &RunSite,
        repository: &str,
        run: &RunId,
        command: Option<&str>,
    ) -> Result<String, ViewProblem> {
        if !self.readers.contains_key(repository) {
            let found = site.repository(repository)?;
            let state = found.ok_or_else(|| ViewProblem::NotFound(NO_RUNS))?;
            self.reader(state)?;
        }
        let Some((state, reader)) = self.readers.get(repository) else {
            return Err(ViewProblem::NotFound(NO_RUNS));
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

    fn reader(&mut self, state: RepositoryState) -> Result<&Reader, ViewProblem> {
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
