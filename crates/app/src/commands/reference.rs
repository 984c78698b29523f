//! `remand reference`: the pages of the reference, for people who have only the program.

use crate::context::CommandContext;
use clap::ValueEnum;
use remand_terminal::output::{print, print_json};
use remand_terminal::table::page_width;
use remand_terminal::{CommandFailure, ExitCode, Ink, markdown};
use remand_workflow::reference;
use std::io::IsTerminal;

/// A page of the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReferencePage {
    WorkflowLanguage,
    Configuration,
    Agents,
    Commands,
    Files,
    Gauntlet,
    Rehearsals,
    Roles,
    Walks,
}

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The page
    #[arg(value_enum, default_value_t = ReferencePage::WorkflowLanguage, value_name = "PAGE")]
    page: ReferencePage,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    match args.page {
        ReferencePage::WorkflowLanguage if context.json => print_json(&reference::json())?,
        page if context.json => print_json(&serde_json::json!({"markdown": page.markdown()}))?,
        page if std::io::stdout().is_terminal() => {
            print(&markdown::render(&page.markdown(), Ink::of_stdout(), page_width()))?;
        }
        page => print(&page.markdown())?,
    }
    Ok(ExitCode::Done)
}

impl ReferencePage {
    fn markdown(self) -> String {
        match self {
            ReferencePage::WorkflowLanguage => reference::markdown(),
            ReferencePage::Configuration => {
                include_str!("../../../../docs/reference/configuration.md").into()
            }
            ReferencePage::Agents => include_str!("../../../../docs/reference/agents.md").into(),
            ReferencePage::Commands => include_str!("../../../../docs/reference/commands.md").into(),
            ReferencePage::Files => include_str!("../../../../docs/reference/files.md").into(),
            ReferencePage::Gauntlet => include_str!("../../../../docs/reference/gauntlet.md").into(),
            ReferencePage::Rehearsals => include_str!("../../../../docs/reference/rehearsals.md").into(),
            ReferencePage::Roles => include_str!("../../../../docs/reference/roles.md").into(),
            ReferencePage::Walks => include_str!("../../../../docs/reference/walks.md").into(),
        }
    }
}
