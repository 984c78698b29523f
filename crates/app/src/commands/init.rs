//! `remand init`: a configuration file that explains every setting and changes none.

use super::Context;
use crate::exit::{Exit, Failure, print, print_json};
use crate::workplace;
use remand_runtime::config::{Config, Sources};
use serde_json::json;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;

#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(context: &Context<'_>, _args: &Args) -> Result<Exit, Failure> {
    let repository = workplace::repository(context)?;
    let sources = Sources::of(repository.root(), workplace::environment());
    let path = sources.repository.unwrap_or_else(|| repository.root().join("remand.toml"));
    write_new(&path, &Config::template())?;
    if context.json {
        print_json(&json!({ "wrote": path }))?;
        return Ok(Exit::Done);
    }
    print(&format!(
        "wrote {}: every setting is there, commented out with the value that is built in\n\n\
         next:\n\
         \x20 remand doctor               see what is there to work with\n\
         \x20 remand demo                 see it work, with scripted agents\n\
         \x20 remand run \"what you want\"  take a request to a verified commit\n\n\
         Roles of your own go to .remand/roles; `remand config` shows what is in effect.",
        path.display()
    ))?;
    Ok(Exit::Done)
}

/// Writes a file that is not there yet; one that is there is the user's.
fn write_new(path: &Path, text: &str) -> Result<(), Failure> {
    let created = OpenOptions::new().write(true).create_new(true).open(path);
    match created.and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all())) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(Failure::user(
            format!("{} exists already", path.display()),
            "edit it, or move it away first; `remand config` shows what is in effect",
        )),
        Err(error) => {
            Err(Failure::user(format!("{} cannot be written", path.display()), "make its folder writable")
                .caused_by(error.to_string()))
        }
    }
}
