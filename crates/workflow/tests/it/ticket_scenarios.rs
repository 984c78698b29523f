//! `ticket`: a design flaw found in implementation goes back to the design, with a human's approval.

mod attempts;
mod common_path;
mod guard;
mod revision;
mod triggers;
