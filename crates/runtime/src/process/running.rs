//! A job's processes while they run, with the threads that serve its pipes and wait for its end.

use super::capture::{Capture, Pulse, Reader, Stream, Watch};
use super::ended::{Captured, Ended, Exit};
use super::job::{Job, Limits};
use super::run::News;
use super::stray::{self, Family, PATIENCE};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// How long a pipe may stay open after the last known process of its job is gone.
const DRAIN: Duration = Duration::from_millis(500);

/// Why the supervision of a job came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    Exited,
    TimedOut,
    Silent,
    Cancelled,
}

/// One job under way; killed when it is dropped before its end.
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
    exited: bool,
    open: usize,
}

impl Running {
    /// Starts the process and its threads; when a thread cannot be had, the process is killed again.
    pub fn start(job: &Job, mut command: Command, watch: Option<Watch>) -> io::Result<Running> {
        let child = spawn(&mut command)?;
        let begun = Instant::now();
        let raw = i32::try_from(child.id()).map_err(io::Error::other)?;
        let leader = Pid::from_raw(raw).ok_or_else(|| io::Error::other("a child without a number"))?;
        let (news, inbox) = channel();
        let capture = || Arc::new(Mutex::new(Capture::new(job.limits.output)));
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
            family: Family::new(&job.marker).led_by(raw),
            exited: false,
            open: 0,
        };
        if let (Some(memory), None) = (job.limits.memory, &job.confine) {
            crate::confine::limit_memory_of(leader, memory)?;
        }
        running.serve(job.stdin.clone(), watch)?;
        Ok(running)
    }

    pub fn news(&self) -> Sender<News> {
        self.news.clone()
    }

    /// Waits for the first thing that ends the job.
    pub fn wait(&mut self, limits: &Limits) -> Cause {
        let deadline = self.begun.checked_add(limits.time);
        loop {
            let silent = limits.silence.and_then(|silence| self.pulse.last().checked_add(silence));
            let now = Instant::now();
            if deadline.is_some_and(|deadline| now >= deadline) {
                return Cause::TimedOut;
            }
            if silent.is_some_and(|silent| now >= silent) {
                return Cause::Silent;
            }
            let next = [deadline, silent].into_iter().flatten().min();
            match self.receive(next) {
                Some(News::Cancelled) => return Cause::Cancelled,
                Some(News::Exited | News::Closed(_)) if self.exited => return Cause::Exited,
                Some(News::Exited | News::Closed(_)) | None => {}
            }
        }
    }

    /// Ends the job, kills whoever is left of it and collects what it said.
    pub fn end(mut self, limits: &Limits, cause: Cause, started: SystemTime) -> Ended {
        if cause != Cause::Exited {
            self.ask_to_end(limits.grace);
        }
        let mut strays = self.kill();
        strays += self.drain();
        let status = self.reap();
        let exit = match cause {
            Cause::Exited => status.map_or(Exit::Signal(Signal::KILL.as_raw()), exit_of),
            Cause::TimedOut => Exit::TimedOut,
            Cause::Silent => Exit::Silent,
            Cause::Cancelled => Exit::Cancelled,
        };
        let duration = self.begun.elapsed();
        Ended { exit, stdout: taken(&self.stdout), stderr: taken(&self.stderr), started, duration, strays }
    }

    fn ask_to_end(&mut self, grace: Duration) {
        let until = Instant::now() + grace;
        self.family.remember_descendants();
        // Either may be gone already, or the leader may just be moving to a session of its own.
        let _ = kill_process_group(self.leader, Signal::TERM);
        let _ = kill_process(self.leader, Signal::TERM);
        self.receive_until(until, |running| running.exited);
        if self.exited {
            self.family.wait_until_gone(until);
        }
    }

    /// Kills the leader and everyone else, and counts the others.
    fn kill(&mut self) -> usize {
        self.family.remember_descendants();
        let mut strays = self.family.sweep();
        if !self.exited {
            let _ = kill_process(self.leader, Signal::KILL);
            self.receive_until(Instant::now() + PATIENCE, |running| running.exited);
            strays += self.family.sweep();
        }
        strays
    }

    /// Waits for the end of both streams; whoever keeps them open is killed and counted.
    fn drain(&mut self) -> usize {
        self.receive_until(Instant::now() + DRAIN, |running| running.open == 0);
        if self.open == 0 {
            return 0;
        }
        let killed = stray::kill_holders(&self.pipes);
        // With no holder left, the watch is slow or the stream long; what it holds is not thrown away.
        self.receive_until(Instant::now() + PATIENCE, |running| running.open == 0);
        killed
    }

    fn reap(&mut self) -> Option<ExitStatus> {
        let mut child = self.child.take()?;
        if self.exited {
            return child.wait().ok();
        }
        // The kernel keeps it in an uninterruptible wait; it is reaped whenever that ends.
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
            News::Closed(_) => self.open -= 1,
            News::Cancelled => {}
        }
        Some(news)
    }

    fn serve(&mut self, input: Vec<u8>, watch: Option<Watch>) -> io::Result<()> {
        let leader = self.leader;
        let news = self.news.clone();
        thread::Builder::new().name("waiter".to_owned()).spawn(move || wait_for(leader, &news))?;
        let Some(child) = &mut self.child else { return Ok(()) };
        if let Some(mut stdin) = child.stdin.take() {
            // A process that does not read its input is no failure of ours.
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
        watch: Option<Watch>,
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
        let _ = kill_process_group(self.leader, Signal::KILL);
        let _ = child.kill();
        self.family.sweep();
        let _ = child.wait();
    }
}

/// Starts the process; a program that was just written may be held open for a moment by a process of another thread.
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

/// Waits for the end of a child and leaves it to be reaped later.
fn wait_for(child: Pid, news: &Sender<News>) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while matches!(waitid(WaitId::Pid(child), options), Err(rustix::io::Errno::INTR)) {}
    // Nobody listens when the job was given up as unkillable.
    let _ = news.send(News::Exited);
}

fn inode(pipe: &impl AsFd) -> Option<u64> {
    rustix::fs::fstat(pipe).ok().map(|stat| stat.st_ino)
}

fn taken(capture: &Mutex<Capture>) -> Captured {
    capture.lock().unwrap_or_else(PoisonError::into_inner).finish()
}

fn exit_of(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Signal(Signal::KILL.as_raw()),
    }
}
