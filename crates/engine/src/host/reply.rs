//! The channel from a command back to the host.

use crate::turn::{CommandEnding, Message};
use remand_kernel::ids::CommandId;
use remand_ledger::RunId;
use std::sync::mpsc::Sender;

/// Sends the ending of one command back to the host.
#[derive(Clone, Debug)]
pub struct CommandReply {
    pub(super) run: RunId,
    pub(super) id: CommandId,
    pub(super) inbox: Sender<Message>,
}

impl CommandReply {
    /// Sends the ending. If the host is gone, nothing is lost: the command is still open in the ledger.
    pub fn send(self, ending: CommandEnding) {
        let _ = self.inbox.send(Message::from_ending(self.run, self.id, ending));
    }
}
