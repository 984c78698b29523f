//! The first page: the runs of all repositories, with what needs the user first.

use crate::address::{Query, part};
use crate::frame::Drawn;
use crate::problem::PageProblem;
use crate::words::{self, part_of};
use maud::{Markup, html};
use remand_terminal::amount;
use remand_views::{ListedRun, RunGroup, RunList, RunSite};

pub fn page(site: &RunSite, query: &Query) -> Result<Drawn, PageProblem> {
    let RunList { mut runs, unread } = RunList::read(site)?;
    let total = runs.len();
    let search = query.get("q").unwrap_or_default();
    runs.retain(|run| run.is_about(search));
    let mut of_group = |group| runs.extract_if(.., |run| run.group() == group).collect::<Vec<ListedRun>>();
    let needs = of_group(RunGroup::NeedsYou);
    let running = of_group(RunGroup::Running);
    let rest = of_group(RunGroup::Earlier);
    let waiting = needs.len();
    let rest_part = part_of(&rest, query.number("from").unwrap_or(0), |from| {
        format!("/{}", query.with("from", &from.to_string()))
    });
    let body = html! {
        section.head {
            h1 { "Runs" }
            form.search role="search" method="get" action="/" data-live-form="" {
                label.hidden for="q" { "Search all runs" }
                input id="q" name="q" type="search" value=(search) placeholder="Search: words, repository, workflow, outcome"
                    autocomplete="off";
            }
        }
        @for state in &unread {
            section.notice.bad { p { b { (state.name) } ": " (state.error) } p { (state.error.hint()) } }
        }
        @if total == 0 && unread.is_empty() {
            section.notice {
                p { "No runs yet. Start one with " code { "remand run \"what you want\"" } " or watch " code { "remand demo" } "." }
            }
        } @else if needs.is_empty() && running.is_empty() && rest.is_empty() {
            section.notice { p { "No run matches this search." } }
        }
        (list("needs", RunGroup::NeedsYou, &needs))
        (list("running", RunGroup::Running, &running))
        (list("rest", RunGroup::Earlier, rest_part.rows))
        (rest_part.links)
    };
    let title = if waiting > 0 { format!("({waiting}) remand") } else { "remand".to_string() };
    Ok(Drawn { title, body: body.into_string(), ..Drawn::default() })
}

fn address(run: &ListedRun) -> String {
    format!("/r/{}/{}", part(&run.repository.id), part(&run.row.run.0))
}

fn list(id: &str, group: RunGroup, runs: &[ListedRun]) -> Markup {
    html! {
        @if !runs.is_empty() {
            section.runs id=(id) aria-labelledby={ (id) "-heading" } {
                h2 id={ (id) "-heading" } { (group.heading()) " " span.count { (amount::grouped(runs.len() as u64)) } }
                ul.rows {
                    @for run in runs.iter().take(words::ROWS) { (row(run)) }
                }
                @if runs.len() > words::ROWS { p.empty { "and " (amount::grouped((runs.len() - words::ROWS) as u64)) " more; the search finds them" } }
            }
        }
    }
}

fn row(run: &ListedRun) -> Markup {
    let ListedRun { repository, row, .. } = run;
    let why = run.why();
    html! {
        li.run id={ "run-" (row.run) } {
            div.what {
                a.title href=(address(run)) { (run.title()) }
                p.where { span.repository { (repository.name) } " · " (words::text(&row.workflow)) " · " code { (row.run) } }
                @if !why.is_empty() { p.why { (why) } }
            }
            div.marks { (words::stage(row.stage)) span.confidence { (row.confidence_level().name()) " confidence" } }
            dl.figures {
                div { dt { "cost" } dd.num { (words::cost(row.used.money, row.used.unpriced, row.used.dispatches)) } }
                div { dt { "work" } dd.num { (amount::time(row.used.time)) } }
                div { dt { "last event" } dd { (words::when(row.updated_at)) } }
            }
        }
    }
}
