//! The commands whose ending still counts: what was taken back meanwhile may end, but says nothing about the rounds.

use remand_kernel::command::Command;
use remand_kernel::ids::CommandId;
use std::collections::BTreeSet;

#[derive(Clone, Debug, Default)]
pub(super) struct Awaited(BTreeSet<CommandId>);

impl Awaited {
    pub(super) fn hear(&mut self, command: &Command) {
        match command {
            Command::Dispatch(_) | Command::Operate { .. } | Command::Ask(_) => self.0.extend(command.id()),
            Command::Cancel { id } => {
                self.0.remove(id);
            }
            Command::Discard { .. } | Command::Restore { .. } => {}
            Command::Finish { .. } => self.0.clear(),
        }
    }

    /// Takes the ending of a command; false if nobody waits for it any more.
    pub(super) fn take(&mut self, id: CommandId) -> bool {
        self.0.remove(&id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use remand_kernel::ids::{Lane, OperationId, PhaseId};

    fn id(attempt: u16) -> CommandId {
        CommandId { phase: PhaseId(3), lane: Lane::Main, visit: 1, seat: 0, attempt }
    }

    fn operate(attempt: u16) -> Command {
        let operation = OperationId(0);
        Command::Operate { id: id(attempt), operation, task: None, findings: Vec::new() }
    }

    // SR-11
    #[test]
    fn what_was_taken_back_ends_without_a_word() {
        let mut awaited = Awaited::default();
        awaited.hear(&operate(1));
        awaited.hear(&Command::Cancel { id: id(1) });
        assert!(!awaited.take(id(1)), "a rollback took it back");
        awaited.hear(&operate(2));
        assert!(awaited.take(id(2)));
        assert!(!awaited.take(id(2)), "it ends once");
    }
}
