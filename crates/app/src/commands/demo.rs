//! `remand demo`: whole runs on a small project, real except for the scripted agents.

use super::run;
use crate::closing::RunClosing;
use crate::context::CommandContext;
use crate::environment;
use crate::host;
use crate::workplace::Workplace;
use clap::Parser;
use clap::builder::TypedValueParser;
use remand_engine::host::Host;
use remand_engine::workshop::Workshop;
use remand_ledger::{Reader, RunId};
use remand_terminal::output::{print, print_json};
use remand_terminal::table::{Cell, ColumnFit, TextTable, indented, page_width};
use remand_terminal::{CommandFailure, ExitCode, Ink, Tone, line};
use remand_trials::demo::{
    self, ChosenDemo, DemoProject, DemoResult, DemoStage, DemoStep, Show, StoryOutput,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The demonstration; `--list` shows all
    #[arg(
        value_name = "NAME",
        default_value = demo::DEFAULT_DEMO,
        value_parser = DemoName,
        hide_possible_values = true
    )]
    name: String,
    /// List the demonstrations
    #[arg(long)]
    list: bool,
    /// Create the project in this new folder [default: a temporary folder]
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    if args.list {
        return list(context);
    }
    let choice = demo::find(&args.name)?;
    let project = DemoProject::create(&choice, args.into.as_deref())?;
    let checkout = project.checkout();
    let inside = CommandContext { directory: Some(&checkout), state: None, ..*context };
    if !context.json {
        print(&opening(&choice, &project))?;
    }
    let output = if context.json { StoryOutput::Silent } else { StoryOutput::Printed };
    let played = Show::new(&CheckoutStage(&inside), &project, output).play(&choice)?;
    match context.json {
        true => print_json(&to_json(&choice, &project, &played))?,
        false => print(&closing(&inside, &choice, &project, &played)?)?,
    }
    Ok(played.exit)
}

/// The arguments after `remand run`.
#[derive(Debug, clap::Parser)]
#[command(name = "remand run", no_binary_name = true)]
struct RunArguments {
    #[command(flatten)]
    args: run::Args,
}

/// Starts runs in the checkout of the demonstration's project.
struct CheckoutStage<'c>(&'c CommandContext<'c>);

impl DemoStage for CheckoutStage<'_> {
    fn begin(&self, words: &[&str]) -> Result<(Host<Workshop>, RunId), CommandFailure> {
        let args = RunArguments::try_parse_from(words)
            .map_err(|error| {
                CommandFailure::internal_error("the arguments of a demonstration's run are invalid", &error)
            })?
            .args;
        let (workplace, beginning) = run::prepare(self.0, &args)?;
        let run = beginning.run.clone();
        let mut host = host::open(&workplace)?;
        host.begin(beginning)?;
        Ok((host, run))
    }

    fn reader(&self) -> Result<Reader, CommandFailure> {
        Workplace::open(self.0, Vec::new())?.reader()
    }

    fn environment(&self) -> BTreeMap<OsString, OsString> {
        environment::all().into_iter().map(|(name, value)| (name.into(), value.into())).collect()
    }
}

fn list(context: &CommandContext<'_>) -> Result<ExitCode, CommandFailure> {
    let all = demo::all()?;
    if context.json {
        let demos: Vec<Value> = all
            .iter()
            .map(|choice| json!({ "name": choice.name, "about": choice.demonstration.about }))
            .collect();
        print_json(&json!({ "demos": demos }))?;
        return Ok(ExitCode::Done);
    }
    let mut table = TextTable::new(&[("demo", ColumnFit::Whole), ("what it shows", ColumnFit::Wrap)]);
    for choice in &all {
        table.row(vec![Cell::new(choice.name), Cell::new(&choice.demonstration.about)]);
    }
    print(&table.render(Ink::of_stdout()))?;
    Ok(ExitCode::Done)
}

/// Introduces the project and the first command.
fn opening(choice: &ChosenDemo, project: &DemoProject) -> String {
    let sample = &choice.demonstration.project.about;
    let first = choice.demonstration.steps.iter().find_map(|step| match step {
        DemoStep::Run(run) => Some(demo::command_line(&run.words)),
        DemoStep::Remand(_) => None,
    });
    let place = indented(&format!("{sample} in {}.", project.checkout().display()), 0);
    let scripted =
        "The agents are scripted and make mistakes. Edits, checks, rulings and the commit are real.";
    let command = line::hanging(&format!("  $ {}", first.unwrap_or_default()), 4, page_width()).join("\n");
    format!("{place}\n{command}\n\n{}\n", indented(scripted, 0))
}

/// Shows how the last run ended, and commands for details.
fn closing(
    context: &CommandContext<'_>,
    choice: &ChosenDemo,
    project: &DemoProject,
    played: &DemoResult,
) -> Result<String, CommandFailure> {
    let Some(last) = played.runs.last() else {
        return Ok(String::new());
    };
    let workplace = Workplace::open(context, Vec::new())?;
    let reader = workplace.reader()?;
    let ink = Ink::of_stdout();
    let summary = RunClosing::read(&workplace, &reader, &last.run)?.summary(ink)?;
    let fill_in = |command: &str| command.replace("{branch}", &last.branch).replace("{run}", &last.run.0);
    let mut closer = TextTable::list(&[ColumnFit::Whole, ColumnFit::Wrap], 2);
    for command in &choice.demonstration.closer {
        closer.row(vec![
            Cell::new(fill_in(&command.command)),
            Cell::new(format!("# {}", command.about)).toned(Tone::Faint),
        ]);
    }
    let caught = match played.caught {
        1 => "1 defect was".to_string(),
        caught => format!("{caught} defects were"),
    };
    let rule = "─".repeat(page_width().min(80));
    Ok(format!(
        "\n{rule}\n{summary}\n{caught} caught on the way. For details:\n\n  cd {}\n{}",
        project.checkout().display(),
        closer.render(ink)
    ))
}

fn to_json(choice: &ChosenDemo, project: &DemoProject, played: &DemoResult) -> Value {
    let runs: Vec<Value> = played
        .runs
        .iter()
        .map(|row| {
            json!({
                "run": row.run,
                "stage": row.stage,
                "reason": row.reason,
                "confidence": row.confidence_level(),
                "branch": row.branch,
            })
        })
        .collect();
    json!({ "demo": choice.name, "folder": project.root, "runs": runs, "caught": played.caught })
}

/// Offers the names for completion in a shell, but accepts every name: `demo::find` reports an unknown one.
#[derive(Clone)]
struct DemoName;

impl TypedValueParser for DemoName {
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
