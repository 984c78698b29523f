//! One case as its file states it: the project, who does what wrong, and what must come of it.

use super::family::Family;
use super::must::Must;
use super::project::Language;
use crate::exit::{Exit, Failure};
use remand_runtime::rehearsal::Entry;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A case.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Case {
    /// What it tries, in a few words.
    pub title: String,
    pub family: Family,
    pub project: Language,
    #[serde(default = "quick")]
    pub workflow: String,
    /// What catches it, and what is not caught.
    pub about: String,
    #[serde(default)]
    pub measured: Option<Measured>,
    #[serde(default)]
    pub setup: Setup,
    /// The entries of a rehearsal; those of the honest cast come after them.
    #[serde(default)]
    pub dispatches: Vec<Entry>,
    #[serde(default)]
    pub strike: Option<Strike>,
    /// Commands of this program that follow the run, such as `[resume]`.
    #[serde(default)]
    pub then: Vec<Vec<String>>,
    pub must: Must,
}

/// Whether other orchestrators were measured by the same thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measured {
    /// One of the eight lies.
    Lie,
    /// Anything else that was tried on all of them.
    Conduct,
}

/// What happens to the run from outside once an agent has left a file `started` beside its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strike {
    /// The engine is killed without warning.
    KillEngine,
    /// The run is cancelled.
    Cancel,
}

/// What is there before the run, besides the project.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Setup {
    /// Instead of the project's own.
    pub request: Option<String>,
    /// Files of the project, committed with it.
    pub files: Vec<Planted>,
    /// The text of `remand.toml`, committed with the project.
    pub settings: String,
    /// Files beside the project, below the folder that `@outside@` stands for.
    pub outside: Vec<Planted>,
    /// Files in the home of the user who starts the run.
    pub home: Vec<Planted>,
    /// What the engine has in its environment besides the usual.
    pub environment: BTreeMap<String, String>,
    /// Shell commands in the checkout, after the first commit.
    pub run: Vec<String>,
    /// More words for the command line of the run.
    pub flags: Vec<String>,
    /// Tests for the oracle in the place of the project's own hidden ones.
    pub oracle: Vec<Planted>,
}

/// A file that is there from the start.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Planted {
    pub path: String,
    pub text: String,
}

fn quick() -> String {
    Case::QUICK.to_string()
}

impl Case {
    /// The workflow of most cases.
    pub const QUICK: &str = "quick";

    /// Reads a case; a malformed one is a defect of this program.
    pub fn parse(text: &str, name: &str) -> Result<Case, Failure> {
        serde_saphyr::from_str(text).map_err(|error| {
            let what = format!("the case {name} is malformed");
            let failure =
                Failure { exit: Exit::Internal, ..Failure::user(what, "this is a defect of remand") };
            failure.caused_by(error.to_string())
        })
    }
}
