//! Settings of the repository for the agent's own program: they are out of the tree while it works, so that the code under
//! work cannot change the rules of who works on it.

use super::{Brief, note};
use crate::git::{clear_way, remove};
use crate::workshop::Trouble;
use remand_ledger::fact::{Note, NoteKind};
use std::path::{Path, PathBuf};

/// Before a name that counts in every folder, and not at the root of the tree alone.
const ANYWHERE: &str = "**/";

/// What was taken out of a tree.
#[derive(Debug)]
pub struct Unseen {
    tree: PathBuf,
    /// Where each was in the tree, and where it is meanwhile.
    moved: Vec<(PathBuf, PathBuf)>,
}

impl Unseen {
    /// Takes out what the driver names.
    pub fn take_away(brief: &Brief<'_>) -> Result<Unseen, Trouble> {
        let names = brief.driver.unseen();
        let files = if names.iter().any(|name| name.starts_with(ANYWHERE)) {
            brief.job.site.settings().repository.files(&brief.lane.tree)?
        } else {
            Vec::new()
        };
        Unseen::of(brief.lane.work.path(), &brief.folder.unseen(), &found(&names, &files))
    }

    fn of(tree: &Path, aside: &Path, paths: &[PathBuf]) -> Result<Unseen, Trouble> {
        let mut unseen = Unseen { tree: tree.to_path_buf(), moved: Vec::new() };
        for (number, path) in paths.iter().enumerate() {
            let (from, to) = (tree.join(path), aside.join(number.to_string()));
            if from.symlink_metadata().is_ok() {
                crate::home::private_folder(aside)?;
                std::fs::rename(&from, &to)?;
                unseen.moved.push((path.clone(), to));
            }
        }
        Ok(unseen)
    }

    /// Puts everything back. What the agent made in its place goes, and that is told.
    pub fn put_back(self, title: &str) -> Result<Vec<Note>, Trouble> {
        let mut notes = Vec::new();
        for (path, to) in self.moved {
            clear_way(&self.tree, &path)?;
            let from = self.tree.join(&path);
            if from.symlink_metadata().is_ok() {
                let name = path.display().to_string();
                let text =
                    format!("{title} wrote {name}, which holds settings of its own program; it was undone");
                notes.push(Note { files: vec![name], ..note(NoteKind::Warning, text) });
                remove(&from)?;
            }
            std::fs::rename(&to, &from)?;
        }
        Ok(notes)
    }
}

/// The paths that names stand for, given the files of the tree.
fn found(names: &[String], files: &[PathBuf]) -> Vec<PathBuf> {
    let (deep, plain): (Vec<&String>, Vec<&String>) =
        names.iter().partition(|name| name.starts_with(ANYWHERE));
    let is_deep = |path: &&PathBuf| {
        deep.iter().any(|name| path.file_name().is_some_and(|own| own == &name[ANYWHERE.len()..]))
    };
    let mut paths: Vec<PathBuf> = plain.into_iter().map(PathBuf::from).collect();
    let more: Vec<PathBuf> = files.iter().filter(is_deep).cloned().collect();
    // What lies in a folder that goes as a whole goes with it.
    let beside = more.into_iter().filter(|path| !paths.iter().any(|folder| path.starts_with(folder)));
    let beside: Vec<PathBuf> = beside.collect();
    paths.extend(beside);
    paths
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;
    use std::fs;

    // CORE-05
    #[test]
    fn settings_for_the_agents_program_are_away_while_it_works() {
        let temp = tempfile::tempdir().expect("temp");
        let (tree, aside) = (temp.path().join("tree"), temp.path().join("aside"));
        fs::create_dir_all(tree.join(".agent/deep")).expect("folder");
        fs::write(tree.join(".agent/deep/settings"), "theirs").expect("file");
        fs::write(tree.join("code"), "code").expect("file");
        let names = [".agent".into(), ".none".into()];
        let unseen = Unseen::of(&tree, &aside, &names).expect("taken");
        assert!(!tree.join(".agent").exists() && tree.join("code").exists());
        fs::create_dir(tree.join(".agent")).expect("folder");
        fs::write(tree.join(".agent/own"), "own").expect("file");
        let notes = unseen.put_back("maker").expect("back");
        assert_eq!(notes.len(), 1);
        assert!(notes[0].text.contains("wrote .agent"), "{notes:?}");
        assert_eq!(fs::read_to_string(tree.join(".agent/deep/settings")).expect("there"), "theirs");
        assert!(!tree.join(".agent/own").exists());
    }

    // CORE-05
    #[test]
    fn names_that_count_anywhere_are_taken_from_every_folder_and_put_back_there_only() {
        let names = [".agent", "**/ORDERS.md"].map(str::to_string);
        let files = ["ORDERS.md", "src/ORDERS.md", "src/orders.rs", ".agent/ORDERS.md"].map(PathBuf::from);
        let paths = found(&names, &files);
        assert_eq!(paths, [".agent", "ORDERS.md", "src/ORDERS.md"].map(PathBuf::from));

        let temp = tempfile::tempdir().expect("temp");
        let (tree, aside, other) =
            (temp.path().join("tree"), temp.path().join("aside"), temp.path().join("other"));
        fs::create_dir_all(tree.join("src")).expect("folder");
        fs::create_dir_all(&other).expect("folder");
        fs::write(tree.join("src/ORDERS.md"), "theirs").expect("file");
        let unseen = Unseen::of(&tree, &aside, &paths).expect("taken");
        assert!(!tree.join("src/ORDERS.md").exists());
        fs::remove_dir(tree.join("src")).expect("gone");
        std::os::unix::fs::symlink(&other, tree.join("src")).expect("link");
        unseen.put_back("maker").expect("back");
        assert_eq!(fs::read_to_string(tree.join("src/ORDERS.md")).expect("there"), "theirs");
        assert!(!other.join("ORDERS.md").exists());
    }
}
