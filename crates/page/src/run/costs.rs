//! What a run costs, known and unknown apart, beside the proven bound and what such a run probably takes.

use super::context::RunPage;
use crate::problem::PageProblem;
use crate::words;
use maud::{Markup, html};
use remand_engine::quality::{Forecast, Likely, Prospect};
use remand_kernel::Program;
use remand_ledger::query::{CostBy, CostRow};
use remand_terminal::amount;
use remand_workflow::explore;

pub fn body(page: &RunPage<'_>) -> Result<Markup, PageProblem> {
    let by = |by| match &page.past {
        Some(past) => page.reader.past_costs(&page.run, by, past.seq, past.at),
        None => page.reader.costs(Some(&page.run), by),
    };
    let tables = [
        ("role", by(CostBy::Role)?),
        ("model", by(CostBy::Model)?),
        ("phase", by(CostBy::Phase)?),
        ("agent", by(CostBy::Agent)?),
    ];
    let total = CostRow::total(&tables[0].1);
    Ok(html! {
        (beside(page, &total)?)
        @for (name, rows) in &tables { (table(name, rows, &total)) }
    })
}

/// The run beside what it may take, and what such runs took.
fn beside(page: &RunPage<'_>, total: &CostRow) -> Result<Markup, PageProblem> {
    let tasks = u16::try_from(page.view.tasks.len().max(1)).unwrap_or(u16::MAX);
    let bound = page.program().and_then(|program| bound(program, tasks, &page.view.row.mode));
    let workflow = &page.view.row.workflow;
    let forecast = Forecast::read(Some(&page.reader), workflow, Prospect::default())?;
    let range = |likely: &Option<Likely>, words: &dyn Fn(u64) -> String| {
        likely.as_ref().map_or("unknown".to_string(), |likely| {
            format!("{} ({} to {})", words(likely.expected), words(likely.low), words(likely.high))
        })
    };
    let limits = &page.view.row.limits;
    let limit = |limit: Option<u64>, words: &dyn Fn(u64) -> String| limit.map_or("none".to_string(), words);
    Ok(html! {
        section.panel aria-labelledby="beside-heading" {
            h2 id="beside-heading" { "This run" }
            div.scroll tabindex="0" role="region" aria-label="This run and what it may take" { table {
                thead { tr { th { "figure" } th { "so far" } th { "such runs here" } th { "limit" } th { "at most, proven" } } }
                tbody {
                    tr { td { "cost" } td.num { (words::cost(total.money(), total.unpriced, total.ended())) } td.num { (range(&forecast.money, &amount::money)) } td.num { (limit(limits.money, &amount::money)) } td {} }
                    tr { td { "dispatches" } td.num { (amount::grouped(total.dispatches)) } td.num { (range(&forecast.dispatches, &amount::grouped)) } td.num { (limit(limits.dispatches, &amount::grouped)) } td.num { (bound.map_or("unknown".to_string(), amount::grouped)) } }
                    tr { td { "work" } td.num { (amount::time(page.past.as_ref().map_or(page.view.row.used.time, |past| past.used.time))) } td.num { (range(&forecast.time, &amount::time)) } td.num { (limit(limits.time, &amount::time)) } td {} }
                }
            } }
            @if total.unpriced > 0 {
                p.unknown { (amount::counted(total.unpriced, "dispatch")) " ended without a known cost; the sum leaves it out." }
            }
        }
    })
}

/// The proven maximum of dispatches, with this number of tasks.
fn bound(program: &Program, tasks: u16, mode: &str) -> Option<u64> {
    let bound = explore::bound(program, &[("tasks", tasks), ("gaps", 0)]).ok()?;
    Some(if mode == "interactive" { bound.interactive.dispatches } else { bound.autonomous.dispatches })
}

fn table(by: &str, rows: &[CostRow], total: &CostRow) -> Markup {
    html! {
        section.panel aria-labelledby={ "by-" (by) } {
            h2 id={ "by-" (by) } { "By " (by) }
            @if rows.is_empty() { p.empty { "Nothing was spent yet." } }
            @else {
                div.scroll tabindex="0" role="region" aria-label={ "Costs by " (by) } { table {
                    thead { tr { th { (by) } th.right { "dispatches" } th.right { "work" } th.right { "tokens" } th.right { "reported" } th.right { "computed" } th.right { "cost unknown" } th { "share of the known cost" } } }
                    tbody {
                        @for row in rows {
                            tr {
                                td { (words::text(row.name.as_deref().unwrap_or("unknown"))) }
                                td.num.right { (amount::grouped(row.dispatches)) }
                                td.num.right { (amount::time(row.time)) }
                                td.num.right { (amount::sum_or_unknown(amount::grouped(row.tokens), row.unmetered, row.ended())) }
                                td.num.right { (amount::money(row.reported_money)) }
                                td.num.right { (amount::money(row.computed_money)) }
                                td.num.right { @if row.unpriced > 0 { (amount::counted(row.unpriced, "dispatch")) } }
                                td.share { (words::meter(row.money(), total.money(), &format!("{} of {}", amount::money(row.money()), amount::money(total.money())))) }
                            }
                        }
                    }
                } }
            }
        }
    }
}
