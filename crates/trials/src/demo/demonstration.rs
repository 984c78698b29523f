//! One demonstration, as its file describes it.

use remand_engine::host::DriveEnd;
use remand_kernel::state::End;
use remand_terminal::{CommandFailure, ExitCode};
use serde::Deserialize;

/// The contents of `demo.yaml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Demonstration {
    /// What it shows, in one line.
    pub about: String,
    pub project: DemoSample,
    /// The steps, in order.
    pub steps: Vec<DemoStep>,
    /// Commands for a closer look afterwards.
    #[serde(default)]
    pub closer: Vec<DetailCommand>,
}

/// The sample project.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DemoSample {
    /// The name of its folder.
    pub folder: String,
    /// The start of a sentence about it: `A small shop`.
    pub about: String,
    /// The message of its first commit.
    pub commit: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DemoStep {
    /// A run, reported as a story until it is over.
    Run(Run),
    /// The arguments of any other command, such as `[findings, latest]`; its output is shown.
    Remand(Vec<String>),
}

/// A run, and what the demonstration does instead of a human.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Run {
    /// The arguments of `remand run`: a request, or `[--issue, SHOP-3]`; then options.
    pub words: Vec<String>,
    /// Text that is printed before the run.
    #[serde(default)]
    pub saying: String,
    /// The script of the agents.
    #[serde(default = "default_rehearsal")]
    pub rehearsal: String,
    /// What to do at gates, in their order.
    #[serde(default)]
    pub turns: Vec<HumanTurn>,
    /// How the run must end.
    #[serde(default)]
    pub ends: Ends,
}

/// What the demonstration does at a gate, instead of the reader.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HumanTurn {
    Answer(DemoAnswer),
    RollBack(RollBack),
}

/// An answer to the question.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DemoAnswer {
    /// The phase that asks.
    pub at: String,
    pub option: String,
    #[serde(default)]
    pub note: String,
    /// Flags that the answer sets.
    #[serde(default)]
    pub set: Vec<String>,
}

/// Rolls back to the start of a round instead of answering.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RollBack {
    /// The phase that asks.
    pub at: String,
    pub to: u16,
    #[serde(default)]
    pub note: String,
    /// Additional instructions for the retry.
    #[serde(default)]
    pub context: String,
}

/// How a run ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ends {
    #[default]
    Done,
    Failed,
    Stopped,
    /// The run does not end: it waits for the reader.
    Waiting,
}

/// A command for a closer look; `{branch}` and `{run}` stand for those of the last run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DetailCommand {
    pub command: String,
    pub about: String,
}

fn default_rehearsal() -> String {
    "rehearsal.yaml".to_string()
}

impl Demonstration {
    /// Reads a demonstration; a malformed one is a bug in Remand.
    pub fn parse(text: &str, name: &str) -> Result<Demonstration, CommandFailure> {
        serde_saphyr::from_str(text).map_err(|error| {
            let what = format!("the demonstration {name} is malformed");
            let failure = CommandFailure {
                exit: ExitCode::Internal,
                ..CommandFailure::user(what, "this is a bug in Remand")
            };
            failure.caused_by(error.to_string())
        })
    }
}

impl HumanTurn {
    /// The phase that asks.
    pub fn at(&self) -> &str {
        match self {
            HumanTurn::Answer(answer) => &answer.at,
            HumanTurn::RollBack(back) => &back.at,
        }
    }
}

impl Ends {
    pub fn matches(self, end: &DriveEnd) -> bool {
        match end {
            DriveEnd::Over(End::Done) => self == Ends::Done,
            DriveEnd::Over(End::Failed { .. }) => self == Ends::Failed,
            DriveEnd::Over(End::Stopped { .. }) => self == Ends::Stopped,
            DriveEnd::Waiting => self == Ends::Waiting,
            DriveEnd::Over(End::Cancelled { .. }) | DriveEnd::Left => false,
        }
    }
}
