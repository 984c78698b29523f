//! `remand gaps`: the gaps of a specification, the worst first, and how far each has come.

use super::Context;
use super::rounds::history;
use super::runs::{chosen, heading};
use crate::exit::{Exit, Failure, print, print_json};
use crate::table::{Cell, Fit, Ink, Table, Tone, amount};
use crate::workplace::Workplace;
use remand_kernel::gaps::{BlockedOn, Board, Gap, GapSeverity};
use serde_json::json;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run: its id, a part of it, or `latest`
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// Only those that are not resolved, closed, deferred or waived
    #[arg(long)]
    pub open: bool,
    /// Every move of each gap, with whose word it was
    #[arg(long)]
    pub moves: bool,
}

pub fn run(context: &Context<'_>, args: &Args) -> Result<Exit, Failure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let reader = workplace.reader()?;
    let row = chosen(&reader, args.run.as_deref())?;
    let (_, board) = history(&reader, &row)?;
    let mut gaps: Vec<&Gap> = board.gaps().filter(|gap| !args.open || !gap.status.is_settled()).collect();
    gaps.sort_by_key(|gap| (gap.status.is_settled(), std::cmp::Reverse(gap.severity), gap.id.clone()));
    if context.json {
        let moves: Vec<_> = board.transitions().iter().collect();
        print_json(&json!({
            "run": row.run, "round": board.round(), "open": board.unsettled().count(), "gaps": gaps, "moves": moves,
        }))?;
        return Ok(Exit::Done);
    }
    let ink = Ink::of_stdout();
    let open = board.unsettled().count();
    let all = amount::counted(board.gaps().count() as u64, "gap");
    let mut text = format!("{}\n{all}, {open} open\n", heading(&row));
    if !gaps.is_empty() {
        let mut table = Table::new(&[
            ("gap", Fit::Whole),
            ("severity", Fit::Whole),
            ("status", Fit::Wrap),
            ("claim", Fit::Wrap),
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
    Ok(Exit::Done)
}

fn moves(board: &Board, gaps: &[&Gap], ink: Ink) -> String {
    let mut table = Table::new(&[
        ("round", Fit::Whole),
        ("gap", Fit::Whole),
        ("move", Fit::Whole),
        ("by", Fit::Whole),
        ("why", Fit::Wrap),
    ]);
    for moved in board.transitions().iter().filter(|moved| gaps.iter().any(|gap| gap.id == moved.gap)) {
        table.row(vec![
            Cell::new(moved.round.to_string()),
            Cell::new(moved.gap.to_string()),
            Cell::new(format!("{} → {}", moved.from, moved.to)),
            Cell::new(moved.actor.to_string()),
            Cell::new(&moved.why),
        ]);
    }
    if table.is_empty() { "\nno gap has moved yet\n".to_string() } else { format!("\n{}", table.render(ink)) }
}

fn status(gap: &Gap) -> String {
    let on = match &gap.waits_for {
        Some(BlockedOn::Gap(on)) => format!(" on {on}"),
        Some(BlockedOn::Decision(on)) => format!(" on the decision about {on}"),
        Some(BlockedOn::External(_)) => " on something outside".to_string(),
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
