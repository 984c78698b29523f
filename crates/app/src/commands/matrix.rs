//! `remand matrix`: the routing table.

use crate::context::CommandContext;
use crate::load;
use remand_drawings::matrix;
use remand_terminal::output::{print, print_json};
use remand_terminal::{CommandFailure, ExitCode};

pub fn run(context: &CommandContext<'_>, name: &str, markdown: bool) -> Result<ExitCode, CommandFailure> {
    let roles = load::roles(context)?;
    let program = load::program(context, name, &roles)?;
    if context.json {
        print_json(&matrix::json(&program))?;
    } else if markdown {
        print(&matrix::markdown(&program))?;
    } else {
        print(&matrix::text(&program))?;
    }
    Ok(ExitCode::Done)
}
