//! The workflow crate as a whole: shipped workflows, checked, walked and explored.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod support;

mod core_scenarios;
mod exploration;
mod feature_scenarios;
mod foreign_roles;
mod fuzz;
mod issue_scenarios;
mod mutations;
mod quick_scenarios;
mod refused_files;
mod role_files;
mod roles;
mod soundness;
mod spec_scenarios;
mod ticket_scenarios;
mod tsp_scenarios;
