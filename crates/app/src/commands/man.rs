//! `remand man`: manual pages, generated from the definition of the command line.

use crate::context::CommandContext;
use clap_mangen::Man;
use remand_terminal::output::{print, print_json};
use remand_terminal::{CommandFailure, ExitCode};
use serde_json::json;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Write one page per subcommand to this folder [default: the main page, to standard output]
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
}

pub fn run(
    context: &CommandContext<'_>,
    args: &Args,
    command: clap::Command,
) -> Result<ExitCode, CommandFailure> {
    match &args.folder {
        Some(folder) => {
            let pages = write_all(folder, command)?;
            if context.json {
                print_json(&json!({ "pages": pages }))?;
            } else {
                let count = remand_terminal::amount::counted(pages.len() as u64, "page");
                print(&format!("wrote {count} to {}; read them with `man -l FILE`", folder.display()))?;
            }
        }
        None => {
            let mut page = Vec::new();
            Man::new(command).render(&mut page).map_err(|error| {
                CommandFailure::internal_error("the manual page cannot be generated", &error)
            })?;
            let page = String::from_utf8_lossy(&page);
            if context.json {
                print_json(&json!({ "page": page }))?;
            } else {
                print(&page)?;
            }
        }
    }
    Ok(ExitCode::Done)
}

/// Writes `remand.1` and `remand-NAME.1` for every visible subcommand.
fn write_all(folder: &Path, command: clap::Command) -> Result<Vec<PathBuf>, CommandFailure> {
    let unwritable = |error: std::io::Error| {
        CommandFailure::user(
            format!("the man pages cannot be written to {}", folder.display()),
            "name a folder that you can write to",
        )
        .caused_by(error.to_string())
    };
    std::fs::create_dir_all(folder).map_err(unwritable)?;
    let mut main = command.disable_help_subcommand(true);
    main.build();
    let commands: Vec<clap::Command> =
        main.get_subcommands().filter(|command| !command.is_hide_set()).cloned().collect();
    let mut pages = Vec::new();
    for command in std::iter::once(main).chain(commands) {
        pages.push(Man::new(command).generate_to(folder).map_err(unwritable)?);
    }
    Ok(pages)
}
