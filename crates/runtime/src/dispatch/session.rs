//! Takes up the session of an attempt whose result was malformed: that is cheaper than to begin again, and the agent
//! remembers what it did. It finds its home and its tree as it left them. Work that the quick checks send back goes on in
//! its session, too, and so does all work of a role that remembers; it finds the tree as the work has it by then.

use super::folder::{DISPATCHES, Folder, HOME, SESSION};
use super::{Brief, told};
use crate::driver::{Driver, Session, Used};
use crate::git::{TreeId, remove, remove_inside};
use crate::pinned::PinnedRole;
use crate::workshop::{Job, LaneTree, Trouble};
use remand_kernel::command::Dispatch;
use remand_kernel::program::{Action, Work};
use remand_kernel::signal::Failure;
use remand_kernel::{Program, ids::PhaseId};
use remand_ledger::Reader;
use remand_ledger::query::DispatchRow;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A session that is taken up again.
#[derive(Clone, Debug)]
pub struct Resumed {
    pub session: Session,
    pub home: PathBuf,
    /// Tells of it until this dispatch has ended, so that it is found again after a kill.
    pub file: PathBuf,
    /// The state in which it left the tree, if it is to find that again.
    pub left: Option<TreeId>,
}

/// Where a session can be found again; programs remember their sessions by these paths.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Kept {
    home: PathBuf,
    tree: PathBuf,
}

impl Kept {
    fn read(path: &Path) -> Option<Kept> {
        serde_json::from_slice(&std::fs::read(path).ok()?).ok()
    }
}

/// The session that this dispatch goes on with, if it can; if it cannot, nothing of that stays.
pub fn take_up(
    job: &Job,
    dispatch: &Dispatch,
    role: &PinnedRole,
    lane: &LaneTree,
    reader: &Reader,
) -> Result<Option<Resumed>, Trouble> {
    let Some(row) = before(job, dispatch, role, reader)? else { return Ok(None) };
    let path = Folder::session_of(job, &row.command);
    let Some(kept) = Kept::read(&path) else { return Ok(None) };
    let is_real = kept.home.symlink_metadata().is_ok_and(|found| found.is_dir());
    let here = kept.tree == lane.work.path() && is_real;
    let driver = job.site.driver(&role.choice(dispatch.item.as_deref()).agent)?;
    let session = if here { resumable(job, driver, lane, row, reader)? } else { None };
    let Some((session, left)) = session else {
        remove(&kept.home)?;
        remove(&path)?;
        return Ok(None);
    };
    Ok(Some(Resumed { session, home: kept.home, file: path, left }))
}

/// The operation whose findings are slips, which whoever made them mends best (EP-14).
const QUICK_CHECKS: &str = "quick-checks";

/// The attempt before this one, and for a role that remembers or work from the quick checks the end of its round before.
fn before(
    job: &Job,
    dispatch: &Dispatch,
    role: &PinnedRole,
    reader: &Reader,
) -> Result<Option<DispatchRow>, Trouble> {
    match told::earlier(job) {
        Some(earlier) => Ok(reader.dispatch(&job.site.run, &earlier.to_string())?),
        None if role.remembers || comes_from_quick_checks(job, dispatch, reader)? => {
            told::round_before(job, dispatch, reader)
        }
        None => Ok(None),
    }
}

/// Tells whether the last ruling that led to this phase is one on the quick checks.
fn comes_from_quick_checks(job: &Job, dispatch: &Dispatch, reader: &Reader) -> Result<bool, Trouble> {
    let rulings = reader.rulings(&job.site.run, 0)?;
    let led_here = rulings
        .into_iter()
        .map(|row| row.ruling)
        .rfind(|ruling| ruling.task == dispatch.task && ruling.target.as_deref() == Some(job.phase()));
    let from = led_here.and_then(|ruling| job.program.phase_named(&ruling.phase));
    Ok(from.is_some_and(|from| is_quick_checks(&job.program, from)))
}

/// Tells whether quick checks may send the work of this phase back.
fn is_checked_quickly(job: &Job) -> bool {
    let program = &job.program;
    let sends_back = |from: PhaseId| {
        let routes = program.phase(from).routes.iter();
        routes.into_iter().any(|(_, route)| route.action == Action::Remand(job.id.phase))
    };
    program.phase_ids().any(|from| is_quick_checks(program, from) && sends_back(from))
}

fn is_quick_checks(program: &Program, phase: PhaseId) -> bool {
    match program.phase(phase).work {
        Work::Operation { operation } => program.operation(operation).name == QUICK_CHECKS,
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
    let left = match row.failure.as_deref() {
        Some(name) if name == Failure::Malformed.name() => row.after,
        Some(_) => return Ok(None),
        None => None,
    };
    let same = row.driver.as_deref() == Some(driver.name())
        && (left.is_none() || row.before.as_deref() == Some(lane.tree.to_string().as_str()));
    let (Some(id), true) = (row.session, same && driver.resumes()) else { return Ok(None) };
    let own = reader.dispatches(&job.site.run)?.into_iter().filter(|row| row.session.as_ref() == Some(&id));
    let mut used = Used::default();
    for row in own {
        used.tokens = used.tokens.and(row.spent.unwrap_or_default());
        used.money += row.money.unwrap_or(0);
    }
    let left = left.map(|left| left.parse()).transpose()?;
    Ok(Some((Session { id, used }, left)))
}

/// Keeps a session that may be gone on with, without what signs the agent in; of any other the home goes.
pub fn keep_or_forget(brief: &Brief<'_>, failure: Option<Failure>) -> Result<(), Trouble> {
    let may_go_on = match failure {
        Some(failure) => failure == Failure::Malformed,
        None => brief.role.remembers || is_checked_quickly(brief.job),
    };
    if !may_go_on || !brief.driver.resumes() {
        return forget(brief);
    }
    for copy in brief.driver.copies() {
        remove_inside(&brief.home, &copy)?;
    }
    let kept = Kept { home: brief.home.clone(), tree: brief.lane.work.path().to_path_buf() };
    let path = Folder::session_of(brief.job, &brief.job.id.to_string());
    std::fs::write(path, serde_json::to_vec(&kept).unwrap_or_default())?;
    Ok(brief.taken_up.iter().try_for_each(|file| remove(file))?)
}

/// Nobody goes on in this home, and what signs the agent in lies there.
pub fn forget(brief: &Brief<'_>) -> Result<(), Trouble> {
    remove(&brief.home)?;
    Ok(brief.taken_up.iter().try_for_each(|file| remove(file))?)
}

/// Removes the homes of a run that is over: sessions that nobody went on with, and whatever a killed engine left.
pub fn forget_sessions(run: &Path) {
    for dispatch in std::fs::read_dir(run.join(DISPATCHES)).into_iter().flatten().flatten() {
        // What cannot be removed now is removed with the run.
        let _ = [HOME, SESSION].map(|name| remove(&dispatch.path().join(name)));
    }
}

/// What an agent is told that goes on with its session.
pub fn prompt(refused: &str, result: &Path) -> String {
    format!(
        "Your result was not accepted:\n\n{}\n\nAll else stands as it was: your task, its rules, and the files as you \
         left them. Hand in a corrected result now, as before, but to `{}`.\n",
        refused.trim_end(),
        result.display()
    )
}
