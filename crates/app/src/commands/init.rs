//! `remand init`: writes a configuration file that names the agent of this repository.

use crate::agents;
use crate::context::CommandContext;
use crate::environment;
use crate::installed_agents::InstalledAgents;
use crate::workplace;
use remand_engine::config::{Config, Sources};
use remand_terminal::output::{print, print_json};
use remand_terminal::{CommandFailure, ExitCode, invocation};
use serde_json::json;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Write every key, with its meaning and its built-in value
    #[arg(long)]
    pub all: bool,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let repository = workplace::repository(context)?;
    let path = file(repository.root());
    refuse_existing(&path)?;
    let installed = agents::installed(&workplace::config(&repository, Vec::new())?)?;
    let agent = installed.preferred().map(|agent| agent.name.as_str());
    let text = if args.all { Config::template(agent) } else { Config::starter(agent) };
    write_new(&path, &text)?;
    if context.json {
        print_json(&json!({ "wrote": path, "agent": agent }))?;
        return Ok(ExitCode::Done);
    }
    let doctor = invocation::command("doctor");
    let next = invocation::command("run \"what you want\"");
    let width = next.len().max(doctor.len());
    print(&format!(
        "wrote {}; commit it to share it\n{}\n\nnext:\n  {doctor:width$}  check what a run needs\n  {next:width$}  turn a request into a \
         verified commit",
        path.display(),
        describe_choice(&installed)
    ))?;
    Ok(ExitCode::Done)
}

/// The repository's configuration file.
fn file(root: &Path) -> PathBuf {
    Sources::of(root, environment::all()).repository.unwrap_or_else(|| root.join("remand.toml"))
}

/// Names the agent in the file, and the reason for the choice.
fn describe_choice(installed: &InstalledAgents) -> String {
    let Some(chosen) = installed.preferred() else {
        return "no agent is installed, so the file names none; `remand agents` lists them".to_string();
    };
    let same = installed.all().iter().filter(|agent| agent.is_signed_in == chosen.is_signed_in);
    let others: Vec<&str> = same.filter(|agent| *agent != chosen).map(|agent| agent.name.as_str()).collect();
    let state = match chosen.is_signed_in {
        true => "installed and signed in",
        false => "installed, but no sign-in was found",
    };
    let also = match others.as_slice() {
        [] => String::new(),
        others => format!("; you could also use {}", others.join(", ")),
    };
    format!("agent {}: {state}{also}", chosen.name)
}

fn refuse_existing(path: &Path) -> Result<(), CommandFailure> {
    match path.symlink_metadata() {
        Ok(_) => Err(already_exists(path)),
        Err(_) => Ok(()),
    }
}

fn already_exists(path: &Path) -> CommandFailure {
    CommandFailure::user(
        format!("{} already exists", path.display()),
        "edit it, or move it away first; `remand config` shows the current settings",
    )
}

/// Writes a new file; never replaces an existing one.
fn write_new(path: &Path, text: &str) -> Result<(), CommandFailure> {
    let created = OpenOptions::new().write(true).create_new(true).open(path);
    match created.and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all())) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(already_exists(path)),
        Err(error) => Err(CommandFailure::user(
            format!("{} cannot be written", path.display()),
            "make its folder writable",
        )
        .caused_by(error.to_string())),
    }
}
