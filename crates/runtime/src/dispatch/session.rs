//! Takes up the session of an attempt whose result was malformed: that is cheaper than to begin again, and the agent
//! remembers what it did. It finds its home and its tree as it left them.

use super::folder::{DISPATCHES, Folder, SESSION};
use super::{Brief, told};
use crate::driver::{Driver, Session, Used};
use crate::git::{TreeId, remove};
use crate::workshop::{Job, LaneTree, Trouble};
use remand_kernel::signal::Failure;
use remand_ledger::Reader;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A session that is taken up again, and the state in which it left the tree.
#[derive(Clone, Debug)]
pub struct Resumed {
    pub session: Session,
    pub home: PathBuf,
    pub left: TreeId,
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

/// The session of the attempt before this one, if this one can go on with it; if it cannot, nothing of it stays.
pub fn take_up(
    job: &Job,
    driver: &dyn Driver,
    lane: &LaneTree,
    reader: &Reader,
) -> Result<Option<Resumed>, Trouble> {
    let Some(earlier) = told::earlier(job).map(|earlier| earlier.to_string()) else { return Ok(None) };
    let path = Folder::session_of(job, &earlier);
    let Some(kept) = Kept::read(&path) else { return Ok(None) };
    remove(&path)?;
    let here = kept.tree == lane.work.path() && kept.home.is_dir();
    let resumed = if here { resumable(job, driver, lane, (&earlier, &kept.home), reader)? } else { None };
    if resumed.is_none() {
        remove(&kept.home)?;
    }
    Ok(resumed)
}

fn resumable(
    job: &Job,
    driver: &dyn Driver,
    lane: &LaneTree,
    (earlier, home): (&str, &Path),
    reader: &Reader,
) -> Result<Option<Resumed>, Trouble> {
    let Some(row) = reader.dispatch(&job.site.run, earlier)? else { return Ok(None) };
    let same = row.driver.as_deref() == Some(driver.name())
        && row.failure.as_deref() == Some(Failure::Malformed.name())
        && row.before.as_deref() == Some(lane.tree.to_string().as_str());
    let (Some(id), Some(left), true) = (row.session, row.after, same && driver.resumes()) else {
        return Ok(None);
    };
    let own = reader.dispatches(&job.site.run)?.into_iter().filter(|row| row.session.as_ref() == Some(&id));
    let mut used = Used::default();
    for row in own {
        used.tokens = used.tokens.and(row.spent.unwrap_or_default());
        used.money += row.money.unwrap_or(0);
    }
    Ok(Some(Resumed { session: Session { id, used }, home: home.to_path_buf(), left: left.parse()? }))
}

/// Keeps the session of an attempt whose result was malformed, without what signs the agent in; of any other the home goes.
pub fn keep_or_forget(brief: &Brief<'_>, failure: Option<Failure>) -> Result<(), Trouble> {
    if failure != Some(Failure::Malformed) || !brief.driver.resumes() {
        return Ok(remove(&brief.home)?);
    }
    for (_, copy) in brief.driver.launch(&brief.place()).copies {
        remove(&brief.home.join(copy))?;
    }
    let kept = Kept { home: brief.home.clone(), tree: brief.lane.work.path().to_path_buf() };
    let path = Folder::session_of(brief.job, &brief.job.id.to_string());
    std::fs::write(path, serde_json::to_vec(&kept).unwrap_or_default())?;
    Ok(())
}

/// Removes the sessions of a run that nobody went on with.
pub fn forget_sessions(run: &Path) {
    for dispatch in std::fs::read_dir(run.join(DISPATCHES)).into_iter().flatten().flatten() {
        let path = dispatch.path().join(SESSION);
        // What cannot be removed now is removed with the run.
        if let Some(kept) = Kept::read(&path) {
            let _ = remove(&kept.home);
        }
        let _ = remove(&path);
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
