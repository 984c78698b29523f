//! Where the server works, and what its user permits.

use crate::context::CommandContext;
use crate::detaching::{self, ProcessFolders};
use crate::host;
use crate::workplace::{self, Workplace};
use remand_engine::logging;
use remand_ledger::{Reader, RunId};
use remand_process::DetachedProcess;
use remand_terminal::{CommandFailure, line};
use std::path::{Path, PathBuf};

/// The longest name of a client that is recorded, in columns.
const MAX_CLIENT: usize = 60;

/// The repository, the folders of the command line, and the gates that a client may answer.
#[derive(Clone, Debug)]
pub struct McpSite {
    directory: PathBuf,
    roles: Option<PathBuf>,
    state: Option<PathBuf>,
    /// The phases that the command line names.
    may_answer: Vec<String>,
}

impl McpSite {
    pub fn new(context: &CommandContext<'_>, may_answer: Vec<String>) -> McpSite {
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        McpSite {
            directory: workplace::here(context),
            roles: context.roles.map(absolute),
            state: context.state.map(absolute),
            may_answer,
        }
    }

    pub fn context(&self) -> CommandContext<'_> {
        CommandContext {
            json: true,
            roles: self.roles.as_deref(),
            directory: Some(&self.directory),
            state: self.state.as_deref(),
        }
    }

    /// The repository as it is now: its settings may change while the server runs.
    pub fn workplace(&self) -> Result<Workplace, CommandFailure> {
        let workplace = Workplace::open(&self.context(), Vec::new())?;
        logging::write_to(workplace.home.runs(), host::redactor(&workplace.config)?);
        Ok(workplace)
    }

    /// Whether the user named this gate.
    pub fn may_answer(&self, workplace: &Workplace, phase: &str) -> bool {
        self.may_answer.iter().chain(&workplace.config.may_answer).any(|name| name == phase)
    }

    /// Starts `remand` with these arguments as a process that outlives the server, and returns its id.
    pub fn start(
        &self,
        workplace: &Workplace,
        arguments: &[&str],
    ) -> Result<(String, DetachedProcess), CommandFailure> {
        let folders = ProcessFolders {
            directory: self.directory.clone(),
            roles: self.roles.clone(),
            state: self.state.clone(),
        };
        detaching::start(&folders, &jobs(workplace), arguments)
    }
}

/// The folder with the output of a process that the server started.
pub fn job_folder(workplace: &Workplace, id: &str) -> PathBuf {
    jobs(workplace).join(id)
}

/// A process that an earlier call started, by its id.
pub fn started_earlier(workplace: &Workplace, id: &str) -> Option<DetachedProcess> {
    let is_id = id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let folder = job_folder(workplace, id);
    (is_id && folder.is_dir()).then(|| DetachedProcess::in_folder(&folder))
}

fn jobs(workplace: &Workplace) -> PathBuf {
    workplace.home.root().join("mcp")
}

/// Whoever asks: the user, and the program that asks in the user's name.
pub fn asker(client: &str) -> String {
    let client = line::cut(&line::one(client), MAX_CLIENT);
    format!("{}, through {client} over MCP", crate::environment::user())
}

/// The run that a request names, else the latest.
pub fn run_of(reader: &Reader, name: Option<&str>) -> Result<RunId, CommandFailure> {
    Ok(reader.run(name.unwrap_or("latest"))?.run)
}
