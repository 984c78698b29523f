//! The supervisor: the process between the engine and a confined program. It restricts the program, not itself, and ends
//! everything that the program started.
//!
//! With namespaces, an init is between the supervisor and the program, and all processes of the program end with the init.
//! Without, the kernel makes the supervisor the parent of every orphaned descendant, even of one that has left its process
//! group and session and cleared its environment. The program can neither signal nor trace the supervisor.

use super::channel::{self, InitMessage, InitMessages};
use super::ended::ProgramEnd;
use super::filter::{self, Tracing};
use super::gateway::{PrivateNetwork, ServedNetwork};
use super::isolation::Isolation;
use super::policy::{ConfineError, Policy};
use super::program::{ConfinedProgram, in_thread};
use super::walls::Ground;
use super::{landlocked, limits, namespaces};
use crate::kill_descendants;
use rustix::process::{
    Pid, Signal, WaitOptions, getpid, getppid, kill_process, kill_process_group, set_child_subreaper,
    set_parent_process_death_signal, waitpid,
};
use signal_hook::consts::{SIGCHLD, SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::convert::Infallible;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

/// How long a signal to this process may take to arrive.
const PAUSE: Duration = Duration::from_millis(200);

/// What the supervisor waits for.
enum Event {
    Signal(i32),
    /// The init reports the end of the program.
    Ended(ProgramEnd),
}

/// The process that the supervisor started.
struct Started {
    /// The init, or the program if there is none.
    child: Pid,
    init: Option<Init>,
    network: Option<PrivateNetwork>,
}

struct Init {
    channel: UnixStream,
    messages: InitMessages,
}

/// Starts the program under the policy and exits with its status.
pub(super) fn supervise(
    policy: &Policy,
    program: &OsString,
    rest: &[OsString],
) -> Result<Infallible, ConfineError> {
    let parent = getppid();
    let report = policy.report.as_deref().map(create_report).transpose()?;
    let contacts = policy.contacts.as_deref().map(open_record).transpose()?;
    let mut signals =
        Signals::new([SIGCHLD, SIGCONT, SIGTERM, SIGINT, SIGQUIT, SIGHUP]).map_err(supervisor_error)?;
    super::start_session();
    let user_namespace = policy.private.as_ref().map(|_| namespaces::enter_user_namespace());
    set_parent_process_death_signal(Some(Signal::HUP)).map_err(|error| supervisor_error(error.into()))?;
    set_child_subreaper(Some(getpid())).map_err(|error| supervisor_error(error.into()))?;
    limits::forbid_core_files()?;
    let confined = ConfinedProgram { policy, program, rest };
    let Started { child, init, network } = match user_namespace {
        None => start_shared(&confined, report.as_ref()),
        Some(Ok(())) => match start_private(&confined, report.as_ref()) {
            Err(ConfineError::Private { .. }) if !is_required(policy) => {
                start_shared(&confined, report.as_ref())
            }
            started => started,
        },
        Some(Err(error)) if is_required(policy) => Err(error),
        Some(Err(_)) => start_shared(&confined, report.as_ref()),
    }?;
    let network = network.map(|network| network.serve(contacts)).transpose().map_err(supervisor_error)?;
    let save_contacts = || network.iter().for_each(ServedNetwork::save);
    if getppid() != parent {
        exit_without_engine();
    }
    let (sender, events) = channel();
    let of_init = sender.clone();
    spawn(move || pass_on_signals(&mut signals, &sender))?;
    let init = match init {
        None => None,
        Some(Init { channel, messages }) => {
            spawn(move || pass_on_end(messages, &of_init))?;
            Some(channel)
        }
    };
    let mut program_end = None;
    for event in events {
        let end = match event {
            Event::Signal(SIGHUP | SIGCONT) if getppid() != parent => exit_without_engine(),
            Event::Signal(SIGCHLD) => reap(child),
            Event::Signal(SIGCONT) => match program_end {
                Some(end) => {
                    save_contacts();
                    exit_with(end)
                }
                None => None,
            },
            Event::Signal(signal) => {
                if init.is_some() {
                    forward(signal, child);
                }
                // Without an init, the program gets the signal itself: it is in the same process group.
                None
            }
            Event::Ended(end) => Some(end),
        };
        let Some(end) = end.filter(|_| program_end.is_none()) else { continue };
        program_end = Some(end);
        if policy.watched {
            // The engine kills and counts the remaining processes and then continues this one with SIGCONT. The
            // death of the engine must send the same signal; if that cannot be set, the check below catches most
            // cases.
            let _ = set_parent_process_death_signal(Some(Signal::CONT));
            // If the engine has already died, nothing would continue this process after it stops.
            if getppid() != parent {
                exit_without_engine();
            }
            save_contacts();
            // A process can always signal itself.
            let _ = kill_process(getpid(), Signal::STOP);
        } else {
            match &init {
                Some(channel) => end_init(channel, child),
                None => kill_descendants(getpid()),
            }
            save_contacts();
            exit_with(end);
        }
    }
    Err(supervisor_error(io::Error::other("the signal handler stopped")))
}

fn supervisor_error(source: io::Error) -> ConfineError {
    ConfineError::Supervisor { source }
}

fn spawn(work: impl FnOnce() + Send + 'static) -> Result<(), ConfineError> {
    thread::Builder::new().name("events".to_string()).spawn(work).map(drop).map_err(supervisor_error)
}

fn pass_on_signals(signals: &mut Signals, events: &Sender<Event>) {
    for signal in signals.forever() {
        // Sending fails only while this process exits.
        let _ = events.send(Event::Signal(signal));
    }
}

fn pass_on_end(messages: InitMessages, events: &Sender<Event>) {
    for message in messages {
        if let InitMessage::Ended(end) = message {
            let _ = events.send(Event::Ended(end));
        }
    }
}

/// Sends a signal to the program and whatever is in its process group. The init does not react to it.
fn forward(signal: i32, init: Pid) {
    if let Some(signal) = Signal::from_named_raw(signal) {
        // This fails if the group is gone, or does not exist yet.
        let _ = kill_process_group(init, signal);
    }
}

/// Ends the init, and with it everything that the program left running.
fn end_init(channel: &UnixStream, init: Pid) {
    // If the channel is closed, the init has already ended.
    let _ = channel.shutdown(Shutdown::Both);
    let _ = waitpid(Some(init), WaitOptions::empty());
}

fn start_shared(program: &ConfinedProgram<'_>, report: Option<&File>) -> Result<Started, ConfineError> {
    limits::apply(program.policy)?;
    let child = program.start_shared(report)?;
    limits::end_first_without_memory(&child.id().to_string());
    Ok(Started { child: pid_of(&child)?, init: None, network: None })
}

/// Starts an init in new namespaces, and the program below it.
fn start_private(program: &ConfinedProgram<'_>, report: Option<&File>) -> Result<Started, ConfineError> {
    let (channel, of_init) = UnixStream::pair().map_err(supervisor_error)?;
    let (mut init, network) = in_thread(|| {
        let network = namespaces::enter_private(program.policy)?;
        Ok((start_init(of_init.into())?, network))
    })?;
    let stdin = io::stdin();
    // This fails if the init has already ended, which the missing message shows.
    let _ = channel::send_files(&channel, stdin.as_fd(), report.map(AsFd::as_fd));
    let mut messages = InitMessages::new(channel.try_clone().map_err(supervisor_error)?);
    let error = match messages.next() {
        Some(InitMessage::Started) => {
            let init_channel = Init { channel, messages };
            return Ok(Started { child: pid_of(&init)?, init: Some(init_channel), network });
        }
        Some(InitMessage::NotPrivate { what, why }) => {
            ConfineError::Private { what, source: io::Error::other(why) }
        }
        Some(InitMessage::Failed { why }) => ConfineError::Init { why },
        Some(InitMessage::Ended(_)) | None => {
            ConfineError::Init { why: "it ended before the program started".to_string() }
        }
    };
    drop(messages);
    drop(channel);
    let _ = init.wait();
    Err(error)
}

/// Starts this program again, as an init.
fn start_init(channel: OwnedFd) -> Result<Child, ConfineError> {
    namespaces::keep_capabilities()?;
    let mut arguments = std::env::args_os();
    let mut command = Command::new("/proc/self/exe");
    command.args(arguments.by_ref().skip(1)).env(channel::INIT_ROLE, "1").stdin(channel);
    command.spawn().map_err(|source| ConfineError::Private { what: "the processes".to_string(), source })
}

fn pid_of(child: &Child) -> Result<Pid, ConfineError> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    pid.ok_or_else(|| supervisor_error(io::Error::other("a process has no number")))
}

fn create_report(path: &Path) -> Result<File, ConfineError> {
    File::create(path).map_err(|source| ConfineError::Report { path: path.into(), source })
}

/// Opens a record to which several programs may add, one after the other.
fn open_record(path: &Path) -> Result<File, ConfineError> {
    let opened = File::options().read(true).write(true).create(true).truncate(false).open(path);
    opened.map_err(|source| ConfineError::Report { path: path.into(), source })
}

fn is_required(policy: &Policy) -> bool {
    policy.private.is_some() && policy.private_required
}

/// What this machine offers. Tries the filter in a short-lived thread.
pub(super) fn ground(namespaces: bool) -> Ground {
    let isolation = if namespaces { Isolation::Private } else { Isolation::Shared };
    let policy = Policy::default();
    let filter = || filter::enter(&policy, isolation, Tracing::WithinSandbox);
    let filter = thread::scope(|scope| scope.spawn(filter).join());
    Ground {
        namespaces,
        landlock: landlocked::version(),
        filter: matches!(filter, Ok(Ok(()))),
        own_process_limit: namespaces && limits::bind_everybody(),
    }
}

/// Reaps all processes that ended, and returns the end of the child if it is among them.
fn reap(child: Pid) -> Option<ProgramEnd> {
    let mut ended = None;
    while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
        if pid == child {
            ended = Some(ProgramEnd::from(status));
        }
    }
    ended
}

/// Exits in the same way as the program ended. All its descendants are gone.
fn exit_with(end: ProgramEnd) -> ! {
    match end {
        ProgramEnd::Code(code) => std::process::exit(code),
        ProgramEnd::Signal(number) => {
            if matches!(number, SIGHUP | SIGINT | SIGQUIT | SIGTERM) {
                // This process handles these signals, so it has to go back to what they usually do.
                let _ = emulate_default_handler(number);
            }
            if let Some(signal) = Signal::from_named_raw(number) {
                // The first signal may only reset a handler of the Rust runtime. If neither signal ends the process, it
                // exits below.
                for _ in 0..2 {
                    let _ = kill_process(getpid(), signal);
                    thread::sleep(PAUSE);
                }
            }
            std::process::exit(128 + number)
        }
    }
}

/// Kills all descendants and exits, because the engine is gone.
fn exit_without_engine() -> ! {
    kill_descendants(getpid());
    std::process::exit(1)
}
