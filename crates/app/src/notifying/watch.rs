//! Watches the runs of this process, and puts what the user wants to know into their outboxes.

use super::outbox::Outbox;
use super::start_delivery;
use crate::host::redactor;
use crate::workplace::Workplace;
use remand_engine::clock;
use remand_engine::config::NotifySettings;
use remand_engine::host::{CommittedStep, DriveWatch, ResumedRun};
use remand_engine::redact::Redactor;
use remand_engine::store::{EmbeddedStore, Store};
use remand_ledger::view::{OpenKind, RunView};
use remand_ledger::{LedgerError, Reader, RunId};
use remand_notices::{
    NoticeContext, NoticeKind, RunNotice, SilentAgent, TerminalSequence, due, terminal_seq,
};
use remand_terminal::CommandFailure;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// The minimum time between two looks at a run.
const LOOK: Duration = Duration::from_secs(1);

/// The minimum time between two exports of traces while a run goes on.
const EXPORT: Duration = Duration::from_secs(10);

/// A view of the drive, with somebody who tells the user what happens.
pub struct NotifyingWatch<'w> {
    view: Box<dyn DriveWatch>,
    notifier: Option<Notifier<'w>>,
}

impl<'w> NotifyingWatch<'w> {
    pub fn new(
        view: Box<dyn DriveWatch>,
        workplace: &'w Workplace,
    ) -> Result<NotifyingWatch<'w>, CommandFailure> {
        Ok(NotifyingWatch { view, notifier: Notifier::new(workplace)? })
    }

    /// Called when this process has nothing left to do for these runs.
    pub fn settled<'r>(&mut self, runs: impl Iterator<Item = &'r RunId>) {
        if let Some(notifier) = &mut self.notifier {
            notifier.changed.extend(runs.cloned());
            notifier.look();
            notifier.export(Duration::ZERO);
        }
    }
}

impl DriveWatch for NotifyingWatch<'_> {
    fn resumed(&mut self, resumed: &ResumedRun<'_>) {
        self.view.resumed(resumed);
        if let Some(notifier) = &mut self.notifier {
            notifier.changed.insert(resumed.run.clone());
        }
    }

    fn committed(&mut self, step: &CommittedStep<'_>) {
        self.view.committed(step);
        if let Some(notifier) = &mut self.notifier {
            notifier.changed.insert(step.run.clone());
        }
    }

    fn waiting(&mut self) {
        self.view.waiting();
        if let Some(notifier) = &mut self.notifier
            && notifier.looked.elapsed() >= LOOK
        {
            notifier.look();
            notifier.export(EXPORT);
        }
    }

    fn should_stop(&self) -> bool {
        self.view.should_stop()
    }
}

struct Notifier<'w> {
    workplace: &'w Workplace,
    settings: &'w NotifySettings,
    kinds: Vec<NoticeKind>,
    reader: Reader,
    /// For the signs of life of agents.
    store: EmbeddedStore,
    redactor: Redactor,
    /// Runs with events since the last look.
    changed: BTreeSet<RunId>,
    /// The agents at work, as of the last look.
    agents: BTreeMap<RunId, Vec<SilentAgent>>,
    /// Runs with events since the last export.
    unexported: BTreeSet<RunId>,
    /// Runs whose outbox this process has seen.
    seen: BTreeSet<RunId>,
    looked: Instant,
    exported: Instant,
}

impl<'w> Notifier<'w> {
    /// `None` if nothing is to be told or sent.
    fn new(workplace: &'w Workplace) -> Result<Option<Notifier<'w>>, CommandFailure> {
        let settings = &workplace.config.notify;
        let has_terminal = TerminalSequence::by_name(&settings.terminal).is_some();
        if !settings.has_channel() && !has_terminal && workplace.config.telemetry.endpoint.is_none() {
            return Ok(None);
        }
        let all = [NoticeKind::Gate, NoticeKind::Limit, NoticeKind::Over, NoticeKind::Silent];
        let is_wanted = |kind: &NoticeKind| settings.on.iter().any(|name| name == kind.name());
        let kinds = match settings.has_channel() || has_terminal {
            true => all.into_iter().filter(is_wanted).collect(),
            false => Vec::new(),
        };
        Ok(Some(Notifier {
            workplace,
            settings,
            kinds,
            reader: workplace.reader()?,
            store: workplace.store()?,
            redactor: redactor(&workplace.config)?,
            changed: BTreeSet::new(),
            agents: BTreeMap::new(),
            unexported: BTreeSet::new(),
            seen: BTreeSet::new(),
            looked: Instant::now(),
            exported: Instant::now(),
        }))
    }

    /// Tells what is new about the runs that changed. A failure must not harm them.
    fn look(&mut self) {
        self.looked = Instant::now();
        let silent = self.silent();
        let mut runs = std::mem::take(&mut self.changed);
        self.unexported.extend(runs.iter().cloned());
        runs.extend(silent.keys().cloned());
        for run in runs {
            if self.kinds.is_empty() {
                continue;
            }
            if let Err(error) = self.look_at(&run, silent.get(&run).cloned().unwrap_or_default()) {
                tracing::warn!(%run, %error, "the user is not told");
            }
        }
    }

    fn look_at(&mut self, run: &RunId, silent: Vec<SilentAgent>) -> Result<(), LedgerError> {
        let view = self.reader.run_view(run)?;
        let is_over = view.row.stage.is_over();
        let finished = if is_over { terminal_seq(&self.reader.changes_since(run, 0)?) } else { None };
        self.agents.insert(run.clone(), agents_at_work(&view));
        let root = self.workplace.repository.root();
        let context = NoticeContext {
            kinds: self.kinds.clone(),
            repository: root.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
            texts: self.settings.texts,
            now: clock::now(),
            finished,
            silent,
        };
        let outbox = Outbox::of(&self.workplace.home.run(run));
        let mut is_new = false;
        for notice in due(&view, &context) {
            let notice = self.without_secrets(notice);
            match outbox.put(&notice) {
                Ok(true) => {
                    is_new = true;
                    self.show(&notice);
                }
                Ok(false) => {}
                Err(error) => tracing::warn!(%run, %error, "a notice cannot be stored"),
            }
        }
        // A process that was killed may have left notices.
        let is_first = self.seen.insert(run.clone());
        if self.settings.has_channel() && (is_new || (is_first && !outbox.all().is_empty())) {
            start_delivery(self.workplace, run);
        }
        Ok(())
    }

    /// The agents that have been silent for too long, by run.
    fn silent(&self) -> BTreeMap<RunId, Vec<SilentAgent>> {
        let mut silent: BTreeMap<RunId, Vec<SilentAgent>> = BTreeMap::new();
        if !self.kinds.contains(&NoticeKind::Silent) {
            return silent;
        }
        let now = clock::now().0;
        for (run, agents) in &self.agents {
            for agent in agents {
                let Some((start, seen)) = self.store.last_start(run, &agent.dispatch) else { continue };
                let silent_ms = u64::try_from(now - seen.0).unwrap_or(0);
                if u128::from(silent_ms) >= self.settings.silent_after.as_millis() {
                    let agent = SilentAgent { number: start.number, silent_ms, ..agent.clone() };
                    silent.entry(run.clone()).or_default().push(agent);
                }
            }
        }
        silent
    }

    fn without_secrets(&self, mut notice: RunNotice) -> RunNotice {
        if let Some(texts) = &mut notice.texts {
            let clean = |text: &mut String| *text = self.redactor.redact(text).into_owned();
            clean(&mut texts.request);
            texts.question.iter_mut().chain(texts.reason.iter_mut()).for_each(clean);
        }
        notice
    }

    /// Makes the terminal of this process show a notice.
    fn show(&self, notice: &RunNotice) {
        let Some(sequence) = TerminalSequence::by_name(&self.settings.terminal) else { return };
        let mut terminal = std::io::stderr();
        if terminal.is_terminal() {
            let _ = terminal.write_all(sequence.of(&notice.title).as_bytes());
        }
    }

    /// Has traces sent, if the last export is old enough.
    fn export(&mut self, pause: Duration) {
        if self.workplace.config.telemetry.endpoint.is_none() || self.exported.elapsed() < pause {
            return;
        }
        self.exported = Instant::now();
        for run in std::mem::take(&mut self.unexported) {
            start_delivery(self.workplace, &run);
        }
    }
}

fn agents_at_work(view: &RunView) -> Vec<SilentAgent> {
    let dispatches = view.open.iter().filter(|open| open.kind == OpenKind::Dispatch);
    dispatches
        .map(|open| SilentAgent {
            dispatch: open.command.clone(),
            number: 0,
            phase: open.phase.clone(),
            role: open.name.clone(),
            silent_ms: 0,
        })
        .collect()
}
