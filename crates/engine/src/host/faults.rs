//! Points at which tests kill a driver, to see what a crash leaves. Debug builds only.

/// A point between two things that must not be torn apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultPoint {
    BeforeCommit,
    AfterCommit,
    BeforeEffect,
    AfterEffect,
}

/// Kills this process if the environment names this point: `REMAND_DIE_AT=17` is the seventeenth point that is reached.
#[cfg(debug_assertions)]
pub fn reached(_: FaultPoint) {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};
    static REACHED: AtomicU64 = AtomicU64::new(0);
    static LAST: OnceLock<Option<u64>> = OnceLock::new();
    let last = LAST.get_or_init(|| std::env::var("REMAND_DIE_AT").ok()?.parse().ok());
    if let Some(last) = last
        && REACHED.fetch_add(1, Ordering::SeqCst) + 1 == *last
    {
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    }
}

/// A release build never kills itself.
#[cfg(not(debug_assertions))]
pub fn reached(_: FaultPoint) {}
