//! One dispatch, from the command to the outcome: a tree, inputs, a prompt, a process, a guard, a result.
//!
//! An agent's word counts for nothing here: an exit code is no result, and a result is what obeys its contract.

mod again;
mod expected;
mod folder;
mod guard;
mod inputs;
mod mark;
mod prompt;
mod report;
mod round;
mod seen;
mod session;
mod surroundings;
mod ticket;
mod told;
mod unseen;
mod warm_start;

use crate::clock;
use crate::confine::Level;
use crate::contract::{self, Expectation, SchemaId};
use crate::driver::{self, Driver, Ear, Heard, May, Place, Session};
use crate::git::{Aftermath, Census, Changed, Keep, Oddity, Reach, TreeId, remove};
use crate::host::{Ending, Issue};
use crate::papers::Case;
use crate::pinned::{Choice, PinnedRole};
use crate::process::{self, Ended, Exit, Stream, Watch};
use crate::rehearsal::DispatchInfo;
use crate::submission::Terms;
use crate::workshop::{Job, LaneTree, Trouble};
use folder::Folder;
use mark::Mark;
use prompt::Prompt;
use remand_kernel::change::Digest;
use remand_kernel::command::Dispatch;
use remand_kernel::event::{Limits, Usage};
use remand_kernel::ids::ArtifactId;
use remand_kernel::signal::Failure;
use remand_kernel::{Outcome, Report};
use remand_ledger::fact::{Note, NoteKind, Telemetry};
use remand_ledger::{Blob, Facts, Millis, Reader};
use round::Round;
use seen::Seen;
use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use told::Refused;
use unseen::Unseen;

pub use guard::{Permit, is_test};
pub use inputs::{content, document, parsed, task_files as tasks_as_files};
pub use mark::begun;
pub use session::forget_sessions;
pub use surroundings::AGENT;
pub use warm_start::LEFT;

/// The artifact that holds tasks, and the list that it brings.
const TASKS: &str = "tasks";

/// Everything known of a dispatch before its agent starts.
struct Brief<'b> {
    job: &'b Job,
    dispatch: &'b Dispatch,
    role: &'b PinnedRole,
    title: String,
    /// The how-manieth time that the phase does this work.
    round: u32,
    expected: Expectation,
    permit: Permit,
    lane: LaneTree,
    /// What was in the tree besides its state.
    before: Census,
    folder: Folder,
    prompt: String,
    /// What an agent is told that does not remember.
    whole_prompt: String,
    choice: &'b Choice,
    driver: &'b dyn Driver,
    /// The agent's home.
    home: PathBuf,
    /// A session that is taken up again.
    session: Option<Session>,
    /// The file that tells of it.
    taken_up: Option<PathBuf>,
    started: Millis,
}

/// Carries a dispatch out.
pub fn carry_out(job: &Job, dispatch: &Dispatch) -> Result<Ending, Trouble> {
    let reader = job.site.reader()?;
    let refused = told::before(job, &reader)?;
    if refused.as_ref().is_some_and(|refused| refused.failure == Failure::Environment.name()) {
        let asked = refused.as_ref().and_then(|refused| driver::retry_after(&refused.detail));
        job.back_off(dispatch.failures, asked)?;
    }
    let mut brief = prepare(job, dispatch, &reader, refused)?;
    let ending = perform(&mut brief, &reader);
    if ending.is_err() {
        session::forget(&brief)?;
        brief.give_back()?;
    }
    ending
}

fn perform(brief: &mut Brief<'_>, reader: &Reader) -> Result<Ending, Trouble> {
    let job = brief.job;
    let mut facts = Facts::default();
    if job.issue == Issue::Again {
        let text = format!("{} was interrupted and is dispatched again", brief.title);
        facts.notes.push(note(NoteKind::Interrupted, text));
    }
    let (ran, put_back) = {
        let _place = job.site.settings().places.take(&job.cancel).ok_or_else(Trouble::cancelled)?;
        if let Some(trouble) = out_of_time(job) {
            return Err(trouble);
        }
        let unseen = Unseen::take_away(brief)?;
        let ran = run_or_begin_anew(brief, reader, &mut facts);
        (ran, unseen.put_back(&brief.title))
    };
    let (ended, ear) = ran?;
    // From here on trouble is told with the rest: what the agent did and used stays on record.
    let mut heard = brief.driver.hear(&brief.place(), &ended, &ear);
    heard.reckon(&job.site.pinned.prices);
    let usage = Usage { time: u64::try_from(ended.duration.as_millis()).unwrap_or(u64::MAX), ..heard.usage };
    let mut blobs = Vec::new();
    let seen = put_back.and_then(|notes| {
        facts.notes.extend(notes);
        let mut seen = brief.inspect(&ended)?;
        facts.notes.append(&mut seen.notes);
        blobs.append(&mut seen.blobs);
        Ok(seen)
    });
    brief.keep_words(&ended, &heard, seen.as_ref().ok().map(|seen| &seen.after), &mut facts, &mut blobs);
    let result = match &seen {
        Ok(seen) => match seen::failure(brief, &ended, &heard, seen) {
            Some(trouble) => Err(trouble),
            None => report::read(brief, &heard, &seen.after, &mut facts, &mut blobs),
        },
        Err(trouble) => Err(trouble.clone()),
    };
    let outcome = match brief.leave(result, seen.as_ref().ok(), &mut facts) {
        Ok(report) => Outcome::Said(Box::new(report)),
        Err(Trouble { failure, detail }) => {
            // What it wrote and judged is of no result, so nobody may read it as one.
            facts.artifacts.clear();
            facts.checks.clear();
            if let Some(telemetry) = &mut facts.telemetry {
                telemetry.status = "ERROR".to_string();
                telemetry.summary.clone_from(&detail);
            }
            let before = reader.environment_failures_in_a_row(brief.driver.name(), &job.site.run, job.id);
            let in_a_row = before.map_or(job.id.attempt, |before| before.saturating_add(1));
            Outcome::Failed { failure, detail, in_a_row }
        }
    };
    Ok(Ending { outcome, usage, facts, blobs })
}

/// The run's limit on time, once it is reached: a human is asked, and nothing of it is the agent's fault (CORE-07).
fn out_of_time(job: &Job) -> Option<Trouble> {
    let is_reached = job.time_left().is_some_and(|left| left.is_zero());
    is_reached.then(|| Trouble::new(Failure::OverBudget, Limits::TIME))
}

fn note(kind: NoteKind, text: impl Into<String>) -> Note {
    Note { kind, text: text.into(), files: Vec::new(), blob: None }
}

fn prepare<'b>(
    job: &'b Job,
    dispatch: &'b Dispatch,
    reader: &Reader,
    refused: Option<Refused>,
) -> Result<Brief<'b>, Trouble> {
    let contract = job.program.contract(dispatch.contract);
    let title = contract.title();
    let role = job
        .site
        .pinned
        .roles
        .get(&title)
        .ok_or_else(|| Trouble::denied(format!("the run is pinned to no role `{title}`")))?;
    let choice = role.choice(dispatch.item.as_deref());
    let driver = job.site.driver(&choice.agent)?;
    let case = Case::of(&job.site)?;
    let in_round = Round::of(job, dispatch, role, reader)?;
    let mut expected = expected::expectation(job, dispatch, role, case.as_ref(), reader)?;
    expected.known.gaps = in_round.as_ref().and_then(Round::gaps);
    let files = files_of(job, dispatch, reader)?;
    let permit = Permit::new(&role.may_write, files.as_deref());
    let permit = match &case {
        Some(case) => permit.keeping(&case.shelf),
        None => permit,
    };
    let lane = lane(job, &permit)?;
    let lane = match &case {
        Some(case) if !permit.is_read_only() => warm_start::begin(job, dispatch, lane, case, reader)?,
        Some(_) | None => lane,
    };
    let before = begin(job, &permit, &lane)?;
    let folder = Folder::make(job)?;
    let resumed = session::take_up(job, dispatch, role, &lane, reader)?;
    if let Some(left) = resumed.as_ref().and_then(|resumed| resumed.left.as_ref()) {
        lane.work.restore(left)?;
    }
    let home = match &resumed {
        Some(resumed) => {
            remove(&folder.home())?;
            resumed.home.clone()
        }
        None => folder.home(),
    };
    let round = told::round(job, dispatch, reader)?;
    let mut inputs = inputs::lay_out(job, dispatch, in_round.as_ref(), &lane, reader, &folder.inputs())?;
    if let Some(case) = &case {
        inputs.extend(ticket::lay_out(job, role, case, &folder.inputs())?);
    }
    let phase = job.phase();
    let refused = refused.map(|refused| again::words(&refused, job.id.attempt, &expected, &folder.result()));
    let whole = Prompt {
        role: &role.prompt,
        workflow: &job.program.name,
        phase,
        item: dispatch.item.as_deref(),
        task: dispatch.task.as_deref(),
        round,
        folder: &folder.inputs(),
        inputs: &inputs,
        tree: role.tree.then(|| lane.work.path()),
        may_write: &permit.words(),
        says: &expected.says,
        result: &folder.result(),
        outline: &contract::outline_for(&expected),
        example: &expected.example(),
        refused: refused.as_deref(),
    };
    let whole_prompt = job.site.redact(&whole.text());
    let prompt = match (&resumed, &refused) {
        (Some(_), Some(refused)) => job.site.redact(&session::prompt(refused, &folder.result())),
        (Some(_), None) | (None, _) => whole_prompt.clone(),
    };
    std::fs::write(folder.prompt(), &prompt)?;
    let info = DispatchInfo {
        run: job.site.run.0.clone(),
        phase: phase.to_string(),
        role: title.clone(),
        task: dispatch.task.clone(),
        item: dispatch.item.clone(),
        instance: Some(expected.instance.clone()).filter(|instance| !instance.is_empty()),
        round,
        attempt: u32::from(job.id.attempt),
        result: folder.result(),
        tree: desk(role, &lane, &folder),
        folder: folder.out(),
    };
    std::fs::write(folder.about(), serde_json::to_vec_pretty(&info).unwrap_or_default())?;
    let terms = Terms::new(&expected, least(job, expected.schema));
    let mut terms = serde_json::to_value(&terms).unwrap_or_default();
    job.site.settings().redactor.redact_value(&mut terms);
    std::fs::write(Terms::path(&folder.about()), terms.to_string())?;
    Ok(Brief {
        job,
        dispatch,
        role,
        title,
        round,
        expected,
        permit,
        lane,
        before,
        prompt,
        whole_prompt,
        choice,
        driver,
        home,
        taken_up: resumed.as_ref().map(|resumed| resumed.file.clone()),
        session: resumed.map(|resumed| resumed.session),
        folder,
        started: clock::now(),
    })
}

/// The tree that the agent works in. A reader has one for itself, which nobody has written but the engine: neither what
/// an author left in ignored files nor what another reader did can reach it.
fn lane(job: &Job, permit: &Permit) -> Result<LaneTree, Trouble> {
    if permit.is_read_only() {
        LaneTree::as_it_is(job)?.apart(job, &reader_of(job))
    } else {
        LaneTree::for_work(job)
    }
}

/// Where the agent's process stands: in its tree, or among its documents when these are all that it sees.
fn desk(role: &PinnedRole, lane: &LaneTree, folder: &Folder) -> PathBuf {
    if role.tree { lane.work.path().to_path_buf() } else { folder.inputs() }
}

/// The name under which a reader's tree is lent.
fn reader_of(job: &Job) -> String {
    format!("reader {}", job.id)
}

/// Takes stock of the tree before the agent comes. Build output stays with the lane that made it.
fn begin(job: &Job, permit: &Permit, lane: &LaneTree) -> Result<Census, Trouble> {
    let _main = job.site.hold_main();
    let keep = if permit.is_read_only() { Keep::Nothing } else { Keep::BuildOutput };
    Ok(lane.work.begin(keep, reach(job))?)
}

/// Where the sandbox does not keep agents from the repository, the guard watches it too.
fn reach(job: &Job) -> Reach {
    match job.site.settings().enforcement.files {
        Level::Full => Reach::Tree,
        Level::Partial | Level::None | Level::Unasked => Reach::Repository,
    }
}

/// The files of the task that a dispatch works on: its own in a sub-flow, and on the main line the first of the tasks
/// that it reads, as they are written there.
fn files_of(job: &Job, dispatch: &Dispatch, reader: &Reader) -> Result<Option<Vec<String>>, Trouble> {
    if let Some(task) = &dispatch.task {
        let item = job.state.lists.iter().flatten().find(|item| item.id == *task);
        return Ok(Some(item.map(|item| item.files.clone()).unwrap_or_default()));
    }
    let is_tasks = |(id, _): &&(ArtifactId, Digest)| job.program.artifacts[id.index()] == TASKS;
    let Some((_, digest)) = dispatch.reads.iter().find(is_tasks) else { return Ok(None) };
    let Some(row) = reader.artifact_with(&job.site.run, TASKS, *digest)? else { return Ok(None) };
    let tasks = document(&content(reader, row.blob)?).unwrap_or_default();
    let files = tasks.pointer("/payload/tasks/0/files").and_then(Value::as_array);
    let path = |file: &Value| file.get("path").and_then(Value::as_str).map(str::to_string);
    Ok(files.map(|files| files.iter().filter_map(path).collect()))
}

/// Runs the agent; one that could not take up the session that it was to go on with begins anew.
fn run_or_begin_anew(
    brief: &mut Brief<'_>,
    reader: &Reader,
    facts: &mut Facts,
) -> Result<(Ended, Ear), Trouble> {
    let (ended, ear) = run(brief, reader)?;
    let is_other = brief.session.take_if(|session| ear.session().as_ref() != Some(&session.id)).is_some();
    let did_nothing = matches!(ended.exit, Exit::Code(_)) && !ear.ended && ear.output().is_none();
    if !is_other || !did_nothing {
        return Ok((ended, ear));
    }
    let text = format!("{} could not take up its session again and began a new one", brief.title);
    facts.notes.push(note(NoteKind::Warning, text));
    brief.prompt.clone_from(&brief.whole_prompt);
    std::fs::write(brief.folder.prompt(), &brief.prompt)?;
    run(brief, reader)
}

/// Starts the agent in its sandbox and waits for its end.
fn run(brief: &Brief<'_>, reader: &Reader) -> Result<(Ended, Ear), Trouble> {
    let process = surroundings::process(brief)?;
    let ear = Arc::new(Mutex::new(Ear::new(&brief.driver.rules())));
    let listening = Arc::clone(&ear);
    let mark = Mutex::new(Mark::leave(brief.job, &brief.folder, reader)?);
    let watch: Watch = Arc::new(move |stream, line: &[u8]| {
        mark.lock().unwrap_or_else(PoisonError::into_inner).touch();
        let mut ear = listening.lock().unwrap_or_else(PoisonError::into_inner);
        match stream {
            Stream::Stdout => ear.line(line),
            Stream::Stderr => ear.aside(line),
        }
    });
    let ended = process::run_watched(&process, &brief.job.cancel, watch)
        .map_err(|error| Trouble::environment(error.to_string()))?;
    let ear = ear.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok((ended, ear))
}

/// Characters that a result has at least.
fn least(job: &Job, schema: SchemaId) -> usize {
    match schema {
        SchemaId::GapProposals | SchemaId::GapReview | SchemaId::GapInventory => job.site.pinned.rounds.least,
        _ => 0,
    }
}

impl Brief<'_> {
    fn place(&self) -> Place {
        let settings = self.job.site.settings();
        Place {
            tree: desk(self.role, &self.lane, &self.folder),
            folder: self.folder.root().to_path_buf(),
            out: self.folder.out(),
            result: self.folder.result(),
            prompt: self.prompt.clone(),
            about: self.folder.about(),
            home: self.home.clone(),
            user_home: PathBuf::from(&settings.user_home),
            path: settings.environment.get(OsStr::new("PATH")).cloned().unwrap_or_default(),
            remand: settings.program.clone(),
            may: May {
                write: !self.permit.is_read_only(),
                shell: self.role.shell,
                network: self.role.network,
            },
            is_confined: settings.enforcement.files == Level::Full,
            model: self.choice.model.clone(),
            session: self.session.clone(),
        }
    }

    /// Compares the tree with what the role may touch. Whatever it had no right to is recorded with its diff.
    fn inspect(&self, ended: &Ended) -> Result<Seen, Trouble> {
        let _main = self.job.site.hold_main();
        let work = &self.lane.work;
        let Aftermath { tree: after, changes, oddities } =
            work.aftermath(&self.before, &self.lane.tree, reach(self.job))?;
        let texts = |path: &Path| {
            let read = |tree: &TreeId| String::from_utf8(work.read(tree, path).ok()??).ok();
            read(&self.lane.tree).zip(read(&after))
        };
        let violations: Vec<Changed> =
            self.permit.violations(&changes, &texts).into_iter().cloned().collect();
        let (forbidden, noted): (Vec<Oddity>, Vec<Oddity>) =
            oddities.iter().cloned().partition(|oddity| self.permit.forbids(oddity));
        let (notes, blobs) = (Vec::new(), Vec::new());
        let mut seen = Seen { after, violations, oddities, forbidden, notes, blobs };
        if seen.is_violation() {
            let mut diff = work.patch(&self.lane.tree, &seen.after)?;
            diff.extend(seen.forbidden.iter().flat_map(Oddity::diff));
            let diff = self.job.site.blob_of_bytes(&diff);
            let (text, files) = (seen.text(self), seen.files());
            seen.notes.push(Note { kind: NoteKind::Violation, text, files, blob: Some(diff.id) });
            seen.blobs.push(diff);
        }
        if !noted.is_empty() {
            let left: Vec<String> = noted.iter().take(5).map(Oddity::to_string).collect();
            let more = if noted.len() > left.len() { ", and more" } else { "" };
            let text = format!("{} left {}{more}; it was undone", self.title, left.join(", "));
            let files = noted.iter().map(|odd| odd.path.display().to_string()).collect();
            seen.notes.push(Note { files, ..note(NoteKind::Warning, text) });
        }
        seen.notes.extend(surroundings::notes(self, ended));
        if ended.strays > 0 {
            let left = match ended.strays {
                1 => "a process behind; it was".to_string(),
                strays => format!("{strays} processes behind; they were"),
            };
            let text = format!("{} left {left} killed", self.title);
            seen.notes.push(note(NoteKind::Warning, text));
        }
        Ok(seen)
    }

    /// Puts everything in order behind the agent, as far as it goes. What cannot be done is why there is no result; where
    /// there is none anyway, it is noted.
    fn leave(
        &self,
        result: Result<Report, Trouble>,
        seen: Option<&Seen>,
        facts: &mut Facts,
    ) -> Result<Report, Trouble> {
        let mut despite = |result: Result<Report, Trouble>, then: Result<(), Trouble>| match (result, then) {
            (Ok(report), then) => then.map(|()| report),
            (Err(trouble), Ok(())) => Err(trouble),
            (Err(trouble), Err(later)) => {
                let text = format!("after {} ended: {}", self.title, later.detail);
                facts.notes.push(note(NoteKind::Warning, text));
                Err(trouble)
            }
        };
        let result = despite(result, self.folder.clear().map_err(Trouble::from));
        let oddities = seen.map(|seen| seen.oddities.as_slice()).unwrap_or_default();
        let result = despite(result, self.lane.work.tidy(&self.before, oddities).map_err(Trouble::from));
        let kept = session::keep_or_forget(self, result.as_ref().err().map(|trouble| trouble.failure));
        let result = despite(result, kept.or_else(|trouble| session::forget(self).and(Err(trouble))));
        let undone = if result.is_err() { self.undo() } else { Ok(()) };
        let result = despite(result, undone);
        despite(result, self.give_back())
    }

    /// A reader's tree is free for others.
    fn give_back(&self) -> Result<(), Trouble> {
        if self.permit.is_read_only() {
            self.job.trees.give_back(&reader_of(self.job))?;
        }
        Ok(())
    }

    /// Puts the tree back exactly as it was before the dispatch.
    fn undo(&self) -> Result<(), Trouble> {
        let _main = self.job.site.hold_main();
        self.lane.work.restore(&self.lane.tree)?;
        Ok(())
    }

    /// Keeps prompt, answer and telemetry, secrets taken out.
    fn keep_words(
        &self,
        ended: &Ended,
        heard: &Heard,
        after: Option<&TreeId>,
        facts: &mut Facts,
        blobs: &mut Vec<Blob>,
    ) {
        let prompt = self.job.site.blob(&self.prompt);
        let said = format!("{}\n--- standard error ---\n{}", ended.stdout.text(), ended.stderr.text());
        let output = self.job.site.blob(&said);
        let kind = match heard.failure {
            Some((Failure::Violation, _)) => NoteKind::Violation,
            Some(_) | None => NoteKind::Warning,
        };
        for denied in &heard.denied {
            facts
                .notes
                .push(note(kind, self.job.site.redact(&format!("{} was denied: {denied}", self.title))));
        }
        facts.telemetry = Some(Telemetry {
            started_at: self.started,
            ended_at: clock::now(),
            driver: self.driver.name().to_string(),
            model: heard.model.clone(),
            session: heard.session.clone(),
            status: "DONE".to_string(),
            summary: String::new(),
            prompt: Some(prompt.id),
            output: Some(output.id),
            result: None,
            answer: None,
            before: Some(self.lane.tree.to_string()),
            after: after.map(TreeId::to_string),
            exit_code: match ended.exit {
                Exit::Code(code) => Some(code),
                Exit::Lingered => Some(0),
                Exit::Signal(signal) => Some(-signal),
                Exit::TimedOut | Exit::Silent | Exit::Cancelled => None,
            },
            tokens: heard.tokens,
            price: heard.price.clone(),
        });
        blobs.extend([prompt, output]);
    }
}
