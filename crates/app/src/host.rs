//! Opens the host that drives the runs of a repository.

use crate::environment;
use crate::workplace::Workplace;
use remand_checks::ToolVersions;
use remand_engine::activity::ActivityBoard;
use remand_engine::config::Config;
use remand_engine::host::Host;
use remand_engine::logging;
use remand_engine::redact::{RedactionRules, Redactor};
use remand_engine::site::{AgentSlots, Settings};
use remand_engine::store::Store;
use remand_engine::workshop::{Workshop, is_laid_out};
use remand_ledger::query::RunRow;
use remand_process::confine;
use remand_terminal::CommandFailure;
use std::path::PathBuf;
use std::sync::Arc;

pub fn open(workplace: &Workplace) -> Result<Host<Workshop>, CommandFailure> {
    confine::forbid_inspection();
    let store: Arc<dyn Store> = Arc::new(workplace.store()?);
    let settings = settings(workplace, Arc::clone(&store))?;
    logging::write_to(workplace.home.runs(), settings.redactor.clone());
    Ok(Host::new(store, Workshop::new(settings), workplace.home.runs())?)
}

fn settings(workplace: &Workplace, store: Arc<dyn Store>) -> Result<Settings, CommandFailure> {
    let program = program()?;
    let (sandbox, enforcement) = (workplace.config.sandbox.clone(), confine::probe(&program));
    let absent = enforcement.absent();
    if sandbox.required && !absent.is_empty() {
        let what =
            format!("the sandbox is required, but this machine does not enforce {}", absent.join("; "));
        return Err(CommandFailure::user(what, "see `remand doctor`, or set `sandbox.required = false`"));
    }
    let passed_on = sandbox.environment.iter();
    let passed_on = passed_on.filter_map(|name| Some((name.into(), std::env::var_os(name)?)));
    Ok(Settings {
        agent_environment: passed_on.collect(),
        sandbox,
        names: workplace.config.names,
        home: workplace.home.clone(),
        store,
        repository: workplace.repository.with_tree_limits(workplace.config.tree_limits),
        program,
        environment: environment::inherited(),
        check_environment: environment::for_checks(&workplace.config.sandbox),
        user_home: environment::user_home(),
        redactor: redactor(&workplace.config)?,
        enforcement,
        agent_slots: AgentSlots::new(workplace.config.at_once),
        tools: ToolVersions::default(),
        activity: ActivityBoard::default(),
    })
}

/// The path of this program, which sets up sandboxes.
pub fn program() -> Result<PathBuf, CommandFailure> {
    std::env::current_exe().map_err(|error| {
        CommandFailure::internal_error("the path of this program cannot be determined", &error)
    })
}

/// The redactor that removes secrets from everything that is stored.
pub fn redactor(config: &Config) -> Result<Redactor, CommandFailure> {
    let secrets = &config.secrets;
    let patterns = secrets
        .patterns
        .iter()
        .enumerate()
        .map(|(index, pattern)| (format!("pattern {}", index + 1), pattern.clone()))
        .collect();
    let rules = RedactionRules { secret_variables: secrets.environment.clone(), patterns };
    Redactor::new(environment::all(), &rules).map_err(|error| {
        CommandFailure::user(error.to_string(), "correct `secrets.patterns` in the configuration")
    })
}

/// Whether a run that is over still needs its background tasks, because its driving process was killed or its branch
/// was in use.
pub fn is_unfinished(workplace: &Workplace, row: &RunRow) -> bool {
    let folder = workplace.home.run(&row.run);
    row.stage.is_over() && folder.is_dir() && !is_laid_out(&folder)
}
