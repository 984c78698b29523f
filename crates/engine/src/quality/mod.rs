//! Figures about the quality of the work: where defects are injected and removed, what their correction costs, and how much
//! effort a plan will need.
//!
//! Everything is computed from the ledger of one repository; nothing is stored.

mod complexity;
mod figures;
mod forecast;
mod groups;
mod history;
mod regression;
mod report;

pub use complexity::{Complexity, run_complexity, task_complexity};
pub use figures::{Cost, PhaseFigures, RunFigures};
pub use forecast::{AssumedCost, Forecast, ForecastBasis, Likely, Prospect};
pub use groups::{PhaseDefects, by_phase};
pub use history::{Alert, alert};
pub use regression::{Prediction, RegressionLine, RegressionResult, RunEffort, fit_line};
pub use report::{PhaseReport, QualityReport, reports};
