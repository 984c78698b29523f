//! `remand demo`: whole runs on a small project, with everything real but the agents' wits.

use super::Context;
use crate::demo::{self, Choice, Played, Project, Show, Step};
use crate::exit::{Exit, Failure, print, print_json};
use crate::table::{Cell, Fit, Ink, Table};
use crate::workplace::{Workplace, of_ledger};
use clap::builder::TypedValueParser;
use remand_runtime::bundle;
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which one; `--list` shows them
    #[arg(value_name = "NAME", default_value = demo::USUAL, value_parser = Named, hide_possible_values = true)]
    name: String,
    /// Show what there is, and play nothing
    #[arg(long)]
    list: bool,
    /// Make the project in this new folder [default: one below the temporary folder]
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,
}

pub fn run(context: &Context<'_>, args: &Args) -> Result<Exit, Failure> {
    if args.list {
        return list(context);
    }
    let choice = demo::chosen(&args.name)?;
    let project = Project::make(&choice, args.into.as_deref())?;
    let checkout = project.checkout();
    let inside = Context { directory: Some(&checkout), state: None, ..*context };
    if !context.json {
        print(&opening(&choice, &project))?;
    }
    let played = Show::new(&inside, &project).play(&choice)?;
    match context.json {
        true => print_json(&to_json(&choice, &project, &played))?,
        false => print(&closing(&inside, &choice, &project, &played)?)?,
    }
    Ok(played.exit)
}

fn list(context: &Context<'_>) -> Result<Exit, Failure> {
    let all = demo::all()?;
    if context.json {
        let demos: Vec<Value> = all
            .iter()
            .map(|choice| json!({ "name": choice.name, "about": choice.demonstration.about }))
            .collect();
        print_json(&json!({ "demos": demos }))?;
        return Ok(Exit::Done);
    }
    let mut table = Table::new(&[("demo", Fit::Whole), ("what there is to see", Fit::Wrap)]);
    for choice in &all {
        table.row(vec![Cell::new(choice.name), Cell::new(&choice.demonstration.about)]);
    }
    print(&table.render(Ink::of_stdout()))?;
    Ok(Exit::Done)
}

/// Where it takes place, and what is asked first.
fn opening(choice: &Choice, project: &Project) -> String {
    let sample = &choice.demonstration.project.about;
    let first = choice.demonstration.steps.iter().find_map(|step| match step {
        Step::Run(run) => Some(demo::typed(&run.words)),
        Step::Remand(_) => None,
    });
    format!(
        "{sample} in {}.\n\n  $ {}\n\nThe agents are scripted and make mistakes. The edits, the checks, the rulings and \
         the commit are real.\n\n",
        project.checkout().display(),
        first.unwrap_or_default()
    )
}

/// The evidence of the last run, and where to look closer.
fn closing(
    context: &Context<'_>,
    choice: &Choice,
    project: &Project,
    played: &Played,
) -> Result<String, Failure> {
    let Some(last) = played.runs.last() else {
        return Ok(String::new());
    };
    let reader = Workplace::open(context, Vec::new())?.reader()?;
    let evidence = bundle::text(&reader, &last.run).map_err(|error| of_ledger(&error))?;
    let filled = |command: &str| command.replace("{branch}", &last.branch).replace("{run}", &last.run.0);
    let closer: Vec<(String, &str)> = choice
        .demonstration
        .closer
        .iter()
        .map(|closer| (filled(&closer.command), closer.about.as_str()))
        .collect();
    let width = closer.iter().map(|(command, _)| command.chars().count()).max().unwrap_or(0);
    let closer: Vec<String> =
        closer.iter().map(|(command, about)| format!("  {command:<width$}  # {about}\n")).collect();
    let line = "─".repeat(80);
    let caught = match played.caught {
        1 => "1 defect was".to_string(),
        caught => format!("{caught} defects were"),
    };
    Ok(format!(
        "\n{line}\n\n{evidence}\n{line}\n\n{caught} caught on the way. Look closer:\n\n  cd {}\n{}",
        project.checkout().display(),
        closer.concat()
    ))
}

fn to_json(choice: &Choice, project: &Project, played: &Played) -> Value {
    let runs: Vec<Value> = played
        .runs
        .iter()
        .map(|row| {
            json!({ "run": row.run, "ended": row.ended, "confidence": row.trusted(), "branch": row.branch })
        })
        .collect();
    json!({ "demo": choice.name, "folder": project.root, "runs": runs, "caught": played.caught })
}

/// Completes the names in a shell, and leaves it to the command to say which one was meant.
#[derive(Clone)]
struct Named;

impl TypedValueParser for Named {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        _: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<String, clap::Error> {
        clap::builder::StringValueParser::new().parse_ref(command, None, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = clap::builder::PossibleValue> + '_>> {
        Some(Box::new(demo::names().into_iter().map(clap::builder::PossibleValue::new)))
    }
}
