//! Resumes agent sessions. A retry after a malformed result is cheaper in the same session, because the agent remembers
//! its work and finds its home and tree unchanged. A session is also resumed, on the current tree, if quick checks send
//! the work back or if the role remembers.

use super::folder::{Folder, HOME, SESSION};
use super::{Prepared, agent_choice, earlier};
use crate::pinned::PinnedRole;
use crate::site::{Job, LaneTree, Trouble};
use crate::store::DISPATCHES;
use remand_agents::driver::{Driver, Session, SessionUsage};
use remand_git::{TreeId, remove, remove_inside};
use remand_kernel::command::Dispatch;
use remand_kernel::program::{Action, Work};
use remand_kernel::signal::Failure;
use remand_kernel::{EngineOperation, Program, ids::PhaseId};
use remand_ledger::Reader;
use remand_ledger::query::DispatchRow;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A session to resume.
#[derive(Clone, Debug)]
pub struct ResumedSession {
    pub session: Session,
    pub home: PathBuf,
    /// Where the session is saved. The file stays until this dispatch has ended, so a resume after a kill finds it.
    pub file: PathBuf,
    /// The tree that the session left, if the retry must start with that tree.
    pub left_tree: Option<TreeId>,
}

/// The paths of a saved session. Agent programs find their sessions by these paths.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SavedSession {
    home: PathBuf,
    tree: PathBuf,
}

impl SavedSession {
    fn read(path: &Path) -> Option<SavedSession> {
        serde_json::from_slice(&std::fs::read(path).ok()?).ok()
    }
}

/// The session that this dispatch resumes, if possible. A session that cannot be resumed is removed.
pub fn resume(
    job: &Job,
    dispatch: &Dispatch,
    role: &PinnedRole,
    lane: &LaneTree,
    reader: &Reader,
) -> Result<Option<ResumedSession>, Trouble> {
    let Some(row) = last_dispatch(job, dispatch, role, reader)? else { return Ok(None) };
    let path = Folder::session_of(job, &row.command);
    let Some(saved) = SavedSession::read(&path) else { return Ok(None) };
    let has_home = saved.home.symlink_metadata().is_ok_and(|found| found.is_dir());
    let is_usable = saved.tree == lane.work.path() && has_home;
    let driver = job.site.driver(&agent_choice(job, dispatch, role).agent)?;
    let session = if is_usable { resumable(job, driver, lane, row, reader)? } else { None };
    let Some((session, left_tree)) = session else {
        remove(&saved.home)?;
        remove(&path)?;
        return Ok(None);
    };
    Ok(Some(ResumedSession { session, home: saved.home, file: path, left_tree }))
}

/// The dispatch whose session may be resumed: the previous attempt, or the previous round if the role remembers or checks
/// sent the work back.
fn last_dispatch(
    job: &Job,
    dispatch: &Dispatch,
    role: &PinnedRole,
    reader: &Reader,
) -> Result<Option<DispatchRow>, Trouble> {
    match earlier::previous_attempt(job) {
        Some(previous) => Ok(reader.dispatch(&job.site.run, &previous.to_string())?),
        None if role.remembers || comes_from_checks(job, dispatch, reader)? => {
            earlier::previous_round(job, dispatch, reader)
        }
        None => Ok(None),
    }
}

/// Whether the last ruling that led to this phase was about checks that ask for a fix.
fn comes_from_checks(job: &Job, dispatch: &Dispatch, reader: &Reader) -> Result<bool, Trouble> {
    let rulings = reader.rulings(&job.site.run, 0)?;
    let led_here = rulings
        .into_iter()
        .map(|row| row.ruling)
        .rfind(|ruling| ruling.task == dispatch.task && ruling.target.as_deref() == Some(job.phase()));
    let from = led_here.and_then(|ruling| job.program.phase_named(&ruling.phase));
    Ok(from.is_some_and(|from| asks_for_fixes(&job.program, from)))
}

/// Whether checks may ask this phase for a fix.
fn may_be_asked_for_fixes(job: &Job) -> bool {
    let program = &job.program;
    let sends_back = |from: PhaseId| {
        let routes = program.phase(from).routes.iter();
        routes.into_iter().any(|(_, route)| route.action == Action::Remand(job.id.phase))
    };
    program.phase_ids().any(|from| asks_for_fixes(program, from) && sends_back(from))
}

/// Whether a phase runs quick checks, or the checks of one task.
fn asks_for_fixes(program: &Program, phase: PhaseId) -> bool {
    let is_of_task = program.phase(phase).owner.is_some();
    match program.phase(phase).work {
        Work::Operation { operation } => {
            let name = program.operation(operation).name;
            name == EngineOperation::QuickChecks || (is_of_task && name == EngineOperation::Checks)
        }
        Work::Role { .. } | Work::Each { .. } | Work::Panel { .. } | Work::Flow { .. } | Work::Ask { .. } => {
            false
        }
    }
}

fn resumable(
    job: &Job,
    driver: &dyn Driver,
    lane: &LaneTree,
    row: DispatchRow,
    reader: &Reader,
) -> Result<Option<(Session, Option<TreeId>)>, Trouble> {
    let left_tree = match row.failure.as_deref() {
        Some(name) if name == Failure::Malformed.name() => row.after,
        Some(_) => return Ok(None),
        None => None,
    };
    let can_continue = row.driver.as_deref() == Some(driver.name())
        && (left_tree.is_none() || row.before.as_deref() == Some(lane.tree.to_string().as_str()));
    let (Some(id), true) = (row.session, can_continue && driver.resumes()) else { return Ok(None) };
    let same_session =
        reader.dispatches(&job.site.run)?.into_iter().filter(|row| row.session.as_ref() == Some(&id));
    let mut used = SessionUsage::default();
    for row in same_session {
        used.tokens = used.tokens.plus(row.spent.unwrap_or_default());
        used.money += row.money.unwrap_or(0);
    }
    let left_tree = left_tree.map(|left_tree| left_tree.parse()).transpose()?;
    Ok(Some((Session { id, used }, left_tree)))
}

/// Saves the session without the agent's credentials if it may be resumed; otherwise removes its home.
pub fn keep_or_forget(prepared: &Prepared<'_>, failure: Option<Failure>) -> Result<(), Trouble> {
    let may_resume = match failure {
        Some(failure) => failure == Failure::Malformed,
        None => prepared.role.remembers || may_be_asked_for_fixes(prepared.job),
    };
    if !may_resume || !prepared.driver.resumes() {
        return forget(prepared);
    }
    for copy in prepared.driver.copies() {
        remove_inside(&prepared.home, &copy)?;
    }
    let saved = SavedSession { home: prepared.home.clone(), tree: prepared.lane.work.path().to_path_buf() };
    let path = Folder::session_of(prepared.job, &prepared.job.id.to_string());
    std::fs::write(path, serde_json::to_vec(&saved).unwrap_or_default())?;
    Ok(prepared.session_file.iter().try_for_each(|file| remove(file))?)
}

/// Removes the home, which contains the agent's credentials, and the file of the session that was resumed.
pub fn forget(prepared: &Prepared<'_>) -> Result<(), Trouble> {
    remove(&prepared.home)?;
    Ok(prepared.session_file.iter().try_for_each(|file| remove(file))?)
}

/// Removes the agents' homes and saved sessions of a finished run, including those that a killed engine left.
pub fn forget_sessions(run: &Path) {
    for dispatch in std::fs::read_dir(run.join(DISPATCHES)).into_iter().flatten().flatten() {
        // A failure does no harm: `remand clean` removes the whole folder of the run.
        let _ = [HOME, SESSION].map(|name| remove(&dispatch.path().join(name)));
    }
}

/// The prompt for an agent that resumes its session.
pub fn prompt(failed: &str, result: &Path) -> String {
    format!(
        "Your result was not accepted:\n\n{}\n\nNothing else has changed: your task, its rules, and the files as you \
         left them. Submit a corrected result now in the same way; if you write it to a file, write it to `{}`.\n",
        failed.trim_end(),
        result.display()
    )
}
