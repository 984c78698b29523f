//! `remand init`: writes a configuration file that explains every setting and changes none.

use crate::context::CommandContext;
use crate::environment;
use crate::workplace;
use remand_engine::config::{Config, Sources};
use remand_terminal::output::{print, print_json};
use remand_terminal::{CommandFailure, ExitCode};
use serde_json::json;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;

#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(context: &CommandContext<'_>, _args: &Args) -> Result<ExitCode, CommandFailure> {
    let repository = workplace::repository(context)?;
    let sources = Sources::of(repository.root(), environment::all());
    let path = sources.repository.unwrap_or_else(|| repository.root().join("remand.toml"));
    write_new(&path, &Config::template())?;
    if context.json {
        print_json(&json!({ "wrote": path }))?;
        return Ok(ExitCode::Done);
    }
    print(&format!(
        "wrote {}: it lists every setting, commented out, with its built-in value\n\n\
         next:\n\
         \x20 remand doctor               check what a run needs\n\
         \x20 remand demo                 watch a run with scripted agents\n\
         \x20 remand run \"what you want\"  turn a request into a verified commit\n\n\
         Put your own roles into .remand/roles; `remand config` shows the current settings.",
        path.display()
    ))?;
    Ok(ExitCode::Done)
}

/// Writes a new file; never replaces an existing one.
fn write_new(path: &Path, text: &str) -> Result<(), CommandFailure> {
    let created = OpenOptions::new().write(true).create_new(true).open(path);
    match created.and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all())) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(CommandFailure::user(
            format!("{} already exists", path.display()),
            "edit it, or move it away first; `remand config` shows the current settings",
        )),
        Err(error) => Err(CommandFailure::user(
            format!("{} cannot be written", path.display()),
            "make its folder writable",
        )
        .caused_by(error.to_string())),
    }
}
