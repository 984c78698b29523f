//! The main line of a run, for those who only read it.

use super::call::git;
use super::invocation::fields;
use super::names::main_reference;
use super::{CommitId, GitError, Repository};

/// One state of the main line, and the command that made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MainLineState {
    pub commit: CommitId,
    pub command: String,
}

impl Repository {
    /// The states of the main line of a run since its base, the latest first; fails if the run has none any more.
    pub fn main_line(&self, base: &CommitId, run: &str) -> Result<Vec<MainLineState>, GitError> {
        let range = format!("{base}..{}", main_reference(run));
        let format = "--format=%H%n%(trailers:key=Remand-Command,valueonly,separator=%x20)";
        let words = ["log", "-z", "--no-show-signature", "--no-decorate", "--no-notes", format, &range];
        let output = git(&self.objects(), words).run()?;
        fields(&output).map(|record| state(&String::from_utf8_lossy(record))).collect()
    }
}

fn state(record: &str) -> Result<MainLineState, GitError> {
    let (commit, command) = record.split_once('\n').unwrap_or((record, ""));
    Ok(MainLineState { commit: commit.trim().parse()?, command: command.trim().to_string() })
}
