//! Agents that died together with the process that drove their run: what they used was paid for and is not known, so
//! that is recorded before their commands are carried out again (CORE-11).

use super::faults::{self, Point};
use super::{Begun, Effects, Host, HostError, patiently};
use crate::clock;
use remand_kernel::event::Usage;
use remand_kernel::{Event, step};
use remand_ledger::{Entry, Facts, Ledger, LedgerError, Millis, Replayed, RunId};

impl<E: Effects> Host<E> {
    /// One commit for all of them. Each is told of once: when it is, the journal tells of as many as began.
    pub(super) fn tell_of_the_dead(&mut self, run: &RunId, replayed: &mut Replayed) -> Result<(), HostError> {
        let mut told = replayed.at;
        let mut lived = Vec::new();
        for dead in self.dead(run)? {
            let event = interrupted(&dead, &mut told);
            let step = step(&replayed.program, &mut replayed.state, &event)
                .map_err(|source| HostError::Refused { run: run.clone(), source })?;
            lived.push((event, step));
        }
        if lived.is_empty() {
            return Ok(());
        }
        let (at, facts) = (clock::now(), Facts::default());
        let entries: Vec<Entry<'_>> = lived
            .iter()
            .map(|(event, step)| Entry { run, at, event, facts: &facts, step, blobs: &[], request: None })
            .collect();
        faults::reached(Point::BeforeCommit);
        let numbers = patiently(&mut self.ledger, |ledger| ledger.append(&entries))?;
        faults::reached(Point::AfterCommit);
        patiently(&mut self.ledger, Ledger::follow)?;
        (replayed.seq, replayed.at) = (numbers.last().copied().unwrap_or(replayed.seq), at);
        Ok(())
    }

    /// The agents that began and of whose end the journal does not tell.
    fn dead(&self, run: &RunId) -> Result<Vec<Begun>, LedgerError> {
        let mut dead = Vec::new();
        for command in self.reader.untold_dispatches(run)? {
            if let Some(begun) = self.effects.begun(run, &command)
                && begun.nth > self.reader.interruptions(run, &command)?
            {
                dead.push(begun);
            }
        }
        Ok(dead)
    }
}

/// What is known of an agent that died: how long it showed life, and how much of that the run was not told of yet.
fn interrupted(dead: &Begun, told: &mut Millis) -> Event {
    let from = |start: Millis| u64::try_from(dead.seen.0.saturating_sub(start.0)).unwrap_or(0);
    let wall = from(dead.at.max(*told));
    *told = dead.seen.max(*told);
    let usage = Usage { money: None, tokens: None, time: from(dead.at), wall: Some(wall) };
    Event::Interrupted { id: dead.command, began: true, usage }
}
