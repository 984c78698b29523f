//! The first page: the runs of all repositories, with what needs the user first.

use crate::address::{Query, part};
use crate::frame::Drawn;
use crate::problem::PageProblem;
use crate::site::{PageSite, RepositoryState};
use crate::words::{self, part_of};
use maud::{Markup, html};
use remand_engine::clock;
use remand_ledger::LedgerError;
use remand_ledger::query::{GateRow, RunRow, RunStage};
use remand_terminal::{amount, line};

/// For so long a run that failed is among those that need the user.
const RECENT: i64 = 24 * 3600 * 1000;

/// A run of one of the repositories.
struct ListedRun {
    repository: RepositoryState,
    row: RunRow,
    gates: Vec<GateRow>,
}

/// A repository whose ledger cannot be read.
struct UnreadState {
    name: String,
    error: LedgerError,
}

pub fn page(site: &PageSite, query: &Query) -> Result<Drawn, PageProblem> {
    let (runs, unread) = read(site)?;
    let total = runs.len();
    let search = query.get("q").unwrap_or_default();
    let found: Vec<ListedRun> = runs.into_iter().filter(|run| run.is_about(search)).collect();
    let (needs, others): (Vec<ListedRun>, Vec<ListedRun>) = found.into_iter().partition(ListedRun::needs_you);
    let (running, rest): (Vec<ListedRun>, Vec<ListedRun>) =
        others.into_iter().partition(|run| !run.row.stage.is_over());
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
        (list("needs", "Needs you", &needs))
        (list("running", "Running", &running))
        (list("rest", "Earlier", rest_part.rows))
        (rest_part.links)
    };
    let title = if waiting > 0 { format!("({waiting}) remand") } else { "remand".to_string() };
    Ok(Drawn { title, body: body.into_string(), ..Drawn::default() })
}

fn read(site: &PageSite) -> Result<(Vec<ListedRun>, Vec<UnreadState>), PageProblem> {
    let all = site
        .repositories()
        .map_err(|source| PageProblem::File { what: site.state.display().to_string(), source })?;
    let (mut runs, mut unread) = (Vec::new(), Vec::new());
    for repository in all {
        // One ledger that cannot be read must not hide the others.
        match read_one(&repository) {
            Ok(found) => runs.extend(found),
            Err(error) => unread.push(UnreadState { name: repository.name.clone(), error }),
        }
    }
    runs.sort_by_key(|run| std::cmp::Reverse((run.row.updated_at, run.row.run.clone())));
    Ok((runs, unread))
}

fn read_one(repository: &RepositoryState) -> Result<Vec<ListedRun>, LedgerError> {
    let reader = repository.reader()?;
    let mut gates = reader.open_gates()?;
    let rows = reader.runs()?;
    Ok(rows
        .into_iter()
        .map(|row| {
            let of_run: Vec<GateRow> = gates.extract_if(.., |gate| gate.run == row.run).collect();
            ListedRun { repository: repository.clone(), row, gates: of_run }
        })
        .collect())
}

impl ListedRun {
    fn needs_you(&self) -> bool {
        let is_recent = clock::now().0.saturating_sub(self.row.updated_at.0) < RECENT;
        match self.row.stage {
            RunStage::Waiting | RunStage::Interrupted | RunStage::Paused => true,
            RunStage::Failed | RunStage::LeftToYou => is_recent,
            RunStage::Running => !self.gates.is_empty(),
            RunStage::Committed | RunStage::Stopped => false,
        }
    }

    /// Whether every word of a search occurs in what the list shows.
    fn is_about(&self, search: &str) -> bool {
        let row = &self.row;
        let text = [
            row.request.as_str(),
            &row.run.0,
            &row.workflow,
            row.stage.name(),
            &self.repository.name,
            &row.place,
        ];
        let text = text.join(" ").to_lowercase();
        search.to_lowercase().split_whitespace().all(|word| text.contains(word))
    }

    fn address(&self) -> String {
        format!("/r/{}/{}", part(&self.repository.id), part(&self.row.run.0))
    }

    /// What the run waits for, or why it ended, in one line.
    fn why(&self) -> String {
        match (self.gates.first(), self.row.stage) {
            (Some(gate), _) => line::first(&gate.question),
            (None, RunStage::Interrupted) => {
                format!("no process drives it; `remand resume {}` continues", self.row.run)
            }
            (None, stage) if stage.is_over() => line::one(self.row.reason.as_deref().unwrap_or_default()),
            (None, _) => line::one(&self.row.place),
        }
    }
}

fn list(id: &str, heading: &str, runs: &[ListedRun]) -> Markup {
    html! {
        @if !runs.is_empty() {
            section.runs id=(id) aria-labelledby={ (id) "-heading" } {
                h2 id={ (id) "-heading" } { (heading) " " span.count { (amount::grouped(runs.len() as u64)) } }
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
                a.title href=(run.address()) { (words::title(&row.request)) }
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
