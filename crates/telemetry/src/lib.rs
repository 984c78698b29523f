//! Traces and metrics of a run in the JSON of OTLP, by the conventions for generative AI.
//!
//! Everything is computed from the ledger, so two exports of a run have the same ids and numbers. There is no text of
//! the run in it: no prompts, answers, requests, questions or findings. What an agent did not report is left out.

mod attribute;
mod identity;
mod metrics;
mod record;
mod trace;

pub use metrics::metrics;
pub use record::RunRecord;
pub use trace::{ExportRange, TraceExport, traces};

/// The version of the conventions that the names follow: `semantic-conventions-genai`, in development.
pub const SCHEMA: &str = "https://opentelemetry.io/schemas/1.37.0";
