//! Judges a given change: a run of the workflow `vet`, driven until it has a verdict.

use crate::base_settings::{BaseSettings, Scratch};
use crate::beginning::{self, SubjectArg};
use crate::context::CommandContext;
use crate::environment;
use crate::given::{self, ChangeArg, Declared};
use crate::host;
use crate::notifying::watch::NotifyingWatch;
use crate::progress;
use crate::proof::UnprovenWork;
use crate::workplace::{self, Workplace};
use remand_engine::clock;
use remand_engine::config::Flag;
use remand_engine::host::DriveEnd;
use remand_engine::judgement;
use remand_engine::site::Trouble;
use remand_kernel::Event;
use remand_ledger::RunId;
use remand_reports::ChangeReport;
use remand_terminal::output::tell;
use remand_terminal::{CommandFailure, Stop, invocation};

/// A change to judge.
pub struct Vetting {
    pub change: ChangeArg,
    pub declared: Declared,
    /// The settings that the command line changes.
    pub flags: Vec<Flag>,
}

/// The end of a vetting.
pub enum Vetted {
    Judged {
        workplace: Box<Workplace>,
        report: Box<ChangeReport>,
    },
    /// A signal stopped this process; the run can be resumed.
    Interrupted,
}

impl Vetting {
    /// Runs the checks of the base on the change. Progress goes to standard error.
    pub fn judge(&self, context: &CommandContext<'_>) -> Result<Vetted, CommandFailure> {
        let repository = workplace::repository(context)?;
        let scratch = Scratch::new()?;
        let here = workplace::here(context);
        let based = given::resolve(&repository, &self.change, &self.declared, &here, scratch.path())?;
        let flags = [self.flags.as_slice(), &[flag("--autonomous", "mode", "autonomous")]].concat();
        let settings = BaseSettings::of(&repository, &based.base, &scratch, flags)?;
        let base_context = settings.context(context);
        let workplace = Workplace::with_config(context, repository, settings.config.clone())?;
        let subject = SubjectArg::Change(Box::new(based));
        let mut beginning = beginning::prepare(&base_context, &workplace, &subject, UnprovenWork::Accept)?;
        if let Some(opened) = &mut beginning.facts.opened {
            opened.by = Some(self.declared.by.clone());
        }
        let run = beginning.run.clone();
        let mut host = host::open(&workplace)?;
        host.begin(beginning)?;
        let stop = Stop::listen();
        let view = progress::view(false, &stop, host.effects().activity());
        let mut watch = NotifyingWatch::new(view, &workplace)?;
        let mut ends = host.drive(&mut watch)?;
        let reader = workplace.reader()?;
        if ends.get(&run) == Some(&DriveEnd::Left) {
            tell(&format!("stopped; to continue: {}", invocation::command(format!("resume {run}"))));
            return Ok(Vetted::Interrupted);
        }
        let report = judgement::report(&reader, &run).map_err(|trouble| failure(&run, trouble))?;
        // Nobody answers questions of a vetting: the report names what is missing.
        if ends.get(&run) == Some(&DriveEnd::Waiting) {
            host.store().request(&run, clock::now(), &Event::Cancelled { by: environment::user() })?;
            ends = host.drive(&mut watch)?;
        }
        watch.settled(ends.keys());
        drop(watch);
        Ok(Vetted::Judged { workplace: Box::new(workplace), report: Box::new(report) })
    }
}

/// A setting that an option of the command line changes.
pub fn flag(option: &str, key: &str, value: &str) -> Flag {
    Flag { name: option.to_string(), key: key.to_string(), value: value.to_string() }
}

fn failure(run: &RunId, trouble: Trouble) -> CommandFailure {
    CommandFailure::user(format!("run {run} has no judgement"), "see `remand log latest`")
        .caused_by(trouble.detail)
}
