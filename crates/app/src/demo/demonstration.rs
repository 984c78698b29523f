//! One demonstration as its file states it.

use crate::exit::{Exit, Failure};
use remand_kernel::state::End;
use remand_runtime::host::Standing;
use serde::Deserialize;

/// What `demo.yaml` says.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Demonstration {
    /// What there is to see, in a line.
    pub about: String,
    pub project: Sample,
    /// What is done, one after the other.
    pub steps: Vec<Step>,
    /// What to look at afterwards.
    #[serde(default)]
    pub closer: Vec<Closer>,
}

/// The sample project.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// The name of its folder.
    pub folder: String,
    /// What it is, to begin a sentence with: `A small shop`.
    pub about: String,
    /// The message of its first commit.
    pub commit: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// A run, told as a story until it is over.
    Run(Run),
    /// The words of any other command, such as `[findings, latest]`; what it prints is shown.
    Remand(Vec<String>),
}

/// A run, and what the demonstration does in a human's place.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Run {
    /// The words that follow `remand run`: a request, or `[--issue, SHOP-3]`; then options.
    pub words: Vec<String>,
    /// Said before it.
    #[serde(default)]
    pub saying: String,
    /// What the agents do.
    #[serde(default = "rehearsal")]
    pub rehearsal: String,
    /// What is done at gates, in the order in which the run waits at them.
    #[serde(default)]
    pub turns: Vec<Turn>,
    /// How the run has to end.
    #[serde(default)]
    pub ends: Ends,
}

/// What the demonstration does at a gate, instead of the reader.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Turn {
    Answer(Answer),
    RollBack(RollBack),
}

/// An answer to the question.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The phase that asks.
    pub at: String,
    pub option: String,
    #[serde(default)]
    pub note: String,
    /// Flags that the answer sets.
    #[serde(default)]
    pub set: Vec<String>,
}

/// No answer: back to the start of a round.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RollBack {
    /// The phase that asks.
    pub at: String,
    pub to: u16,
    #[serde(default)]
    pub note: String,
    /// What whoever does the round again has to heed.
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
    /// It does not: it waits for the reader.
    Waiting,
}

/// A command to look closer with; `{branch}` and `{run}` are those of the last run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Closer {
    pub command: String,
    pub about: String,
}

fn rehearsal() -> String {
    "rehearsal.yaml".to_string()
}

impl Demonstration {
    /// Reads a demonstration; a malformed one is a defect of this program.
    pub fn parse(text: &str, name: &str) -> Result<Demonstration, Failure> {
        serde_saphyr::from_str(text).map_err(|error| {
            let what = format!("the demonstration {name} is malformed");
            let failure =
                Failure { exit: Exit::Internal, ..Failure::user(what, "this is a defect of remand") };
            failure.caused_by(error.to_string())
        })
    }
}

impl Turn {
    /// The phase that asks.
    pub fn at(&self) -> &str {
        match self {
            Turn::Answer(answer) => &answer.at,
            Turn::RollBack(back) => &back.at,
        }
    }
}

impl Ends {
    pub fn fits(self, standing: &Standing) -> bool {
        match standing {
            Standing::Over(End::Done) => self == Ends::Done,
            Standing::Over(End::Failed { .. }) => self == Ends::Failed,
            Standing::Over(End::Stopped { .. }) => self == Ends::Stopped,
            Standing::Waiting => self == Ends::Waiting,
            Standing::Over(End::Cancelled { .. }) | Standing::Left => false,
        }
    }
}
