//! STUB
use super::Context;
use crate::exit::{Exit, Failure};
#[derive(Debug, clap::Args)]
pub struct Args {}
pub fn run(_: &Context<'_>, _: &Args) -> Result<Exit, Failure> {
    Ok(Exit::Done)
}
