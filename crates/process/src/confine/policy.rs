//! What a confined process may do, and how much of that policy the machine enforces.

use super::service::ServiceAddress;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What a confined process may do; the default is to read and to compute.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Policy {
    /// Folders and files that may be changed, including everything in the folders; each must exist.
    pub read_write: Vec<PathBuf>,
    /// If not empty, only these paths, `read_write` and system folders may be read; each must exist.
    pub read_only: Vec<PathBuf>,
    /// Folders that may not be read or listed, except for `read_write` and `shown` paths inside. The folders above them may
    /// not be listed either.
    pub hidden: Vec<PathBuf>,
    /// Paths inside hidden folders that may be read; missing ones are ignored.
    pub shown: Vec<PathBuf>,
    /// The only programs that may be started, each of which must exist; `None` allows all.
    pub programs: Option<Vec<PathBuf>>,
    /// Whether it may use the network.
    pub network: bool,
    /// Services that it may reach without `network`. With a private network, it can reach nothing else. Without one, it
    /// can reach any host at the ports of these services, and use UDP to resolve their names.
    pub services: Vec<ServiceAddress>,
    /// TCP ports that it may listen on and connect to without `network`, to connect to itself.
    pub listens: Vec<u16>,
    /// Whether it may use Unix sockets, which can reach other programs of the user.
    pub sockets: bool,
    /// Whether it may use named shared memory and semaphores, which all programs of the user share.
    pub shared_memory: bool,
    /// Gives the program a private network and private folders where the kernel supports it, so that it can use them
    /// freely.
    pub private: Option<PrivateFolders>,
    /// Whether the program must not start without them, because this machine can provide them.
    pub private_required: bool,
    /// Bytes of memory per process. On Linux, the engine measures them.
    pub memory: Option<u64>,
    /// Bytes of memory of all its processes together, if the engine measures them.
    pub memory_of_all: Option<u64>,
    /// Bytes by which the folders that it may write to can grow, if the engine measures them.
    pub disk: Option<u64>,
    /// Maximum size in bytes of a file that it writes.
    pub file_size: Option<u64>,
    /// Simultaneous processes, each with a number of threads. In namespaces, the kernel enforces the limit for
    /// everything in them; elsewhere, the user's existing processes are added to it, and it does not apply to root.
    pub processes: Option<u64>,
    /// File to write the `Enforcement` to, as JSON, before the program starts.
    pub report: Option<PathBuf>,
    /// File to add the `Contacts` of a private network to, as JSON.
    pub contacts: Option<PathBuf>,
    /// File to add a line to if the program cannot be confined, for programs that the engine does not start itself.
    pub failures: Option<PathBuf>,
    /// Whether the supervisor stops after the program ends, until its parent has killed the remaining processes and
    /// continues it.
    pub watched: bool,
}

impl Policy {
    /// Whether the program gets a private network and does not need the shared one.
    #[cfg(target_os = "linux")]
    pub(super) fn has_private_network(&self) -> bool {
        self.private.is_some() && !self.network
    }

    pub(super) fn record_failure(&self, error: &ConfineError) {
        let Some(path) = &self.failures else { return };
        let opened = File::options().append(true).create(true).open(path);
        // The status of this process shows the failure, too.
        let _ = opened.and_then(|mut file| writeln!(file, "{}", error.chain()));
    }

    /// Parses a policy from JSON, or from the JSON file with this path.
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

    /// Writes the policy as JSON; fails if a path is not UTF-8.
    pub fn to_json(&self) -> Result<String, ConfineError> {
        serde_json::to_string(self).map_err(|source| ConfineError::Unwritable { source })
    }
}

/// The folders for temporary files, which all programs share.
pub const TEMPORARY_FOLDERS: [&str; 2] = ["/tmp", "/var/tmp"];

/// What a program does not share with others: these folders, `/dev/shm`, System V memory, terminals, and, unless it may
/// use the network, a network with a loopback device and its services.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct PrivateFolders {
    /// Folders that are empty at first and may be changed, such as the home and `/tmp`. Paths inside them that the
    /// policy names stay visible.
    pub folders: Vec<PathBuf>,
    /// Folders inside them with their real content, such as the caches of toolchains. The program may change them, but
    /// only it sees the changes.
    pub copied: Vec<PathBuf>,
    /// The folder that holds the content of these folders.
    pub storage: PathBuf,
    /// Whether hidden folders look empty. Otherwise reading them is denied, which makes the attempt visible; then a
    /// private folder must not contain a hidden one.
    pub empties_hidden: bool,
}

/// Why a process could not be confined; the program has not started.
#[derive(Debug, thiserror::Error)]
pub enum ConfineError {
    #[error("no program to confine; name it after `--`")]
    NoProgram,
    #[error("the policy {} cannot be read", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("the policy is malformed")]
    Malformed { source: serde_json::Error },
    #[error("the policy or its report cannot be written as JSON")]
    Unwritable { source: serde_json::Error },
    #[error("the policy lists {}, which cannot be opened; create it or remove it from the policy", path.display())]
    Missing { path: PathBuf, source: io::Error },
    #[error("the report {} cannot be written", path.display())]
    Report { path: PathBuf, source: io::Error },
    #[error("the limit on {what} cannot be set to {value}")]
    Limit { what: &'static str, value: u64, source: io::Error },
    #[error("{what} could not be made private")]
    Private { what: String, source: io::Error },
    #[error("the program could not be started in its namespaces: {why}")]
    Init { why: String },
    #[error("the supervisor process could not be set up")]
    Supervisor { source: io::Error },
    #[error("the kernel rejected the sandbox: {why}")]
    Kernel { why: String },
    #[error("`{program}` could not be started inside the sandbox")]
    Exec { program: String, source: io::Error },
}

impl ConfineError {
    /// The error with its causes, in one line.
    pub fn chain(&self) -> String {
        let causes = std::iter::successors(std::error::Error::source(self), |cause| cause.source());
        let causes: String = causes.map(|cause| format!(": {cause}")).collect();
        format!("{self}{causes}")
    }
}

/// The exit code of a supervisor that could not start its program.
pub const UNCONFINED: i32 = 125;
