//! Runs one job to its end, whatever it does.

use super::cancel::Cancel;
use super::capture::{Stream, Watch};
use super::ended::{Captured, Ended, Exceeded, Exit};
use super::job::{Job, Leaves};
use super::lookup::{self, SpawnError};
use super::running::Running;
use super::stray::{MARK, MAY_STAY};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

/// Runs a job to its end; nothing of it is alive afterwards.
///
/// Its processes are in a group of their own. At a limit or on cancel the group is asked to end and after the grace
/// killed; at every end whoever is left of the group, descends from it or carries the marker is killed. Of a confined
/// job nobody can leave: its keeper inherits whoever loses its parent. A job that is cancelled before it starts never
/// starts.
pub fn run(job: &Job, cancel: &Cancel) -> Result<Ended, SpawnError> {
    supervise(job, cancel, None)
}

/// Runs a job as `run` does and shows each line of its output as it comes.
pub fn run_watched(job: &Job, cancel: &Cancel, watch: Watch) -> Result<Ended, SpawnError> {
    supervise(job, cancel, Some(watch))
}

/// What the threads around a job report to the one that supervises it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum News {
    Exited,
    /// The program is over, and its keeper waits for those who are left to be killed.
    Stopped,
    Closed(Stream),
    Cancelled,
    Exceeded(Exceeded),
}

fn supervise(job: &Job, cancel: &Cancel, watch: Option<Watch>) -> Result<Ended, SpawnError> {
    let (command, program) = command(job)?;
    let started = SystemTime::now();
    if cancel.is_cancelled() {
        return Ok(Ended {
            exit: Exit::Cancelled,
            stdout: Captured::default(),
            stderr: Captured::default(),
            started,
            duration: Duration::ZERO,
            strays: 0,
            exceeded: None,
        });
    }
    let mut running =
        Running::start(job, command, watch).map_err(|error| lookup::start_error(&program, error))?;
    let _watch = cancel.watch(running.news());
    let cause = running.wait(&job.limits);
    Ok(running.end(&job.limits, cause, started))
}

fn command(job: &Job) -> Result<(Command, PathBuf), SpawnError> {
    if job.marker.is_empty() || job.marker.contains('\0') {
        return Err(SpawnError::Marker { marker: job.marker.clone() });
    }
    let program = lookup::program(job)?;
    let (name, arguments) = job.argv.split_first().ok_or(SpawnError::NoProgram)?;
    let mut command = match &job.confine {
        None => {
            let mut command = Command::new(&program);
            command.arg0(name).args(arguments);
            command
        }
        Some(confined) => {
            let mut policy = confined.policy.clone();
            policy.watched = true;
            policy.memory = [policy.memory, job.limits.memory].into_iter().flatten().min();
            let arguments = crate::confine::arguments(&policy, program.as_os_str(), arguments)
                .map_err(|source| SpawnError::Confine { source })?;
            let mut command = Command::new(&confined.exe);
            command.args(arguments);
            command
        }
    };
    let stay = if job.leaves == Leaves::Daemons { MAY_STAY } else { "" };
    let marker = format!("{}{stay}", job.marker);
    command.current_dir(&job.folder).env_clear().envs(&job.environment).env(MARK, marker);
    command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Ok((command, job.confine.as_ref().map_or(program, |confined| confined.exe.clone())))
}
