//! Where the time went: a lane for the main line and for each task, with agents, engine work and waits.

use super::context::RunPage;
use crate::address::part;
use crate::problem::PageProblem;
use crate::words;
use maud::{Markup, html};
use remand_engine::clock;
use remand_ledger::Millis;
use remand_terminal::amount;
use remand_views::{LaneBar, LaneBarKind, LaneBarSource, lane_bars};
use std::collections::BTreeMap;

/// Bars beyond this number are too small to see; the slider shows earlier ones.
const MAX_BARS: usize = 1_500;

/// The width of the drawing in its own units.
const WIDTH: i64 = 1_000;
const ROW: usize = 18;

pub fn body(page: &RunPage<'_>) -> Result<Markup, PageProblem> {
    let (start, end) = bounds(page);
    let mut bars = bars(page, end)?;
    let spent = by_phase(&bars);
    let all = bars.len();
    bars.sort_by_key(|bar| bar.from);
    bars.drain(..all.saturating_sub(MAX_BARS));
    let start = if all > MAX_BARS { bars.first().map_or(start, |bar| bar.from) } else { start };
    let mut lanes: BTreeMap<(bool, String), Vec<Vec<&LaneBar>>> = BTreeMap::new();
    for bar in &bars {
        let rows = lanes.entry((!bar.lane.is_empty(), bar.lane.clone())).or_default();
        match rows.iter_mut().find(|row| row.last().is_none_or(|last| last.to <= bar.from)) {
            Some(row) => row.push(bar),
            None => rows.push(vec![bar]),
        }
    }
    let span = (end - start).max(1);
    let x = |at: i64| (at.clamp(start, end) - start) * WIDTH / span;
    Ok(html! {
        section.panel aria-labelledby="timeline-heading" {
            h2 id="timeline-heading" { "Lanes" }
            @if bars.is_empty() { p.empty { "Nothing ran yet." } }
            @if all > MAX_BARS { p { "The last " (MAX_BARS) " of " (amount::grouped(all as u64)) ". The slider shows earlier ones." } }
            p.legend { span.key.agent { "agents" } span.key.engine { "engine and checks" } span.key.wait { "waits for a human" } }
            div.lanes {
                @for ((_, lane), rows) in &lanes {
                    @let height = rows.len() * ROW;
                    div.lane-name { @if lane.is_empty() { "main line" } @else { (words::text(lane)) } }
                    svg.lane viewBox={ "0 0 " (WIDTH) " " (height) } height=(height) preserveAspectRatio="none" role="group" aria-label={ "Lane " (lane) } {
                        @for (row, bars) in rows.iter().enumerate() {
                            @for bar in bars {
                                a href=(link(page, bar)) {
                                    rect class=(class(bar.kind)) x=(x(bar.from)) y=(row * ROW + 2) width=((x(bar.to) - x(bar.from)).max(2)) height=(ROW - 4) rx="2" {
                                        title { (words::text(&bar.name)) ": " (amount::time(bar.length())) }
                                    }
                                }
                            }
                        }
                    }
                }
                div.lane-name {}
                div.axis { span { (clock::iso(Millis(start))) } span { (amount::time(u64::try_from(end - start).unwrap_or(0))) } span { (clock::iso(Millis(end))) } }
            }
        }
        section.panel aria-labelledby="spent-heading" {
            h2 id="spent-heading" { "Time by phase" }
            div.scroll tabindex="0" role="region" aria-label="Table of times" { table {
                thead { tr { th { "phase" } th.right { "agents" } th.right { "engine and checks" } th.right { "waits" } } }
                tbody {
                    @for (phase, [agents, engine, waits]) in &spent {
                        tr { td { (words::text(phase)) } @for time in [agents, engine, waits] { td.num.right { @if *time > 0 { (amount::time(*time)) } } } }
                    }
                }
            } }
        }
    })
}

/// The time at which the drawing begins and ends.
fn bounds(page: &RunPage<'_>) -> (i64, i64) {
    let row = &page.view.row;
    let end = match &page.past {
        Some(past) => past.at.0,
        None if row.stage.is_over() => row.updated_at.0,
        None => clock::now().0,
    };
    (row.created_at.0, end.max(row.created_at.0))
}

fn bars(page: &RunPage<'_>, end: i64) -> Result<Vec<LaneBar>, PageProblem> {
    let mut operations = page.reader.operations(&page.run)?;
    operations.retain(|row| row.seq <= page.until());
    Ok(lane_bars(&page.dispatches()?, &operations, &page.gates()?, end))
}

/// The address of what a bar shows.
fn link(page: &RunPage<'_>, bar: &LaneBar) -> String {
    match &bar.source {
        LaneBarSource::Dispatch { command } => page.link(&format!("agents/{}", part(command))),
        LaneBarSource::Operation => page.link("evidence"),
        LaneBarSource::Gate { command } => page.link(&format!("gates/{}", part(command))),
    }
}

/// The name of a kind in the style sheet.
fn class(kind: LaneBarKind) -> &'static str {
    match kind {
        LaneBarKind::Agent => "agent",
        LaneBarKind::Engine => "engine",
        LaneBarKind::Wait => "wait",
    }
}

/// The time of agents, engine and waits for each phase, the longest first.
fn by_phase(bars: &[LaneBar]) -> Vec<(String, [u64; 3])> {
    let mut phases: BTreeMap<&str, [u64; 3]> = BTreeMap::new();
    for bar in bars {
        let kind = match bar.kind {
            LaneBarKind::Agent => 0,
            LaneBarKind::Engine => 1,
            LaneBarKind::Wait => 2,
        };
        phases.entry(&bar.phase).or_default()[kind] += bar.length();
    }
    let mut all: Vec<(String, [u64; 3])> =
        phases.into_iter().map(|(phase, times)| (phase.to_string(), times)).collect();
    all.sort_by_key(|(_, times)| std::cmp::Reverse(times.iter().sum::<u64>()));
    all
}
