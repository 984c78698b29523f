//! Drivers: how a dispatch reaches an agent. A driver knows its agent, and nothing of workflows.

mod rehearsal;

use crate::process::Ended;
use remand_kernel::event::Usage;
use remand_kernel::signal::Failure;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};

pub use rehearsal::Rehearsal;

/// Where a dispatch takes place.
#[derive(Clone, Debug)]
pub struct Place {
    /// The agent's working directory.
    pub tree: PathBuf,
    /// The folder of the dispatch: prompt, inputs, and what the driver keeps.
    pub folder: PathBuf,
    /// The one folder besides the permitted files that the agent may write.
    pub out: PathBuf,
    /// Where the result is expected.
    pub result: PathBuf,
    pub prompt: String,
    /// Describes the dispatch to scripted agents.
    pub about: PathBuf,
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
    /// Programs that it has to start even in a role without a shell.
    pub programs: Vec<PathBuf>,
}

/// What an agent's process said, as its driver understands it.
#[derive(Clone, Debug, Default)]
pub struct Heard {
    /// The final answer.
    pub answer: String,
    pub usage: Usage,
    pub model: Option<String>,
    pub session: Option<String>,
    /// Permissions that the agent was denied, as it tells them (CORE-15).
    pub denied: Vec<String>,
    /// Why this cannot be a result, where the driver can tell.
    pub failure: Option<(Failure, String)>,
}

/// One way to reach an agent.
pub trait Driver: Send + Sync {
    fn name(&self) -> &'static str;

    fn launch(&self, place: &Place) -> Launch;

    fn hear(&self, place: &Place, ended: &Ended) -> Heard;
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
