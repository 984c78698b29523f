//! Runs one job to its end.

use super::cancel::Cancel;
use super::confine::{Contacts, UNCONFINED};
use super::ended::{CapturedOutput, Exit, JobEnd};
use super::job::{ProcessJob, Survivors};
use super::lookup::{self, SpawnError};
use super::running::Running;
use super::stray::{DAEMONS_MAY_STAY, MARKER_VARIABLE};
use super::watch::LineWatch;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

/// Runs a job to its end. None of its processes is alive afterwards, except for permitted daemons.
///
/// The job gets its own process group. At a limit or on cancel the group receives SIGTERM and, after the grace period,
/// SIGKILL. However the job ends, the remaining processes are killed: those of its group, its descendants, and all with
/// its marker. Processes cannot escape from a confined job: its supervisor adopts every orphan. A job that is cancelled
/// before it starts does not start.
pub fn run(job: &ProcessJob, cancel: &Cancel) -> Result<JobEnd, SpawnError> {
    run_to_end(job, cancel, None)
}

/// Runs a job like `run`, and passes each line of its output to the watch as it arrives.
pub fn run_watched(job: &ProcessJob, cancel: &Cancel, watch: LineWatch) -> Result<JobEnd, SpawnError> {
    run_to_end(job, cancel, Some(watch))
}

fn run_to_end(job: &ProcessJob, cancel: &Cancel, watch: Option<LineWatch>) -> Result<JobEnd, SpawnError> {
    let (command, program) = build_command(job)?;
    let started = SystemTime::now();
    if cancel.is_cancelled() {
        return Ok(JobEnd {
            exit: Exit::Cancelled,
            stdout: CapturedOutput::default(),
            stderr: CapturedOutput::default(),
            started,
            duration: Duration::ZERO,
            strays: 0,
            exceeded: None,
            contacts: None,
        });
    }
    let record = job.confine.as_ref().and_then(|confined| confined.policy.contacts.as_deref());
    if let Some(record) = record {
        // An earlier program may have left it. If it cannot be removed, its contacts count for this program, too.
        let _ = std::fs::remove_file(record);
    }
    let mut running =
        Running::start(job, command, watch).map_err(|error| lookup::start_error(&program, error))?;
    let _watch = cancel.watch(running.messages());
    let limits = job.strictest_limits();
    let cause = running.wait(&limits);
    let never_started = running.is_unconfined();
    let end = running.end(&limits, cause, started);
    match end.exit {
        Exit::Code(UNCONFINED) if never_started => {
            let name = job.argv.first().map(|name| name.to_string_lossy().into_owned());
            let text = end.stderr.text();
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            let why = lines.collect::<Vec<_>>().join("; ");
            Err(SpawnError::Unconfined { program: name.unwrap_or_default(), why })
        }
        Exit::Code(_)
        | Exit::Signal(_)
        | Exit::TimedOut
        | Exit::Silent
        | Exit::Lingered
        | Exit::Cancelled => Ok(JobEnd { contacts: record.and_then(Contacts::read), ..end }),
    }
}

fn build_command(job: &ProcessJob) -> Result<(Command, PathBuf), SpawnError> {
    if job.marker.is_empty() || job.marker.contains('\0') {
        return Err(SpawnError::Marker { marker: job.marker.clone() });
    }
    let program = lookup::find_program(job)?;
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
            let limits = job.strictest_limits();
            (policy.memory, policy.processes) = (limits.memory, limits.processes);
            let arguments = crate::confine::arguments(&policy, program.as_os_str(), arguments)
                .map_err(|source| SpawnError::Confine { source })?;
            let mut command = Command::new(&confined.exe);
            command.args(arguments);
            command
        }
    };
    let suffix = if job.survivors == Survivors::Daemons { DAEMONS_MAY_STAY } else { "" };
    let marker = format!("{}{suffix}", job.marker);
    command.current_dir(&job.folder).env_clear().envs(&job.environment).env(MARKER_VARIABLE, marker);
    command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Ok((command, job.confine.as_ref().map_or(program, |confined| confined.exe.clone())))
}
