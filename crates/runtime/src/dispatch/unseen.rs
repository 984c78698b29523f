//! Settings of the repository for the agent's own program: they are out of the tree while it works, so that the code under
//! work cannot change the rules of who works on it.

use super::{Brief, note};
use crate::git::remove;
use crate::workshop::Trouble;
use remand_ledger::fact::{Note, NoteKind};
use std::path::{Path, PathBuf};

/// What was taken out of a tree.
#[derive(Debug, Default)]
pub struct Unseen {
    /// Where each was, and where it is meanwhile.
    moved: Vec<(PathBuf, PathBuf)>,
}

impl Unseen {
    /// Takes out what the driver names, at the root of the tree.
    pub fn take_away(brief: &Brief<'_>) -> Result<Unseen, Trouble> {
        Unseen::of(brief.lane.work.path(), &brief.folder.unseen(), &brief.driver.unseen())
    }

    fn of(tree: &Path, aside: &Path, names: &[String]) -> Result<Unseen, Trouble> {
        let mut unseen = Unseen::default();
        for name in names {
            let (from, to) = (tree.join(name), aside.join(name));
            if from.symlink_metadata().is_ok() {
                crate::home::private_folder(aside)?;
                std::fs::rename(&from, &to)?;
                unseen.moved.push((from, to));
            }
        }
        Ok(unseen)
    }

    /// Puts everything back. What the agent made in its place goes, and that is told.
    pub fn put_back(self, title: &str) -> Result<Vec<Note>, Trouble> {
        let mut notes = Vec::new();
        for (from, to) in self.moved {
            if from.symlink_metadata().is_ok() {
                let name = from.file_name().unwrap_or_default().to_string_lossy().into_owned();
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
        let names = [".agent".to_string(), ".none".to_string()];
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
}
