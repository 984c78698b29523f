//! A running job: its processes, and the threads that serve its pipes and wait for its end.

use super::capture::{Capture, Pulse, Reader};
use super::ended::{CapturedOutput, ExceededLimit, Exit, JobEnd};
use super::job::{ProcessJob, ProcessLimits, Survivors};
use super::message::JobMessage;
use super::meter::{self, DiskMeter};
use super::stray::{self, Family, KILL_TIMEOUT, LeaderKind};
use super::watch::{LineWatch, Stream};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// How long a pipe may stay open after the last known process of the job is gone.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);

/// Why the wait for a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    Exited,
    TimedOut,
    Silent,
    Lingered,
    Cancelled,
    Exceeded(ExceededLimit),
}

/// A running job. Dropping it before its end kills its processes.
pub(super) struct Running {
    child: Option<Child>,
    leader: Pid,
    start: Instant,
    pulse: Arc<Pulse>,
    stdout: Arc<Mutex<Capture>>,
    stderr: Arc<Mutex<Capture>>,
    pipes: Vec<u64>,
    messages: Sender<JobMessage>,
    inbox: Receiver<JobMessage>,
    family: Family,
    leader_kind: LeaderKind,
    survivors: Survivors,
    /// The limit on a single file; zero if there is none.
    file_size: u64,
    /// Whether the program ended and its supervisor waits.
    stopped: bool,
    exited: bool,
    open_streams: usize,
    _disk: Option<DiskMeter>,
}

impl Running {
    /// Starts the process and its threads. If a thread cannot be started, the process is killed.
    pub fn start(job: &ProcessJob, mut command: Command, watch: Option<LineWatch>) -> io::Result<Running> {
        let child = spawn(&mut command)?;
        let start = Instant::now();
        let raw = i32::try_from(child.id()).map_err(io::Error::other)?;
        let leader = Pid::from_raw(raw).ok_or_else(|| io::Error::other("the child has no pid"))?;
        let (messages, inbox) = channel();
        let capture = || Arc::new(Mutex::new(Capture::new(job.limits.output)));
        let is_supervised = cfg!(target_os = "linux") && job.confine.is_some();
        let leader_kind = if is_supervised { LeaderKind::Supervisor } else { LeaderKind::Program };
        let disk = job
            .strictest_limits()
            .disk
            .map(|limit| DiskMeter::start(job.writable(), limit, messages.clone()));
        let mut running = Running {
            child: Some(child),
            leader,
            start,
            pulse: Arc::new(Pulse::new(start)),
            stdout: capture(),
            stderr: capture(),
            pipes: Vec::new(),
            messages,
            inbox,
            family: Family::new(&job.marker).with_leader(raw, leader_kind),
            leader_kind,
            survivors: job.survivors,
            file_size: job.confine.as_ref().and_then(|confined| confined.policy.file_size).unwrap_or(0),
            stopped: false,
            exited: false,
            open_streams: 0,
            _disk: None,
        };
        running._disk = disk.transpose()?;
        running.start_threads(job.stdin.clone(), watch)?;
        Ok(running)
    }

    pub fn messages(&self) -> Sender<JobMessage> {
        self.messages.clone()
    }

    /// Waits for the first reason to end the job.
    pub fn wait(&mut self, limits: &ProcessLimits) -> Cause {
        let deadline = self.start.checked_add(limits.time);
        let mut next_measurement = self.start;
        loop {
            let now = Instant::now();
            let last_output = if self.pulse.expects_silence() { now } else { self.pulse.last_output() };
            let silence_end = limits.silence.and_then(|silence| last_output.checked_add(silence));
            if deadline.is_some_and(|deadline| now >= deadline) {
                return Cause::TimedOut;
            }
            if silence_end.is_some_and(|end| now >= end) {
                return Cause::Silent;
            }
            let linger_end = self.pulse.expects_end().then(|| self.pulse.last_output() + limits.linger);
            if linger_end.is_some_and(|end| now >= end) {
                return Cause::Lingered;
            }
            // A line of output can change which deadline applies, so wake up regularly.
            let wake_up = Some(now + meter::TICK);
            let next = [deadline, silence_end, linger_end, wake_up].into_iter().flatten().min();
            match self.receive(next) {
                Some(JobMessage::Cancelled) => return Cause::Cancelled,
                Some(JobMessage::Exceeded(exceeded)) => return Cause::Exceeded(exceeded),
                Some(JobMessage::Exited | JobMessage::Stopped | JobMessage::Closed(_)) if self.is_over() => {
                    return Cause::Exited;
                }
                Some(JobMessage::Exited | JobMessage::Stopped | JobMessage::Closed(_)) => {}
                None if meter::is_needed(limits) && Instant::now() >= next_measurement => {
                    let before = Instant::now();
                    if let Some(exceeded) = meter::exceeded_limit(&self.family, limits) {
                        return Cause::Exceeded(exceeded);
                    }
                    next_measurement = Instant::now() + meter::pause(before.elapsed(), limits);
                }
                None => {}
            }
        }
    }

    /// Ends the job, kills its remaining processes and collects its output.
    pub fn end(mut self, limits: &ProcessLimits, cause: Cause, started: SystemTime) -> JobEnd {
        let mut exceeded = match cause {
            Cause::Exited => {
                if self.survivors == Survivors::Daemons {
                    self.family.spare_daemons();
                }
                // The remaining processes may have started after the last measurement.
                meter::is_needed(limits).then(|| meter::exceeded_limit(&self.family, limits)).flatten()
            }
            // No grace period: the job would use even more of the exhausted resource.
            Cause::Exceeded(exceeded) => Some(exceeded),
            Cause::TimedOut | Cause::Silent | Cause::Lingered | Cause::Cancelled => {
                self.ask_to_end(limits.grace);
                None
            }
        };
        let mut strays = self.kill();
        strays += self.drain();
        let status = self.reap();
        let exit = match cause {
            Cause::Exited if exceeded.is_none() => {
                status.map_or(Exit::Signal(Signal::KILL.as_raw()), exit_of)
            }
            Cause::Exited | Cause::Exceeded(_) => Exit::Signal(Signal::KILL.as_raw()),
            Cause::TimedOut => Exit::TimedOut,
            Cause::Silent => Exit::Silent,
            Cause::Lingered => Exit::Lingered,
            Cause::Cancelled => Exit::Cancelled,
        };
        if exit == Exit::Signal(Signal::XFSZ.as_raw()) {
            exceeded = Some(ExceededLimit::FileSize(self.file_size));
        }
        let (duration, stdout, stderr) =
            (self.start.elapsed(), output_of(&self.stdout), output_of(&self.stderr));
        JobEnd { exit, stdout, stderr, started, duration, strays, exceeded, contacts: None }
    }

    fn ask_to_end(&mut self, grace: Duration) {
        let until = Instant::now() + grace;
        self.family.remember_descendants();
        // The leader may just be starting its own session, and then has no group. It may also be gone.
        if kill_process_group(self.leader, Signal::TERM).is_err() {
            let _ = kill_process(self.leader, Signal::TERM);
        }
        self.receive_until(until, Running::is_over);
        if self.is_over() {
            self.family.wait_until_gone(until);
        }
    }

    /// Kills all processes of the job, and counts those other than the leader. A supervisor exits after its
    /// descendants.
    fn kill(&mut self) -> usize {
        self.family.remember_descendants();
        let is_program_alive = self.leader_kind == LeaderKind::Supervisor && !self.is_over();
        let mut strays = self.family.sweep();
        if self.is_unconfined() {
            // The supervisor was killed, so some processes may no longer be its descendants.
            self.family.lose_supervisor();
            strays += self.family.sweep();
        } else if self.leader_kind == LeaderKind::Supervisor {
            self.receive_until(Instant::now() + KILL_TIMEOUT, Running::is_over);
            strays += self.family.sweep();
            // This fails if the supervisor is gone, which the wait below notices.
            let _ = kill_process(self.leader, Signal::CONT);
            self.receive_until(Instant::now() + KILL_TIMEOUT, |running| running.exited);
        }
        if !self.exited {
            self.family.lose_supervisor();
            // This fails if the leader is gone, which the wait below notices.
            let _ = kill_process(self.leader, Signal::KILL);
            self.receive_until(Instant::now() + KILL_TIMEOUT, |running| running.exited);
            strays += self.family.sweep();
        }
        strays.saturating_sub(usize::from(is_program_alive))
    }

    /// Whether the supervisor ended without a program: otherwise it waits before it exits.
    pub fn is_unconfined(&self) -> bool {
        self.leader_kind == LeaderKind::Supervisor && self.exited && !self.stopped
    }

    fn is_over(&self) -> bool {
        self.exited || self.stopped
    }

    /// Waits for the end of both streams; kills and counts the processes that keep them open.
    fn drain(&mut self) -> usize {
        self.receive_until(Instant::now() + DRAIN_TIMEOUT, |running| running.open_streams == 0);
        if self.open_streams == 0 {
            return 0;
        }
        let killed = stray::kill_pipe_holders(&self.pipes);
        // If no process holds the pipes, the watch is slow or the output is long. The output is still read to its end.
        self.receive_until(Instant::now() + KILL_TIMEOUT, |running| running.open_streams == 0);
        killed
    }

    fn reap(&mut self) -> Option<ExitStatus> {
        let mut child = self.child.take()?;
        if self.exited {
            // Without a status, the caller reports a kill.
            return child.wait().ok();
        }
        // The process is stuck in the kernel. A thread reaps it later; without the thread it stays a zombie, which is
        // harmless.
        let reaper = thread::Builder::new().name("reaper".to_owned());
        let _ = reaper.spawn(move || child.wait());
        None
    }

    fn receive_until(&mut self, until: Instant, done: impl Fn(&Running) -> bool) {
        while !done(self) && Instant::now() < until {
            self.receive(Some(until));
        }
    }

    fn receive(&mut self, until: Option<Instant>) -> Option<JobMessage> {
        let received = match until {
            Some(until) => self.inbox.recv_timeout(until.saturating_duration_since(Instant::now())),
            None => self.inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        let message = received.ok()?;
        match message {
            JobMessage::Exited => self.exited = true,
            JobMessage::Stopped => self.stopped = true,
            JobMessage::Closed(_) => self.open_streams -= 1,
            JobMessage::Cancelled | JobMessage::Exceeded(_) => {}
        }
        Some(message)
    }

    fn start_threads(&mut self, input: Vec<u8>, watch: Option<LineWatch>) -> io::Result<()> {
        let leader = self.leader;
        let messages = self.messages.clone();
        let leader_kind = self.leader_kind;
        thread::Builder::new()
            .name("waiter".to_owned())
            .spawn(move || wait_for_exit(leader, &messages, leader_kind))?;
        let Some(child) = &mut self.child else { return Ok(()) };
        if let Some(mut stdin) = child.stdin.take() {
            // A process need not read all of its input, so a failed write is ignored.
            thread::Builder::new().name("stdin".to_owned()).spawn(move || stdin.write_all(&input))?;
        }
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        if let Some(pipe) = stdout {
            self.pipes.extend(inode(&pipe));
            self.open_streams += 1;
            self.start_reader(Stream::Stdout, pipe, watch.clone())?;
        }
        if let Some(pipe) = stderr {
            self.pipes.extend(inode(&pipe));
            self.open_streams += 1;
            self.start_reader(Stream::Stderr, pipe, watch)?;
        }
        Ok(())
    }

    fn start_reader(
        &self,
        stream: Stream,
        pipe: impl io::Read + Send + 'static,
        watch: Option<LineWatch>,
    ) -> io::Result<()> {
        let (name, capture) = match stream {
            Stream::Stdout => ("stdout", &self.stdout),
            Stream::Stderr => ("stderr", &self.stderr),
        };
        let (capture, pulse, messages) = (capture.clone(), self.pulse.clone(), self.messages.clone());
        let reader = Reader { stream, capture, pulse, watch, messages };
        thread::Builder::new().name(name.to_owned()).spawn(move || reader.read(pipe)).map(|_| ())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        // Each of these fails only if the process is already gone.
        self.family.sweep();
        let _ = kill_process_group(self.leader, Signal::KILL);
        let _ = child.kill();
        self.family.sweep();
        let _ = child.wait();
    }
}

/// Starts the process. Retries while the program file is busy: a process that another thread has just forked can hold a
/// newly written program open for a moment.
fn spawn(command: &mut Command) -> io::Result<Child> {
    for _ in 0..100 {
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {
                thread::sleep(Duration::from_millis(10));
            }
            started => return started,
        }
    }
    command.spawn()
}

/// Waits for the exit of a child without reaping it. A supervisor stops once before it exits.
fn wait_for_exit(child: Pid, messages: &Sender<JobMessage>, leader_kind: LeaderKind) {
    let has_exited = |options: WaitIdOptions| loop {
        match waitid(WaitId::Pid(child), options | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
            Err(rustix::io::Errno::INTR) => {}
            Ok(Some(status)) if status.stopped() => return false,
            Ok(_) | Err(_) => return true,
        }
    };
    if leader_kind == LeaderKind::Supervisor && !has_exited(WaitIdOptions::STOPPED) {
        // The receiver is gone if the job was given up as unkillable.
        let _ = messages.send(JobMessage::Stopped);
        has_exited(WaitIdOptions::empty());
    } else if leader_kind == LeaderKind::Program {
        has_exited(WaitIdOptions::empty());
    }
    // The receiver is gone if the job was given up as unkillable.
    let _ = messages.send(JobMessage::Exited);
}

/// The inode of a pipe; without one, processes that hold the pipe cannot be found.
fn inode(pipe: &impl AsFd) -> Option<u64> {
    rustix::fs::fstat(pipe).ok().map(|stat| stat.st_ino)
}

fn output_of(capture: &Mutex<Capture>) -> CapturedOutput {
    capture.lock().unwrap_or_else(PoisonError::into_inner).finish()
}

fn exit_of(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Signal(Signal::KILL.as_raw()),
    }
}
