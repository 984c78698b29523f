//! Opens the page of a run in the user's browser; a server is started if none runs.

use crate::detaching::{self, ProcessFolders};
use remand_ledger::RunId;
use remand_page::server;
use remand_process::DetachedProcess;
use remand_views::RepositoryState;
use serde_json::Value;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// A server that nobody looks at ends after this time.
const IDLE: &str = "30m";

/// How long a server may take to start.
const START: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(20);

/// Opens the page of a run, and says in one sentence what happened.
pub fn open_run(state: &Path, repository: &RepositoryState, run: &RunId) -> Result<String, String> {
    let link = match server::any_link(state) {
        Some(link) => link,
        None => start(state, repository)?,
    };
    let link = server::link_to_run(&link, &repository.id, run);
    match browser() {
        Some(mut argv) => {
            argv.push(link.into());
            let directory = Path::new("/");
            DetachedProcess::start_silent(&argv, directory)
                .map_err(|error| format!("the browser cannot be started: {error}"))?;
            Ok("the page of the run opens in your browser".to_string())
        }
        None => Ok(format!("the page of the run opens once at {link}")),
    }
}

/// Starts a server, and returns its login link.
fn start(state: &Path, repository: &RepositoryState) -> Result<String, String> {
    let directory = repository.checkout.clone().filter(|path| path.is_dir());
    let directory = directory.unwrap_or_else(|| PathBuf::from("/"));
    let folders = ProcessFolders { directory, roles: None, state: Some(state.to_path_buf()) };
    let jobs = repository.home.root().join("started");
    let arguments = ["serve", "--port", "0", "--idle", IDLE];
    let (_, process) = detaching::start(&folders, &jobs, &arguments).map_err(|failure| failure.what)?;
    let deadline = Instant::now() + START;
    loop {
        let printed = fs::read_to_string(&process.stdout).unwrap_or_default();
        let printed: Option<Value> = serde_json::from_str(&printed).ok();
        let link = printed.as_ref().and_then(|line| line.get("link")).and_then(Value::as_str);
        if let Some(link) = link {
            return Ok(link.to_string());
        }
        if process.exit().is_some() || Instant::now() > deadline {
            let error = fs::read_to_string(&process.stderr).unwrap_or_default();
            return Err(format!("the page is not served: {}", error.trim()));
        }
        thread::sleep(POLL);
    }
}

/// The command that opens an address in the user's browser.
fn browser() -> Option<Vec<OsString>> {
    if let Some(chosen) = env::var_os("BROWSER").filter(|value| !value.is_empty()) {
        return Some(vec![chosen]);
    }
    let name = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
        .map(|file| vec![file.into()])
}
