//! `remand gaps`: the gaps of a specification, worst first, and the progress on each.

use super::rounds::history;
use super::runs::{find_run, heading};
use crate::context::CommandContext;
use crate::workplace::Workplace;
use remand_kernel::gaps::{BlockedOn, Board, Gap, GapSeverity};
use remand_terminal::output::{print, print_json};
use remand_terminal::table::{Cell, ColumnFit, TextTable};
use remand_terminal::{CommandFailure, ExitCode, Ink, Tone, amount};
use serde_json::json;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run: its id, a part of it, or `latest`
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// Only those that are not resolved, closed, deferred or waived
    #[arg(long)]
    pub open: bool,
    /// Also list every state change of each gap, and who made it
    #[arg(long)]
    pub moves: bool,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let reader = workplace.reader()?;
    let row = find_run(&reader, args.run.as_deref())?;
    let (_, board) = history(&reader, &row)?;
    let mut gaps: Vec<&Gap> = board.gaps().filter(|gap| !args.open || !gap.status.is_settled()).collect();
    gaps.sort_by_key(|gap| (gap.status.is_settled(), std::cmp::Reverse(gap.severity), gap.id.clone()));
    if context.json {
        let moves: Vec<_> = board.transitions().iter().collect();
        print_json(&json!({
            "run": row.run, "round": board.round(), "open": board.unsettled().count(), "gaps": gaps, "moves": moves,
        }))?;
        return Ok(ExitCode::Done);
    }
    let ink = Ink::of_stdout();
    let open = board.unsettled().count();
    let all = amount::counted(board.gaps().count() as u64, "gap");
    let mut text = format!("{}\n{all}, {open} open\n", heading(&row));
    if !gaps.is_empty() {
        let mut table = TextTable::new(&[
            ("gap", ColumnFit::Whole),
            ("severity", ColumnFit::Whole),
            ("status", ColumnFit::Wrap),
            ("claim", ColumnFit::Wrap),
        ]);
        for gap in &gaps {
            table.row(vec![
                Cell::new(gap.id.to_string()).toned(Tone::Strong),
                Cell::new(gap.severity.to_string()).toned(tone(gap)),
                Cell::new(status(gap)),
                Cell::new(&gap.claim),
            ]);
        }
        text.push_str(&format!("\n{}", table.render(ink)));
    }
    if args.moves {
        text.push_str(&moves(&board, &gaps, ink));
    }
    print(&text)?;
    Ok(ExitCode::Done)
}

fn moves(board: &Board, gaps: &[&Gap], ink: Ink) -> String {
    let mut table = TextTable::new(&[
        ("round", ColumnFit::Whole),
        ("gap", ColumnFit::Whole),
        ("move", ColumnFit::Whole),
        ("by", ColumnFit::Whole),
        ("why", ColumnFit::Wrap),
    ]);
    for change in board.transitions().iter().filter(|change| gaps.iter().any(|gap| gap.id == change.gap)) {
        table.row(vec![
            Cell::new(change.round.to_string()),
            Cell::new(change.gap.to_string()),
            Cell::new(format!("{} → {}", change.from, change.to)),
            Cell::new(change.actor.to_string()),
            Cell::new(&change.why),
        ]);
    }
    if table.is_empty() {
        "\nno gap has changed its state yet\n".to_string()
    } else {
        format!("\n{}", table.render(ink))
    }
}

fn status(gap: &Gap) -> String {
    let on = match &gap.waits_for {
        Some(BlockedOn::Gap(on)) => format!(" on {on}"),
        Some(BlockedOn::Decision(on)) => format!(" on the decision about {on}"),
        Some(BlockedOn::External(_)) => " on something external".to_string(),
        None => String::new(),
    };
    format!("{}{on}", gap.status)
}

fn tone(gap: &Gap) -> Tone {
    match gap.severity {
        _ if gap.status.is_settled() => Tone::Faint,
        GapSeverity::Critical => Tone::Bad,
        GapSeverity::High => Tone::Doubtful,
        GapSeverity::Medium | GapSeverity::Low => Tone::Plain,
    }
}
