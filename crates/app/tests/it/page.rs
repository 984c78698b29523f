//! The live page, served by the binary and shown by a real browser.

mod asked;
mod browser;
mod figures;
mod guarded;
mod large;
mod live;
pub mod served;
pub mod views;
