//! Tests of simulations on the shipped workflows.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bounds;
mod fitted;
mod support;
mod variants;
