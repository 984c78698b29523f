//! `remand rounds rollback`: a human takes a run back to the start of a round (SR-11).

use super::super::Context;
use super::super::answer::hand_in;
use super::super::runs::chosen;
use super::history;
use crate::driving;
use crate::exit::{Exit, Failure};
use crate::workplace::Workplace;
use clap::ValueEnum;
use remand_kernel::Event;
use remand_kernel::gaps::{RetryMode, RollbackError};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run: its id, a part of it, or `latest`
    #[arg(value_name = "RUN")]
    pub run: String,
    /// The round to go back to the start of
    #[arg(long, value_name = "N")]
    pub to: u32,
    /// How the round is tried again
    #[arg(long, value_enum, default_value_t = How::Same)]
    pub mode: How,
    /// Why; it is kept, and whoever tries again is told
    #[arg(long, default_value = "", hide_default_value = true, value_name = "TEXT")]
    pub reason: String,
    /// What to heed when it is tried again
    #[arg(long, default_value = "", hide_default_value = true, value_name = "TEXT")]
    pub context: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum How {
    /// As before
    Same,
    /// With fewer gaps: those that reason or context name, or the more urgent half
    Narrowed,
    /// With what `--context` says
    Context,
    /// Not at all: the next round begins where this one began
    Skip,
}

impl How {
    fn mode(self) -> RetryMode {
        match self {
            How::Same => RetryMode::SamePrompt,
            How::Narrowed => RetryMode::Narrowed,
            How::Context => RetryMode::ExtraContext,
            How::Skip => RetryMode::Skip,
        }
    }
}

pub fn run(context: &Context<'_>, args: &Args) -> Result<Exit, Failure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let reader = workplace.reader()?;
    let row = chosen(&reader, Some(&args.run))?;
    let (history, board) = history(&reader, &row)?;
    if row.ended.is_some() {
        let what = format!("run {} is over", row.run);
        return Err(Failure::user(what, "begin another run from the specification that it left"));
    }
    if args.mode == How::Context && args.context.trim().is_empty() {
        return Err(Failure::user("there is no context", "say with `--context` what is to be heeded"));
    }
    history
        .rounds
        .check(&board, args.to)
        .map_err(|error| refused(&error, &history.rounds.begun().collect::<Vec<_>>()))?;
    let Some(to) = history.checkpoint_of(args.to) else {
        return Err(refused(&RollbackError::NotBegun { round: args.to }, &[]));
    };
    let redactor = driving::redactor(&workplace)?;
    let event = Event::RolledBack {
        to,
        by: driving::user(),
        reason: redactor.redact(&args.reason).into_owned(),
        mode: args.mode.mode(),
        context: redactor.redact(&args.context).into_owned(),
    };
    hand_in(context, &workplace, &row.run, &event, "wait for a gate: `remand gates` lists them")
}

fn refused(error: &RollbackError, begun: &[u32]) -> Failure {
    let hint = match error {
        RollbackError::NotBegun { .. } => {
            let rounds: Vec<String> = begun.iter().map(ToString::to_string).collect();
            format!(
                "rounds that can go back: {}",
                if rounds.is_empty() { "none".to_string() } else { rounds.join(", ") }
            )
        }
        RollbackError::RoundLimit { .. } | RollbackError::RunLimit { .. } => {
            "answer the gate with `redo` to go on with the best attempt".to_string()
        }
        RollbackError::StillAllowed { .. } | RollbackError::NoAttempt { .. } => String::new(),
    };
    Failure::user(error.to_string(), hint)
}
