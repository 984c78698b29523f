//! What holds for every workflow.

mod detection;
mod interruption;
mod limits;
mod proofs;
