//! The configuration in effect: typed values with their origins.

use super::layer::{self, KeyPath, Layer, SourcedValue};
use super::outbound::{self, NotifySettings, TelemetrySettings};
use super::page;
use super::problem::{ConfigError, ConfigProblem, FilePosition, ValueOrigin};
use super::role_choice::RoleChoice;
use super::sources::Sources;
use super::table::{self, TypedSettings};
use crate::pinned::{Guards, RoundRules};
use remand_agents::driver::Price;
use remand_checks::CheckChoice;
use remand_git::TreeLimits;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// All layers merged; for each key, the last layer wins.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The workflow of requests; `None` if it follows from the form of the request.
    pub workflow: Option<String>,
    pub mode: RunMode,
    /// The agent for roles without an agent; empty if the engine chooses.
    pub agent: String,
    /// The model for roles without a model.
    pub model: Option<String>,
    pub at_once: u32,
    /// Names of files with conventions.
    pub conventions: Vec<String>,
    pub limits: ConfigLimits,
    pub sandbox: Sandbox,
    /// What a dispatch may add to its work tree.
    pub tree_limits: TreeLimits,
    /// The names that a change may add.
    pub names: NewNames,
    pub secrets: Secrets,
    pub notify: NotifySettings,
    pub telemetry: TelemetrySettings,
    /// The phases whose gates a client of the MCP server may answer.
    pub may_answer: Vec<String>,
    pub rounds: RoundRules,
    /// Whether checks are detected by marker files.
    pub detect: bool,
    /// Whether valid results of checks are reused.
    pub cache: bool,
    /// What guards the tests.
    pub guards: Guards,
    /// Whether tests must be able to fail.
    pub prove: bool,
    /// The minimum time for mutants.
    pub prove_time: Duration,
    pub checks: BTreeMap<String, CheckChoice>,
    pub roles: BTreeMap<String, RoleChoice>,
    /// The tables of `[agents]`: new agent rows, or changes to known ones.
    pub agents: BTreeMap<String, toml::Table>,
    /// The tables of `[forges]`: new forges, or changes to known ones.
    pub forges: BTreeMap<String, toml::Table>,
    /// The tables of `[prices]`, by model.
    pub prices: BTreeMap<String, Price>,
    state: Option<String>,
    pub(super) settings: BTreeMap<KeyPath, SourcedValue>,
}

/// The time for mutants, if the tests themselves take less.
const PROVE_TIME: Duration = Duration::from_secs(60);

/// Whether questions with a default are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunMode {
    Autonomous,
    Interactive,
}

/// The limits of one run; `None` means no limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigLimits {
    /// Micro-units of the currency.
    pub money: Option<u64>,
    pub tokens: Option<u64>,
    pub time: Option<Duration>,
    pub dispatches: Option<u64>,
}

/// The names that a change may add.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NewNames {
    /// Only names that cannot be mistaken for others, and links inside the repository. Anything else is a finding.
    #[default]
    Plain,
    /// Every name. Misleading ones become notes for reviewers.
    Any,
}

/// The access and the limits of agents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sandbox {
    /// Whether to refuse to run on a machine that cannot enforce the whole sandbox.
    pub required: bool,
    /// Names of environment variables that agents get.
    pub environment: Vec<String>,
    /// Names of environment variables that checks get.
    pub checks_environment: Vec<String>,
    /// Paths that agents may read, as written in the file.
    pub reads: Vec<String>,
    pub copies: Vec<String>,
    /// Paths that programs started by git may write, as written in the file.
    pub hooks_write: Vec<String>,
    pub unix_sockets: bool,
    pub shared_memory: bool,
    /// Memory of all processes of a dispatch together, in bytes.
    pub memory: Option<u64>,
    pub processes: Option<u64>,
    /// Bytes that a dispatch may add to its work tree and its home.
    pub disk: Option<u64>,
    /// Size of the largest file that a dispatch may write, in bytes.
    pub file_size: Option<u64>,
}

impl Sandbox {
    /// The paths that agents may read, with `~/` expanded.
    pub fn readable(&self, home: &Path) -> Vec<PathBuf> {
        expand_home(&self.reads, home).collect()
    }

    /// The existing paths that programs started by git may write, with `~/` expanded.
    pub fn writable_by_hooks(&self, home: &Path) -> Vec<PathBuf> {
        expand_home(&self.hooks_write, home).filter(|path| path.exists()).collect()
    }
}

fn expand_home<'p>(paths: &'p [String], home: &'p Path) -> impl Iterator<Item = PathBuf> + 'p {
    let expanded = |path: &String| match path.strip_prefix("~/") {
        Some(rest) => home.join(rest),
        None => PathBuf::from(path),
    };
    paths.iter().map(expanded).filter(|path| path.is_absolute())
}

/// The secrets to remove from prompts, artifacts and the ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Secrets {
    /// Names of variables with secret values.
    pub environment: Vec<String>,
    /// Valid regular expressions.
    pub patterns: Vec<String>,
}

/// One value in effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectiveValue {
    pub key: String,
    /// The value as TOML.
    pub value: String,
    pub origin: ValueOrigin,
}

impl Config {
    /// Loads all layers. The error lists every problem of every layer.
    pub fn load(sources: &Sources) -> Result<Config, ConfigError> {
        let layers = [
            layer::built_in(),
            read(sources.user.as_deref(), ValueOrigin::User)?,
            read(sources.repository.as_deref(), ValueOrigin::Repository)?,
            layer::environment(&sources.environment),
            layer::flags(&sources.flags),
        ];
        let mut settings = BTreeMap::new();
        let mut problems = Vec::new();
        for layer in layers {
            settings.extend(layer.settings);
            problems.extend(layer.problems);
        }
        let config = Config::from_settings(settings);
        problems.extend(config.contradictions());
        problems.extend(config.exposing_agents());
        problems.extend(config.widened_sandbox());
        problems.extend(config.foreign_settings());
        if problems.is_empty() { Ok(config) } else { Err(ConfigError::Refused(problems)) }
    }

    /// Every value in effect with its origin, sorted by key.
    pub fn origins(&self) -> Vec<EffectiveValue> {
        self.settings
            .iter()
            .map(|(path, setting)| EffectiveValue {
                key: path.join("."),
                value: outbound::shown(path, &setting.value),
                origin: setting.origin.clone(),
            })
            .collect()
    }

    /// The file that `remand init` writes: the agent, and the keys that most repositories need.
    pub fn starter(agent: Option<&str>) -> String {
        page::starter(agent)
    }

    /// The file that `remand init --all` writes: the agent, and every other key commented out.
    pub fn template(agent: Option<&str>) -> String {
        page::template(agent)
    }

    /// The reference page about all keys.
    pub fn guide() -> String {
        page::guide()
    }

    /// The state folder; `None` if neither the configuration nor the environment defines one.
    pub fn state_folder(&self, environment: &BTreeMap<String, String>) -> Option<PathBuf> {
        let home = environment.get("HOME").map(Path::new);
        match self.state.as_deref() {
            Some(path) => match path.strip_prefix("~/") {
                Some(rest) => home.map(|home| home.join(rest)),
                None => Some(PathBuf::from(path)),
            },
            None => environment
                .get("XDG_STATE_HOME")
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
                .or_else(|| home.map(|home| home.join(".local/state")))
                .map(|base| base.join("remand")),
        }
    }

    /// The origin of a key's value.
    pub fn origin(&self, key: &str) -> Option<&ValueOrigin> {
        self.settings.get(&table::path(key)).map(|setting| &setting.origin)
    }

    fn from_settings(settings: BTreeMap<KeyPath, SourcedValue>) -> Config {
        let table = TypedSettings { settings: &settings };
        let interactive = table.text("mode").is_some_and(|mode| mode == "interactive");
        Config {
            workflow: table.text("workflow").filter(|name| !name.is_empty()),
            mode: if interactive { RunMode::Interactive } else { RunMode::Autonomous },
            agent: table.text("agent").unwrap_or_default(),
            model: table.text("model"),
            at_once: table.count("at-once").map_or(1, |count| u32::try_from(count).unwrap_or(u32::MAX)),
            conventions: table.words("conventions").unwrap_or_default(),
            limits: ConfigLimits {
                money: table.money("limits.money"),
                tokens: table.count("limits.tokens"),
                time: table.time("limits.time"),
                dispatches: table.count("limits.dispatches"),
            },
            sandbox: Sandbox {
                required: table.flag("sandbox.required").unwrap_or(false),
                environment: table.words("sandbox.environment").unwrap_or_default(),
                reads: table.words("sandbox.reads").unwrap_or_default(),
                copies: table.words("sandbox.copies").unwrap_or_default(),
                checks_environment: table.words("sandbox.checks-environment").unwrap_or_default(),
                hooks_write: table.words("sandbox.hooks-write").unwrap_or_default(),
                unix_sockets: table.flag("sandbox.unix-sockets").unwrap_or(false),
                shared_memory: table.flag("sandbox.shared-memory").unwrap_or(false),
                memory: table.count("sandbox.memory"),
                processes: table.count("sandbox.processes"),
                disk: table.count("sandbox.disk"),
                file_size: table.count("sandbox.file-size"),
            },
            tree_limits: tree_limits(&table),
            names: match table.text("changes.names").as_deref() {
                Some("any") => NewNames::Any,
                Some(_) | None => NewNames::Plain,
            },
            secrets: Secrets {
                environment: table.words("secrets.environment").unwrap_or_default(),
                patterns: table.words("secrets.patterns").unwrap_or_default(),
            },
            notify: NotifySettings::read(&table),
            telemetry: TelemetrySettings::read(&table),
            may_answer: table.words("mcp.may-answer").unwrap_or_default(),
            rounds: round_rules(&table),
            detect: table.flag("checks.detect").unwrap_or(true),
            cache: table.flag("checks.cache").unwrap_or(true),
            guards: match table.text("checks.guards").as_deref() {
                Some("syntax") => Guards::Syntax,
                Some("old-tests") => Guards::OldTests,
                Some("proof") => Guards::Proof,
                Some(_) | None => Guards::All,
            },
            prove: table.flag("checks.prove").unwrap_or(true),
            prove_time: table.time("checks.prove-time").unwrap_or(PROVE_TIME),
            checks: table.tables("checks", |name| table.check(name)),
            roles: table.tables("roles", |name| table.role(name)),
            agents: table.tables("agents", |name| table.row("agents", name)),
            forges: table.tables("forges", |name| table.row("forges", name)),
            prices: table.tables("prices", |name| table.price(name)),
            state: table.text("state.dir"),
            settings,
        }
    }

    /// Problems that involve several keys.
    fn contradictions(&self) -> Vec<ConfigProblem> {
        let mut problems = Vec::new();
        for (name, check) in &self.checks {
            let mut add_problem = |key: &str, message: String, remedy: &str| {
                let origin =
                    self.origin(&format!("checks.{name}.{key}")).cloned().unwrap_or(ValueOrigin::BuiltIn);
                problems.push(ConfigProblem { origin, message, remedy: remedy.to_string() });
            };
            let report_format = match check.parser.as_deref() {
                Some("junit") => Some("JUnit XML"),
                Some("jest") => Some("Jest's JSON"),
                Some(_) | None => None,
            };
            if let (Some(format), None) = (report_format, &check.report) {
                let message = format!("`checks.{name}` reads {format} but has no `report`");
                add_problem("parser", message, "add `report` with the file or folder that it writes");
            }
            if report_format.is_none() && check.report.is_some() {
                let message = format!("`checks.{name}` has a report that its parser does not read");
                let remedy = "write `parser = \"junit\"` or `parser = \"jest\"`, or remove `report`";
                add_problem("report", message, remedy);
            }
        }
        problems
    }
}

fn tree_limits(table: &TypedSettings<'_>) -> TreeLimits {
    let built_in = TreeLimits::default();
    let number = |key: &str| table.count(key).map(|count| usize::try_from(count).unwrap_or(usize::MAX));
    TreeLimits {
        files: table.count("changes.files").unwrap_or(built_in.files),
        file_size: table.count("changes.file-size").unwrap_or(built_in.file_size),
        size: table.count("changes.size").unwrap_or(built_in.size),
        depth: number("changes.depth").unwrap_or(built_in.depth),
        name_length: number("changes.name-length").unwrap_or(built_in.name_length),
    }
}

fn round_rules(table: &TypedSettings<'_>) -> RoundRules {
    let built_in = RoundRules::default();
    let mut board = built_in.board;
    let count_u32 = |key: &str| table.count(key).map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    if let Some(gaps) = table.count("rounds.gaps") {
        board.assigned = usize::try_from(gaps).unwrap_or(usize::MAX);
    }
    if let Some(stalls) = count_u32("rounds.warn-after") {
        board.thresholds.warn_at = stalls;
    }
    if let Some(beyond) = count_u32("rounds.diverge-beyond") {
        board.thresholds.diverge_below = -i64::from(beyond);
    }
    let min_length = table.count("rounds.least").and_then(|length| usize::try_from(length).ok());
    RoundRules { board, min_length: min_length.unwrap_or(built_in.min_length) }
}

fn read(path: Option<&Path>, origin: fn(FilePosition) -> ValueOrigin) -> Result<Layer, ConfigError> {
    let Some(path) = path else {
        return Ok(Layer::default());
    };
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Layer::default()),
        Err(source) => return Err(ConfigError::Unreadable { path: path.to_path_buf(), source }),
    };
    let name = path.display().to_string();
    match std::str::from_utf8(&bytes) {
        Ok(text) => Ok(layer::file(&name, text.strip_prefix('\u{feff}').unwrap_or(text), origin)),
        Err(error) => {
            let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]).into_owned();
            Err(ConfigError::Refused(vec![ConfigProblem {
                origin: origin(FilePosition::of(&name, &valid, valid.len())),
                message: "the file is not UTF-8".to_string(),
                remedy: "save it as UTF-8".to_string(),
            }]))
        }
    }
}
