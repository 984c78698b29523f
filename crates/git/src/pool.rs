//! Lends work trees to tasks. A returned tree keeps its files, so only files that differ are written for the next task.

use super::remove::remove;
use super::worktree::write_atomically;
use super::{GitError, RunTrees, TreeId, WorkTree, error};
use std::collections::BTreeMap;
use std::fs;

/// The state that a task starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskStart<'t> {
    /// The current state of the main line.
    Main,
    Tree(&'t TreeId),
}

impl RunTrees {
    /// Lends a work tree in the given state. A task that already has a tree gets the same one. The ignored files of the
    /// previous holder are removed.
    pub fn lend(&self, task: &str, at: TaskStart<'_>) -> Result<WorkTree, GitError> {
        let tree = {
            let _pool = self.pool_guard();
            let lent = self.lent_trees()?;
            let number = match lent.iter().find(|(_, holder)| *holder == task) {
                Some((number, _)) => *number,
                None => (1..).find(|number| !lent.contains_key(number)).unwrap_or(u32::MAX),
            };
            let tree = self.work_tree(&number.to_string());
            tree.attach()?;
            write_atomically(&tree.private("task"), task.as_bytes())?;
            tree
        };
        match at {
            TaskStart::Main => tree.restore(&self.main_state()?.tree)?,
            TaskStart::Tree(state) => tree.restore(state)?,
        }
        tree.pass_to(task)?;
        Ok(tree)
    }

    /// Returns the work tree of a task to the pool, if it has one.
    pub fn give_back(&self, task: &str) -> Result<(), GitError> {
        let _pool = self.pool_guard();
        for number in
            self.lent_trees()?.into_iter().filter(|(_, holder)| holder == task).map(|(number, _)| number)
        {
            remove(&self.work_tree(&number.to_string()).private("task"))?;
        }
        Ok(())
    }

    /// The numbers of the lent trees, with their tasks.
    fn lent_trees(&self) -> Result<BTreeMap<u32, String>, GitError> {
        let folder = self.folder.join("private");
        let mut lent = BTreeMap::new();
        for entry in fs::read_dir(&folder).map_err(error::file("list", &folder))? {
            let file = entry.map_err(error::file("list", &folder))?.path();
            let number = file.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.parse().ok());
            if let Some(number) =
                number.filter(|_| file.extension().is_some_and(|extension| extension == "task"))
            {
                lent.insert(number, fs::read_to_string(&file).map_err(error::file("read", &file))?);
            }
        }
        Ok(lent)
    }
}
