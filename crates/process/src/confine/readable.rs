//! The paths that may be read. Landlock can only grant access, so all paths except the hidden ones must be listed.

use std::fs;
use std::path::{Path, PathBuf};

/// Lists the readable files and folders of the machine: as few paths as possible, each as near to the root as possible.
/// For each path, its longest hidden or shown prefix decides.
pub(super) fn readable(hidden: &[PathBuf], shown: &[PathBuf]) -> Vec<PathBuf> {
    let real = |paths: &[PathBuf]| -> Vec<PathBuf> {
        paths.iter().map(|path| path.canonicalize().unwrap_or_else(|_| path.clone())).collect()
    };
    let visibility = Visibility { hidden: real(hidden), shown: real(shown) };
    let mut readable = Vec::new();
    visibility.add_entries(Path::new("/"), &mut readable);
    let shown_inside_hidden = visibility
        .shown
        .iter()
        .filter(|shown| visibility.hidden.iter().any(|hidden| shown.starts_with(hidden)));
    for shown in shown_inside_hidden {
        visibility.add(shown, &mut readable);
    }
    readable.sort();
    readable.dedup();
    readable
}

struct Visibility {
    hidden: Vec<PathBuf>,
    shown: Vec<PathBuf>,
}

impl Visibility {
    /// Adds a path, or only those parts of it that are not hidden.
    fn add(&self, path: &Path, readable: &mut Vec<PathBuf>) {
        if self.is_hidden(path) {
            return;
        }
        match self.hidden.iter().any(|hidden| hidden != path && hidden.starts_with(path)) {
            true => self.add_entries(path, readable),
            false => readable.push(path.to_path_buf()),
        }
    }

    fn add_entries(&self, folder: &Path, readable: &mut Vec<PathBuf>) {
        // A folder that cannot be listed has nothing to grant.
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            // A link is skipped: the path of its target decides.
            if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
                self.add(&entry.path(), readable);
            }
        }
    }

    fn is_hidden(&self, path: &Path) -> bool {
        let longest = |paths: &[PathBuf]| {
            paths
                .iter()
                .filter(|prefix| path.starts_with(prefix))
                .map(|prefix| prefix.components().count())
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
    fn hidden_folders_are_excluded_and_their_siblings_are_included() {
        let temp = tempfile::tempdir().expect("temp");
        let root = temp.path().canonicalize().expect("root");
        for folder in ["state/deep", "project", "state-of-art"] {
            fs::create_dir_all(root.join(folder)).expect("folder");
        }
        std::os::unix::fs::symlink(root.join("state/deep"), root.join("link")).expect("link");
        std::os::unix::fs::symlink(&root, root.join("loop")).expect("link");
        let mut found = readable(&[root.join("state")], &[]);
        found.retain(|path| path.starts_with(&root));
        assert_eq!(found, [root.join("project"), root.join("state-of-art")]);
        assert!(
            !readable(&[root.join("state")], &[]).contains(&PathBuf::from("/tmp"))
                || !root.starts_with("/tmp")
        );
    }

    // CORE-05
    #[test]
    fn a_shown_folder_inside_a_hidden_one_is_readable_except_for_files_hidden_in_it() {
        let temp = tempfile::tempdir().expect("temp");
        let root = temp.path().canonicalize().expect("root");
        for folder in ["home/.ssh", "home/.cargo/bin"] {
            fs::create_dir_all(root.join(folder)).expect("folder");
        }
        fs::write(root.join("home/.cargo/credentials.toml"), "token").expect("file");
        fs::write(root.join("home/.cargo/config.toml"), "").expect("file");
        let hidden = [root.join("home"), root.join("home/.cargo/credentials.toml")];
        let mut found = readable(&hidden, &[root.join("home/.cargo")]);
        found.retain(|path| path.starts_with(&root));
        assert_eq!(found, [root.join("home/.cargo/bin"), root.join("home/.cargo/config.toml")]);
    }
}
