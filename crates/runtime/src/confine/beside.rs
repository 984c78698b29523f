//! What may be read: permissions can only be given, so that they go to all that lies beside the way to what is hidden.

use std::fs;
use std::path::{Path, PathBuf};

/// The files and folders of the machine, as few and as high up as can be, without the hidden ones. What is shown inside
/// a hidden folder is among them, and what is hidden inside that again is not: the longer path decides.
pub(super) fn readable(hidden: &[PathBuf], shown: &[PathBuf]) -> Vec<PathBuf> {
    let real = |paths: &[PathBuf]| -> Vec<PathBuf> {
        paths.iter().map(|path| path.canonicalize().unwrap_or_else(|_| path.clone())).collect()
    };
    let places = Places { hidden: real(hidden), shown: real(shown) };
    let mut spared = Vec::new();
    places.below(Path::new("/"), &mut spared);
    let inside =
        places.shown.iter().filter(|shown| places.hidden.iter().any(|hidden| shown.starts_with(hidden)));
    for shown in inside {
        places.take(shown, &mut spared);
    }
    spared.sort();
    spared.dedup();
    spared
}

struct Places {
    hidden: Vec<PathBuf>,
    shown: Vec<PathBuf>,
}

impl Places {
    /// Takes a path that may be read: as a whole, or what is left of it beside hidden places.
    fn take(&self, path: &Path, spared: &mut Vec<PathBuf>) {
        if self.is_hidden(path) {
            return;
        }
        match self.hidden.iter().any(|hidden| hidden != path && hidden.starts_with(path)) {
            true => self.below(path, spared),
            false => spared.push(path.to_path_buf()),
        }
    }

    fn below(&self, folder: &Path, spared: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            // A link leads to a place that has a name of its own, and that decides.
            if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
                self.take(&entry.path(), spared);
            }
        }
    }

    fn is_hidden(&self, path: &Path) -> bool {
        let longest = |places: &[PathBuf]| {
            places
                .iter()
                .filter(|place| path.starts_with(place))
                .map(|place| place.components().count())
                .max()
        };
        longest(&self.hidden).is_some_and(|hidden| longest(&self.shown).is_none_or(|shown| hidden > shown))
    }
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    // CORE-05
    #[test]
    fn what_is_hidden_is_left_out_and_what_lies_beside_it_is_not() {
        let temp = tempfile::tempdir().expect("temp");
        let root = temp.path().canonicalize().expect("root");
        for folder in ["state/deep", "project", "state-of-art"] {
            fs::create_dir_all(root.join(folder)).expect("folder");
        }
        std::os::unix::fs::symlink(root.join("state/deep"), root.join("link")).expect("link");
        std::os::unix::fs::symlink(&root, root.join("loop")).expect("link");
        let mut spared = readable(&[root.join("state")], &[]);
        spared.retain(|path| path.starts_with(&root));
        assert_eq!(spared, [root.join("project"), root.join("state-of-art")]);
        assert!(
            !readable(&[root.join("state")], &[]).contains(&PathBuf::from("/tmp"))
                || !root.starts_with("/tmp")
        );
    }

    // CORE-05
    #[test]
    fn a_shown_folder_inside_a_hidden_one_is_read_but_for_what_is_hidden_in_it() {
        let temp = tempfile::tempdir().expect("temp");
        let root = temp.path().canonicalize().expect("root");
        for folder in ["home/.ssh", "home/.cargo/bin"] {
            fs::create_dir_all(root.join(folder)).expect("folder");
        }
        fs::write(root.join("home/.cargo/credentials.toml"), "token").expect("file");
        fs::write(root.join("home/.cargo/config.toml"), "").expect("file");
        let hidden = [root.join("home"), root.join("home/.cargo/credentials.toml")];
        let mut spared = readable(&hidden, &[root.join("home/.cargo")]);
        spared.retain(|path| path.starts_with(&root));
        assert_eq!(spared, [root.join("home/.cargo/bin"), root.join("home/.cargo/config.toml")]);
    }
}
