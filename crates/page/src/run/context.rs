//! What every page of a run needs: its view, and the event up to which it is shown.

use super::tabs::TABS;
use crate::address::{Query, part};
use crate::problem::PageProblem;
use crate::words::{self, Part};
use maud::{Markup, html};
use remand_engine::pinned::Pinned;
use remand_engine::redact::Redactor;
use remand_kernel::Program;
use remand_kernel::program::Confidence;
use remand_kernel::state::FiledStatus;
use remand_ledger::query::{DispatchRow, DispatchStatus, FindingRow, GateRow, RulingRow};
use remand_ledger::view::{BudgetLeft, PastView, RunPosition};
use remand_ledger::{LimitKind, Millis, Reader, RunId, RunView};
use remand_terminal::amount;
use remand_views::{RepositoryState, RunSite};
use std::cell::OnceCell;

/// One run, with what was asked of it.
pub struct RunPage<'s> {
    pub site: &'s RunSite,
    pub repository: RepositoryState,
    pub reader: Reader,
    pub run: RunId,
    pub view: RunView,
    pub query: Query,
    /// The run as it was, if the address names an earlier event.
    pub past: Option<PastView>,
    /// Whether this is one file for an archive instead of pages.
    pub is_document: bool,
    pinned: OnceCell<Option<Pinned>>,
    rulings: OnceCell<Vec<RulingRow>>,
}

impl<'s> RunPage<'s> {
    pub fn open(
        site: &'s RunSite,
        repository: &str,
        run: &RunId,
        query: &Query,
    ) -> Result<RunPage<'s>, PageProblem> {
        let repository = site.repository(repository)?;
        let repository = repository.ok_or_else(|| PageProblem::missing("this repository has no runs"))?;
        let reader = repository.reader()?;
        RunPage::of(site, repository, reader, run, query.clone())
    }

    pub fn of(
        site: &'s RunSite,
        repository: RepositoryState,
        reader: Reader,
        run: &RunId,
        query: Query,
    ) -> Result<RunPage<'s>, PageProblem> {
        let view = reader.run_view(run)?;
        let run = view.row.run.clone();
        let at = query.number("at").filter(|at| *at > 0 && *at < view.seq);
        let past = at.map(|at| reader.past_view(&run, at)).transpose()?;
        let (pinned, rulings) = (OnceCell::new(), OnceCell::new());
        Ok(RunPage { site, repository, reader, run, view, query, past, is_document: false, pinned, rulings })
    }

    /// The last event that is shown.
    pub fn until(&self) -> u64 {
        self.past.as_ref().map_or(u64::MAX, |past| past.seq)
    }

    /// The address of a page of this run, at the same event.
    pub fn link(&self, path: &str) -> String {
        if self.is_document {
            return self.address(path);
        }
        let at = self.past.as_ref().map(|past| past.seq.to_string()).unwrap_or_default();
        format!("{}{}", self.address(path), Query::default().with("at", &at))
    }

    /// The address of a page of this run as it is now; in a document, the place of its content.
    pub fn address(&self, path: &str) -> String {
        let base = format!("/r/{}/{}", part(&self.repository.id), part(&self.run.0));
        match path.split_once('/').unwrap_or((path, "")) {
            ("", _) if self.is_document => "#main".to_string(),
            // The number of a line follows.
            ("workflow", _) if self.is_document => String::new(),
            ("evidence", number) if self.is_document && !number.is_empty() => format!("#c{number}"),
            ("gates", command) if self.is_document => format!("#gate-{command}"),
            (view, _) if self.is_document => format!("#{view}"),
            ("", _) => base,
            _ => format!("{base}/{path}"),
        }
    }

    /// The address of a page of this run as it was after an event.
    pub fn at_event(&self, path: &str, seq: u64) -> String {
        if self.is_document { "#rulings".to_string() } else { format!("{}?at={seq}", self.address(path)) }
    }

    /// The address of a page of another run of the repository.
    pub fn of_run(&self, run: &RunId, path: &str) -> String {
        if self.is_document {
            return "#main".to_string();
        }
        format!("/r/{}/{}/{path}", part(&self.repository.id), part(&run.0))
    }

    /// The part of a list that the address asks for; a document has the whole list.
    pub fn part<'r, T>(&self, path: &str, rows: &'r [T]) -> Part<'r, T> {
        if self.is_document {
            return Part { rows, links: html! {} };
        }
        let from = self.query.number("from").unwrap_or(0);
        words::part_of(rows, from, |from| {
            format!("{}{}", self.address(path), self.query.with("from", &from.to_string()))
        })
    }

    /// What removes secrets from text that the ledger does not hold.
    pub fn redactor(&self) -> Redactor {
        (self.site.redactor)(&self.repository.home)
    }

    /// What was pinned; `None` if this version cannot read it.
    pub fn pinned(&self) -> Option<&Pinned> {
        let read = || Pinned::parse(&self.reader.blob(self.view.row.pinned).ok()?);
        self.pinned.get_or_init(read).as_ref()
    }

    /// The rulings up to the event that is shown.
    pub fn rulings(&self) -> Result<&[RulingRow], PageProblem> {
        if let Some(known) = self.rulings.get() {
            return Ok(known);
        }
        let mut rows = self.reader.rulings(&self.run, 0)?;
        rows.retain(|row| row.seq <= self.until());
        Ok(self.rulings.get_or_init(|| rows))
    }

    pub fn program(&self) -> Option<&Program> {
        self.pinned().map(|pinned| &pinned.program)
    }

    pub fn position(&self) -> Option<&RunPosition> {
        match &self.past {
            Some(past) => Some(&past.detail.position),
            None => self.view.detail.as_ref().map(|detail| &detail.position),
        }
    }

    pub fn budgets(&self) -> &[BudgetLeft] {
        match &self.past {
            Some(past) => &past.detail.budgets,
            None => self.view.detail.as_ref().map_or(&[], |detail| detail.budgets.as_slice()),
        }
    }

    pub fn confidence(&self) -> Confidence {
        self.past.as_ref().map_or_else(|| self.view.confidence(), |past| past.confidence)
    }

    /// The findings that were reported by then, with their status of then.
    pub fn findings(&self) -> Vec<FindingRow> {
        let mut findings = self.view.findings.clone();
        if let Some(past) = &self.past {
            findings.retain(|finding| finding.seq <= past.seq);
            for finding in &mut findings {
                let status = past.findings.get(finding.position as usize);
                finding.status = status.copied().unwrap_or(FiledStatus::Open);
            }
        }
        findings
    }

    /// The gates that were opened by then; one that was answered later is open.
    pub fn gates(&self) -> Result<Vec<GateRow>, PageProblem> {
        let mut gates = self.reader.gates(&self.run)?;
        if let Some(past) = &self.past {
            gates.retain(|gate| gate.seq <= past.seq);
            for gate in &mut gates {
                let is_later = |at: Option<Millis>| at.is_some_and(|at| at > past.at);
                if is_later(gate.answered_at) {
                    (gate.answered_at, gate.option, gate.by, gate.note) = (None, None, None, None);
                }
                if is_later(gate.withdrawn_at) {
                    gate.withdrawn_at = None;
                }
            }
        }
        Ok(gates)
    }

    /// The dispatches that were issued by then; one that ended later is running.
    pub fn dispatches(&self) -> Result<Vec<DispatchRow>, PageProblem> {
        let mut all = self.reader.dispatches(&self.run)?;
        if let Some(past) = &self.past {
            all.retain(|row| row.seq <= past.seq);
            for row in &mut all {
                if row.completed_at.is_some_and(|at| at > past.at) {
                    row.completed_at = None;
                    row.status = DispatchStatus::Running;
                }
            }
        }
        Ok(all)
    }

    pub fn title(&self, name: &str) -> String {
        let run = words::title(&self.view.row.request);
        let waits = if self.view.gates.is_empty() { "" } else { "● " };
        if name.is_empty() {
            format!("{waits}{run} · remand")
        } else {
            format!("{waits}{name} · {run} · remand")
        }
    }

    pub fn trail(&self) -> Vec<(String, String)> {
        vec![
            (self.repository.name.clone(), format!("/?q={}", part(&self.repository.name))),
            (self.run.0.clone(), self.link("")),
        ]
    }

    /// A view below the head of the run, with the tabs and the slider.
    pub fn around(&self, tab: &str, body: &Markup) -> Markup {
        html! {
            (self.head())
            (self.replay())
            nav.tabs aria-label="Views of this run" {
                @for (path, name) in TABS {
                    a href=(self.link(path)) aria-current=[(path == tab).then_some("page")] { (name) }
                }
            }
            (body)
        }
    }

    /// What the run is about, how it stands, and what it has used.
    pub fn head(&self) -> Markup {
        let row = &self.view.row;
        html! {
            section.head.run {
                h1 { (words::title(&row.request)) }
                p.marks {
                    @if self.past.is_none() { (words::stage(row.stage)) }
                    @else { span.stage.past { "as it was" } }
                    span.confidence { (self.confidence().name()) " confidence" }
                    span { (words::text(&row.workflow)) ", " (row.mode) }
                    span { "started " (words::when(row.created_at)) @if let Some(by) = &self.view.by { " by " (words::text(by)) } }
                }
                @if let (Some(reason), None) = (&row.reason, &self.past) { p.reason { (words::text(reason)) } }
                (self.figures())
            }
        }
    }

    fn figures(&self) -> Markup {
        let row = &self.view.row;
        let used =
            self.past.as_ref().map_or((row.used.money, row.used.unpriced, row.used.dispatches), |past| {
                (past.used.money, past.used.unpriced, past.used.dispatches)
            });
        let (tokens, time) = self
            .past
            .as_ref()
            .map_or((row.used.tokens, row.used.time), |past| (past.used.tokens, past.used.time));
        let figure = |name: &str, text: String, limit: Option<(u64, u64, String)>| {
            html! {
                div {
                    dt { (name) }
                    dd.num {
                        (text)
                        @if let Some((used, of, limit)) = limit {
                            span.of { " of " (limit) }
                            (words::meter(used, of, &format!("{name}: {text} of {limit}")))
                        }
                    }
                }
            }
        };
        let allowance = |kind: LimitKind, text: &dyn Fn(u64) -> String| {
            let all = self.view.allowances();
            let found = all.iter().find(|allowance| allowance.limit == kind)?;
            let amount = found.amount.filter(|_| self.past.is_none())?;
            Some((found.used_since_grant, amount, text(amount)))
        };
        html! {
            dl.figures.of-run {
                (figure("cost", words::cost(used.0, used.1, used.2), allowance(LimitKind::Money, &amount::money)))
                (figure("work", amount::time(time), allowance(LimitKind::Time, &amount::time)))
                (figure("tokens", amount::tokens(tokens, self.view.unreported_tokens).replace(" tokens", ""), allowance(LimitKind::Tokens, &amount::grouped)))
                (figure("dispatches", amount::grouped(used.2), allowance(LimitKind::Dispatches, &amount::grouped)))
                @if !row.stage.is_over() && self.past.is_none() {
                    div { dt { "since the start" } dd { (words::since(row.created_at)) } }
                }
            }
        }
    }

    /// The slider over the events of the run.
    fn replay(&self) -> Markup {
        let last = self.view.seq;
        let at = self.past.as_ref().map_or(last, |past| past.seq);
        html! {
            form.replay .past[self.past.is_some()] method="get" data-replay="" {
                label for="at" { "Event" }
                input id="at" type="range" name="at" min="1" max=(last) value=(at);
                output for="at" { span.num { (amount::grouped(at)) } " of " span.num { (amount::grouped(last)) } }
                @if let Some(past) = &self.past {
                    span { (words::when(past.at)) }
                    a href="?" { "Show it as it is now" }
                }
                noscript { button { "Show" } }
            }
        }
    }
}
