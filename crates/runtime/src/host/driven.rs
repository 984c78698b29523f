//! One run that this process drives: its program, where it stands, and what is under way.

use super::at_work::AtWork;
use super::message::{From, Message};
use super::{HostError, Standing};
use crate::lock::DriverLock;
use remand_kernel::event::Outcome;
use remand_kernel::ids::CommandId;
use remand_kernel::signal::Failure;
use remand_kernel::step::{self, Step};
use remand_kernel::{Event, Program, State};
use remand_ledger::fact::Note;
use remand_ledger::{Ledger, Reader, ReplayFrom, Replayed, RunId, replay};
use std::sync::Arc;

pub(super) struct Driven {
    pub(super) program: Arc<Program>,
    /// None while the run only waits for a human: it is read from the ledger again when somebody acts on it.
    pub(super) state: Option<Box<State>>,
    /// None once the run is over and all is done for it: whoever comes next may have it, and the file is not kept open.
    lock: Option<DriverLock>,
    pub(super) under_way: AtWork,
    /// What is to be told with the next event.
    pub(super) notes: Vec<Note>,
}

/// A step that is taken and not yet committed.
pub(super) struct Taken {
    pub(super) message: Message,
    pub(super) step: Step,
}

impl Driven {
    pub(super) fn new(program: Arc<Program>, state: Option<Box<State>>, lock: DriverLock) -> Driven {
        Driven { program, state, lock: Some(lock), under_way: AtWork::default(), notes: Vec::new() }
    }

    /// Program and state, unless the run was laid aside.
    pub(super) fn at_hand(&self) -> Option<(&Program, &State)> {
        self.state.as_deref().map(|state| (&*self.program, state))
    }

    /// Tells whether requests to the run are for this process.
    pub(super) fn is_held(&self) -> bool {
        self.lock.is_some()
    }

    /// Tells whether nothing is left to do for the run but what was told to be done at its end.
    pub(super) fn is_over(&self) -> bool {
        self.under_way.is_empty() && self.state.as_ref().is_some_and(|state| state.end().is_some())
    }

    pub(super) fn let_go(&mut self) {
        self.lock = None;
    }

    /// Tells whether nothing happens to the run until a human acts.
    pub(super) fn only_waits(&self) -> bool {
        self.under_way.is_empty() && self.state.as_ref().is_some_and(|state| state.end().is_none())
    }

    /// Steps the kernel. What it refuses of an agent is a malformed result; what it refuses of a human is turned down.
    pub(super) fn take(
        &mut self,
        mut message: Message,
        reader: &Reader,
        ledger: &mut Ledger,
    ) -> Result<Option<Taken>, HostError> {
        let (program, state) = self.recall(reader, &message.run)?;
        let refusal = match step::step(program, state, &message.event) {
            Ok(step) => {
                if let (step::Note::Late, From::Request(id)) = (step.note, message.from) {
                    ledger.refuse(id, "it came too late: the run went on without it")?;
                    return Ok(None);
                }
                return Ok(Some(Taken { message, step }));
            }
            Err(refusal) => refusal,
        };
        match message.from {
            From::Here => Err(HostError::Refused { run: message.run, source: refusal }),
            From::Request(id) => {
                ledger.refuse(id, &refusal.to_string())?;
                Ok(None)
            }
            From::Effect(id) => {
                message.event = match message.event {
                    Event::Ended { usage, .. } => {
                        let detail = refusal.to_string();
                        let outcome = Outcome::Failed { failure: self.refused_as(id), detail, in_a_row: 0 };
                        Event::Ended { id, outcome, usage }
                    }
                    other => other,
                };
                let run = message.run.clone();
                let (program, state) = self.recall(reader, &message.run)?;
                let step = step::step(program, state, &message.event)
                    .map_err(|source| HostError::Refused { run, source })?;
                Ok(Some(Taken { message, step }))
            }
        }
    }

    /// An agent's result can be asked for again; the engine would say the same thing twice.
    fn refused_as(&self, id: CommandId) -> Failure {
        let is_dispatch =
            self.program.phases.get(id.phase.index()).is_some_and(|phase| !phase.contracts().is_empty());
        if is_dispatch { Failure::Malformed } else { Failure::Denied }
    }

    pub(super) fn standing(&self, otherwise: Standing) -> Standing {
        let end = self.state.as_ref().and_then(|state| state.end());
        end.map_or(otherwise, |end| Standing::Over(end.clone()))
    }

    /// Where the run stands; read from the ledger if it was laid aside.
    pub(super) fn recall(
        &mut self,
        reader: &Reader,
        run: &RunId,
    ) -> Result<(&Program, &mut State), HostError> {
        let state = match self.state.take() {
            Some(state) => state,
            None => Box::new(read(reader, run)?.state),
        };
        Ok((&self.program, self.state.insert(state)))
    }
}

/// Where a run stands, from its latest snapshot on.
pub(super) fn read(reader: &Reader, run: &RunId) -> Result<Replayed, HostError> {
    replay(reader, run, ReplayFrom::Snapshot)
        .map_err(|source| HostError::Replay { run: run.clone(), source: Box::new(source) })
}
