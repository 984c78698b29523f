//! The engine drives runs: it executes what the kernel decides.
//!
//! `turn/` is pure: from a message it computes the entry to commit and the orders to perform. `host/` commits the entry
//! through `store/`, and `workshop/` performs the orders: `dispatch/` runs agents, `operations/` does everything else.
//! Drivers, checks and git know nothing about workflows.

pub mod activity;
pub mod clock;
pub mod home;
pub mod lock;

pub mod config;
pub mod conventions;
pub mod given_change;
pub mod pinned;
pub mod subject;

pub mod turn;

pub mod store;

pub mod host;

pub mod artifacts;
mod asked_hosts;
pub mod checkout;
mod red_tests;
mod row_names;
pub mod site;

pub mod bundle;
pub mod dispatch;
pub mod judgement;
pub mod operations;
pub mod outputs;
pub mod quality;
pub mod question;
pub mod rounds;
pub mod sealed;
pub mod ticket;
pub mod tracker;
pub mod workshop;

pub mod logging;
pub mod redact;
