//! `remand reference`: the reference of the workflow language, generated from the parser.

use crate::context::CommandContext;
use remand_terminal::output::{print, print_json};
use remand_terminal::{CommandFailure, ExitCode};
use remand_workflow::reference;

pub fn run(context: &CommandContext<'_>) -> Result<ExitCode, CommandFailure> {
    if context.json {
        print_json(&reference::json())?;
    } else {
        print(&reference::markdown())?;
    }
    Ok(ExitCode::Done)
}
