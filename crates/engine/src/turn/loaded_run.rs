//! A run in memory: everything that a turn needs to know about it.

use super::message::Message;
use super::parts::ArtifactParts;
use super::running::RunningCommands;
use remand_kernel::ids::CommandId;
use remand_kernel::state::End;
use remand_kernel::{Program, State};
use remand_ledger::Millis;
use remand_ledger::fact::Note;
use std::sync::Arc;
use std::time::Duration;

/// When a turn is taken, and whether its orders will be performed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// The wall clock, for the journal.
    pub at: Millis,
    /// Time since the driving process started. Runs are charged by this time, because the wall clock can be changed.
    pub uptime: Duration,
    /// Whether the driving process is about to stop: it has killed its commands, and starts no more.
    pub leaving: bool,
}

/// A run in the memory of its driving process. The ledger holds everything except the set of running commands.
#[derive(Clone, Debug)]
pub struct LoadedRun {
    pub program: Arc<Program>,
    pub state: State,
    pub(super) running: RunningCommands,
    /// `None` until a turn needs them; see `lacks_parts`.
    pub(super) parts: Option<ArtifactParts>,
    /// Notes that the next entry records.
    pub(super) notes: Vec<Note>,
}

impl LoadedRun {
    /// A run that starts now.
    pub fn new(program: Arc<Program>) -> LoadedRun {
        let state = State::new(&program);
        LoadedRun {
            parts: Some(ArtifactParts::default()),
            ..LoadedRun::with_state(program, state, Vec::new())
        }
    }

    /// A run from the ledger, with notes for its next entry.
    pub fn with_state(program: Arc<Program>, state: State, notes: Vec<Note>) -> LoadedRun {
        LoadedRun { program, state, running: RunningCommands::default(), parts: None, notes }
    }

    /// Unloads the run, and returns the notes that no entry has recorded yet.
    pub fn into_notes(self) -> Vec<Note> {
        self.notes
    }

    /// Adds a note that the next entry records.
    pub fn add_note(&mut self, note: Note) {
        self.notes.push(note);
    }

    /// Whether a turn with this message needs the parts of the run's artifacts, and they are not loaded yet.
    pub fn lacks_parts(&self, message: &Message) -> bool {
        self.parts.is_none() && ArtifactParts::exist_in(&message.facts.artifacts)
    }

    pub fn set_parts(&mut self, parts: ArtifactParts) {
        self.parts = Some(parts);
    }

    /// The commands that are running.
    pub fn running(&self) -> impl Iterator<Item = CommandId> + '_ {
        self.running.iter()
    }

    pub fn is_idle(&self) -> bool {
        self.running.is_empty()
    }

    pub fn end(&self) -> Option<&End> {
        self.state.end()
    }

    pub(super) fn time_left(&self) -> Option<Duration> {
        self.state.time_left().map(Duration::from_millis)
    }
}
