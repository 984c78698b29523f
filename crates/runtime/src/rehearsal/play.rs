//! Plays one dispatch as the process it stands for.

use super::dispatch::DispatchInfo;
use super::perform::{Ending, perform};
use super::script::Script;

/// Plays the dispatch in this process and gives its exit code; a hang or a crash never comes back.
pub fn play(script: &Script, info: &DispatchInfo) -> i32 {
    match perform(script, info, &mut std::io::stdout(), &mut std::io::stderr()) {
        Ending::Exit(code) => code,
        Ending::Crash(signal) => crash(signal),
        Ending::Hang => loop {
            std::thread::park();
        },
    }
}

fn crash(signal: i32) -> ! {
    // A core file would look like a change of the tree.
    let none = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
    let _ = rustix::process::setrlimit(rustix::process::Resource::Core, none);
    if let Some(signal) = rustix::process::Signal::from_named_raw(signal) {
        let _ = rustix::process::kill_process(rustix::process::getpid(), signal);
    }
    std::process::abort()
}
