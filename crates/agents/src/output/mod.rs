//! Reads the output of an agent program: answer, session, token counts, errors, denied permissions.

mod pick;
mod reader;
mod rules;

pub use pick::Pick;
pub use reader::{AgentActivity, OutputReader, ToolAtWork};
pub use rules::OutputRules;

/// Error messages that show that the system denied something. Linux reports a hard link out of the sandbox as a link
/// between devices.
const DENIALS: [&str; 5] = [
    "permission denied",
    "operation not permitted",
    "read-only file system",
    "invalid cross-device link",
    "eacces",
];

/// Whether an agent's output shows that the system denied something.
pub fn is_denial(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    DENIALS.iter().any(|words| text.contains(words))
}
