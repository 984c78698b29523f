//! What a confined process may do, and how much of that the machine enforces.

use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// What a confined process may do; the default is to read and to compute.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Policy {
    /// Folders and files that may be changed, with all below them; each must exist.
    pub read_write: Vec<PathBuf>,
    /// When not empty, only these, `read_write` and the folders of the system may be read; each must exist.
    pub read_only: Vec<PathBuf>,
    /// Folders of which nothing may be read or listed, but for `read_write` and `shown`; nor may the folders above them be
    /// listed.
    pub hidden: Vec<PathBuf>,
    /// What may be read inside hidden folders; each must exist.
    pub shown: Vec<PathBuf>,
    /// The only programs that may be started, where not any may; each must exist.
    pub programs: Option<Vec<PathBuf>>,
    /// Whether it may use the network.
    pub network: bool,
    /// TCP ports that it may connect to without the network, to reach a service. Finding the service's address takes UDP.
    pub ports: Vec<u16>,
    /// TCP ports that it may listen at and connect to without the network, to talk with itself.
    pub listens: Vec<u16>,
    /// Whether it may use Unix sockets, by which other programs of the user can be reached.
    pub sockets: bool,
    /// Whether it may use named shared memory and semaphores, which all programs of the user have in common.
    pub shared_memory: bool,
    /// Bytes of private writable memory of each process.
    pub memory: Option<u64>,
    /// Bytes of the largest file that it may write.
    pub file_size: Option<u64>,
    /// Processes and threads that it may have beside those that its user has already; root is not bound by it.
    pub processes: Option<u64>,
    /// Where the `Enforcement` is written as JSON before the program starts.
    pub report: Option<PathBuf>,
    /// Whether the process that started it waits for it to stop, and kills what is left before it goes on.
    pub watched: bool,
}

impl Policy {
    /// Reads a policy from JSON text, or from the file of that name.
    pub fn from_argument(argument: &str) -> Result<Policy, ConfineError> {
        let text = if argument.trim_start().starts_with('{') {
            argument.to_owned()
        } else {
            let path = Path::new(argument);
            std::fs::read_to_string(path)
                .map_err(|source| ConfineError::Unreadable { path: path.into(), source })?
        };
        serde_json::from_str(&text).map_err(|source| ConfineError::Malformed { source })
    }

    /// Writes the policy as JSON; refused when a path is not UTF-8.
    pub fn to_json(&self) -> Result<String, ConfineError> {
        serde_json::to_string(self).map_err(|source| ConfineError::Unwritable { source })
    }
}

/// How much of something asked for is enforced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    Full,
    Partial,
    None,
    /// The policy allows it, so there is nothing to enforce.
    Unasked,
}

/// What the machine enforces of a policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Enforcement {
    pub files: Level,
    pub network: Level,
    /// What is not enforced, in words for the evidence.
    pub gaps: Vec<String>,
}

impl Enforcement {
    /// Adds what seccomp enforces.
    #[cfg(target_os = "linux")]
    pub(super) fn filtered_by(&mut self, filtered: Result<(), super::filter::Unfiltered>, policy: &Policy) {
        if filtered.is_ok() {
            let whole = !self.gaps.iter().any(|gap| gap == TCP);
            if self.network == Level::Partial && whole {
                self.network = Level::Full;
            }
            return;
        }
        if !policy.network && policy.ports.is_empty() {
            self.gaps.push("UDP and other traffic that is not TCP".to_string());
        }
        if !policy.sockets {
            self.gaps.push("Unix sockets by path".to_string());
        }
        self.gaps.push("namespaces, mounts and keys of the kernel".to_string());
    }
}

/// The gap that leaves the network open.
pub(super) const TCP: &str = "TCP connections";

/// Why a process could not be confined; the program has not started then.
#[derive(Debug, thiserror::Error)]
pub enum ConfineError {
    #[error("there is no program to confine; give it after `--`")]
    NoProgram,
    #[error("the policy {} cannot be read", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("the policy is malformed")]
    Malformed { source: serde_json::Error },
    #[error("the policy or its report cannot be written as JSON")]
    Unwritable { source: serde_json::Error },
    #[error("the policy names {}, which cannot be opened; create it first or leave it out", path.display())]
    Missing { path: PathBuf, source: io::Error },
    #[error("the report {} cannot be written", path.display())]
    Report { path: PathBuf, source: io::Error },
    #[error("the limit on {what} cannot be set to {value}")]
    Limit { what: &'static str, value: u64, source: io::Error },
    #[error("the process above the program could not be set up")]
    Keeper { source: io::Error },
    #[error("the kernel refused the sandbox: {why}")]
    Kernel { why: String },
    #[error("`{program}` could not be started inside the sandbox")]
    Exec { program: String, source: io::Error },
}
