//! The workshop: carries commands out in the world, one thread a command, and decides nothing.

mod ending;
mod errands;
mod layout;
mod parts;
mod places;
mod sandbox;
mod site;
mod tree;
mod under_way;

use crate::git::RunTrees;
use crate::host::{Begun, Effects, Ending, Issue, Order, Reply};
use crate::process::{Cancel, kill_marked};
use crate::{dispatch, operations, papers};
use remand_kernel::ids::CommandId;
use remand_kernel::state::Stage;
use remand_kernel::{Command, Program, State};
use remand_ledger::RunId;
use remand_ledger::fact::{Note, NoteKind};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

pub use ending::{Trouble, engine_failed};
use errands::Errands;
pub use layout::{is_laid_out, not_brought, not_laid_out};
pub use places::Places;
pub use sandbox::{sandbox, secret_settings};
pub use site::{Settings, Site};
pub use tree::{LaneContent, LaneTree, TREES};
use under_way::UnderWay;

/// The longest that a command waits after failures of the environment.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The longest that a service's own wish to wait is followed.
const LONGEST_ASKED: Duration = Duration::from_secs(15 * 60);

/// The effects of the embedded host.
#[derive(Debug)]
pub struct Workshop {
    settings: Arc<Settings>,
    sites: BTreeMap<RunId, Door>,
    under_way: UnderWay,
    errands: Errands,
    /// Ends what errands have git start.
    stop: Cancel,
}

/// Leads to the site of a run. Whoever comes first opens it, which takes as long as a checkout does.
#[derive(Clone, Debug)]
struct Door {
    settings: Arc<Settings>,
    run: RunId,
    stop: Cancel,
    site: Arc<Mutex<Option<Arc<Site>>>>,
}

impl Door {
    fn open(&self) -> Result<Arc<Site>, Trouble> {
        let mut open = lock(&self.site);
        if let Some(site) = &*open {
            return Ok(Arc::clone(site));
        }
        let site = Arc::new(Site::open(&self.settings, &self.run, &self.stop)?);
        *open = Some(Arc::clone(&site));
        Ok(site)
    }

    /// The site, if it is open.
    fn site(&self) -> Option<Arc<Site>> {
        lock(&self.site).clone()
    }
}

/// One command to be carried out, with everything it may look at.
#[derive(Clone, Debug)]
pub struct Job {
    pub site: Arc<Site>,
    /// The trees of the run, for this command.
    pub trees: RunTrees,
    pub program: Arc<Program>,
    /// As it was when the command was given.
    pub state: Arc<State>,
    pub id: CommandId,
    pub issue: Issue,
    pub given: Instant,
    pub cancel: Cancel,
}

impl Job {
    /// The name of the phase that the command belongs to.
    pub fn phase(&self) -> &str {
        &self.program.phase(self.id.phase).name
    }

    /// Waits after failures of the environment, longer each time and no less than a service asked for, within reason; a
    /// cancel ends it.
    pub fn back_off(&self, failures: u16, asked: Option<Duration>) -> Result<(), Trouble> {
        let seconds = 1_u64 << failures.min(6).saturating_sub(1);
        let wait = Duration::from_secs(seconds).min(LONGEST_WAIT);
        let wait = wait.max(asked.unwrap_or_default().min(LONGEST_ASKED));
        let wait = self.time_left().map_or(wait, |left| left.min(wait));
        if self.cancel.wait(wait) { Err(Trouble::cancelled()) } else { Ok(()) }
    }

    /// What is left of the run's limit on time, all of whose moments since the command was given are on the run's account.
    pub fn time_left(&self) -> Option<Duration> {
        let left = self.state.time_left().map(Duration::from_millis);
        left.map(|left| left.saturating_sub(self.given.elapsed()))
    }

    /// The marker by which every process of this command is known.
    pub fn marker(&self) -> String {
        marker(&self.site.run, self.id)
    }
}

impl Workshop {
    pub fn new(settings: Settings) -> Workshop {
        Workshop {
            settings: Arc::new(settings),
            sites: BTreeMap::new(),
            under_way: UnderWay::default(),
            errands: Errands::default(),
            stop: Cancel::new(),
        }
    }

    /// Has an errand of a run done, after those that were given before it. Nothing is waited for here: the host has other
    /// runs to drive.
    fn send(&mut self, run: &RunId, errand: impl FnOnce() + Send + 'static) {
        let turn = self.errands.give(run);
        std::thread::spawn(move || {
            turn.wait();
            errand();
        });
    }

    fn door(&mut self, run: &RunId) -> Door {
        let closed = || Door {
            settings: Arc::clone(&self.settings),
            run: run.clone(),
            stop: self.stop.clone(),
            site: Arc::default(),
        };
        self.sites.entry(run.clone()).or_insert_with(closed).clone()
    }
}

impl Effects for Workshop {
    fn perform(&mut self, order: &Order<'_>, reply: Reply) {
        let Some(id) = order.command.id() else {
            return;
        };
        let (cancel, given) = (self.under_way.begin(order.run, id), Instant::now());
        let door = self.door(order.run);
        let (program, state) = (Arc::clone(order.program), Arc::new(order.state.clone()));
        let (issue, command) = (order.issue, order.command.clone());
        let (run, under_way) = (order.run.clone(), self.under_way.clone());
        let (errands, before) = (self.errands.clone(), self.errands.last(order.run));
        let ends = matches!(state.stage, Stage::Ending { .. });
        // Nothing is waited for here: the host has other runs to drive.
        std::thread::spawn(move || {
            errands.wait(&run, before);
            // What was cancelled puts its tree in order before the run's end is seen to.
            if ends {
                under_way.be_alone(&run, |other| other == id);
            }
            let ending = catch_unwind(AssertUnwindSafe(|| match door.open() {
                Ok(site) => {
                    let trees = site.trees.for_command(marker(&run, id), &cancel);
                    carry_out(&Job { site, trees, program, state, id, issue, given, cancel }, &command)
                }
                Err(trouble) => trouble.into_ending(id),
            }))
            .unwrap_or_else(|_| engine_failed("the engine stumbled over itself", id));
            under_way.end(&run, id);
            match door.site() {
                Some(site) => site.hand_over(ending, reply),
                None => reply.send(ending),
            }
        });
    }

    fn cancel(&mut self, run: &RunId, id: CommandId) {
        self.under_way.cancel(run, id);
    }

    fn stop(&mut self) {
        self.stop.cancel();
    }

    fn take_over(&mut self, run: &RunId) {
        kill_marked(&run.0);
    }

    fn begun(&self, run: &RunId, command: &str) -> Option<Begun> {
        dispatch::begun(&self.settings.home.run(run), command)
    }

    fn clear_away(&mut self, order: &Order<'_>, id: CommandId) {
        let door = self.door(order.run);
        let (program, state) = (Arc::clone(order.program), Arc::new(order.state.clone()));
        let issue = order.issue;
        self.send(order.run, move || {
            // The trees are the run's own: one that cannot be put back harms nobody.
            let Ok(site) = door.open() else { return };
            let (given, cancel) = (Instant::now(), Cancel::new());
            let trees = site.trees.clone();
            let _ = LaneTree::as_it_is(&Job { site, trees, program, state, id, issue, given, cancel });
        });
    }

    fn asked(&mut self, order: &Order<'_>) {
        let Some(id) = order.command.id() else { return };
        let door = self.door(order.run);
        self.send(order.run, move || {
            // Papers can be made again at any time: what cannot be written now is written with the next command.
            if let Ok(site) = door.open() {
                let _ = papers::bring_along(&site, &site.trees, &id.to_string());
            }
        });
    }

    fn finish(&mut self, order: &Order<'_>) {
        let door = self.door(order.run);
        self.sites.remove(order.run);
        let (run, under_way) = (order.run.clone(), self.under_way.clone());
        self.send(order.run, move || {
            // What was cancelled puts its tree in order before that.
            under_way.be_alone(&run, |_| false);
            let site = door.open();
            layout::finish(&door.settings, &run, site.as_deref().map_err(Trouble::clone));
        });
    }

    fn is_settled(&self, run: &RunId) -> bool {
        self.errands.are_done(run)
    }

    fn settle(&mut self) {
        self.errands.settle();
    }
}

fn carry_out(job: &Job, command: &Command) -> Ending {
    let papers = || papers::bring_along(&job.site, &job.trees, &job.id.to_string());
    let ended = match command {
        Command::Dispatch(dispatch) => papers().and_then(|()| dispatch::carry_out(job, dispatch)),
        Command::Operate { operation, task, .. } => {
            let operation = job.program.operation(*operation);
            // An approach is recorded in one commit with what follows from it (DR-10).
            let before = if operation.records_approach { Ok(()) } else { papers() };
            before.and_then(|()| operations::carry_out(job, &operation.name, task.as_deref()))
        }
        Command::Ask(_)
        | Command::Cancel { .. }
        | Command::Discard { .. }
        | Command::Restore { .. }
        | Command::Finish { .. } => Err(Trouble::denied("this command has no outcome")),
    };
    crate::host::faults::reached(crate::host::faults::Point::AfterEffect);
    let mut ending = ended.unwrap_or_else(|trouble| trouble.into_ending(job.id));
    let remark = |text: String| Note { kind: NoteKind::Degradation, text, files: Vec::new(), blob: None };
    let remarks = job.site.trees.remarks().into_iter().chain(job.trees.remarks());
    ending.facts.notes.extend(remarks.map(remark));
    ending
}

fn marker(run: &RunId, id: CommandId) -> String {
    format!("{run}/{id}")
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
