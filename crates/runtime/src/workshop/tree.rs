//! Which tree a command works in, and what is in it when it begins: always what the state says, whatever a crash or
//! an agent left there.

use super::{Job, Trouble};
use crate::git::{At, CommitId, Merge, Merging, TreeId, WorkTree};
use remand_kernel::change::Digest;
use remand_kernel::ids::Lane;

/// The trees that a role can change are artifacts by their content, not by a result.
pub const TREES: [&str; 2] = ["code", "tests"];

/// The tree of a lane, brought to where the lane is.
#[derive(Clone, Debug)]
pub struct LaneTree {
    pub work: WorkTree,
    /// What the change of the lane is counted from.
    pub base: CommitId,
    /// What is in it now.
    pub tree: TreeId,
    /// A change that no longer fits on top of what others did since; the work begins without it.
    pub unfit: Option<TreeId>,
}

/// What a lane holds, for checks; a tree is brought there only if something has to be run.
#[derive(Clone, Debug)]
pub struct LaneContent {
    /// What the change of the lane is counted from.
    pub base: CommitId,
    pub tree: TreeId,
    /// The name of the tree for its checks.
    name: String,
}

impl LaneContent {
    /// The content of the command's lane, as its last change left it.
    pub fn of(job: &Job) -> Result<LaneContent, Trouble> {
        let (base, tree) = match lane_task(job) {
            None => (job.trees.base().clone(), main_content(job)?),
            Some((task, batch, written)) => task_content(job, &task, batch, written)?,
        };
        let of = lane_task(job).map_or_else(|| "main line".to_string(), |(task, ..)| format!("task {task}"));
        Ok(LaneContent { base, tree, name: format!("checks of the {of}") })
    }

    /// Other content for the same checks.
    pub fn holding(&self, tree: &TreeId) -> LaneContent {
        LaneContent { tree: tree.clone(), ..self.clone() }
    }

    /// The content in a tree that no agent ever writes: what an agent leaves in ignored files must not decide how a
    /// check ends.
    pub fn check_out(&self, job: &Job) -> Result<WorkTree, Trouble> {
        Ok(job.trees.lend(&self.name, At::Tree(&self.tree))?)
    }
}

impl LaneTree {
    /// The tree of the command's lane, as its last change left it.
    pub fn as_it_is(job: &Job) -> Result<LaneTree, Trouble> {
        match lane_task(job) {
            None => main(job),
            Some((task, batch, written)) => {
                let (base, tree) = task_content(job, &task, batch, written)?;
                let work = job.trees.lend(&task, At::Tree(&tree))?;
                Ok(LaneTree { work, base, tree, unfit: None })
            }
        }
    }

    /// The same content in another tree, known by this name.
    pub fn apart(self, job: &Job, name: &str) -> Result<LaneTree, Trouble> {
        let work = job.trees.lend(name, At::Tree(&self.tree))?;
        Ok(LaneTree { work, ..self })
    }

    /// The tree for new work in the lane: its own change so far on top of what others finished since.
    pub fn for_work(job: &Job) -> Result<LaneTree, Trouble> {
        let Some((task, batch, written)) = lane_task(job) else {
            return main(job);
        };
        let trees = &job.trees;
        let main = trees.main_state()?;
        let attempt = job.state.attempts.get(&task).copied().unwrap_or_default();
        let last = if written == Digest::default() { attempt } else { written };
        let kept = trees.kept(last)?;
        let (tree, unfit) = match kept {
            None => (main.tree.clone(), None),
            Some(kept) if kept.base == main.commit => (kept.tree, None),
            Some(kept) if trees.merged_since(&task, &kept.base)? => (main.tree.clone(), None),
            Some(kept) => match trees.merge_trees(&kept.base, &main.tree, &kept.tree)? {
                Merging::Clean(tree) => (tree, None),
                Merging::Conflict { .. } => (main.tree.clone(), Some(kept.tree)),
            },
        };
        trees.set_lane_base(&task, batch, &main.commit)?;
        let work = trees.lend(&task, At::Tree(&tree))?;
        Ok(LaneTree { work, base: main.commit, tree, unfit })
    }

    /// Merges the lane's change into the main tree; the trees of the lane are free for others then.
    pub fn merge(&self, job: &Job, task: &str) -> Result<Merge, Trouble> {
        let _main = job.site.hold_main();
        let merge = job.trees.merge(task, &self.base, &self.tree, &job.id.to_string())?;
        if matches!(merge, Merge::Merged(_)) {
            job.trees.give_back(task)?;
            job.trees.give_back(&format!("checks of the task {task}"))?;
        }
        Ok(merge)
    }
}

/// What a task's change is counted from, and what is there with it.
fn task_content(job: &Job, task: &str, batch: u16, written: Digest) -> Result<(CommitId, TreeId), Trouble> {
    let trees = &job.trees;
    if let Some(kept) = trees.kept(written)? {
        return Ok((kept.base, kept.tree));
    }
    let begun = trees.lane_base(task, batch)?;
    let base = begun.map_or_else(|| trees.main_state().map(|main| main.commit), Ok)?;
    let tree = job.site.repository().tree_of(&base)?;
    Ok((base, tree))
}

/// Task, batch and last change of the lane.
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

/// The main tree, with what the main line holds.
fn main(job: &Job) -> Result<LaneTree, Trouble> {
    let _main = job.site.hold_main();
    let tree = main_line(job)?;
    let work = job.trees.main_tree();
    work.restore(&tree)?;
    Ok(LaneTree { work, base: job.trees.base().clone(), tree, unfit: None })
}

fn main_content(job: &Job) -> Result<TreeId, Trouble> {
    let _main = job.site.hold_main();
    main_line(job)
}

/// What the main line holds. Where the state names a change that was made in it, it is brought there; a merged one
/// stands by itself, and an absent one is the base. The caller holds the main tree.
fn main_line(job: &Job) -> Result<TreeId, Trouble> {
    let trees = &job.trees;
    let now = trees.main_state()?;
    let wanted = match last_written(job)? {
        Some(written) => trees.kept(written)?.map(|kept| kept.tree),
        None => Some(trees.base_tree()?),
    };
    Ok(match wanted {
        Some(wanted) if wanted != now.tree => {
            trees.record(&wanted, "work of the run", &job.id.to_string())?.tree
        }
        Some(_) | None => now.tree,
    })
}

/// The tree that counts is that of the artifact which was written last: each of them is the whole tree, and what was
/// written before is in it.
fn last_written(job: &Job) -> Result<Option<Digest>, Trouble> {
    let ids = TREES.iter().filter_map(|name| Some((*name, job.program.artifact_named(name)?)));
    let there: Vec<(&str, Digest)> = ids
        .map(|(name, id)| (name, job.state.digest(id)))
        .filter(|(_, digest)| *digest != Digest::default())
        .collect();
    let [(_, first), others @ ..] = there.as_slice() else {
        return Ok(None);
    };
    if others.is_empty() {
        return Ok(Some(*first));
    }
    let reader = job.site.reader()?;
    let mut last = (0, *first);
    for (name, digest) in there {
        let row = reader.artifact_with(&job.site.run, name, digest)?;
        last = last.max((row.map_or(0, |row| row.seq), digest));
    }
    Ok(Some(last.1))
}
