//! The commands whose result still counts. A command that a rollback cancelled may still end, but its result does not
//! affect the rounds.

use remand_kernel::command::Command;
use remand_kernel::ids::CommandId;
use std::collections::BTreeSet;

#[derive(Clone, Debug, Default)]
pub(super) struct AwaitedCommands(BTreeSet<CommandId>);

impl AwaitedCommands {
    pub(super) fn apply(&mut self, command: &Command) {
        match command {
            Command::Dispatch(_) | Command::Operate { .. } | Command::Ask(_) => self.0.extend(command.id()),
            Command::Cancel { id } => {
                self.0.remove(id);
            }
            Command::Discard { .. } | Command::Restore { .. } => {}
            Command::Finish { .. } => self.0.clear(),
        }
    }

    /// Removes a command that ended; false if it was not awaited.
    pub(super) fn remove(&mut self, id: CommandId) -> bool {
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
    fn the_result_of_a_cancelled_command_is_not_awaited() {
        let mut awaited = AwaitedCommands::default();
        awaited.apply(&operate(1));
        awaited.apply(&Command::Cancel { id: id(1) });
        assert!(!awaited.remove(id(1)), "a rollback cancelled it");
        awaited.apply(&operate(2));
        assert!(awaited.remove(id(2)));
        assert!(!awaited.remove(id(2)), "it ends once");
    }
}
