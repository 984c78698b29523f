//! Which tree a command works in, and what is in it when it begins: always what the state says, whatever a crash or
//! an agent left there.

use super::{Job, Trouble};
use crate::git::{At, CommitId, Merge, Merging, TreeId, WorkTree};
use remand_kernel::change::Digest;
use remand_kernel::ids::Lane;

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

impl LaneTree {
    /// The tree of the command's lane, as its last change left it.
    pub fn as_it_is(job: &Job) -> Result<LaneTree, Trouble> {
        match lane_task(job) {
            None => main(job),
            Some((task, batch, written)) => {
                let trees = &job.site.trees;
                let kept = trees.kept(written)?;
                let base = match trees.lane_base(&task, batch)? {
                    Some(base) => base,
                    None => trees.main_state()?.commit,
                };
                let tree = match kept {
                    Some(kept) => kept.tree,
                    None => job.site.repository().tree_of(&base)?,
                };
                let work = trees.lend(&task, At::Tree(&tree))?;
                Ok(LaneTree { work, base, tree, unfit: None })
            }
        }
    }

    /// The content of the lane in a tree that no agent ever writes: what an agent leaves in ignored files must not
    /// decide how a check ends.
    pub fn for_checks(job: &Job) -> Result<LaneTree, Trouble> {
        let lane = LaneTree::as_it_is(job)?;
        let of = lane_task(job).map_or_else(|| "main line".to_string(), |(task, ..)| format!("task {task}"));
        lane.apart(job, &format!("checks of the {of}"))
    }

    /// The same content in another tree, known by this name.
    pub fn apart(self, job: &Job, name: &str) -> Result<LaneTree, Trouble> {
        let work = job.site.trees.lend(name, At::Tree(&self.tree))?;
        Ok(LaneTree { work, ..self })
    }

    /// The tree for new work in the lane: its own change so far on top of what others finished since.
    pub fn for_work(job: &Job) -> Result<LaneTree, Trouble> {
        let Some((task, batch, written)) = lane_task(job) else {
            return main(job);
        };
        let trees = &job.site.trees;
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
        let merge = job.site.trees.merge(task, &self.base, &self.tree, &job.id.to_string())?;
        if matches!(merge, Merge::Merged(_)) {
            job.site.trees.give_back(task)?;
            job.site.trees.give_back(&format!("checks of the task {task}"))?;
        }
        Ok(merge)
    }
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

/// The main tree. Where the state names a change that was made in it, it is brought there; a merged one stands by
/// itself, and an absent one is the base.
fn main(job: &Job) -> Result<LaneTree, Trouble> {
    let _main = job.site.hold_main();
    let trees = &job.site.trees;
    let work = trees.main_tree();
    let now = trees.main_state()?;
    let written = job.program.artifact_named("code").map(|code| job.state.digest(code)).unwrap_or_default();
    let wanted = if written == Digest::default() {
        Some(trees.base_tree()?)
    } else {
        trees.kept(written)?.map(|kept| kept.tree)
    };
    let tree = match wanted {
        Some(wanted) if wanted != now.tree => {
            trees.record(&wanted, "work of the run", &job.id.to_string())?.tree
        }
        Some(_) | None => now.tree,
    };
    work.restore(&tree)?;
    Ok(LaneTree { work, base: trees.base().clone(), tree, unfit: None })
}
