//! `remand export`: a workflow and its roles for people who work inside another tool.

use super::Context;
use super::import::ToolName;
use crate::exit::{Exit, Failure, print, print_json};
use crate::export::files::{self, Replace, Written};
use crate::export::{Export, MARK};
use crate::load;
use crate::table::amount::counted;
use crate::workplace::{environment, here, of_config};
use remand_runtime::config::{Config, Sources};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder to write into: the root of a repository, or any other
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// The tool to write for
    #[arg(long, value_enum, value_name = "TOOL")]
    pub to: ToolName,
    /// The workflow: a file, or the name of one [default: the one that a run would take]
    #[arg(long, value_name = "FILE|NAME")]
    pub workflow: Option<String>,
    /// Replace files that are there already and differ
    #[arg(long)]
    pub force: bool,
}

pub fn run(context: &Context<'_>, args: &Args) -> Result<Exit, Failure> {
    let roles = load::roles(context)?;
    let name = match &args.workflow {
        Some(name) => name.clone(),
        None => configured(context)?,
    };
    let compiled = load::proven(context, &name, &roles)?;
    let guarantees: Vec<String> =
        compiled.file.guarantees.iter().map(|guarantee| guarantee.text.clone()).collect();
    let folder = here(context).join(&args.folder);
    let export = Export {
        program: &compiled.program,
        roles: &roles,
        guarantees: &guarantees,
        tool: args.to.tool(),
        overview: overview(&folder),
    };
    let files = export.files();
    let replace = if args.force { Replace::Differing } else { Replace::Nothing };
    let outcomes = files::write(&folder, &files, replace)?;
    if context.json {
        let listed = files.iter().zip(&outcomes);
        let listed: Vec<Value> =
            listed.map(|(file, outcome)| json!({ "path": file.path, "outcome": outcome.name() })).collect();
        let workflow = &compiled.program.name;
        print_json(
            &json!({ "to": args.to.tool().name(), "workflow": workflow, "folder": folder, "files": listed }),
        )?;
        return Ok(Exit::Done);
    }
    let mut text = String::new();
    for (file, _) in files.iter().zip(&outcomes).filter(|(_, outcome)| **outcome != Written::Same) {
        text.push_str(&format!("{}\n", file.path.display()));
    }
    let written = outcomes.iter().filter(|outcome| **outcome != Written::Same).count();
    let same = outcomes.len() - written;
    let rest = if same == 0 { String::new() } else { format!(", {same} were so already") };
    text.push_str(&format!(
        "wrote {}{rest}; begin with {}",
        counted(written as u64, "file"),
        export.overview.display()
    ));
    print(&text)?;
    Ok(Exit::Done)
}

/// The workflow that a run would take here.
fn configured(context: &Context<'_>) -> Result<String, Failure> {
    let root = load::root(context).unwrap_or_else(|| here(context));
    let sources = Sources::of(&root, environment());
    Ok(Config::load(&sources).map_err(|error| of_config(&error))?.workflow)
}

/// Where the page about the workflow goes: a README that somebody wrote stays.
fn overview(folder: &Path) -> PathBuf {
    let readme = PathBuf::from("README.md");
    match std::fs::read_to_string(folder.join(&readme)) {
        Ok(text) if !text.starts_with(MARK) => PathBuf::from("REMAND.md"),
        Ok(_) | Err(_) => readme,
    }
}
