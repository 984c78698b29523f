//! The tree that a command works in. When the command starts, the content of the tree matches the state, whatever a crash
//! or an agent left there.

use super::job::Job;
use super::trouble::Trouble;
use remand_git::{CommitId, TaskMerge, TaskStart, TreeId, TreeMerge, WorkTree};
use remand_kernel::change::Digest;
use remand_kernel::ids::Lane;

/// The artifacts that consist of a tree. All other artifacts are results.
pub const TREES: [&str; 2] = ["code", "tests"];

/// The tree of a lane, with the content of the lane checked out.
#[derive(Clone, Debug)]
pub struct LaneTree {
    pub work: WorkTree,
    /// The commit that the change of the lane is relative to.
    pub base: CommitId,
    /// The content of the lane.
    pub tree: TreeId,
    /// An earlier change that conflicts with changes merged since then; the work starts without it.
    pub conflicting: Option<TreeId>,
}

/// The content of a lane, for checks. It is checked out only if something has to run.
#[derive(Clone, Debug)]
pub struct LaneContent {
    /// The commit that the change of the lane is relative to.
    pub base: CommitId,
    pub tree: TreeId,
    /// The name under which the checks borrow a tree.
    name: String,
}

impl LaneContent {
    /// The content of the command's lane, as its last change left it.
    pub fn of(job: &Job) -> Result<LaneContent, Trouble> {
        let (base, tree) = match lane_task(job) {
            None => (job.trees.base().clone(), main_content(job)?),
            Some((task, batch, written)) => task_content(job, &task, batch, written)?,
        };
        let owner =
            lane_task(job).map_or_else(|| "main line".to_string(), |(task, ..)| format!("task {task}"));
        Ok(LaneContent { base, tree, name: format!("checks of the {owner}") })
    }

    /// The same lane with other content.
    pub fn holding(&self, tree: &TreeId) -> LaneContent {
        LaneContent { tree: tree.clone(), ..self.clone() }
    }

    /// Checks the content out into a tree that agents never write to, so files ignored by git cannot affect a check.
    pub fn check_out(&self, job: &Job) -> Result<WorkTree, Trouble> {
        Ok(job.trees.lend(&self.name, TaskStart::Tree(&self.tree))?)
    }

    /// The same lane, whose content is checked out into trees of its own for this purpose, with their own build output.
    pub fn apart(&self, purpose: &str) -> LaneContent {
        LaneContent { name: format!("{purpose} for the {}", self.name), ..self.clone() }
    }

    /// Returns the tree that the content was checked out into.
    pub fn give_back(&self, job: &Job) -> Result<(), Trouble> {
        Ok(job.trees.give_back(&self.name)?)
    }
}

impl LaneTree {
    /// The tree of the command's lane, as its last change left it.
    pub fn as_it_is(job: &Job) -> Result<LaneTree, Trouble> {
        match lane_task(job) {
            None => main(job),
            Some((task, batch, written)) => {
                let (base, tree) = task_content(job, &task, batch, written)?;
                let work = job.trees.lend(&task, TaskStart::Tree(&tree))?;
                Ok(LaneTree { work, base, tree, conflicting: None })
            }
        }
    }

    /// The content of the command's lane in a separate tree, borrowed under this name.
    pub fn in_separate_tree(job: &Job, name: &str) -> Result<LaneTree, Trouble> {
        let LaneContent { base, tree, .. } = LaneContent::of(job)?;
        let work = job.trees.lend(name, TaskStart::Tree(&tree))?;
        Ok(LaneTree { work, base, tree, conflicting: None })
    }

    /// The tree for new work in the lane: the lane's change so far, on top of the changes merged since then.
    pub fn for_work(job: &Job) -> Result<LaneTree, Trouble> {
        let Some((task, batch, written)) = lane_task(job) else {
            return main(job);
        };
        let trees = &job.trees;
        let main = trees.main_state()?;
        let attempt = job.state.attempts.get(&task).copied().unwrap_or_default();
        let last = if written == Digest::default() { attempt } else { written };
        let kept = trees.kept(last)?;
        let (tree, conflicting) = match kept {
            None => (main.tree.clone(), None),
            Some(kept) if kept.base == main.commit => (kept.tree, None),
            Some(kept) if trees.merged_since(&task, &kept.base)? => (main.tree.clone(), None),
            Some(kept) => match trees.merge_trees(&kept.base, &main.tree, &kept.tree)? {
                TreeMerge::Clean(tree) => (tree, None),
                TreeMerge::Conflict { .. } => (main.tree.clone(), Some(kept.tree)),
            },
        };
        trees.set_lane_base(&task, batch, &main.commit)?;
        let work = trees.lend(&task, TaskStart::Tree(&tree))?;
        Ok(LaneTree { work, base: main.commit, tree, conflicting })
    }

    /// Merges the lane's change into the main tree, and gives the lane's trees back to the pool.
    pub fn merge(&self, job: &Job, task: &str) -> Result<TaskMerge, Trouble> {
        let _main = job.site.hold_main();
        let merge = job.trees.merge(task, &self.base, &self.tree, &job.id.to_string())?;
        if matches!(merge, TaskMerge::Merged(_)) {
            job.trees.give_back(task)?;
            job.trees.give_back(&format!("checks of the task {task}"))?;
        }
        Ok(merge)
    }
}

/// The commit that a task's change is relative to, and the content with the change.
fn task_content(job: &Job, task: &str, batch: u16, written: Digest) -> Result<(CommitId, TreeId), Trouble> {
    let trees = &job.trees;
    if let Some(kept) = trees.kept(written)? {
        return Ok((kept.base, kept.tree));
    }
    let started_from = trees.lane_base(task, batch)?;
    let base = started_from.map_or_else(|| trees.main_state().map(|main| main.commit), Ok)?;
    let tree = job.site.repository().tree_of(&base)?;
    Ok((base, tree))
}

/// Task, batch and last change of the lane; `None` on the main line.
fn lane_task(job: &Job) -> Option<(String, u16, Digest)> {
    let Lane::Task { batch, index } = job.id.lane else {
        return None;
    };
    let owner = job.program.phase(job.id.phase).owner?;
    let remand_kernel::program::Work::Flow { list, .. } = &job.program.phase(owner).work else {
        return None;
    };
    let item = job.state.lists[list.index()].get(usize::from(index))?;
    let written = job.state.tasks.get(usize::from(index)).map(|run| run.patch).unwrap_or_default();
    Some((item.id.clone(), batch, written))
}

/// The main tree, with the content of the main line.
fn main(job: &Job) -> Result<LaneTree, Trouble> {
    let _main = job.site.hold_main();
    let tree = main_line(job)?;
    let work = job.trees.main_tree();
    work.restore(&tree)?;
    Ok(LaneTree { work, base: job.trees.base().clone(), tree, conflicting: None })
}

fn main_content(job: &Job) -> Result<TreeId, Trouble> {
    let _main = job.site.hold_main();
    main_line(job)
}

/// The content of the main line; without a change, the base. If the last change in the state is not on the main line yet,
/// it is recorded there first; a merged change is always there. The caller holds the main tree.
fn main_line(job: &Job) -> Result<TreeId, Trouble> {
    let trees = &job.trees;
    let current = trees.main_state()?;
    let expected = match last_written(job)? {
        Some(written) => trees.kept(written)?.map(|kept| kept.tree),
        None => Some(trees.base_tree()?),
    };
    Ok(match expected {
        Some(expected) if expected != current.tree => {
            trees.record(&expected, "work of the run", &job.id.to_string())?.tree
        }
        Some(_) | None => current.tree,
    })
}

/// The digest of the tree artifact that was written last. Each tree artifact is the whole tree, including earlier writes.
fn last_written(job: &Job) -> Result<Option<Digest>, Trouble> {
    let ids = TREES.iter().filter_map(|name| Some((*name, job.program.artifact_named(name)?)));
    let written: Vec<(&str, Digest)> = ids
        .map(|(name, id)| (name, job.state.digest(id)))
        .filter(|(_, digest)| *digest != Digest::default())
        .collect();
    let [(_, first), others @ ..] = written.as_slice() else {
        return Ok(None);
    };
    if others.is_empty() {
        return Ok(Some(*first));
    }
    let reader = job.site.reader()?;
    let mut last = (0, *first);
    for (name, digest) in written {
        let row = reader.artifact_by_digest(&job.site.run, name, digest)?;
        last = last.max((row.map_or(0, |row| row.seq), digest));
    }
    Ok(Some(last.1))
}
