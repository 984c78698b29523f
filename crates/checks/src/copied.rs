//! Copies files that git ignores from the user's checkout into a work tree: packages of tools without a shared store,
//! generated version files, and what the user's settings name.
//!
//! They are copied and not linked, because programs look for the rest of the project next to the real path of such a file.

use super::spec::CheckSpec;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};
use std::time::UNIX_EPOCH;
use toml::{Table, Value};

/// Folders with packages, by the file that marks the project.
const PACKAGES: [(&str, &str); 3] =
    [("composer.json", "vendor"), ("Gemfile", "vendor/bundle"), ("mix.exs", "deps")];

/// Settings of Python's build tools that name a file with the version, which they write and git ignores.
const VERSION_FILES: [&[&str]; 4] = [
    &["tool", "setuptools_scm", "version_file"],
    &["tool", "setuptools_scm", "write_to"],
    &["tool", "hatch", "build", "hooks", "vcs", "version-file"],
    &["tool", "pdm", "version", "write_to"],
];

/// What projects with these committed files usually need of the checkout, relative to the root.
pub fn usual(checkout: &Path, files: &[String]) -> Vec<String> {
    let tracked: BTreeSet<&Path> = files.iter().map(Path::new).collect();
    let is_tracked = |path: &Path| tracked.iter().any(|file| file.starts_with(path));
    let mut found = BTreeSet::new();
    for file in &tracked {
        let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else { continue };
        let packages = PACKAGES.iter().filter(|(marker, _)| name == *marker);
        found.extend(packages.map(|(_, packages)| folder.join(packages)));
        if name == "pyproject.toml" {
            found.extend(version_files(&checkout.join(file)).into_iter().map(|path| folder.join(path)));
        }
    }
    found.retain(|path| is_plain(path) && checkout.join(path).exists() && !is_tracked(path));
    found.into_iter().filter_map(|path| path.to_str().map(str::to_string)).collect()
}

fn version_files(manifest: &Path) -> Vec<String> {
    let Ok(table) = fs::read_to_string(manifest).unwrap_or_default().parse::<Table>() else {
        return Vec::new();
    };
    let table = Value::Table(table);
    let value =
        |path: &&[&str]| path.iter().try_fold(&table, |table, key| table.get(key)).and_then(Value::as_str);
    VERSION_FILES.iter().filter_map(value).map(str::to_string).collect()
}

/// The paths that the checks need, relative to the root; each inside the checkout.
pub fn wanted(checkout: &Path, specs: &[CheckSpec]) -> BTreeSet<PathBuf> {
    let all = specs.iter().flat_map(|spec| &spec.copies).map(PathBuf::from);
    all.filter(|path| is_plain(path) && checkout.join(path).symlink_metadata().is_ok()).collect()
}

fn is_plain(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_))) && path.components().next().is_some()
}

/// Copies a file or folder; returns false if the tree itself has something at this path.
pub fn copy(from: &Path, to: &Path) -> io::Result<bool> {
    if to.symlink_metadata().is_ok() {
        return Ok(false);
    }
    copy_entry(from, to)?;
    Ok(true)
}

fn copy_entry(from: &Path, to: &Path) -> io::Result<()> {
    let kind = from.symlink_metadata()?.file_type();
    if kind.is_symlink() {
        return symlink(fs::read_link(from)?, to);
    }
    if kind.is_file() {
        return fs::copy(from, to).map(drop);
    }
    if kind.is_dir() {
        fs::create_dir(to)?;
        for entry in fs::read_dir(from)? {
            let name = entry?.file_name();
            copy_entry(&from.join(&name), &to.join(&name))?;
        }
    }
    // Pipes and sockets are not data.
    Ok(())
}

/// A text that differs if one of the copied files does.
pub fn fingerprint(checkout: &Path, specs: &[CheckSpec]) -> String {
    let mut text = String::new();
    let mut pending: Vec<PathBuf> = wanted(checkout, specs).into_iter().collect();
    while let Some(path) = pending.pop() {
        let Ok(found) = checkout.join(&path).symlink_metadata() else { continue };
        let changed = found.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        text.push_str(&format!("{} {} {changed:?}\n", path.display(), found.len()));
        if found.is_dir() {
            let entries = fs::read_dir(checkout.join(&path)).into_iter().flatten().flatten();
            pending.extend(entries.map(|entry| path.join(entry.file_name())));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::{CheckAction, link, unlink};
    use remand_kernel::evidence::Tier;

    // UP-03
    #[test]
    fn ignored_packages_and_generated_files_are_copied_unless_the_commit_has_them() {
        let temp = tempfile::tempdir().unwrap();
        let (checkout, tree) = (temp.path().join("checkout"), temp.path().join("tree"));
        let put = |path: &Path, text: &str| {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let manifest = "[tool.setuptools_scm]\nversion_file = \"src/box/_version.py\"\n";
        for root in [&checkout, &tree] {
            put(&root.join("composer.json"), "{}");
            put(&root.join("pyproject.toml"), manifest);
            put(&root.join("src/box/__init__.py"), "");
            put(&root.join("own/vendor/kept"), "committed");
            put(&root.join("own/composer.json"), "{}");
        }
        put(&checkout.join("vendor/bin/unit"), "run");
        put(&checkout.join("src/box/_version.py"), "version = 1");
        let files: Vec<String> = [
            "composer.json",
            "pyproject.toml",
            "src/box/__init__.py",
            "own/vendor/kept",
            "own/composer.json",
        ]
        .map(str::to_string)
        .into();
        let copies = usual(&checkout, &files);
        assert_eq!(copies, ["src/box/_version.py", "vendor"]);
        let mut spec = CheckSpec::new("unit", Tier::Two, CheckAction::argv(&["vendor/bin/unit"]));
        spec.copies = [copies, vec!["../secret".to_string(), "own/vendor/kept".to_string()]].concat();
        let before = fingerprint(&checkout, std::slice::from_ref(&spec));
        let added = link(&checkout, &tree, std::slice::from_ref(&spec)).unwrap();
        assert_eq!(added.added, ["src/box/_version.py", "vendor"].map(PathBuf::from));
        assert_eq!(fs::read_to_string(tree.join("vendor/bin/unit")).unwrap(), "run");
        put(&checkout.join("vendor/bin/unit"), "run more");
        assert_ne!(fingerprint(&checkout, &[spec]), before);
        unlink(&tree, &added).unwrap();
        assert!(!tree.join("vendor").exists() && tree.join("own/vendor/kept").exists());
    }
}
