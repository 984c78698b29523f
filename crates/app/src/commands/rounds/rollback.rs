//! `remand rounds rollback`: rolls a run back to the start of a round.

use super::super::runs::find_run;
use super::history;
use crate::context::CommandContext;
use crate::environment;
use crate::host;
use crate::requests::submit_request;
use crate::workplace::Workplace;
use clap::ValueEnum;
use remand_kernel::Event;
use remand_kernel::gaps::{RetryMode, RollbackError};
use remand_terminal::{CommandFailure, ExitCode};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run: its id, a part of it, or `latest`
    #[arg(value_name = "RUN")]
    pub run: String,
    /// The round to restart
    #[arg(long, value_name = "N")]
    pub to: u32,
    /// How to retry the round
    #[arg(long, value_enum, default_value_t = RetryChoice::Same)]
    pub mode: RetryChoice,
    /// The reason, for the record and for the agents that retry
    #[arg(long, default_value = "", hide_default_value = true, value_name = "TEXT")]
    pub reason: String,
    /// Additional instructions for the retry
    #[arg(long, default_value = "", hide_default_value = true, value_name = "TEXT")]
    pub context: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RetryChoice {
    /// With the same prompt
    Same,
    /// With fewer gaps: those that reason or context name, or the more severe half
    Narrowed,
    /// With the instructions of `--context`
    Context,
    /// Skip it: the next round starts from the same state
    Skip,
}

impl RetryChoice {
    fn mode(self) -> RetryMode {
        match self {
            RetryChoice::Same => RetryMode::SamePrompt,
            RetryChoice::Narrowed => RetryMode::Narrowed,
            RetryChoice::Context => RetryMode::ExtraContext,
            RetryChoice::Skip => RetryMode::Skip,
        }
    }
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let reader = workplace.reader()?;
    let row = find_run(&reader, Some(&args.run))?;
    let (history, board) = history(&reader, &row)?;
    if row.stage.is_over() {
        let what = format!("run {} is over", row.run);
        return Err(CommandFailure::user(what, "start another run with the resulting specification"));
    }
    if args.mode == RetryChoice::Context && args.context.trim().is_empty() {
        return Err(CommandFailure::user(
            "`--mode context` needs `--context`",
            "add the instructions with `--context TEXT`",
        ));
    }
    history
        .rounds
        .check(&board, args.to)
        .map_err(|error| refusal(&error, &history.rounds.started().collect::<Vec<_>>()))?;
    let Some(to) = history.checkpoint_of(args.to) else {
        return Err(refusal(&RollbackError::NotBegun { round: args.to }, &[]));
    };
    let redactor = host::redactor(&workplace.config)?;
    let event = Event::RolledBack {
        to,
        by: environment::user(),
        reason: redactor.redact(&args.reason).into_owned(),
        mode: args.mode.mode(),
        context: redactor.redact(&args.context).into_owned(),
    };
    submit_request(context, &workplace, &row.run, &event, "wait for a gate: `remand gates` lists them")
}

fn refusal(error: &RollbackError, started: &[u32]) -> CommandFailure {
    let hint = match error {
        RollbackError::NotBegun { .. } => {
            let rounds: Vec<String> = started.iter().map(ToString::to_string).collect();
            format!(
                "rounds that can be rolled back: {}",
                if rounds.is_empty() { "none".to_string() } else { rounds.join(", ") }
            )
        }
        RollbackError::RoundLimit { .. } | RollbackError::RunLimit { .. } => {
            "answer the gate with `redo` to continue with the best attempt".to_string()
        }
        RollbackError::StillAllowed { .. } | RollbackError::NoAttempt { .. } => String::new(),
    };
    CommandFailure::user(error.to_string(), hint)
}
