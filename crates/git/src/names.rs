//! The names of a run's branch, tag, references and work trees.

/// The branch that a run commits to.
pub(super) fn branch_of(run: &str) -> String {
    format!("remand/{run}")
}

/// The tag on the commit that a run starts from.
pub(super) fn tag_of(run: &str) -> String {
    format!("pipeline-baseline-{run}")
}

/// The reference to the commit that a run starts from.
pub(super) fn base_reference(run: &str) -> String {
    format!("refs/remand/{run}/base")
}

/// The reference to the end of a run's main line.
pub(super) fn main_reference(run: &str) -> String {
    format!("refs/remand/{run}/main")
}

/// The prefix of the names under which git lists the work trees of a run.
pub(super) fn work_tree_prefix(run: &str) -> String {
    format!("remand-{run}-")
}

/// How the lock of a run's work tree starts.
const LOCK_PREFIX: &str = "remand run ";

/// The content of the lock that keeps git from pruning a run's work tree.
pub(super) fn lock_of(run: &str) -> String {
    format!("{LOCK_PREFIX}{run}\n")
}

/// The run whose work tree has this lock, if the engine created the lock.
pub(super) fn run_of_lock(lock: &str) -> Option<String> {
    lock.strip_prefix(LOCK_PREFIX).map(|run| run.trim().to_string())
}
