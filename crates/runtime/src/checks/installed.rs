//! What a package manager installed in the user's checkout, put within reach of a work tree.
//!
//! Node looks for packages in folders above the code, and a clean work tree has none. Packages of the repository itself
//! are linked to the work tree and never to the checkout: what is tested is the change.

use super::spec::CheckSpec;
use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

const FOLDER: &str = "node_modules";

/// Tells a folder that was made here from one of the repository.
const MARK: &str = ".linked-by-remand";

/// Of the hidden entries, those that packages are found by; the others are caches.
const HIDDEN: [&str; 2] = [".bin", ".pnpm"];

/// Links what the checks of these folders need, and gives the folders of the checkout that it leads to.
pub fn link(checkout: &Path, tree: &Path, specs: &[CheckSpec]) -> io::Result<Vec<PathBuf>> {
    let folders: BTreeSet<&Path> =
        specs.iter().flat_map(|spec| Path::new(&spec.folder).ancestors()).collect();
    let mut linked = Vec::new();
    for folder in folders {
        let (from, to) = (checkout.join(folder).join(FOLDER), tree.join(folder).join(FOLDER));
        if !from.is_dir() || !tree.join(folder).join("package.json").is_file() {
            continue;
        }
        if to.join(MARK).exists() {
            std::fs::remove_dir_all(&to)?;
        }
        if to.symlink_metadata().is_ok() {
            continue;
        }
        std::fs::create_dir(&to)?;
        std::fs::write(to.join(MARK), "")?;
        Linking { checkout: &checkout.canonicalize()?, tree }.all(&from, &to)?;
        linked.push(from);
    }
    Ok(linked)
}

struct Linking<'l> {
    checkout: &'l Path,
    tree: &'l Path,
}

impl Linking<'_> {
    fn all(&self, from: &Path, to: &Path) -> io::Result<()> {
        for entry in std::fs::read_dir(from)? {
            let entry = entry?;
            let name = entry.file_name();
            let text = name.to_string_lossy();
            if text.starts_with('.') && !HIDDEN.contains(&text.as_ref()) {
                continue;
            }
            let place = to.join(&name);
            if text.starts_with('@') && entry.file_type()?.is_dir() {
                std::fs::create_dir(&place)?;
                self.all(&entry.path(), &place)?;
            } else if let Ok(target) = self.target(&entry.path()) {
                // A link that leads nowhere is nothing that could be loaded.
                symlink(target, place)?;
            }
        }
        Ok(())
    }

    /// A package of the repository itself is taken from the work tree.
    fn target(&self, entry: &Path) -> io::Result<PathBuf> {
        let real = entry.canonicalize()?;
        let inside = real.strip_prefix(self.checkout).ok();
        let own = inside.filter(|path| !path.components().any(|part| part.as_os_str() == FOLDER));
        Ok(own.map_or(real.clone(), |path| self.tree.join(path)))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::checks::{Action, CheckSpec};
    use remand_kernel::evidence::Tier;
    use std::fs;

    #[test]
    fn packages_are_linked_and_those_of_the_repository_come_from_the_work_tree() {
        let folder = tempfile::tempdir().unwrap();
        let (checkout, tree) = (folder.path().join("checkout"), folder.path().join("tree"));
        for root in [&checkout, &tree] {
            fs::create_dir_all(root.join("packages/own")).unwrap();
            fs::write(root.join("package.json"), "{}").unwrap();
        }
        let modules = checkout.join(FOLDER);
        for path in ["other", "@scope/deep", ".cache", ".bin"] {
            fs::create_dir_all(modules.join(path)).unwrap();
        }
        symlink("../packages/own", modules.join("own")).unwrap();
        let mut spec = CheckSpec::new("vitest:packages/own", Tier::Two, Action::argv(&["npm", "test"]));
        spec.folder = "packages/own".to_string();
        for _ in 0..2 {
            let linked = link(&checkout, &tree, std::slice::from_ref(&spec)).unwrap();
            assert_eq!(linked, std::slice::from_ref(&modules));
            let target = |path: &str| fs::read_link(tree.join(FOLDER).join(path)).unwrap();
            assert_eq!(target("own"), tree.join("packages/own"));
            assert_eq!(target("other"), modules.canonicalize().unwrap().join("other"));
            assert_eq!(target("@scope/deep"), modules.canonicalize().unwrap().join("@scope/deep"));
            assert!(tree.join(FOLDER).join(".bin").is_dir() && !tree.join(FOLDER).join(".cache").exists());
        }
        let vendored = folder.path().join("vendored");
        fs::create_dir_all(vendored.join(FOLDER)).unwrap();
        fs::write(vendored.join("package.json"), "{}").unwrap();
        assert!(link(&checkout, &vendored, &[spec]).unwrap().is_empty());
    }
}
