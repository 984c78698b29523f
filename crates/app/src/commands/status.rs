//! `remand status`: what is under way, or where one run stands.

mod overview;
mod spending;
mod standing;
mod tasks;

use super::Context;
use super::runs::{chosen, reader_if_any};
use crate::exit::{Exit, Failure, print, print_json};
use crate::table::Ink;
use crate::workplace::Workplace;
use overview::Overview;
use standing::Standing;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run: its id, a part of it, or `latest` [default: all under way, and the one that ended last]
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
}

pub fn run(context: &Context<'_>, args: &Args) -> Result<Exit, Failure> {
    let workplace = Workplace::open(context, Vec::new())?;
    match &args.run {
        None => {
            let reader = reader_if_any(&workplace)?;
            let overview = Overview::read(&workplace, reader.as_ref())?;
            if context.json {
                print_json(&overview.json())?;
            } else {
                print(&overview.text(Ink::of_stdout()))?;
            }
        }
        Some(name) => {
            let reader = workplace.reader()?;
            let standing = Standing::read(&workplace, &reader, chosen(&reader, Some(name))?)?;
            if context.json {
                print_json(&standing.json())?;
            } else {
                print(&standing.text(Ink::of_stdout()))?;
            }
        }
    }
    Ok(Exit::Done)
}
