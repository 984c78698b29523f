//! What the ledger tells about the quality of the work: where defects come from and are removed, what their correction
//! costs, and what a plan will take.
//!
//! Everything here is reckoned from the ledger of one repository; nothing is kept.

mod complexity;
mod figures;
mod groups;
mod history;
mod regression;
mod report;

pub use complexity::{Complexity, of_plan, of_run};
pub use figures::{Cost, PhaseFigures, RunFigures};
pub use groups::{PhaseDefects, by_phase};
pub use history::{Alert, alert};
pub use regression::{Fit, Line, Point, Prediction, fit};
pub use report::{PhaseReport, Report, reports};
