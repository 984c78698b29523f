//! One tiny dispatch to a real agent, in a repository of its own that is gone afterwards. It costs, so it is asked for.
//!
//! The agent is driven as in any run, by this program as a child, so that what works here works there.

use super::checkup::{Checkup, DISPATCH};
use crate::exit::Failure;
use crate::progress::Stop;
use crate::table::amount;
use crate::workplace::{environment, internal, of_git, of_home, of_ledger};
use remand_ledger::Reader;
use remand_ledger::query::DispatchRow;
use remand_runtime::clock;
use remand_runtime::config::{Config, Origin};
use remand_runtime::git::Repository;
use remand_runtime::home::Home;
use remand_runtime::process::{self, Job};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const WORKFLOW: &str = include_str!("hello.yaml");
const ROLE: &str = include_str!("greeter.md");

/// Longer than the role has.
const PATIENCE: Duration = Duration::from_secs(400);

/// Who is dispatched.
pub struct Who<'w> {
    pub agent: &'w str,
    pub model: Option<&'w str>,
}

/// Dispatches an agent once and tells how that went.
pub fn agent(checkup: &mut Checkup, config: &Config, who: &Who<'_>) -> Result<(), Failure> {
    let root = std::env::temp_dir().join(format!("remand-doctor-{}", clock::new_run_id(who.agent)));
    let told = dispatch(&root, config, who);
    fs::remove_dir_all(&root).map_err(|error| internal("the scratch folder cannot be removed", &error))?;
    match told? {
        Told::Row(row) => tell(checkup, who, &row),
        Told::Refused(why) => {
            checkup.fail(DISPATCH, format!("{} was not dispatched: {why}", who.agent), "see `remand agents`");
        }
    }
    Ok(())
}

enum Told {
    Row(Box<DispatchRow>),
    /// What was said instead of a run.
    Refused(String),
}

fn dispatch(root: &Path, config: &Config, who: &Who<'_>) -> Result<Told, Failure> {
    let (project, state) = (root.join("project"), root.join("state"));
    lay_out(root, config).map_err(|error| internal("the scratch folder cannot be made", &error))?;
    Repository::create(&project, "work", "A place to say hello").map_err(|error| of_git(&error))?;
    let program =
        std::env::current_exe().map_err(|error| internal("this program cannot find itself", &error))?;
    let path = |name: &str| root.join(name).into_os_string();
    let mut argv = vec![program.into_os_string(), "run".into(), "Hand in your result.".into()];
    argv.extend(["--workflow".into(), path("hello.yaml"), "--roles".into(), path("roles")]);
    argv.extend(["--state".into(), state.clone().into_os_string(), "--agent".into(), who.agent.into()]);
    argv.extend(who.model.iter().flat_map(|model| ["--model".into(), (*model).into()]));
    argv.extend(["--budget-dispatches".into(), "1".into()]);
    let mut job = Job::apart(argv, &project, "doctor");
    job.environment = environment().into_iter().map(|(name, value)| (name.into(), value.into())).collect();
    job.limits.time = PATIENCE;
    let ended = Stop::listen()
        .heeded_by(|cancel| process::run(&job, cancel))
        .map_err(|error| internal("this program cannot be started", &error))?;
    let repository = Repository::discover(&project).map_err(|error| of_git(&error))?;
    let home = Home::open(&state, &repository).map_err(|error| of_home(&error))?;
    let row = match home.ledger().exists() {
        true => first(&home.ledger()).map_err(|error| of_ledger(&error))?,
        false => None,
    };
    let said = ended.stderr.text();
    let why =
        said.lines().find_map(|line| line.strip_prefix("error: ")).unwrap_or("the run did not come to it");
    Ok(row.map_or_else(|| Told::Refused(why.to_string()), |row| Told::Row(Box::new(row))))
}

/// The one dispatch of the one run.
fn first(ledger: &Path) -> Result<Option<DispatchRow>, remand_ledger::LedgerError> {
    let reader = Reader::open(ledger)?;
    let Some(run) = reader.latest()? else { return Ok(None) };
    Ok(reader.dispatches(&run.run)?.into_iter().next())
}

/// Agents and prices are as they are configured where the user stands; the user's own file counts here too.
fn lay_out(root: &Path, config: &Config) -> std::io::Result<()> {
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

fn settings(config: &Config) -> String {
    let mut text = String::new();
    for (name, row) in &config.agents {
        text.push_str(&format!("[agents.\"{name}\"]\n"));
        let of_repository =
            |key: &str| matches!(config.origin(&format!("agents.{name}.{key}")), Some(Origin::Repository(_)));
        let own = row.iter().filter(|(key, _)| of_repository(key));
        own.for_each(|(key, value)| text.push_str(&format!("{key} = {value}\n")));
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

fn tell(checkup: &mut Checkup, who: &Who<'_>, row: &DispatchRow) {
    let model = row.model.as_deref().map_or_else(String::new, |model| format!(" with {model}"));
    let took = format!(
        "{}, {}, {}",
        row.time.map_or_else(|| "time unknown".to_string(), amount::time),
        row.tokens.map_or_else(|| "tokens unknown".to_string(), |tokens| amount::counted(tokens, "token")),
        row.money
            .map_or_else(|| "cost unknown".to_string(), |money| format!("cost {}", amount::money(money))),
    );
    match (&row.says, &row.failure) {
        (Some(_), _) => checkup.ok(DISPATCH, format!("{}{model} handed in its result: {took}", who.agent)),
        (None, failure) => {
            let why = row.detail.as_deref().or(failure.as_deref()).unwrap_or("it did not end");
            let what = format!("{}{model} handed in no result: {why} ({took})", who.agent);
            checkup.fail(DISPATCH, what, format!("`remand agents {}` says how to sign in", who.agent));
        }
    }
}
