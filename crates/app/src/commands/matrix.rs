//! `remand matrix`: the routing table.

use super::Context;
use crate::draw::matrix;
use crate::exit::{Exit, Failure, print, print_json};
use crate::load;

pub fn run(context: &Context<'_>, name: &str, markdown: bool) -> Result<Exit, Failure> {
    let roles = load::roles(context)?;
    let program = load::accepted(context, name, &roles)?;
    if context.json {
        print_json(&matrix::json(&program))?;
    } else if markdown {
        print(&matrix::markdown(&program))?;
    } else {
        print(&matrix::text(&program))?;
    }
    Ok(Exit::Done)
}
