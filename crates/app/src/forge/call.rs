//! Runs the programs of forges as the user, with the user's sign-in.

use super::ForgeRow;
use remand_process::{Cancel, Exit, ProcessJob, SpawnError, run};
use remand_terminal::CommandFailure;
use std::path::Path;
use std::time::Duration;

/// How long a program may take.
const TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// The most that is read of its output, in bytes.
const MAX_OUTPUT: usize = 16 * 1024 * 1024;

/// A command that publishes something, as people see it before it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedCommand {
    pub argv: Vec<String>,
}

impl PublishedCommand {
    /// The command as a shell takes it.
    pub fn text(&self) -> String {
        // Only a NUL, which no argument can contain, cannot be quoted.
        shlex::try_join(self.argv.iter().map(String::as_str)).unwrap_or_else(|_| self.argv.join(" "))
    }
}

/// Runs a command in a folder, and returns what it printed. `forge` says how to get the program.
pub fn run_command(
    argv: &[String],
    folder: &Path,
    forge: Option<&ForgeRow>,
) -> Result<String, CommandFailure> {
    let mut job = ProcessJob::standalone(argv.iter().cloned(), folder, "forge");
    job.environment = std::env::vars_os().collect();
    // Nobody can answer a question.
    job.environment.extend([
        ("GH_PROMPT_DISABLED".into(), "1".into()),
        ("GIT_TERMINAL_PROMPT".into(), "0".into()),
        ("NO_COLOR".into(), "1".into()),
    ]);
    job.limits.time = TIMEOUT;
    job.limits.output = MAX_OUTPUT;
    let program = argv.first().map_or("", String::as_str);
    let hint = |why: &str| match forge {
        Some(forge) if !forge.sign_in.is_empty() => format!("{why}; to sign in, {}", forge.sign_in),
        Some(_) | None => why.to_string(),
    };
    let ended = run(&job, &Cancel::new()).map_err(|error| {
        let install = forge.map(|forge| forge.install.as_str()).filter(|install| !install.is_empty());
        let remedy = match (&error, install) {
            (SpawnError::NotFound { .. }, Some(install)) => format!("install it: {install}"),
            (_, _) => "make sure that it is installed and on your PATH".to_string(),
        };
        CommandFailure::user(format!("`{program}` cannot be started"), remedy).caused_by(error.to_string())
    })?;
    match ended.exit {
        exit if exit.succeeded() => Ok(ended.stdout.text().to_string()),
        Exit::TimedOut => Err(CommandFailure::user(
            format!("`{program}` did not end within {} seconds", TIMEOUT.as_secs()),
            hint("try the command yourself"),
        )),
        exit => Err(CommandFailure::user(
            format!("`{program}` ended with {exit}"),
            hint("try the command yourself"),
        )
        .caused_by(remand_notation::clean(ended.stderr.text().trim()).to_string())),
    }
}
