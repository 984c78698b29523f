//! Everything but some folders: permissions can only be given, so what may be read is all that lies beside the way there.

use std::fs;
use std::path::{Path, PathBuf};

/// The files and folders of the machine, as few and as high up as can be, without the hidden ones.
pub(super) fn beside(hidden: &[PathBuf]) -> Vec<PathBuf> {
    let hidden: Vec<PathBuf> =
        hidden.iter().map(|path| path.canonicalize().unwrap_or_else(|_| path.clone())).collect();
    below(Path::new("/"), &hidden)
}

fn below(folder: &Path, hidden: &[PathBuf]) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut spared = Vec::new();
    for path in entries.map(|entry| entry.path()) {
        // A link counts as what it leads to: a permission holds for that.
        let Ok(real) = path.canonicalize() else {
            continue;
        };
        let leads_there = hidden.iter().any(|hidden| hidden.starts_with(&real));
        match (leads_there, hidden.iter().any(|hidden| real.starts_with(hidden))) {
            (false, false) => spared.push(path),
            (true, false) if real == path => spared.extend(below(&path, hidden)),
            (true, false) | (_, true) => {}
        }
    }
    spared
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
        let mut spared = beside(&[root.join("state")]);
        spared.retain(|path| path.starts_with(&root));
        spared.sort();
        assert_eq!(spared, [root.join("project"), root.join("state-of-art")]);
        assert!(!beside(&[root.join("state")]).contains(&PathBuf::from("/tmp")) || !root.starts_with("/tmp"));
    }
}
