//! Real agent programs, driven by the engine, with a stand-in for the model: what the script says is what the model asks
//! the program to do.

mod cancelled;
mod conversation;
pub mod desk;
mod failing;
mod mixed;
mod own;
mod reading;
mod working;
