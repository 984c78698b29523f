//! The repository's settings for agent programs. They are moved out of the tree while an agent works, so a repository
//! cannot change the rules of the agent that works on it.

use super::{Prepared, note};
use crate::site::Trouble;
use remand_git::{create_parents, remove};
use remand_ledger::fact::{Note, NoteKind};
use std::path::{Path, PathBuf};

/// A name with this prefix matches in every folder; any other name matches only at the root of the tree.
const ANYWHERE: &str = "**/";

/// The settings that were moved out of a tree.
#[derive(Debug)]
pub struct HiddenSettings {
    tree: PathBuf,
    /// The original path in the tree, and the temporary path.
    moved: Vec<(PathBuf, PathBuf)>,
}

impl HiddenSettings {
    /// Moves the paths that the driver names out of the tree.
    pub fn move_away(prepared: &Prepared<'_>) -> Result<HiddenSettings, Trouble> {
        let names = prepared.driver.unseen();
        let files = if names.iter().any(|name| name.starts_with(ANYWHERE)) {
            prepared.job.site.settings().repository.files(&prepared.lane.tree)?
        } else {
            Vec::new()
        };
        HiddenSettings::move_paths(
            prepared.lane.work.path(),
            &prepared.folder.hidden_settings(),
            &matching_paths(&names, &files),
        )
    }

    fn move_paths(tree: &Path, hidden_folder: &Path, paths: &[PathBuf]) -> Result<HiddenSettings, Trouble> {
        let mut hidden = HiddenSettings { tree: tree.to_path_buf(), moved: Vec::new() };
        for (number, path) in paths.iter().enumerate() {
            let (from, to) = (tree.join(path), hidden_folder.join(number.to_string()));
            if from.symlink_metadata().is_ok() {
                remand_git::private_folder(hidden_folder)?;
                std::fs::rename(&from, &to)?;
                hidden.moved.push((path.clone(), to));
            }
        }
        Ok(hidden)
    }

    /// Moves everything back. Files that the agent created at these paths are removed, with a note.
    pub fn move_back(self, title: &str) -> Result<Vec<Note>, Trouble> {
        let mut notes = Vec::new();
        for (path, hidden) in self.moved {
            create_parents(&self.tree, &path)?;
            let original = self.tree.join(&path);
            if original.symlink_metadata().is_ok() {
                let name = path.display().to_string();
                let text = format!(
                    "{title} wrote {name}, which contains settings of its own program; it was undone"
                );
                notes.push(Note { files: vec![name], ..note(NoteKind::Warning, text) });
                remove(&original)?;
            }
            std::fs::rename(&hidden, &original)?;
        }
        Ok(notes)
    }
}

/// The names without the prefix as paths, and the files of the tree that match a name with the prefix.
fn matching_paths(names: &[String], files: &[PathBuf]) -> Vec<PathBuf> {
    let (deep, plain): (Vec<&String>, Vec<&String>) =
        names.iter().partition(|name| name.starts_with(ANYWHERE));
    let is_deep = |path: &&PathBuf| {
        deep.iter().any(|name| path.file_name().is_some_and(|file| file == &name[ANYWHERE.len()..]))
    };
    let mut paths: Vec<PathBuf> = plain.into_iter().map(PathBuf::from).collect();
    let nested: Vec<PathBuf> = files.iter().filter(is_deep).cloned().collect();
    // A file in a folder that is moved as a whole needs no separate move.
    let outside = nested.into_iter().filter(|path| !paths.iter().any(|folder| path.starts_with(folder)));
    let outside: Vec<PathBuf> = outside.collect();
    paths.extend(outside);
    paths
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;
    use std::fs;

    // CORE-05
    #[test]
    fn settings_of_agent_programs_are_out_of_the_tree_while_the_agent_works() {
        let temp = tempfile::tempdir().expect("temp");
        let (tree, aside) = (temp.path().join("tree"), temp.path().join("aside"));
        fs::create_dir_all(tree.join(".agent/deep")).expect("folder");
        fs::write(tree.join(".agent/deep/settings"), "theirs").expect("file");
        fs::write(tree.join("code"), "code").expect("file");
        let names = [".agent".into(), ".none".into()];
        let hidden = HiddenSettings::move_paths(&tree, &aside, &names).expect("moved");
        assert!(!tree.join(".agent").exists() && tree.join("code").exists());
        fs::create_dir(tree.join(".agent")).expect("folder");
        fs::write(tree.join(".agent/own"), "own").expect("file");
        let notes = hidden.move_back("maker").expect("back");
        assert_eq!(notes.len(), 1);
        assert!(notes[0].text.contains("wrote .agent"), "{notes:?}");
        assert_eq!(fs::read_to_string(tree.join(".agent/deep/settings")).expect("there"), "theirs");
        assert!(!tree.join(".agent/own").exists());
    }

    // CORE-05
    #[test]
    fn settings_in_any_folder_are_moved_out_and_moving_back_follows_no_link() {
        let names = [".agent", "**/ORDERS.md"].map(str::to_string);
        let files = ["ORDERS.md", "src/ORDERS.md", "src/orders.rs", ".agent/ORDERS.md"].map(PathBuf::from);
        let paths = matching_paths(&names, &files);
        assert_eq!(paths, [".agent", "ORDERS.md", "src/ORDERS.md"].map(PathBuf::from));

        let temp = tempfile::tempdir().expect("temp");
        let (tree, aside, other) =
            (temp.path().join("tree"), temp.path().join("aside"), temp.path().join("other"));
        fs::create_dir_all(tree.join("src")).expect("folder");
        fs::create_dir_all(&other).expect("folder");
        fs::write(tree.join("src/ORDERS.md"), "theirs").expect("file");
        let hidden = HiddenSettings::move_paths(&tree, &aside, &paths).expect("moved");
        assert!(!tree.join("src/ORDERS.md").exists());
        fs::remove_dir(tree.join("src")).expect("removed");
        std::os::unix::fs::symlink(&other, tree.join("src")).expect("link");
        hidden.move_back("maker").expect("back");
        assert_eq!(fs::read_to_string(tree.join("src/ORDERS.md")).expect("there"), "theirs");
        assert!(!other.join("ORDERS.md").exists());
    }
}
