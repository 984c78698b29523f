//! `remand man`: manual pages, generated from the definition of the command line.

use crate::context::CommandContext;
use crate::groups::GROUPS;
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
            let page = main_page(&command).map_err(|error| {
                CommandFailure::internal_error("the manual page cannot be generated", &error)
            })?;
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
    let first = folder.join(Man::new(main.clone()).get_filename());
    main_page(&main).and_then(|page| std::fs::write(&first, page)).map_err(unwritable)?;
    pages.push(first);
    for command in commands {
        pages.push(Man::new(command).generate_to(folder).map_err(unwritable)?);
    }
    Ok(pages)
}

/// The page of the whole program, with its commands by group.
fn main_page(command: &clap::Command) -> std::io::Result<String> {
    let mut page = Vec::new();
    let man = Man::new(command.clone());
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    for group in &GROUPS {
        Man::new(group.commands_of(command)).render_subcommands_section(&mut page)?;
    }
    man.render_options_section(&mut page)?;
    man.render_extra_section(&mut page)?;
    man.render_version_section(&mut page)?;
    Ok(without_repeated_preamble(&String::from_utf8_lossy(&page)))
}

/// Removes the definitions that every section starts with, except those of the first.
fn without_repeated_preamble(page: &str) -> String {
    let is_definition = |line: &str| line.starts_with(".ie \\n(.g .ds Aq") || line.starts_with(".el .ds Aq");
    let (preamble, rest) = page.split_at(page.find(".TH").unwrap_or(0));
    let lines = rest.lines().filter(|line| !is_definition(line)).map(|line| format!("{line}\n"));
    std::iter::once(preamble.to_string()).chain(lines).collect()
}
