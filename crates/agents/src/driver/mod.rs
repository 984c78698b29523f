//! Drivers start agents and interpret their output. A driver knows its agent and nothing about workflows.

mod acp;
mod cli;
mod diagnosis;
mod prices;
mod rehearsal;
mod row;
mod rows;
mod services;
mod template;

use crate::output::{OutputReader, OutputRules};
use remand_kernel::event::Usage;
use remand_kernel::signal::Failure;
use remand_ledger::fact::TokenCounts;
use remand_process::JobEnd;
use remand_process::confine::ServiceAddress;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use cli::CliDriver;
pub use diagnosis::retry_after;
pub use prices::{ComputedCost, Price, Prices};
pub use rehearsal::RehearsalDriver;
pub use row::{AcpSettings, AgentProtocol, AgentRow, PromptBy, RowError, ServiceFailure, SessionLogLocation};
pub use rows::{AgentRows, NamedRow};

/// The properties of a dispatch that a driver needs.
#[derive(Clone, Debug)]
pub struct DispatchContext {
    /// The agent's working directory.
    pub tree: PathBuf,
    /// The folder of the dispatch: its prompt, its inputs and files of the driver.
    pub folder: PathBuf,
    /// The folder that the agent may write to in addition to the permitted files.
    pub out: PathBuf,
    /// The agent's home directory, inside `out`.
    pub home: PathBuf,
    /// The result file.
    pub result: PathBuf,
    pub prompt: String,
    /// The file that describes the dispatch to `remand submit` and to rehearsals.
    pub about: PathBuf,
    /// The user's home directory.
    pub user_home: PathBuf,
    /// The search path for programs.
    pub path: OsString,
    /// The path of the `remand` executable.
    pub remand: PathBuf,
    pub permissions: Permissions,
    /// Whether the sandbox confines the process.
    pub is_confined: bool,
    /// The model that the role requests, as the agent names it.
    pub model: Option<String>,
    /// The session to resume.
    pub session: Option<Session>,
}

/// The permissions of a role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    pub write: bool,
    pub shell: bool,
    pub network: bool,
}

/// An earlier session of the same agent that a dispatch resumes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    pub id: String,
    pub used: SessionUsage,
}

/// What a session has consumed so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionUsage {
    pub tokens: TokenCounts,
    /// Micro-units of the currency.
    pub money: u64,
}

/// How to start an agent.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    pub argv: Vec<OsString>,
    pub environment: BTreeMap<String, OsString>,
    pub stdin: Vec<u8>,
    /// Files and folders inside hidden folders that the agent may read: files of the engine, or files of the agent's
    /// program in the user's home.
    pub reads: Vec<PathBuf>,
    /// Files of the user that are copied into the agent's home under these relative names. The agent may change the copies.
    pub copies: Vec<(PathBuf, PathBuf)>,
    /// Files that are written into the agent's home under these relative names.
    pub files: Vec<(PathBuf, String)>,
    /// Programs, or folders of programs, that the agent must be able to start even without permission for a shell.
    pub programs: Vec<PathBuf>,
    /// The agent's services.
    pub services: Vec<ServiceAddress>,
    /// TCP ports on which the agent listens for connections from its own processes.
    pub listens: Vec<u16>,
    /// How long the agent may print nothing while no tool runs.
    pub silence: Option<Duration>,
}

/// What an agent's process reported, as its driver understands it.
#[derive(Clone, Debug, Default)]
pub struct AgentReport {
    /// The final answer.
    pub answer: String,
    pub usage: Usage,
    /// The tokens by kind; `None` if the agent does not report them.
    pub tokens: Option<TokenCounts>,
    /// The name of the price that the cost was computed from; `None` if the agent reported the cost or it is unknown.
    pub price: Option<String>,
    pub model: Option<String>,
    pub session: Option<String>,
    /// Permissions that the agent was denied, in the agent's words.
    pub denied: Vec<String>,
    /// Why the dispatch failed, if the driver knows.
    pub failure: Option<(Failure, String)>,
}

/// Starts one agent program and interprets its output.
pub trait Driver: Send + Sync {
    fn name(&self) -> &str;

    /// How to read the agent's output.
    fn output_rules(&self) -> OutputRules {
        OutputRules::default()
    }

    fn launch(&self, context: &DispatchContext) -> Launch;

    /// Reports what the agent did, from its exit status and output.
    fn interpret(&self, context: &DispatchContext, ended: &JobEnd, reader: &OutputReader) -> AgentReport;

    /// Files and folders of a tree that configure the agent's program, and that the agent must not see. A name applies to
    /// the root of the tree, or to every folder if it begins with `**/`.
    fn unseen(&self) -> Vec<String> {
        Vec::new()
    }

    /// Text that identifies the commands which the agent's program runs for itself, and not for its model.
    fn own_commands(&self) -> Option<&str> {
        None
    }

    /// Files of the user's home that are copied into the agent's home under the same relative names.
    fn copies(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Whether sessions of this agent can be resumed.
    fn resumes(&self) -> bool {
        false
    }
}

/// Reads up to `max` + 1 bytes of a file that an agent may have written, so that the caller notices a file that is too
/// long. `None` if the file is missing, unreadable or not a regular file.
pub fn read_agent_file(path: &Path, max: usize) -> Option<Vec<u8>> {
    if !std::fs::symlink_metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(max as u64 + 1).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
