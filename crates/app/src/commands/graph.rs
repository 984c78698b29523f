//! `remand graph`: a picture of a workflow.

use super::Context;
use crate::cli::Format;
use crate::draw;
use crate::exit::{Exit, Failure, print, print_json};
use crate::load;
use serde_json::json;
use std::path::Path;

pub fn run(
    context: &Context<'_>,
    name: &str,
    format: Format,
    output: Option<&Path>,
) -> Result<Exit, Failure> {
    let roles = load::roles(context)?;
    let program = load::accepted(context, name, &roles)?;
    let drawn = match format {
        Format::Mermaid => draw::mermaid(&program),
        Format::Dot => draw::dot(&program),
        Format::Svg => draw::svg(&program),
        Format::Text => draw::text(&program),
    };
    match output {
        Some(path) => std::fs::write(path, &drawn).map_err(|error| {
            Failure::user(format!("{} cannot be written", path.display()), "name a file that you may write")
                .caused_by(error.to_string())
        })?,
        None if context.json => print_json(&json!({ "workflow": program.name, "graph": drawn }))?,
        None => print(&drawn)?,
    }
    Ok(Exit::Done)
}
