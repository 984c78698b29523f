//! `remand export`: a workflow and its roles as files for another tool.

use super::import::ToolName;
use crate::context::CommandContext;
use crate::environment;
use crate::export::files::{self, Replace, Written};
use crate::export::{EXPORT_MARKER, Export};
use crate::load;
use crate::request_text::THOROUGH;
use crate::workplace::here;
use remand_engine::config::{Config, Sources};
use remand_terminal::amount::counted;
use remand_terminal::output::{print, print_json};
use remand_terminal::{CommandFailure, ExitCode};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder to write to, such as the root of a repository
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// The tool that the files are for
    #[arg(long, value_enum, value_name = "TOOL")]
    pub to: ToolName,
    /// The workflow: a file or a name [default: the configured one, else feature]
    #[arg(long, value_name = "FILE|NAME")]
    pub workflow: Option<String>,
    /// Replace existing files that differ
    #[arg(long)]
    pub force: bool,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let roles = load::roles(context)?;
    let name = match &args.workflow {
        Some(name) => name.clone(),
        None => configured(context)?,
    };
    let compiled = load::compiled(context, &name, &roles)?;
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
    if compiled.program.contracts.is_empty() {
        let problem =
            format!("the workflow {} has no roles, so there is nothing to export", compiled.program.name);
        return Err(CommandFailure::user(
            problem,
            "choose a workflow with agents, for example --workflow quick",
        ));
    }
    let files = export.files();
    let replace = if args.force { Replace::Differing } else { Replace::Nothing };
    let outcomes = files::write(&folder, &files, replace)?;
    if context.json {
        let rows = files.iter().zip(&outcomes);
        let rows: Vec<Value> =
            rows.map(|(file, outcome)| json!({ "path": file.path, "outcome": outcome.name() })).collect();
        let workflow = &compiled.program.name;
        print_json(
            &json!({ "to": args.to.tool().name(), "workflow": workflow, "folder": folder, "files": rows }),
        )?;
        return Ok(ExitCode::Done);
    }
    let mut text = String::new();
    for (file, _) in files.iter().zip(&outcomes).filter(|(_, outcome)| **outcome != Written::Same) {
        text.push_str(&format!("{}\n", file.path.display()));
    }
    let written = outcomes.iter().filter(|outcome| **outcome != Written::Same).count();
    let same = outcomes.len() - written;
    let rest = if same == 0 { String::new() } else { format!(", {same} unchanged") };
    text.push_str(&format!(
        "wrote {}{rest}; start with {}",
        counted(written as u64, "file"),
        export.overview.display()
    ));
    print(&text)?;
    Ok(ExitCode::Done)
}

/// The configured workflow; without one, the one with most roles.
fn configured(context: &CommandContext<'_>) -> Result<String, CommandFailure> {
    let root = load::root(context).unwrap_or_else(|| here(context));
    let sources = Sources::of(&root, environment::all());
    Ok(Config::load(&sources)?.workflow.unwrap_or_else(|| THOROUGH.to_string()))
}

/// The path of the overview page. It does not replace a README that an export did not write.
fn overview(folder: &Path) -> PathBuf {
    let readme = PathBuf::from("README.md");
    match std::fs::read_to_string(folder.join(&readme)) {
        Ok(text) if !text.starts_with(EXPORT_MARKER) => PathBuf::from("REMAND.md"),
        Ok(_) | Err(_) => readme,
    }
}
