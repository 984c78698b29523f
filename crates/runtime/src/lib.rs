//! The engine: drives runs by the kernel's law, and is the only crate that spawns, sleeps and touches files.
//!
//! `host/` takes events and commits them; `workshop/` carries commands out, dispatches by `dispatch/` and the engine's
//! own work by `operations/`. Effects know nothing of workflows: drivers, checks and git are told what to do.

pub mod clock;
pub mod home;
pub mod lock;

pub mod config;
pub mod pinned;
pub mod subject;

pub mod host;

pub mod bundle;
pub mod dispatch;
pub mod operations;
pub mod papers;
pub mod quality;
pub mod question;
pub mod rounds;
pub mod sealed;
pub mod tracker;
pub mod workshop;

pub mod checks;
pub mod contract;
pub mod converse;
pub mod driver;
pub mod git;
pub mod rehearsal;
pub mod submission;

pub mod confine;
mod hex;
pub mod ordered;
pub mod process;
pub mod redact;
