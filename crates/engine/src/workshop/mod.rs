//! The workshop: performs orders, one thread per command, and decides nothing.

mod background;
mod layout;
mod panics;
mod running;

use crate::activity::ActivityBoard;
use crate::asked_hosts;
use crate::dispatch;
use crate::host::faults::{FaultPoint, reached};
use crate::host::{CommandReply, Effects, RunAt};
use crate::operations;
use crate::rounds;
use crate::site::{Job, LaneTree, Settings, Site, Trouble, engine_failed, marker};
use crate::ticket;
use crate::turn::{CommandEnding, CommandStart, Issuance};
use remand_kernel::ids::CommandId;
use remand_kernel::state::Stage;
use remand_kernel::{Command, Outcome};
use remand_ledger::RunId;
use remand_ledger::fact::{Note, NoteKind};
use remand_process::{Cancel, kill_marked};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tracing::{debug, error, info, info_span, warn};

use background::BackgroundTasks;
pub use layout::{is_laid_out, missing_from_folder, not_on_branch};
use running::CommandThreads;

/// Performs the orders of a host on this machine.
#[derive(Debug)]
pub struct Workshop {
    settings: Arc<Settings>,
    sites: BTreeMap<RunId, LazySite>,
    threads: CommandThreads,
    background: BackgroundTasks,
    /// Stops programs that git starts for background tasks.
    stop: Cancel,
}

/// The site of a run. The first command that needs it opens it, which takes as long as a checkout.
#[derive(Clone, Debug)]
struct LazySite {
    settings: Arc<Settings>,
    run: RunId,
    stop: Cancel,
    site: Arc<Mutex<Option<Arc<Site>>>>,
}

impl LazySite {
    fn open(&self) -> Result<Arc<Site>, Trouble> {
        let mut open = lock(&self.site);
        if let Some(site) = &*open {
            return Ok(Arc::clone(site));
        }
        let site = Arc::new(Site::open(&self.settings, &self.run, &self.stop)?);
        *open = Some(Arc::clone(&site));
        Ok(site)
    }
}

impl Workshop {
    pub fn new(settings: Settings) -> Workshop {
        Workshop {
            settings: Arc::new(settings),
            sites: BTreeMap::new(),
            threads: CommandThreads::default(),
            background: BackgroundTasks::default(),
            stop: Cancel::new(),
        }
    }

    /// What the commands of this process do at this moment.
    pub fn activity(&self) -> ActivityBoard {
        self.settings.activity.clone()
    }

    /// Runs a task in the background, after the earlier ones of its run. The host does not wait: it drives other runs.
    fn run_in_background(&mut self, run: &RunId, kind: &'static str, task: impl FnOnce() + Send + 'static) {
        let position = self.background.add(run);
        let span = info_span!("background", %run, kind);
        std::thread::spawn(move || {
            position.wait();
            let _entered = span.entered();
            debug!("task started");
            task();
            debug!("task finished");
        });
    }

    fn site(&mut self, run: &RunId) -> LazySite {
        let unopened = || LazySite {
            settings: Arc::clone(&self.settings),
            run: run.clone(),
            stop: self.stop.clone(),
            site: Arc::default(),
        };
        self.sites.entry(run.clone()).or_insert_with(unopened).clone()
    }
}

impl Effects for Workshop {
    fn start(&mut self, at: &RunAt<'_>, start: CommandStart, reply: CommandReply) {
        let (id, run) = (start.id, at.run.clone());
        let (cancel, issued_at) = (self.threads.start(&run, id), Instant::now());
        let (site, settings) = (self.site(&run), Arc::clone(&self.settings));
        let (program, state) = (Arc::clone(at.program), Arc::new(at.state.clone()));
        let threads = self.threads.clone();
        let (background, earlier_tasks) = (self.background.clone(), self.background.added(&run));
        let ends_run = matches!(state.stage, Stage::Ending { .. });
        let span = info_span!("command", %run, command = %id);
        // The host does not wait: it drives other runs.
        std::thread::spawn(move || {
            let _entered = span.entered();
            background.wait(&run, earlier_tasks);
            // Cancelled commands restore their trees before the run ends.
            if ends_run {
                threads.wait_for_others(&run, Some(id));
            }
            info!(kind = kind(&start.command), "started");
            let ended = panics::catch(|| {
                let site = site.open()?;
                let trees = site.trees.for_command(marker(&run, id), &cancel);
                let (issuance, number) = (start.issuance, start.number);
                let job = Job { site, trees, program, state, id, issuance, number, issued_at, cancel };
                // The wait ends early if the command is cancelled.
                if !start.wait.is_zero() && job.cancel.wait(start.wait) {
                    return Err(Trouble::cancelled());
                }
                Ok(perform(&job, &start.command))
            });
            let ending = match ended {
                Ok(ended) => ended.unwrap_or_else(|trouble| trouble.into_ending(id)),
                Err(panic) => {
                    error!(panic, "the engine panicked");
                    engine_failed(&format!("the engine panicked: {panic}"), id)
                }
            };
            settings.activity.clear(&run, id);
            threads.end(&run, id);
            let ending = settings.redact_ending(ending);
            info!(milliseconds = issued_at.elapsed().as_millis(), outcome = outcome(&ending), "ended");
            reply.send(ending);
        });
    }

    fn stop(&mut self, run: &RunId, id: CommandId) {
        info!(%run, command = %id, "stopping");
        self.threads.cancel(run, id);
    }

    fn stop_background(&mut self) {
        self.stop.cancel();
    }

    fn kill_leftovers(&mut self, run: &RunId) {
        kill_marked(&run.0);
    }

    fn restore(&mut self, at: &RunAt<'_>, id: CommandId) {
        let site = self.site(at.run);
        let (program, state) = (Arc::clone(at.program), Arc::new(at.state.clone()));
        self.run_in_background(at.run, "restore", move || {
            let restored = site.open().and_then(|site| {
                let (issued_at, cancel, trees) = (Instant::now(), Cancel::new(), site.trees.clone());
                let (issuance, number) = (Issuance::Again, 1);
                LaneTree::as_it_is(&Job {
                    site,
                    trees,
                    program,
                    state,
                    id,
                    issuance,
                    number,
                    issued_at,
                    cancel,
                })
            });
            // A failure does no harm: only this run uses its trees, and the next command restores its tree first.
            if let Err(trouble) = restored {
                warn!(command = %id, detail = trouble.detail, "the working tree was not restored");
            }
        });
    }

    fn prepare_question(&mut self, at: &RunAt<'_>, id: CommandId) {
        let site = self.site(at.run);
        self.run_in_background(at.run, "prepare question", move || {
            let written = site.open().and_then(|site| {
                ticket::update_branch(&site, &site.trees, &id.to_string())?;
                rounds::documents::update(&site)
            });
            // A failure does no harm: the next command writes the documents.
            if let Err(trouble) = written {
                warn!(command = %id, detail = trouble.detail, "the documents were not written");
            }
        });
    }

    fn finish(&mut self, at: &RunAt<'_>) {
        let site = self.site(at.run);
        self.sites.remove(at.run);
        let (run, threads) = (at.run.clone(), self.threads.clone());
        self.run_in_background(at.run, "finish", move || {
            // Cancelled commands restore their trees first.
            threads.wait_for_others(&run, None);
            let open = site.open();
            layout::finish(&site.settings, &run, open.as_deref().map_err(Trouble::clone));
        });
    }

    fn is_background_done(&self, run: &RunId) -> bool {
        self.background.are_finished(run)
    }

    fn finish_background(&mut self) {
        self.background.wait_for_all();
    }
}

fn perform(job: &Job, command: &Command) -> CommandEnding {
    let documents = || ticket::update_branch(&job.site, &job.trees, &job.id.to_string());
    let ended = match command {
        Command::Dispatch(dispatch) => documents().and_then(|()| dispatch::dispatch(job, dispatch)),
        Command::Operate { operation, task, .. } => {
            let operation = job.program.operation(*operation);
            // The documents wait, so they are committed together with the approach that this operation records.
            let before = if operation.records_approach { Ok(()) } else { documents() };
            before.and_then(|()| operations::operate(job, operation.name, task.as_deref()))
        }
        Command::Ask(_)
        | Command::Cancel { .. }
        | Command::Discard { .. }
        | Command::Restore { .. }
        | Command::Finish { .. } => Err(Trouble::denied("this command has no outcome")),
    };
    reached(FaultPoint::AfterEffect);
    let mut ending = ended.unwrap_or_else(|trouble| trouble.into_ending(job.id));
    let to_note = |text: String| Note::new(NoteKind::Degradation, text);
    let warnings = job.site.trees.take_warnings().into_iter().chain(job.trees.take_warnings());
    ending.facts.notes.extend(warnings.map(to_note));
    for (program, contacts) in job.trees.contacts().take() {
        let refusal = asked_hosts::refusal(&program, &contacts);
        let refusal = refusal.map(|text| Note::new(NoteKind::Warning, job.site.redact(&text)));
        ending.facts.notes.extend(refusal);
        ending.facts.hosts.insert(program, asked_hosts::stored(&contacts, &job.site));
    }
    ending
}

fn kind(command: &Command) -> &'static str {
    if matches!(command, Command::Dispatch(_)) { "dispatch" } else { "operation" }
}

/// An outcome in one word, for the log.
fn outcome(ending: &CommandEnding) -> &str {
    match &ending.outcome {
        Outcome::Said(report) => &report.says,
        Outcome::Failed { failure, .. } => failure.name(),
        Outcome::Supposed(_) => "supposed",
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
