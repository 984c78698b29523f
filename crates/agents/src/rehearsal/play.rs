//! Plays one dispatch as the agent's process.

use super::dispatch::DispatchInfo;
use super::perform::{PlayEnding, perform};
use super::script::Script;

/// Plays the dispatch in this process and returns its exit code. Does not return if the script hangs or crashes.
pub fn play(script: &Script, info: &DispatchInfo) -> i32 {
    match perform(script, info, &mut std::io::stdout(), &mut std::io::stderr()) {
        PlayEnding::Exit(code) => code,
        PlayEnding::Crash(signal) => crash(signal),
        PlayEnding::Hang => loop {
            std::thread::park();
        },
    }
}

fn crash(signal: i32) -> ! {
    // A core file would look like a change to the tree. If the limit cannot be set, the process still crashes.
    let no_core_file = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
    let _ = rustix::process::setrlimit(rustix::process::Resource::Core, no_core_file);
    if let Some(signal) = rustix::process::Signal::from_named_raw(signal) {
        // If the signal cannot be sent, the abort below ends the process.
        let _ = rustix::process::kill_process(rustix::process::getpid(), signal);
    }
    std::process::abort()
}
