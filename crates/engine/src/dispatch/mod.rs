//! One dispatch, from the command to the outcome: tree, inputs, prompt, process, guard, result.
//!
//! An agent's claims are not trusted: exit status 0 is not a result, and a result counts only if it obeys its contract.

mod brief;
mod earlier;
mod expected;
mod folder;
mod guard;
mod hidden_settings;
mod inspection;
mod prompt;
mod report;
mod retry;
mod session;
mod surroundings;
mod transcript;
mod warm_start;

use crate::artifacts::{self, content};
use crate::asked_hosts;
use crate::clock;
use crate::pinned::{AgentChoice, PinnedRole};
use crate::site::{Job, LaneTree, Trouble};
use crate::ticket::TicketRun;
use crate::turn::{AgentStart, CommandEnding, Issuance};
use brief::{BriefSources, RoundInputs};
use earlier::FailedAttempt;
use folder::Folder;
use hidden_settings::HiddenSettings;
use inspection::Inspection;
use prompt::{DispatchPrompt, PartPlace, PlacedPart};
use remand_agents::driver::{AgentReport, DispatchContext, Driver, Permissions, Session};
use remand_agents::output::{AgentActivity, OutputReader};
use remand_agents::rehearsal::DispatchInfo;
use remand_agents::submission::Terms;
use remand_checks::AddedPackages;
use remand_contract::{Expectation, SchemaId};
use remand_git::{Aftermath, ChangedPath, Inventory, KeepIgnored, Leftover, Reach, TreeId, remove};
use remand_kernel::change::Digest;
use remand_kernel::command::Dispatch;
use remand_kernel::event::{Limits, Usage};
use remand_kernel::ids::ArtifactId;
use remand_kernel::signal::Failure;
use remand_kernel::{Outcome, Report};
use remand_ledger::fact::{Note, NoteKind, Telemetry};
use remand_ledger::{Blob, Facts, Millis, Reader};
use remand_process::confine::EnforcementLevel;
use remand_process::{Exit, JobEnd, LineWatch, Stream};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use transcript::Transcript;

pub use brief::{BriefSection, task_files as tasks_as_files};
pub use guard::Permit;
pub use session::forget_sessions;
pub use surroundings::AGENT;
pub use transcript::transcript_path;
pub use warm_start::LEFT;

/// The name of the artifact with tasks, and of the list in it.
const TASKS: &str = "tasks";

/// The part of a prompt that belongs to no section of the brief: the role and the form of the result.
pub const INSTRUCTIONS: &str = "Instructions";

/// Everything known about a dispatch before its agent starts.
struct Prepared<'b> {
    job: &'b Job,
    dispatch: &'b Dispatch,
    role: &'b PinnedRole,
    title: String,
    /// The 1-based number of this round of the same work.
    round: u32,
    expected: Expectation,
    permit: Permit,
    lane: LaneTree,
    /// The inventory of the tree before the dispatch.
    before: Inventory,
    folder: Folder,
    prompt: String,
    /// How many bytes of the brief each section has.
    sizes: BTreeMap<String, u64>,
    /// The prompt for an agent without a resumed session.
    whole_prompt: String,
    choice: &'b AgentChoice,
    driver: &'b dyn Driver,
    /// The agent's home.
    home: PathBuf,
    /// The packages and files of the user's checkout that were added to the tree.
    packages: AddedPackages,
    /// The session to resume.
    session: Option<Session>,
    /// The file that the session was saved in.
    session_file: Option<PathBuf>,
    started: Millis,
}

/// Executes a dispatch.
pub fn dispatch(job: &Job, dispatch: &Dispatch) -> Result<CommandEnding, Trouble> {
    let reader = job.site.reader()?;
    let failed = earlier::last_failure(job, &reader)?;
    let mut prepared = prepare(job, dispatch, &reader, failed)?;
    let ending = perform(&mut prepared);
    if ending.is_err() {
        session::forget(&prepared)?;
        prepared.return_tree()?;
    }
    ending
}

fn perform(prepared: &mut Prepared<'_>) -> Result<CommandEnding, Trouble> {
    let job = prepared.job;
    let mut facts = Facts::default();
    if job.issuance == Issuance::Again {
        let text = format!("{} was interrupted and is dispatched again", prepared.title);
        facts.notes.push(note(NoteKind::Interrupted, text));
    }
    let (ran, restored) = {
        let _slot = job.site.settings().agent_slots.acquire(&job.cancel).ok_or_else(Trouble::cancelled)?;
        if let Some(trouble) = out_of_time(job) {
            return Err(trouble);
        }
        let hidden = HiddenSettings::move_away(prepared)?;
        let ran = prepared.link_packages().and_then(|()| run_with_fallback(prepared, &mut facts));
        let unlinked = prepared.unlink_packages();
        (ran, hidden.move_back(&prepared.title).and_then(|notes| unlinked.map(|()| notes)))
    };
    let (ended, output) = ran?;
    // From here on, errors become part of the outcome, so the agent's work and usage stay on record.
    let mut agent_report = prepared.driver.interpret(&prepared.context(), &ended, &output);
    agent_report.fill_in_cost(&job.site.pinned.prices);
    let usage =
        Usage { time: u64::try_from(ended.duration.as_millis()).unwrap_or(u64::MAX), ..agent_report.usage };
    let mut blobs = Vec::new();
    let inspected = restored.and_then(|notes| {
        facts.notes.extend(notes);
        let mut inspection = prepared.inspect(&ended)?;
        facts.notes.append(&mut inspection.notes);
        blobs.append(&mut inspection.blobs);
        Ok(inspection)
    });
    let after = inspected.as_ref().ok().map(|inspection| &inspection.after);
    prepared.record_telemetry(&ended, &agent_report, after, &mut facts, &mut blobs);
    let result = match &inspected {
        Ok(inspection) => match inspection::failure(prepared, &ended, &agent_report, inspection) {
            Some(trouble) => Err(trouble),
            None => report::read(prepared, &agent_report, &inspection.after, &mut facts, &mut blobs),
        },
        Err(trouble) => Err(trouble.clone()),
    };
    let outcome = match prepared.clean_up(result, inspected.as_ref().ok(), &mut facts) {
        Ok(report) => Outcome::Said(Box::new(report)),
        Err(Trouble { failure, detail }) => {
            // A failed dispatch has no result, so its artifacts and judgements do not count.
            facts.artifacts.clear();
            facts.checks.clear();
            if let Some(telemetry) = &mut facts.telemetry {
                telemetry.status = "ERROR".to_string();
                telemetry.summary.clone_from(&detail);
            }
            Outcome::Failed { failure, detail, in_a_row: 0 }
        }
    };
    Ok(CommandEnding { outcome, usage, facts, blobs })
}

/// The failure of a dispatch once the run's time limit is reached. A human is asked; the agent is not to blame.
fn out_of_time(job: &Job) -> Option<Trouble> {
    let is_reached = job.time_left().is_some_and(|left| left.is_zero());
    is_reached.then(|| Trouble::new(Failure::OverBudget, Limits::TIME))
}

fn note(kind: NoteKind, text: impl Into<String>) -> Note {
    Note::new(kind, text)
}

/// The agent of a dispatch: the agent of the phase that failed if the workflow asks for it, otherwise the role's agent.
fn agent_choice<'p>(job: &'p Job, dispatch: &Dispatch, role: &'p PinnedRole) -> &'p AgentChoice {
    let failed =
        dispatch.nearest.and_then(|failed| job.site.pinned.roles.get(&job.program.contract(failed).title()));
    failed.unwrap_or(role).choice(dispatch.item.as_deref())
}

fn prepare<'b>(
    job: &'b Job,
    dispatch: &'b Dispatch,
    reader: &Reader,
    failed: Option<FailedAttempt>,
) -> Result<Prepared<'b>, Trouble> {
    let contract = job.program.contract(dispatch.contract);
    let title = contract.title();
    let role = job
        .site
        .pinned
        .roles
        .get(&title)
        .ok_or_else(|| Trouble::denied(format!("the run has no role `{title}`")))?;
    let choice = agent_choice(job, dispatch, role);
    let driver = job.site.driver(&choice.agent)?;
    let ticket_run = TicketRun::of(&job.site)?;
    let round_inputs = RoundInputs::of(job, dispatch, role, reader)?;
    let mut expected = expected::expectation(job, dispatch, role, ticket_run.as_ref(), reader)?;
    expected.known.gaps = round_inputs.as_ref().and_then(RoundInputs::gaps);
    let files = files_of(job, dispatch, reader)?;
    let permit = Permit::new(&role.may_write, files.as_deref());
    let permit = match &ticket_run {
        Some(ticket_run) => permit.except_documents(&ticket_run.paths),
        None => permit,
    };
    let lane = lane(job, &permit)?;
    let lane = match &ticket_run {
        Some(ticket_run) if !permit.is_read_only() => {
            warm_start::begin(job, dispatch, lane, ticket_run, reader)?
        }
        Some(_) | None => lane,
    };
    let before = take_inventory(job, &permit, &lane)?;
    let folder = Folder::make(job, &lane.work)?;
    let resumed = session::resume(job, dispatch, role, &lane, reader)?;
    if let Some(tree) = resumed.as_ref().and_then(|resumed| resumed.left_tree.as_ref()) {
        lane.work.restore(tree)?;
    }
    let home = match &resumed {
        Some(resumed) => {
            remove(&folder.home())?;
            resumed.home.clone()
        }
        None => folder.home(),
    };
    let round = earlier::round_number(job, dispatch, reader)?;
    let (rounds, ticket) = (round_inputs.as_ref(), ticket_run.as_ref());
    let refused = failed.as_ref().and_then(|failed| failed.refused.as_deref());
    let sources = BriefSources { job, dispatch, role, lane: &lane, reader, rounds, ticket, refused };
    let parts = prompt::place(sources.parts()?);
    for PlacedPart { part, .. } in parts.iter().filter(|placed| placed.place == PartPlace::File) {
        std::fs::write(folder.inputs().join(&part.name), &part.text)?;
    }
    let phase = job.phase();
    let failed =
        failed.map(|failed| retry::explanation(&failed, job.id.attempt, &expected, &folder.result()));
    let whole = DispatchPrompt {
        role: &role.prompt,
        workflow: &job.program.name,
        phase,
        item: dispatch.item.as_deref(),
        task: dispatch.task.as_deref(),
        // On a gap board, rounds that were rolled back do not count.
        round: rounds.and_then(RoundInputs::round).unwrap_or(round),
        folder: &folder.inputs(),
        parts: &parts,
        tree: role.tree.then(|| lane.work.path()),
        may_write: &permit.description(),
        says: &expected.says,
        result: &folder.result(),
        outline: &remand_contract::outline_for(&expected),
        example: &expected.example(),
        failed: failed.as_deref(),
    };
    let whole_prompt = job.site.redact(&whole.text());
    let prompt = match (&resumed, &failed) {
        (Some(_), Some(failed)) => job.site.redact(&session::prompt(failed, &folder.result())),
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
        tree: working_directory(role, &lane, &folder),
        folder: folder.out(),
    };
    std::fs::write(folder.about(), serde_json::to_vec_pretty(&info).unwrap_or_default())?;
    let terms = Terms::new(&expected, minimum_length(job, expected.schema));
    let mut terms = serde_json::to_value(&terms).unwrap_or_default();
    job.site.settings().redactor.redact_value(&mut terms);
    std::fs::write(Terms::path(&folder.about()), terms.to_string())?;
    Ok(Prepared {
        job,
        dispatch,
        role,
        title,
        round,
        expected,
        permit,
        lane,
        before,
        sizes: sizes(&whole_prompt, &parts),
        prompt,
        whole_prompt,
        choice,
        driver,
        home,
        packages: AddedPackages::default(),
        session_file: resumed.as_ref().map(|resumed| resumed.file.clone()),
        session: resumed.map(|resumed| resumed.session),
        folder,
        started: clock::now(),
    })
}

/// The size of the brief by section. What is in the prompt and belongs to no section is listed as instructions.
fn sizes(prompt: &str, parts: &[PlacedPart]) -> BTreeMap<String, u64> {
    let mut sizes: BTreeMap<String, u64> = BTreeMap::new();
    let mut in_prompt = 0;
    for PlacedPart { part, place } in parts {
        *sizes.entry(part.section.title().to_string()).or_default() += part.text.len() as u64;
        in_prompt += if *place == PartPlace::Prompt { part.text.len() as u64 } else { 0 };
    }
    sizes.insert(INSTRUCTIONS.to_string(), (prompt.len() as u64).saturating_sub(in_prompt));
    sizes
}

/// The tree that the agent works in. A read-only role gets a separate tree that only the engine has written, so it sees
/// neither ignored files of an author nor changes of another read-only role.
fn lane(job: &Job, permit: &Permit) -> Result<LaneTree, Trouble> {
    if permit.is_read_only() {
        LaneTree::in_separate_tree(job, &reader_name(job))
    } else {
        LaneTree::for_work(job)
    }
}

/// The working directory of the agent's process: its tree, or its inputs if it sees only documents.
fn working_directory(role: &PinnedRole, lane: &LaneTree, folder: &Folder) -> PathBuf {
    if role.tree { lane.work.path().to_path_buf() } else { folder.inputs() }
}

/// The name under which a read-only role borrows its tree.
fn reader_name(job: &Job) -> String {
    format!("reader {}", job.id)
}

/// Takes the inventory of the tree before the agent starts. Build output stays in the lane that produced it.
fn take_inventory(job: &Job, permit: &Permit, lane: &LaneTree) -> Result<Inventory, Trouble> {
    let _main = job.site.hold_main();
    let keep = if permit.is_read_only() { KeepIgnored::Nothing } else { KeepIgnored::BuildOutput };
    Ok(lane.work.clean_up(keep, reach(job))?)
}

/// If the sandbox does not keep agents out of the repository, the guard watches the repository as well.
fn reach(job: &Job) -> Reach {
    match job.site.settings().enforcement.files {
        EnforcementLevel::Full => Reach::Tree,
        EnforcementLevel::Partial | EnforcementLevel::None | EnforcementLevel::Unasked => Reach::Repository,
    }
}

/// The files of the task that a dispatch works on. In a sub-flow, it is the task of the lane; on the main line, it is the
/// first task of the artifact `tasks`.
fn files_of(job: &Job, dispatch: &Dispatch, reader: &Reader) -> Result<Option<Vec<String>>, Trouble> {
    if let Some(task) = &dispatch.task {
        let item = job.state.lists.iter().flatten().find(|item| item.id == *task);
        return Ok(Some(item.map(|item| item.files.clone()).unwrap_or_default()));
    }
    let is_tasks = |(id, _): &&(ArtifactId, Digest)| job.program.artifacts[id.index()] == TASKS;
    let Some((_, digest)) = dispatch.reads.iter().find(is_tasks) else { return Ok(None) };
    let Some(row) = reader.artifact_by_digest(&job.site.run, TASKS, *digest)? else { return Ok(None) };
    let first = artifacts::tasks(&content(reader, row.blob)?).into_iter().next();
    Ok(first.map(|entry| entry.task.files.into_iter().map(|file| file.path.0).collect()))
}

/// Runs the agent. If it cannot resume its session, runs it once more with a new session.
fn run_with_fallback(
    prepared: &mut Prepared<'_>,
    facts: &mut Facts,
) -> Result<(JobEnd, OutputReader), Trouble> {
    let (ended, output) = run(prepared)?;
    let has_other_session =
        prepared.session.take_if(|session| output.session().as_ref() != Some(&session.id)).is_some();
    let did_nothing = matches!(ended.exit, Exit::Code(_)) && !output.ended && output.output().is_none();
    if !has_other_session || !did_nothing {
        return Ok((ended, output));
    }
    let text = format!("{} could not resume its session and started a new one", prepared.title);
    facts.notes.push(note(NoteKind::Warning, text));
    prepared.prompt.clone_from(&prepared.whole_prompt);
    std::fs::write(prepared.folder.prompt(), &prepared.prompt)?;
    run(prepared)
}

/// Runs the agent in its sandbox until it ends.
fn run(prepared: &Prepared<'_>) -> Result<(JobEnd, OutputReader), Trouble> {
    let process = surroundings::process(prepared)?;
    let output = Arc::new(Mutex::new(OutputReader::new(&prepared.driver.output_rules())));
    let shared_output = Arc::clone(&output);
    let Job { site, id, number, .. } = prepared.job;
    let start = AgentStart { command: *id, number: *number, at: clock::now() };
    let signs_of_life = Mutex::new(site.store().record_start(&site.run, &start)?);
    let transcript = Mutex::new(Transcript::open(&prepared.folder, &site.settings().redactor));
    let report_activity = activity_reporter(prepared);
    let watch: LineWatch = Arc::new(move |stream, line: &[u8]| {
        signs_of_life.lock().unwrap_or_else(PoisonError::into_inner).record();
        transcript.lock().unwrap_or_else(PoisonError::into_inner).add(line);
        let mut output = shared_output.lock().unwrap_or_else(PoisonError::into_inner);
        let after = match stream {
            Stream::Stdout => output.line(line),
            Stream::Stderr => output.stderr_line(line),
        };
        report_activity(output.activity());
        after
    });
    let ended = remand_process::run_watched(&process, &prepared.job.cancel, watch)
        .map_err(|error| Trouble::environment(error.to_string()))?;
    let output = output.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok((ended, output))
}

/// Shows what the agent does to people who watch, without secrets and with paths inside the tree.
fn activity_reporter(prepared: &Prepared<'_>) -> impl Fn(AgentActivity) + Send + Sync + use<> {
    let Job { site, id, .. } = prepared.job;
    let settings = site.settings();
    let (board, redactor) = (settings.activity.clone(), settings.redactor.clone());
    let (run, command) = (site.run.clone(), id.to_string());
    let tree = format!("{}/", prepared.context().tree.display());
    let last = Mutex::new(AgentActivity::default());
    move |activity| {
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        if *last != activity {
            let text = activity.to_string().replace(&tree, "");
            board.report(&run, &command, redactor.redact(&text).into_owned());
            *last = activity;
        }
    }
}

/// Minimum length of a result, in characters.
fn minimum_length(job: &Job, schema: SchemaId) -> usize {
    match schema {
        SchemaId::GapProposals | SchemaId::GapReview | SchemaId::GapInventory => {
            job.site.pinned.rounds.min_length
        }
        _ => 0,
    }
}

impl Prepared<'_> {
    fn context(&self) -> DispatchContext {
        let settings = self.job.site.settings();
        DispatchContext {
            tree: working_directory(self.role, &self.lane, &self.folder),
            folder: self.folder.root().to_path_buf(),
            out: self.folder.out(),
            result: self.folder.result(),
            prompt: self.prompt.clone(),
            about: self.folder.about(),
            home: self.home.clone(),
            user_home: PathBuf::from(&settings.user_home),
            path: settings.environment.get(OsStr::new("PATH")).cloned().unwrap_or_default(),
            remand: settings.program.clone(),
            permissions: Permissions {
                write: !self.permit.is_read_only(),
                shell: self.role.shell,
                network: self.role.network,
            },
            is_confined: settings.enforcement.files == EnforcementLevel::Full,
            model: self.choice.model.clone(),
            session: self.session.clone(),
        }
    }

    /// Links the packages that checks use into the tree, so that the agent can run the same commands.
    fn link_packages(&mut self) -> Result<(), Trouble> {
        let site = &self.job.site;
        if self.role.tree {
            let (checkout, tree) = (site.repository().root(), self.lane.work.path());
            let checks = &site.pinned.checks;
            if checks.iter().any(|check| !check.copies.is_empty()) {
                let content = site.repository().files(&self.lane.tree)?;
                remand_checks::remove_old_copies(checkout, tree, checks, &content)?;
            }
            self.packages = remand_checks::link(checkout, tree, checks)?;
        }
        Ok(())
    }

    /// Removes the links, because they are not part of the work.
    fn unlink_packages(&self) -> Result<(), Trouble> {
        Ok(remand_checks::unlink(self.lane.work.path(), &self.packages)?)
    }

    /// What the agent left in the tree. If git fails only because of that, the agent is at fault.
    fn aftermath(&self) -> Result<Aftermath, Trouble> {
        let work = &self.lane.work;
        work.aftermath(&self.before, &self.lane.tree, reach(self.job)).map_err(|error| {
            let is_about_files = error.is_about_files() && work.restore(&self.lane.tree).is_ok();
            match is_about_files {
                true => Trouble::new(
                    Failure::Violation,
                    format!(
                        "git cannot store what {} left in the tree, which was undone: {error}",
                        self.title
                    ),
                ),
                false => error.into(),
            }
        })
    }

    /// Compares the changes in the tree with the role's permissions. Violations are recorded with their diff.
    fn inspect(&self, ended: &JobEnd) -> Result<Inspection, Trouble> {
        let _main = self.job.site.hold_main();
        let work = &self.lane.work;
        let Aftermath { tree: after, changes, leftovers } = self.aftermath()?;
        let versions = |path: &Path| {
            let read = |tree: &TreeId| String::from_utf8(work.read(tree, path).ok()??).ok();
            read(&self.lane.tree).zip(read(&after))
        };
        let violations: Vec<ChangedPath> =
            self.permit.violations(&changes, &versions).into_iter().cloned().collect();
        let (forbidden, noted): (Vec<Leftover>, Vec<Leftover>) =
            leftovers.iter().cloned().partition(|leftover| self.permit.forbids(leftover));
        let (notes, blobs) = (Vec::new(), Vec::new());
        let mut inspection = Inspection { after, violations, leftovers, forbidden, notes, blobs };
        if inspection.is_violation() {
            let mut diff = work.patch(&self.lane.tree, &inspection.after)?;
            diff.extend(inspection.forbidden.iter().flat_map(Leftover::diff));
            let diff = self.job.site.blob_of_bytes(&diff);
            let (text, files) = (inspection.violation_text(self), inspection.files());
            inspection.notes.push(Note { files, blob: Some(diff.id), ..note(NoteKind::Violation, text) });
            inspection.blobs.push(diff);
        }
        if !noted.is_empty() {
            let listed: Vec<String> = noted.iter().take(5).map(Leftover::to_string).collect();
            let more = if noted.len() > listed.len() { ", and more" } else { "" };
            let text = format!("{} left {}{more}; this was undone", self.title, listed.join(", "));
            let files = noted.iter().map(|leftover| leftover.path.display().to_string()).collect();
            inspection.notes.push(Note { files, ..note(NoteKind::Warning, text) });
        }
        inspection.notes.extend(surroundings::notes(self, ended));
        if ended.strays > 0 {
            let text = match ended.strays {
                1 => format!("{} left a process running; it was killed", self.title),
                strays => format!("{} left {strays} processes running; they were killed", self.title),
            };
            inspection.notes.push(note(NoteKind::Warning, text));
        }
        Ok(inspection)
    }

    /// Cleans up after the agent, as far as possible. An error fails the dispatch, or is noted if the dispatch has failed
    /// already.
    fn clean_up(
        &self,
        result: Result<Report, Trouble>,
        inspection: Option<&Inspection>,
        facts: &mut Facts,
    ) -> Result<Report, Trouble> {
        let mut combine = |result: Result<Report, Trouble>, then: Result<(), Trouble>| match (result, then) {
            (Ok(report), then) => then.map(|()| report),
            (Err(trouble), Ok(())) => Err(trouble),
            (Err(trouble), Err(second)) => {
                let text = format!("after {} ended: {}", self.title, second.detail);
                facts.notes.push(note(NoteKind::Warning, text));
                Err(trouble)
            }
        };
        let result = combine(result, self.folder.clear().map_err(Trouble::from));
        let leftovers = inspection.map(|inspection| inspection.leftovers.as_slice()).unwrap_or_default();
        let result =
            combine(result, self.lane.work.undo_leftovers(&self.before, leftovers).map_err(Trouble::from));
        let kept = session::keep_or_forget(self, result.as_ref().err().map(|trouble| trouble.failure));
        let result = combine(result, kept.or_else(|trouble| session::forget(self).and(Err(trouble))));
        let undone = if result.is_err() { self.undo() } else { Ok(()) };
        let result = combine(result, undone);
        combine(result, self.return_tree())
    }

    /// Returns the borrowed tree of a read-only role.
    fn return_tree(&self) -> Result<(), Trouble> {
        if self.permit.is_read_only() {
            self.job.trees.give_back(&reader_name(self.job))?;
        }
        Ok(())
    }

    /// Restores the tree to its state before the dispatch.
    fn undo(&self) -> Result<(), Trouble> {
        let _main = self.job.site.hold_main();
        self.lane.work.restore(&self.lane.tree)?;
        Ok(())
    }

    /// Records prompt, output and telemetry, with secrets removed.
    fn record_telemetry(
        &self,
        ended: &JobEnd,
        agent_report: &AgentReport,
        after: Option<&TreeId>,
        facts: &mut Facts,
        blobs: &mut Vec<Blob>,
    ) {
        let prompt = self.job.site.blob(&self.prompt);
        let both = format!("{}\n--- standard error ---\n{}", ended.stdout.text(), ended.stderr.text());
        let output = self.job.site.blob(&both);
        let kind = match agent_report.failure {
            Some((Failure::Violation, _)) => NoteKind::Violation,
            Some(_) | None => NoteKind::Warning,
        };
        for denied in &agent_report.denied {
            facts
                .notes
                .push(note(kind, self.job.site.redact(&format!("{} was denied: {denied}", self.title))));
        }
        facts.telemetry = Some(Telemetry {
            started_at: self.started,
            ended_at: clock::now(),
            driver: self.driver.name().to_string(),
            model: agent_report.model.clone(),
            session: agent_report.session.clone(),
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
            tokens: agent_report.tokens,
            price: agent_report.price.clone(),
            brief: self.sizes.clone(),
            contacts: ended.contacts.as_ref().map(|asked| asked_hosts::stored(asked, &self.job.site)),
        });
        blobs.extend([prompt, output]);
    }
}
