//! A running job: its processes, and the threads that serve its pipes and wait for its end.

use super::capture::{Capture, Pulse, Reader};
use super::ended::{CapturedOutput, ExceededLimit, Exit, JobEnd};
use super::job::{ProcessJob, ProcessLimits, Survivors};
use super::meter::{self, DiskMeter};
use super::news::News;
use super::stray::{self, Family, Keeper, PATIENCE};
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
const DRAIN: Duration = Duration::from_millis(500);

/// Why the supervisor stopped waiting for a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    Exited,
    TimedOut,
    Silent,
    Lingered,
    Cancelled,
    Exceeded(ExceededLimit),
}

/// A running job. Dropping it before its end kills it.
pub(super) struct Running {
    child: Option<Child>,
    leader: Pid,
    begun: Instant,
    pulse: Arc<Pulse>,
    stdout: Arc<Mutex<Capture>>,
    stderr: Arc<Mutex<Capture>>,
    pipes: Vec<u64>,
    news: Sender<News>,
    inbox: Receiver<News>,
    family: Family,
    keeper: Keeper,
    survivors: Survivors,
    /// The limit on a single file; zero if there is none.
    file_size: u64,
    /// The program ended; its keeper waits.
    stopped: bool,
    exited: bool,
    open: usize,
    _disk: Option<DiskMeter>,
}

impl Running {
    /// Starts the process and its threads. If a thread cannot be started, the process is killed again.
    pub fn start(job: &ProcessJob, mut command: Command, watch: Option<LineWatch>) -> io::Result<Running> {
        let child = spawn(&mut command)?;
        let begun = Instant::now();
        let raw = i32::try_from(child.id()).map_err(io::Error::other)?;
        let leader = Pid::from_raw(raw).ok_or_else(|| io::Error::other("the child has no pid"))?;
        let (news, inbox) = channel();
        let capture = || Arc::new(Mutex::new(Capture::new(job.limits.output)));
        let confined = cfg!(target_os = "linux") && job.confine.is_some();
        let keeper = if confined { Keeper::Leader } else { Keeper::None };
        let disk = job.limits.disk.map(|most| DiskMeter::start(job.writable(), most, news.clone()));
        let mut running = Running {
            child: Some(child),
            leader,
            begun,
            pulse: Arc::new(Pulse::new(begun)),
            stdout: capture(),
            stderr: capture(),
            pipes: Vec::new(),
            news,
            inbox,
            family: Family::new(&job.marker).led_by(raw, keeper),
            keeper,
            survivors: job.survivors,
            file_size: job.confine.as_ref().and_then(|confined| confined.policy.file_size).unwrap_or(0),
            stopped: false,
            exited: false,
            open: 0,
            _disk: None,
        };
        running._disk = disk.transpose()?;
        if let (Some(memory), None) = (job.limits.memory, &job.confine) {
            crate::confine::limit_memory_of(leader, memory)?;
        }
        running.serve(job.stdin.clone(), watch)?;
        Ok(running)
    }

    pub fn news(&self) -> Sender<News> {
        self.news.clone()
    }

    /// Waits for the first reason to end the job.
    pub fn wait(&mut self, limits: &ProcessLimits) -> Cause {
        let deadline = self.begun.checked_add(limits.time);
        loop {
            let now = Instant::now();
            let last = if self.pulse.is_quiet() { now } else { self.pulse.last() };
            let silent = limits.silence.and_then(|silence| last.checked_add(silence));
            if deadline.is_some_and(|deadline| now >= deadline) {
                return Cause::TimedOut;
            }
            if silent.is_some_and(|silent| now >= silent) {
                return Cause::Silent;
            }
            let lingers = self.pulse.is_ending().then(|| self.pulse.last() + limits.linger);
            if lingers.is_some_and(|lingers| now >= lingers) {
                return Cause::Lingered;
            }
            let tick = meter::is_needed(limits).then(|| now + meter::TICK);
            // A line of output can change which deadline applies, so wake up regularly.
            let look = Some(now + meter::TICK);
            let next = [deadline, silent, lingers, tick, look].into_iter().flatten().min();
            match self.receive(next) {
                Some(News::Cancelled) => return Cause::Cancelled,
                Some(News::Exceeded(exceeded)) => return Cause::Exceeded(exceeded),
                Some(News::Exited | News::Stopped | News::Closed(_)) if self.is_over() => {
                    return Cause::Exited;
                }
                Some(News::Exited | News::Stopped | News::Closed(_)) => {}
                None => {
                    if let Some(exceeded) = tick.and_then(|_| meter::exceeded(&self.family, limits)) {
                        return Cause::Exceeded(exceeded);
                    }
                }
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
                // Processes that it left may have started after the last measurement.
                meter::is_needed(limits).then(|| meter::exceeded(&self.family, limits)).flatten()
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
            (self.begun.elapsed(), captured(&self.stdout), captured(&self.stderr));
        JobEnd { exit, stdout, stderr, started, duration, strays, exceeded }
    }

    fn ask_to_end(&mut self, grace: Duration) {
        let until = Instant::now() + grace;
        self.family.remember_descendants();
        // Both can fail: the processes may be gone, or the leader may just be starting its own session.
        let _ = kill_process_group(self.leader, Signal::TERM);
        let _ = kill_process(self.leader, Signal::TERM);
        self.receive_until(until, Running::is_over);
        if self.is_over() {
            self.family.wait_until_gone(until);
        }
    }

    /// Kills the leader and all others, and counts the others. A keeper ends by itself when all its descendants are gone.
    fn kill(&mut self) -> usize {
        self.family.remember_descendants();
        let is_program_alive = self.keeper == Keeper::Leader && !self.is_over();
        let mut strays = self.family.sweep();
        if self.keeper == Keeper::Leader && self.exited && !self.stopped {
            // The keeper was killed, so some processes may no longer be its descendants.
            self.family.lose_keeper();
            strays += self.family.sweep();
        } else if self.keeper == Keeper::Leader {
            self.receive_until(Instant::now() + PATIENCE, Running::is_over);
            strays += self.family.sweep();
            // This fails if the keeper is gone, which the wait below notices.
            let _ = kill_process(self.leader, Signal::CONT);
            self.receive_until(Instant::now() + PATIENCE, |running| running.exited);
        }
        if !self.exited {
            self.family.lose_keeper();
            // This fails if the leader is gone, which the wait below notices.
            let _ = kill_process(self.leader, Signal::KILL);
            self.receive_until(Instant::now() + PATIENCE, |running| running.exited);
            strays += self.family.sweep();
        }
        strays.saturating_sub(usize::from(is_program_alive))
    }

    fn is_over(&self) -> bool {
        self.exited || self.stopped
    }

    /// Waits for the end of both streams; kills and counts the processes that keep them open.
    fn drain(&mut self) -> usize {
        self.receive_until(Instant::now() + DRAIN, |running| running.open == 0);
        if self.open == 0 {
            return 0;
        }
        let killed = stray::kill_holders(&self.pipes);
        // If no process holds the pipes, the watch is slow or the output long; it is still read to its end.
        self.receive_until(Instant::now() + PATIENCE, |running| running.open == 0);
        killed
    }

    fn reap(&mut self) -> Option<ExitStatus> {
        let mut child = self.child.take()?;
        if self.exited {
            // Without a status, the caller reports a kill.
            return child.wait().ok();
        }
        // The process is stuck in the kernel. It is reaped when that ends; without a thread it stays a zombie, which is
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

    fn receive(&mut self, until: Option<Instant>) -> Option<News> {
        let received = match until {
            Some(until) => self.inbox.recv_timeout(until.saturating_duration_since(Instant::now())),
            None => self.inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        let news = received.ok()?;
        match news {
            News::Exited => self.exited = true,
            News::Stopped => self.stopped = true,
            News::Closed(_) => self.open -= 1,
            News::Cancelled | News::Exceeded(_) => {}
        }
        Some(news)
    }

    fn serve(&mut self, input: Vec<u8>, watch: Option<LineWatch>) -> io::Result<()> {
        let leader = self.leader;
        let news = self.news.clone();
        let keeper = self.keeper;
        thread::Builder::new().name("waiter".to_owned()).spawn(move || wait_for(leader, &news, keeper))?;
        let Some(child) = &mut self.child else { return Ok(()) };
        if let Some(mut stdin) = child.stdin.take() {
            // A process need not read all of its input, so a failed write is ignored.
            thread::Builder::new().name("stdin".to_owned()).spawn(move || stdin.write_all(&input))?;
        }
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        if let Some(pipe) = stdout {
            self.pipes.extend(inode(&pipe));
            self.open += 1;
            self.read(Stream::Stdout, pipe, watch.clone())?;
        }
        if let Some(pipe) = stderr {
            self.pipes.extend(inode(&pipe));
            self.open += 1;
            self.read(Stream::Stderr, pipe, watch)?;
        }
        Ok(())
    }

    fn read(
        &self,
        stream: Stream,
        pipe: impl io::Read + Send + 'static,
        watch: Option<LineWatch>,
    ) -> io::Result<()> {
        let (name, capture) = match stream {
            Stream::Stdout => ("stdout", &self.stdout),
            Stream::Stderr => ("stderr", &self.stderr),
        };
        let (capture, pulse, news) = (capture.clone(), self.pulse.clone(), self.news.clone());
        let reader = Reader { stream, capture, pulse, watch, news };
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

/// Waits for the end of a child without reaping it. A keeper stops once before it ends.
fn wait_for(child: Pid, news: &Sender<News>, keeper: Keeper) {
    let ended = |options: WaitIdOptions| loop {
        match waitid(WaitId::Pid(child), options | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
            Err(rustix::io::Errno::INTR) => {}
            Ok(Some(status)) if status.stopped() => return false,
            Ok(_) | Err(_) => return true,
        }
    };
    if keeper == Keeper::Leader && !ended(WaitIdOptions::STOPPED) {
        // The receiver is gone if the job was given up as unkillable.
        let _ = news.send(News::Stopped);
        ended(WaitIdOptions::empty());
    } else if keeper == Keeper::None {
        ended(WaitIdOptions::empty());
    }
    // The receiver is gone if the job was given up as unkillable.
    let _ = news.send(News::Exited);
}

/// The inode of a pipe; without one, processes that hold the pipe cannot be found.
fn inode(pipe: &impl AsFd) -> Option<u64> {
    rustix::fs::fstat(pipe).ok().map(|stat| stat.st_ino)
}

fn captured(capture: &Mutex<Capture>) -> CapturedOutput {
    capture.lock().unwrap_or_else(PoisonError::into_inner).finish()
}

fn exit_of(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Signal(Signal::KILL.as_raw()),
    }
}
