//! All runs of all repositories: what needs the user first, then what runs, then the rest.

use crate::problem::ViewProblem;
use crate::repository::RepositoryState;
use crate::site::RunSite;
use remand_engine::clock;
use remand_ledger::LedgerError;
use remand_ledger::query::{GateRow, RunRow, RunStage};
use remand_terminal::line;

/// For so long a run that failed is among those that need the user.
const RECENT: i64 = 24 * 3600 * 1000;

/// The runs of a user.
pub struct RunList {
    /// The latest event first.
    pub runs: Vec<ListedRun>,
    pub unread: Vec<UnreadState>,
}

/// A run of one of the repositories.
pub struct ListedRun {
    pub repository: RepositoryState,
    pub row: RunRow,
    /// The gates that wait for an answer.
    pub gates: Vec<GateRow>,
}

/// A repository whose ledger cannot be read.
pub struct UnreadState {
    pub name: String,
    pub error: LedgerError,
}

/// The part of the list that a run belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RunGroup {
    NeedsYou,
    Running,
    Earlier,
}

impl RunGroup {
    pub fn heading(self) -> &'static str {
        match self {
            RunGroup::NeedsYou => "Needs you",
            RunGroup::Running => "Running",
            RunGroup::Earlier => "Earlier",
        }
    }
}

impl RunList {
    pub fn read(site: &RunSite) -> Result<RunList, ViewProblem> {
        let (mut runs, mut unread) = (Vec::new(), Vec::new());
        for repository in site.repositories()? {
            // One ledger that cannot be read must not hide the others.
            match of_repository(&repository) {
                Ok(found) => runs.extend(found),
                Err(error) => unread.push(UnreadState { name: repository.name.clone(), error }),
            }
        }
        runs.sort_by_key(|run| std::cmp::Reverse((run.row.updated_at, run.row.run.clone())));
        Ok(RunList { runs, unread })
    }
}

fn of_repository(repository: &RepositoryState) -> Result<Vec<ListedRun>, LedgerError> {
    let reader = repository.reader()?;
    let mut gates = reader.open_gates()?;
    let rows = reader.runs()?;
    Ok(rows
        .into_iter()
        .map(|row| {
            let of_run: Vec<GateRow> = gates.extract_if(.., |gate| gate.run == row.run).collect();
            ListedRun { repository: repository.clone(), row, gates: of_run }
        })
        .collect())
}

impl ListedRun {
    pub fn group(&self) -> RunGroup {
        if self.needs_you() {
            RunGroup::NeedsYou
        } else if self.row.stage == RunStage::Running {
            RunGroup::Running
        } else {
            RunGroup::Earlier
        }
    }

    fn needs_you(&self) -> bool {
        let is_recent = clock::now().0.saturating_sub(self.row.updated_at.0) < RECENT;
        match self.row.stage {
            RunStage::Waiting | RunStage::Interrupted | RunStage::Paused => true,
            RunStage::Failed | RunStage::LeftToYou => is_recent,
            RunStage::Running => !self.gates.is_empty(),
            RunStage::Committed | RunStage::Stopped => false,
        }
    }

    /// Whether every word of a search occurs in what the list shows.
    pub fn is_about(&self, search: &str) -> bool {
        let row = &self.row;
        let text = [
            row.request.as_str(),
            &row.run.0,
            &row.workflow,
            row.stage.name(),
            &self.repository.name,
            &row.place,
        ];
        let text = text.join(" ").to_lowercase();
        search.to_lowercase().split_whitespace().all(|word| text.contains(word))
    }

    /// What the run is about, in one line.
    pub fn title(&self) -> String {
        let first = line::first(&self.row.request);
        if first.is_empty() { "no request".to_string() } else { first }
    }

    /// What the run waits for, or why it ended, in one line.
    pub fn why(&self) -> String {
        match (self.gates.first(), self.row.stage) {
            (Some(gate), _) => line::first(&gate.question),
            (None, RunStage::Interrupted) => {
                format!("no process drives it; `remand resume {}` continues", self.row.run)
            }
            (None, stage) if stage.is_over() => line::one(self.row.reason.as_deref().unwrap_or_default()),
            (None, _) => line::one(&self.row.place),
        }
    }
}
