//! Where the server works, and what its user permits.

use crate::context::CommandContext;
use crate::host;
use crate::workplace::{self, Workplace};
use remand_engine::clock;
use remand_engine::logging;
use remand_ledger::{Reader, RunId};
use remand_process::DetachedProcess;
use remand_terminal::{CommandFailure, line};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The longest name of a client that is recorded, in columns.
const MAX_CLIENT: usize = 60;

/// How long the output of a process is kept: longer than any run takes.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

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

    /// Starts `remand` with these arguments as a process that outlives the server.
    pub fn start(
        &self,
        workplace: &Workplace,
        arguments: &[&str],
    ) -> Result<(String, DetachedProcess), CommandFailure> {
        let failed = |error: std::io::Error| {
            CommandFailure::internal_error("the process that drives the run cannot be started", &error)
        };
        let id = clock::new_run_id("mcp").0;
        let folder = job_folder(workplace, &id);
        if let Some(parent) = folder.parent() {
            remand_git::private_folder(parent).map_err(failed)?;
        }
        remove_old_jobs(&folder);
        remand_git::private_folder(&folder).map_err(failed)?;
        let mut argv: Vec<OsString> = vec![host::program()?.into(), "--json".into()];
        for (flag, path) in [
            ("-C", Some(&self.directory)),
            ("--roles", self.roles.as_ref()),
            ("--state", self.state.as_ref()),
        ] {
            if let Some(path) = path {
                argv.extend([OsString::from(flag), path.into()]);
            }
        }
        argv.extend(arguments.iter().map(OsString::from));
        let process = DetachedProcess::start(&argv, &self.directory, &folder).map_err(failed)?;
        Ok((id, process))
    }
}

/// A process that an earlier call started, by its id.
pub fn started_earlier(workplace: &Workplace, id: &str) -> Option<DetachedProcess> {
    let is_id = id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let folder = job_folder(workplace, id);
    (is_id && folder.is_dir()).then(|| DetachedProcess::in_folder(&folder))
}

/// Removes the output of processes that were started long ago, next to a new folder.
fn remove_old_jobs(folder: &Path) {
    let entries = folder.parent().and_then(|parent| std::fs::read_dir(parent).ok());
    for entry in entries.into_iter().flatten().flatten() {
        let age = entry.metadata().and_then(|about| about.modified()).ok().and_then(|at| at.elapsed().ok());
        if age.is_some_and(|age| age > KEPT) {
            // What cannot be removed now is removed later.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// The folder with the output of a process that the server started.
pub fn job_folder(workplace: &Workplace, id: &str) -> PathBuf {
    workplace.home.root().join("mcp").join(id)
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
