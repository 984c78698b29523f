//! Undoes the merged work of tasks on the main line. The work of other tasks stays.

use super::chain::{Link, LinkKind, NewLink, hex, one_line};
use super::{CommitState, GitError, RunTrees};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The result of undoing tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoneTasks {
    pub state: CommitState,
    /// The number of merges that were undone.
    pub undone: usize,
    /// Files in which other tasks changed the same lines. They are restored to the state before the undone task, so the
    /// changes of the other tasks are lost.
    pub overwritten: Vec<PathBuf>,
}

impl RunTrees {
    /// Undoes all merges of these tasks, starting with the latest.
    pub fn undo_tasks(&self, tasks: &[&str], command: &str) -> Result<UndoneTasks, GitError> {
        let _main = self.main_guard();
        let links = self.links()?;
        let trailer = one_line(command);
        let earlier = links.iter().find(|link| link.command == trailer);
        let undone = match earlier {
            Some(link) => UndoneTasks {
                state: link.state.clone(),
                undone: link.undid.len(),
                overwritten: link.overwrote.iter().cloned().collect(),
            },
            None => self.undo(&links, tasks, command)?,
        };
        self.restore_main_tree(&self.main_state()?)?;
        Ok(undone)
    }

    fn undo(&self, links: &[Link], tasks: &[&str], command: &str) -> Result<UndoneTasks, GitError> {
        let tasks: BTreeSet<String> = tasks.iter().map(|task| one_line(task)).collect();
        let undone: BTreeSet<&str> = links.iter().flat_map(|link| &link.undid).map(String::as_str).collect();
        let is_to_undo = |link: &&Link| {
            link.kind == LinkKind::Merge.name()
                && tasks.contains(&link.task)
                && !undone.contains(link.state.commit.as_str())
        };
        let merges: Vec<&Link> = links.iter().filter(is_to_undo).collect();
        let state = self.main_state()?;
        if merges.is_empty() {
            return Ok(UndoneTasks { state, undone: 0, overwritten: Vec::new() });
        }
        let mut tree = state.tree.tree().to_string();
        let mut overwritten = BTreeSet::new();
        for merge in &merges {
            let before = self.repository.tree_of(&merge.parent)?;
            let reverted = self.three_way(merge.state.tree.tree(), &tree, before.tree())?;
            tree = reverted.tree;
            if !reverted.conflicts.is_empty() {
                let index = self.folder.join("private").join("take-back");
                tree = self.repository.with_paths_of(&tree, before.tree(), &reverted.conflicts, &index)?;
                overwritten.extend(reverted.conflicts);
            }
        }
        let ids: Vec<&str> = merges.iter().map(|merge| merge.state.commit.as_str()).collect();
        let paths: Vec<String> = overwritten.iter().map(|path| hex(path)).collect();
        let names: Vec<&str> = tasks.iter().map(String::as_str).collect();
        let message = format!("Undo {}", names.join(", "));
        let trailers = vec![("Remand-Undid", ids.join(" ")), ("Remand-Overwrote", paths.join(" "))];
        let state =
            self.append(&tree, &NewLink { kind: LinkKind::Undo, message: &message, command, trailers })?;
        Ok(UndoneTasks { state, undone: merges.len(), overwritten: overwritten.into_iter().collect() })
    }
}
