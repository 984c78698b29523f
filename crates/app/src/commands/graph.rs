//! `remand graph`: a drawing of a workflow.

use crate::context::CommandContext;
use crate::load;
use clap::ValueEnum;
use remand_terminal::output::{print, print_json};
use remand_terminal::{CommandFailure, ExitCode};
use serde_json::json;
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    Mermaid,
    Dot,
    Svg,
    Text,
}

pub fn run(
    context: &CommandContext<'_>,
    name: &str,
    format: GraphFormat,
    output: Option<&Path>,
) -> Result<ExitCode, CommandFailure> {
    let roles = load::roles(context)?;
    let program = load::program(context, name, &roles)?;
    let drawing = match format {
        GraphFormat::Mermaid => remand_drawings::mermaid(&program),
        GraphFormat::Dot => remand_drawings::dot(&program),
        GraphFormat::Svg => remand_drawings::svg(&program),
        GraphFormat::Text => remand_drawings::text(&program),
    };
    match output {
        Some(path) => std::fs::write(path, &drawing).map_err(|error| {
            CommandFailure::user(
                format!("{} cannot be written", path.display()),
                "name a file that you can write",
            )
            .caused_by(error.to_string())
        })?,
        None if context.json => print_json(&json!({ "workflow": program.name, "graph": drawing }))?,
        None => print(&drawing)?,
    }
    Ok(ExitCode::Done)
}
