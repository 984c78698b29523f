//! `remand rounds`: shows how the rounds of a run converge, as a table and a chart, or rolls rounds back.

mod picture;
mod rollback;

use super::runs::{find_run, heading};
use crate::context::CommandContext;
use crate::workplace::Workplace;
use remand_engine::rounds::RoundHistory;
use remand_kernel::gaps::{Board, RollbackCause, RoundState, archive_name};
use remand_ledger::Reader;
use remand_ledger::query::RunRow;
use remand_terminal::output::{print, print_json};
use remand_terminal::table::{Cell, ColumnFit, TextTable};
use remand_terminal::{CommandFailure, ExitCode, Ink, Tone, amount};
use serde_json::json;

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    /// The run: its id, a part of it, or `latest`
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    #[command(subcommand)]
    pub command: Option<RoundsCommand>,
}

#[derive(Debug, clap::Subcommand)]
pub enum RoundsCommand {
    /// Roll a run back to the start of a round, at a gate or while it is paused
    ///
    /// The round and all later ones are archived, not deleted. Gaps, text and decisions return to their earlier state;
    /// spent budgets stay spent. A round can be rolled back twice, a run five times in all.
    Rollback(rollback::Args),
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    if let Some(RoundsCommand::Rollback(args)) = &args.command {
        return rollback::run(context, args);
    }
    let workplace = Workplace::open(context, Vec::new())?;
    let reader = workplace.reader()?;
    let row = find_run(&reader, args.run.as_deref())?;
    let (history, board) = history(&reader, &row)?;
    if context.json {
        print_json(&json!({
            "run": row.run,
            "round": board.round(),
            "max-rounds": board.max_rounds(),
            "rounds": board.rows(),
            "rollbacks": history.rounds.rollbacks().iter().map(|rollback| json!({
                "number": rollback.number,
                "to": rollback.to,
                "cause": rollback.cause,
                "archived": rollback.rounds.iter()
                    .map(|archived| archive_name(archived.round, rollback.number)).collect::<Vec<_>>(),
            })).collect::<Vec<_>>(),
            "folder": workplace.home.run(&row.run),
        }))?;
        return Ok(ExitCode::Done);
    }
    let ink = Ink::of_stdout();
    let mut text = format!(
        "{}\nround {} of at most {}, {} of {} open\n",
        heading(&row),
        board.round(),
        board.max_rounds(),
        board.unsettled().count(),
        amount::counted(board.gaps().count() as u64, "gap")
    );
    if !board.rows().is_empty() {
        text.push_str(&format!("\n{}\n{}", table(&board).render(ink), picture::open_gaps(&board)));
    }
    for rollback in history.rounds.rollbacks() {
        let why = match &rollback.cause {
            RollbackCause::BestAdopted => {
                "an earlier attempt was better, and no rollbacks were left".to_string()
            }
            RollbackCause::Requested(request) if request.reason.trim().is_empty() => {
                "no reason given".to_string()
            }
            RollbackCause::Requested(request) => remand_terminal::line::one(&request.reason),
        };
        let archived: Vec<String> =
            rollback.rounds.iter().map(|archived| archive_name(archived.round, rollback.number)).collect();
        text.push_str(&format!(
            "\nround {} was rolled back: {why}; archived as {}\n",
            rollback.to,
            archived.join(", ")
        ));
    }
    text.push_str(&format!("\nround by round: {}\n", workplace.home.run(&row.run).display()));
    print(&text)?;
    Ok(ExitCode::Done)
}

/// The rounds of a run and its gap board. Fails if the run has no board.
pub fn history(reader: &Reader, row: &RunRow) -> Result<(RoundHistory, Board), CommandFailure> {
    let history = RoundHistory::of_run(reader, &row.run)
        .map_err(|trouble| CommandFailure::user(trouble.detail, "`remand audit` checks the whole ledger"))?;
    match history.board.clone() {
        Some(board) => Ok((history, board)),
        None => Err(CommandFailure::user(
            format!("run {} has no gap board", row.run),
            "only workflows with rounds, such as `spec`, have one, from their first gap on",
        )),
    }
}

fn table(board: &Board) -> TextTable {
    let columns = ["round", "start", "resolved", "new", "aside", "end", "net", "weighted", "state"];
    let mut table = TextTable::new(&columns.map(|name| (name, ColumnFit::Whole)));
    for row in board.rows() {
        let tone = match row.state {
            RoundState::Converging => Tone::Good,
            RoundState::Stalled(_) | RoundState::Unreviewed | RoundState::Failed | RoundState::Skipped => {
                Tone::Doubtful
            }
            RoundState::Warning(_) | RoundState::Diverging => Tone::Bad,
        };
        let numbers = [row.round, row.start, to_u32(row.resolved.len()), to_u32(row.new.len())];
        let mut cells: Vec<Cell> = numbers.iter().map(|number| Cell::new(number.to_string())).collect();
        cells.push(Cell::new(row.set_aside.len().to_string()));
        cells.push(Cell::new(row.end.to_string()));
        cells.push(Cell::new(format!("{:+}", row.net)));
        cells.push(Cell::new(format!("{:+}", row.weighted_net)));
        cells.push(Cell::new(row.state.to_string()).toned(tone));
        table.row(cells);
    }
    table
}

fn to_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
