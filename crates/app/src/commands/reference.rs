//! `remand reference`: the workflow language, from the code that reads it.

use super::Context;
use crate::exit::{Exit, Failure, print, print_json};
use remand_workflow::reference;

pub fn run(context: &Context<'_>) -> Result<Exit, Failure> {
    if context.json {
        print_json(&reference::json())?;
    } else {
        print(&reference::markdown())?;
    }
    Ok(Exit::Done)
}
