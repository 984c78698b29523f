//! One case, as its file describes it: the project, the misbehaviour, and the expected outcome.

use super::family::Family;
use super::must::Must;
use super::project::ProjectName;
use remand_agents::rehearsal::ScriptEntry;
use remand_terminal::{CommandFailure, ExitCode};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The contents of a case file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct GauntletCase {
    /// What the agent tries, in a few words.
    pub title: String,
    pub family: Family,
    pub project: ProjectName,
    #[serde(default = "quick")]
    pub workflow: String,
    /// What detects the misbehaviour, and what stays undetected.
    pub about: String,
    #[serde(default)]
    pub measured: Option<Measured>,
    #[serde(default)]
    pub setup: Setup,
    /// The entries of a rehearsal; honest agents play the remaining roles.
    #[serde(default)]
    pub dispatches: Vec<ScriptEntry>,
    #[serde(default)]
    pub strike: Option<Strike>,
    /// Commands of this program that follow the run, such as `[resume]`.
    #[serde(default)]
    pub then: Vec<Vec<String>>,
    pub must: Must,
}

/// Whether other orchestrators were tried with the same behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measured {
    /// One of the eight lies that the report counts separately.
    Lie,
    /// Other behaviour.
    Conduct,
}

/// An interruption from outside, as soon as an agent has written a file `started` next to its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strike {
    /// The engine is killed without warning.
    KillEngine,
    /// The run is cancelled.
    Cancel,
}

/// What the case adds to the project before the run.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Setup {
    /// Replaces the request of the project.
    pub request: Option<String>,
    /// Files of the project, committed with it.
    pub files: Vec<PlantedFile>,
    /// The text of `remand.toml`, committed with the project.
    pub settings: String,
    /// Files outside the project, below `@outside@`.
    pub outside: Vec<PlantedFile>,
    /// Files in the home of the user who starts the run.
    pub home: Vec<PlantedFile>,
    /// Additional environment variables of the engine.
    pub environment: BTreeMap<String, String>,
    /// Shell commands in the checkout, after the first commit.
    pub run: Vec<String>,
    /// Additional command-line arguments of the run.
    pub flags: Vec<String>,
    /// Tests for the oracle that replace the project's hidden ones.
    pub oracle: Vec<PlantedFile>,
}

/// A file that exists before the run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlantedFile {
    pub path: String,
    pub text: String,
}

fn quick() -> String {
    GauntletCase::QUICK.to_string()
}

impl GauntletCase {
    /// The workflow of most cases.
    pub const QUICK: &str = "quick";

    /// Reads a case; a malformed one is a bug in Remand.
    pub fn parse(text: &str, name: &str) -> Result<GauntletCase, CommandFailure> {
        serde_saphyr::from_str(text).map_err(|error| malformed(name, &error.to_string()))
    }
}

/// The failure of a file of the catalogue.
pub fn malformed(name: &str, error: &str) -> CommandFailure {
    let what = format!("the case {name} is malformed");
    let failure =
        CommandFailure { exit: ExitCode::Internal, ..CommandFailure::user(what, "this is a bug in Remand") };
    failure.caused_by(error.to_string())
}
