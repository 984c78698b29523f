//! The commands that are being carried out, so that they can be cancelled and waited for.

use super::lock;
use crate::process::Cancel;
use remand_kernel::ids::CommandId;
use remand_ledger::RunId;
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

#[derive(Clone, Debug, Default)]
pub(super) struct UnderWay(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    commands: Mutex<BTreeMap<(RunId, CommandId), Cancel>>,
    ended: Condvar,
}

impl UnderWay {
    pub(super) fn begin(&self, run: &RunId, id: CommandId) -> Cancel {
        let cancel = Cancel::new();
        lock(&self.0.commands).insert((run.clone(), id), cancel.clone());
        cancel
    }

    pub(super) fn cancel(&self, run: &RunId, id: CommandId) {
        if let Some(cancel) = lock(&self.0.commands).get(&(run.clone(), id)) {
            cancel.cancel();
        }
    }

    pub(super) fn end(&self, run: &RunId, id: CommandId) {
        lock(&self.0.commands).remove(&(run.clone(), id));
        self.0.ended.notify_all();
    }

    /// Waits until nothing of a run is under way but what belongs to whoever waits.
    pub(super) fn be_alone(&self, run: &RunId, is_own: impl Fn(CommandId) -> bool) {
        let others = |commands: &mut BTreeMap<(RunId, CommandId), Cancel>| {
            commands.keys().any(|(other, command)| other == run && !is_own(*command))
        };
        let waited = self.0.ended.wait_while(lock(&self.0.commands), others);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;
    use remand_kernel::ids::{Lane, PhaseId};
    use std::sync::mpsc::channel;

    fn id(phase: u16) -> CommandId {
        CommandId { phase: PhaseId(phase), lane: Lane::Main, visit: 1, seat: 0, attempt: 1 }
    }

    // CORE-17, OT-21
    #[test]
    fn who_waits_to_be_alone_goes_on_when_the_last_other_command_of_the_run_is_over() {
        let (one, other) = (RunId("one".to_string()), RunId("other".to_string()));
        let under_way = UnderWay::default();
        for (run, phase) in [(&one, 1), (&one, 2), (&one, 3), (&other, 1)] {
            under_way.begin(run, id(phase));
        }
        let (tell, told) = channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                under_way.be_alone(&one, |other| other == id(3));
                let left = lock(&under_way.0.commands).len();
                tell.send(left).expect("somebody listens");
            });
            under_way.end(&one, id(1));
            under_way.end(&one, id(2));
        });
        assert_eq!(told.recv().expect("told"), 2, "itself, and the other run's");
    }
}
