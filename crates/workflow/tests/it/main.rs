//! The workflow crate as a whole: shipped workflows, checked, walked and explored.

mod support;

mod core_scenarios;
mod exploration;
mod feature_scenarios;
mod issue_scenarios;
mod mutations;
mod quick_scenarios;
mod refused_files;
mod spec_scenarios;
mod ticket_scenarios;
mod tsp_scenarios;
mod walks;
