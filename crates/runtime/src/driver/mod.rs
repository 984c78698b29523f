//! Drivers: how a dispatch reaches an agent. A driver knows its agent, and nothing of workflows.

mod acp;
mod cli;
mod ear;
mod fill;
mod known;
mod pick;
mod prices;
mod rehearsal;
mod row;
mod signs;

use crate::process::Ended;
use remand_kernel::event::Usage;
use remand_kernel::signal::Failure;
use remand_ledger::fact::Tokens;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use cli::Cli;
pub use ear::Ear;
pub use known::{Known, Named};
pub use pick::Pick;
pub use prices::{Price, Prices, Reckoned};
pub use rehearsal::Rehearsal;
pub use row::{Acp, Books, Hear, Kind, PromptBy, Row, RowError, Speech};
pub use signs::retry_after;

/// Where a dispatch takes place, and with what.
#[derive(Clone, Debug)]
pub struct Place {
    /// The agent's working directory.
    pub tree: PathBuf,
    /// The folder of the dispatch: prompt, inputs, and what the driver keeps.
    pub folder: PathBuf,
    /// The one folder besides the permitted files that the agent may write.
    pub out: PathBuf,
    /// The agent's own home, inside `out`.
    pub home: PathBuf,
    /// Where the result is expected.
    pub result: PathBuf,
    pub prompt: String,
    /// Describes the dispatch to scripted agents.
    pub about: PathBuf,
    /// The user's home.
    pub user_home: PathBuf,
    /// Where programs are looked for.
    pub path: OsString,
    /// This program.
    pub remand: PathBuf,
    pub may: May,
    /// Whether the sandbox keeps the process from all that it may not touch.
    pub is_confined: bool,
    /// The model that the role asks for, as the agent names it.
    pub model: Option<String>,
    /// A session of the same agent that is taken up again.
    pub session: Option<Session>,
}

/// What the role may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct May {
    pub write: bool,
    pub shell: bool,
    pub network: bool,
}

/// A session that is taken up again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    pub id: String,
    pub used: Used,
}

/// What a session has used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    pub tokens: Tokens,
    /// Micro-units of the currency.
    pub money: u64,
}

/// How to start an agent.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    pub argv: Vec<OsString>,
    pub environment: BTreeMap<String, OsString>,
    pub stdin: Vec<u8>,
    /// Files and folders that the agent has to read although they are hidden: the engine's, or those of its own program in
    /// the user's home.
    pub reads: Vec<PathBuf>,
    /// Files of the user's that it finds in its home under these relative names, to change as it likes.
    pub copies: Vec<(PathBuf, PathBuf)>,
    /// Files that are written into its home under these relative names.
    pub files: Vec<(PathBuf, String)>,
    /// Programs, or folders of them, that it has to start even in a role without a shell.
    pub programs: Vec<PathBuf>,
    /// TCP ports at which it reaches its service.
    pub ports: Vec<u16>,
    /// TCP ports at which it listens to itself.
    pub listens: Vec<u16>,
    /// The longest time without a sign of life.
    pub silence: Option<Duration>,
}

/// What an agent's process said, as its driver understands it.
#[derive(Clone, Debug, Default)]
pub struct Heard {
    /// The final answer.
    pub answer: String,
    pub usage: Usage,
    /// The tokens by kind; none where the agent does not say.
    pub tokens: Option<Tokens>,
    /// The price that the cost was reckoned by; none where the agent told it, or nobody knows it.
    pub price: Option<String>,
    pub model: Option<String>,
    pub session: Option<String>,
    /// Permissions that the agent was denied, as it tells them (CORE-15).
    pub denied: Vec<String>,
    /// Why this cannot be a result, where the driver can tell.
    pub failure: Option<(Failure, String)>,
}

/// One way to reach an agent.
pub trait Driver: Send + Sync {
    fn name(&self) -> &str;

    /// Where things are in what the agent prints while it works.
    fn rules(&self) -> Hear {
        Hear::default()
    }

    fn launch(&self, place: &Place) -> Launch;

    fn hear(&self, place: &Place, ended: &Ended, ear: &Ear) -> Heard;

    /// Names at the root of a tree that hold settings of the agent's own program.
    fn unseen(&self) -> Vec<String> {
        Vec::new()
    }

    /// Files of the user's home that it finds in its own, under these relative names, to change as it likes.
    fn copies(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Tells whether a session of this agent can be taken up again.
    fn resumes(&self) -> bool {
        false
    }
}

/// How programs say that the system refused something. A hard link out of the sandbox counts as one between devices.
const REFUSED: [&str; 5] = [
    "permission denied",
    "operation not permitted",
    "read-only file system",
    "invalid cross-device link",
    "eacces",
];

fn is_refusal(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    REFUSED.iter().any(|words| text.contains(words))
}

/// What an agent left in a file: none if it is no plain file, and never more than so many bytes and one.
pub fn left_by_agent(path: &Path, most: usize) -> Option<Vec<u8>> {
    if !std::fs::symlink_metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(most as u64 + 1).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
