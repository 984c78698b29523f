//! The message of a commit that the engine makes for a run.

use super::RunTrees;
use super::chain::one_line;

/// A commit message. Its text also has the trailers `Remand-Run` and `Remand-Command`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitMessage {
    pub subject: String,
    pub body: String,
    pub trailers: Vec<(String, String)>,
}

impl RunTrees {
    /// Returns the whole text of a commit message.
    pub(super) fn commit_text(&self, message: &CommitMessage, command: &str) -> String {
        let mut text = format!("{}\n\n", one_line(&message.subject));
        if !message.body.trim().is_empty() {
            text.push_str(&format!("{}\n\n", message.body.trim()));
        }
        let added = [("Remand-Run", self.run.as_str()), ("Remand-Command", command)];
        let given = message.trailers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, value) in given.chain(added) {
            text.push_str(&format!("{}: {}\n", one_line(name), one_line(value)));
        }
        text
    }
}
