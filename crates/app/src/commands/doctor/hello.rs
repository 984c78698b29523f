//! One tiny dispatch to a real agent in a temporary repository. It costs money, so it runs only on request.
//!
//! A child process of this program drives the agent exactly as in a run.

use super::checkup::{Checkup, DISPATCH};
use crate::{environment, host};
use remand_engine::clock;
use remand_engine::config::{Config, ValueOrigin};
use remand_engine::home::Home;
use remand_git::Repository;
use remand_ledger::Reader;
use remand_ledger::query::DispatchRow;
use remand_process::ProcessJob;
use remand_terminal::{CommandFailure, Stop, amount};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const WORKFLOW: &str = include_str!("hello.yaml");
const ROLE: &str = include_str!("greeter.md");

/// The timeout of the child process, which exceeds the time limit of the role.
const TIMEOUT: Duration = Duration::from_secs(400);

/// The agent to dispatch.
pub struct GreetedAgent<'w> {
    pub agent: &'w str,
    pub model: Option<&'w str>,
}

/// Dispatches an agent once and adds the result to the checkup.
pub fn agent(
    checkup: &mut Checkup,
    config: &Config,
    greeted: &GreetedAgent<'_>,
) -> Result<(), CommandFailure> {
    let root = std::env::temp_dir().join(format!("remand-doctor-{}", clock::new_run_id(greeted.agent)));
    let attempt = dispatch(&root, config, greeted);
    fs::remove_dir_all(&root)
        .map_err(|error| CommandFailure::internal_error("the scratch folder cannot be removed", &error))?;
    match attempt? {
        Attempt::Dispatched(row) => report(checkup, greeted, &row),
        Attempt::Refused(why) => {
            checkup.fail(
                DISPATCH,
                format!("{} was not dispatched: {why}", greeted.agent),
                "see `remand agents`",
            );
        }
    }
    Ok(())
}

/// The result of the child process.
enum Attempt {
    Dispatched(Box<DispatchRow>),
    /// The error of a run that did not start.
    Refused(String),
}

fn dispatch(root: &Path, config: &Config, greeted: &GreetedAgent<'_>) -> Result<Attempt, CommandFailure> {
    let (project, state) = (root.join("project"), root.join("state"));
    write_files(root, config)
        .map_err(|error| CommandFailure::internal_error("the scratch folder cannot be created", &error))?;
    Repository::create(&project, "work", "A scratch repository")?;
    let program = host::program()?;
    let path = |name: &str| root.join(name).into_os_string();
    let mut argv =
        vec![program.into_os_string(), "--json".into(), "run".into(), "Return your result.".into()];
    argv.extend(["--workflow".into(), path("hello.yaml"), "--roles".into(), path("roles")]);
    argv.extend(["--state".into(), state.clone().into_os_string(), "--agent".into(), greeted.agent.into()]);
    argv.extend(greeted.model.iter().flat_map(|model| ["--model".into(), (*model).into()]));
    argv.extend(["--budget-dispatches".into(), "1".into()]);
    let mut job = ProcessJob::standalone(argv, &project, "doctor");
    job.environment =
        environment::all().into_iter().map(|(name, value)| (name.into(), value.into())).collect();
    job.limits.time = TIMEOUT;
    let ended = Stop::listen()
        .run_cancellable(|cancel| remand_process::run(&job, cancel))
        .map_err(|error| CommandFailure::internal_error("this program cannot be started", &error))?;
    let repository = Repository::discover(&project)?;
    let home = Home::open(&state, &repository)?;
    let row = match home.ledger().exists() {
        true => only_dispatch(&home.ledger())?,
        false => None,
    };
    Ok(match row {
        Some(row) => Attempt::Dispatched(Box::new(row)),
        None => Attempt::Refused(printed_failure(&ended.stdout.text())),
    })
}

/// The failure that a command with `--json` prints as its last line.
fn printed_failure(output: &str) -> String {
    #[derive(serde::Deserialize)]
    struct Printed {
        error: String,
    }
    let last = output.lines().last().and_then(|line| serde_json::from_str(line).ok());
    last.map_or_else(|| "the run ended before the dispatch".to_string(), |Printed { error }| error)
}

/// The only dispatch of the only run.
fn only_dispatch(ledger: &Path) -> Result<Option<DispatchRow>, remand_ledger::LedgerError> {
    let reader = Reader::open(ledger)?;
    let Some(run) = reader.latest()? else { return Ok(None) };
    Ok(reader.dispatches(&run.run)?.into_iter().next())
}

/// Writes the workflow, the role, and a project with the agents and prices of the current repository.
fn write_files(root: &Path, config: &Config) -> std::io::Result<()> {
    let files: [(PathBuf, String); 4] = [
        (root.join("hello.yaml"), WORKFLOW.to_string()),
        (root.join("roles/greeter.md"), ROLE.to_string()),
        (root.join("project/README.md"), "# Hello\n".to_string()),
        (root.join("project/remand.toml"), settings(config)),
    ];
    for (path, text) in files {
        fs::create_dir_all(path.parent().unwrap_or(root))?;
        fs::write(path, text)?;
    }
    Ok(())
}

/// The agents and prices that the repository sets. The user's configuration file applies in the child process as well.
fn settings(config: &Config) -> String {
    let mut text = String::new();
    for (name, row) in &config.agents {
        text.push_str(&format!("[agents.\"{name}\"]\n"));
        let of_repository = |key: &str| {
            matches!(config.origin(&format!("agents.{name}.{key}")), Some(ValueOrigin::Repository(_)))
        };
        let keys = row.iter().filter(|(key, _)| of_repository(key));
        keys.for_each(|(key, value)| text.push_str(&format!("{key} = {value}\n")));
    }
    for (model, price) in &config.prices {
        text.push_str(&format!("[prices.\"{model}\"]\n"));
        let kinds = [
            ("input", price.input),
            ("output", price.output),
            ("cached", price.cached),
            ("stored", price.stored),
        ];
        for (kind, micros) in kinds.into_iter().filter_map(|(kind, price)| Some((kind, price?))) {
            text.push_str(&format!("{kind} = {}.{:06}\n", micros / 1_000_000, micros % 1_000_000));
        }
    }
    text
}

fn report(checkup: &mut Checkup, greeted: &GreetedAgent<'_>, row: &DispatchRow) {
    let model = row.model.as_deref().map_or_else(String::new, |model| format!(" with {model}"));
    let usage = format!(
        "{}, {}, {}",
        row.time.map_or_else(|| "time unknown".to_string(), amount::time),
        row.tokens.map_or_else(|| "tokens unknown".to_string(), |tokens| amount::counted(tokens, "token")),
        row.money
            .map_or_else(|| "cost unknown".to_string(), |money| format!("cost {}", amount::money(money))),
    );
    match (&row.says, &row.failure) {
        (Some(_), _) => checkup.ok(DISPATCH, format!("{}{model} returned a result: {usage}", greeted.agent)),
        (None, failure) => {
            let why = row.detail.as_deref().or(failure.as_deref()).unwrap_or("it did not end");
            let what = format!("{}{model} returned no result: {why} ({usage})", greeted.agent);
            checkup.fail(DISPATCH, what, format!("`remand agents {}` shows how to sign in", greeted.agent));
        }
    }
}
