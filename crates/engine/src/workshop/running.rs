//! Keeps track of the running commands, to cancel them and to wait for them.

use super::lock;
use remand_kernel::ids::CommandId;
use remand_ledger::RunId;
use remand_process::Cancel;
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// The running commands of all runs, shared by their threads.
#[derive(Clone, Debug, Default)]
pub(super) struct CommandThreads(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    commands: Mutex<BTreeMap<(RunId, CommandId), Cancel>>,
    ended: Condvar,
}

impl CommandThreads {
    pub(super) fn start(&self, run: &RunId, id: CommandId) -> Cancel {
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

    /// Waits until no command of a run is running; the command `except` may still run.
    pub(super) fn wait_for_others(&self, run: &RunId, except: Option<CommandId>) {
        let is_running = |commands: &mut BTreeMap<(RunId, CommandId), Cancel>| {
            commands.keys().any(|(other, command)| other == run && Some(*command) != except)
        };
        let guard = self.0.ended.wait_while(lock(&self.0.commands), is_running);
        drop(guard.unwrap_or_else(PoisonError::into_inner));
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
    fn waiting_for_others_ends_when_the_last_other_command_of_the_run_ends() {
        let (one, other) = (RunId("one".to_string()), RunId("other".to_string()));
        let threads = CommandThreads::default();
        for (run, phase) in [(&one, 1), (&one, 2), (&one, 3), (&other, 1)] {
            threads.start(run, id(phase));
        }
        let (send, received) = channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                threads.wait_for_others(&one, Some(id(3)));
                let left = lock(&threads.0.commands).len();
                send.send(left).expect("received");
            });
            threads.end(&one, id(1));
            threads.end(&one, id(2));
        });
        assert_eq!(
            received.recv().expect("sent"),
            2,
            "the caller's command, and the command of the other run"
        );
    }
}
