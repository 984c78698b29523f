//! The engine drives runs: it executes what the kernel decides.
//!
//! `turn/` decides what follows from a message, and is pure. `host/` commits it through `store/`, and `workshop/` performs
//! the orders: dispatches with `dispatch/`, the engine's own work with `operations/`. Drivers, checks and git know nothing
//! about workflows.

pub mod clock;
pub mod home;
pub mod lock;

pub mod config;
pub mod pinned;
pub mod subject;

pub mod turn;

pub mod store;

pub mod host;

pub mod artifacts;
pub mod checkout;
mod row_names;
pub mod site;

pub mod bundle;
pub mod dispatch;
pub mod operations;
pub mod quality;
pub mod question;
pub mod rounds;
pub mod sealed;
pub mod ticket;
pub mod tracker;
pub mod workshop;

pub mod logging;
pub mod redact;
