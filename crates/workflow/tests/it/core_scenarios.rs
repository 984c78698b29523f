//! Properties of every workflow.

mod detection;
mod interruption;
mod limits;
mod proofs;
mod retry;
