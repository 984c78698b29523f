//! `remand man`: the manual pages, made from the command line itself.

use super::Context;
use crate::cli::Cli;
use crate::exit::{Exit, Failure, print, print_json};
use crate::workplace::internal;
use clap::CommandFactory;
use clap_mangen::Man;
use serde_json::json;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Write one page for each subcommand into this folder [default: the main page, to standard output]
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
}

pub fn run(context: &Context<'_>, args: &Args) -> Result<Exit, Failure> {
    match &args.folder {
        Some(folder) => {
            let pages = write_all(folder)?;
            if context.json {
                print_json(&json!({ "pages": pages }))?;
            } else {
                let count = crate::table::amount::counted(pages.len() as u64, "page");
                print(&format!("wrote {count} into {}; read them with `man -l FILE`", folder.display()))?;
            }
        }
        None => {
            let mut page = Vec::new();
            Man::new(Cli::command())
                .render(&mut page)
                .map_err(|error| internal("the manual page cannot be made", &error))?;
            let page = String::from_utf8_lossy(&page);
            if context.json {
                print_json(&json!({ "page": page }))?;
            } else {
                print(&page)?;
            }
        }
    }
    Ok(Exit::Done)
}

/// Writes `remand.1` and `remand-NAME.1` for every subcommand that people call.
fn write_all(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let unwritable = |error: std::io::Error| {
        Failure::user(
            format!("pages cannot be written into {}", folder.display()),
            "name a folder that you may write",
        )
        .caused_by(error.to_string())
    };
    std::fs::create_dir_all(folder).map_err(unwritable)?;
    let mut main = Cli::command().disable_help_subcommand(true);
    main.build();
    let commands: Vec<clap::Command> =
        main.get_subcommands().filter(|command| !command.is_hide_set()).cloned().collect();
    let mut pages = Vec::new();
    for command in std::iter::once(main).chain(commands) {
        pages.push(Man::new(command).generate_to(folder).map_err(unwritable)?);
    }
    Ok(pages)
}
