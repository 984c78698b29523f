//! Points at which tests kill a driving process to check its crash recovery. Debug builds only.

/// A point at which a crash must do no harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultPoint {
    BeforeCommit,
    AfterCommit,
    BeforeEffect,
    AfterEffect,
}

/// Kills this process if the environment asks for it: `REMAND_DIE_AT=17` kills it at the seventeenth point that it
/// reaches.
#[cfg(debug_assertions)]
pub fn reached(_: FaultPoint) {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};
    static REACHED: AtomicU64 = AtomicU64::new(0);
    static FATAL: OnceLock<Option<u64>> = OnceLock::new();
    let fatal = FATAL.get_or_init(|| std::env::var("REMAND_DIE_AT").ok()?.parse().ok());
    if let Some(fatal) = fatal
        && REACHED.fetch_add(1, Ordering::SeqCst) + 1 == *fatal
    {
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    }
}

/// A release build never kills itself.
#[cfg(not(debug_assertions))]
pub fn reached(_: FaultPoint) {}
