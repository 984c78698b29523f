//! Copies files that git ignores from the user's checkout into a work tree: packages of tools without a shared store,
//! generated version files, and what the user's settings name.
//!
//! They are copied and not linked, because programs look for the rest of the project next to the real path of such a file.

use super::spec::CheckSpec;
use remand_git::{GitError, has_real_parents, remove_inside};
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

/// What projects with these committed files usually need of the checkout, relative to the root. `committed` reads one of
/// these files as it is in the commit, since a change of it must not choose what is copied.
pub fn usual(checkout: &Path, files: &[String], committed: &dyn Fn(&Path) -> Option<Vec<u8>>) -> Vec<String> {
    let tracked: BTreeSet<&Path> = files.iter().map(Path::new).collect();
    let is_tracked = |path: &Path| tracked.iter().any(|file| file.starts_with(path));
    let is = |path: &Path, is_kind: fn(&fs::FileType) -> bool| {
        is_real(checkout, path)
            && checkout.join(path).symlink_metadata().is_ok_and(|found| is_kind(&found.file_type()))
    };
    let mut found = BTreeSet::new();
    for file in &tracked {
        let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else { continue };
        let packages = PACKAGES.iter().filter(|(marker, _)| name == *marker);
        let packages = packages.map(|(_, packages)| folder.join(packages));
        found.extend(packages.filter(|path| is(path, fs::FileType::is_dir)));
        if name == "pyproject.toml" {
            let text = committed(file).and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
            let named = version_files(&text).into_iter().map(|path| folder.join(path));
            found.extend(named.filter(|path| is_version_file(path) && is(path, fs::FileType::is_file)));
        }
    }
    found.retain(|path| !is_tracked(path));
    found.into_iter().filter_map(|path| path.to_str().map(str::to_string)).collect()
}

/// Whether a path looks like code with a version. The repository names the path, and could name a file with secrets.
fn is_version_file(path: &Path) -> bool {
    let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    path.extension().is_some_and(|extension| extension == "py") && name.contains("version")
}

fn version_files(manifest: &str) -> Vec<String> {
    let Ok(table) = manifest.parse::<Table>() else { return Vec::new() };
    let table = Value::Table(table);
    let value =
        |path: &&[&str]| path.iter().try_fold(&table, |table, key| table.get(key)).and_then(Value::as_str);
    VERSION_FILES.iter().filter_map(value).map(str::to_string).collect()
}

/// The paths that the checks need, relative to the root; each inside the checkout.
pub fn wanted(checkout: &Path, specs: &[CheckSpec]) -> BTreeSet<PathBuf> {
    let all = specs.iter().flat_map(|spec| &spec.copies).map(PathBuf::from);
    all.filter(|path| is_real(checkout, path) && checkout.join(path).symlink_metadata().is_ok()).collect()
}

/// Whether a path stays inside the checkout, also where that contains links.
fn is_real(checkout: &Path, path: &Path) -> bool {
    let is_plain = path.components().all(|part| matches!(part, Component::Normal(_)));
    is_plain && path.components().next().is_some() && has_real_parents(checkout, path)
}

/// Removes the copies that an earlier check or agent left in a tree, except what the content of the tree itself has.
pub fn remove_old(
    checkout: &Path,
    tree: &Path,
    specs: &[CheckSpec],
    content: &[PathBuf],
) -> Result<(), GitError> {
    let is_own = |path: &Path| content.iter().any(|file| file.starts_with(path) || path.starts_with(file));
    let copies = wanted(checkout, specs).into_iter().filter(|path| !is_own(path));
    copies.into_iter().try_for_each(|path| remove_inside(tree, &path))
}

/// Copies a file or folder, unless the tree itself has something at this path; returns whether the tree has the copy.
/// Unreadable parts are left out and added to `left_out`.
pub fn copy(from: &Path, to: &Path, left_out: &mut Vec<PathBuf>) -> io::Result<bool> {
    if to.symlink_metadata().is_ok() {
        return Ok(false);
    }
    copy_entry(from, to, left_out)?;
    Ok(to.symlink_metadata().is_ok())
}

fn copy_entry(from: &Path, to: &Path, left_out: &mut Vec<PathBuf>) -> io::Result<()> {
    match try_copy(from, to, left_out) {
        Err(error) if [io::ErrorKind::PermissionDenied, io::ErrorKind::NotFound].contains(&error.kind()) => {
            left_out.push(from.to_path_buf());
            Ok(())
        }
        result => result,
    }
}

fn try_copy(from: &Path, to: &Path, left_out: &mut Vec<PathBuf>) -> io::Result<()> {
    let kind = from.symlink_metadata()?.file_type();
    if kind.is_symlink() {
        return symlink(fs::read_link(from)?, to);
    }
    if kind.is_file() {
        return fs::copy(from, to).map(drop);
    }
    if kind.is_dir() {
        let entries = fs::read_dir(from)?;
        fs::create_dir(to)?;
        for entry in entries {
            let name = entry?.file_name();
            copy_entry(&from.join(&name), &to.join(&name), left_out)?;
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
    use std::os::unix::fs::PermissionsExt;

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
        let committed = |file: &Path| fs::read(tree.join(file)).ok();
        let copies = usual(&checkout, &files, &committed);
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

    // UP-03 CORE-05
    #[test]
    fn a_manifest_can_name_only_a_real_file_with_a_version_and_only_as_it_is_committed() {
        let temp = tempfile::tempdir().unwrap();
        let checkout = temp.path();
        for folder in ["src", "secret"] {
            fs::create_dir(checkout.join(folder)).unwrap();
        }
        for file in [".env", "src/settings.py", "src/_version.py", "src/_version.txt", "secret/version.py"] {
            fs::write(checkout.join(file), "").unwrap();
        }
        symlink("../.env", checkout.join("src/linked_version.py")).unwrap();
        symlink("secret", checkout.join("link")).unwrap();
        let files = ["pyproject.toml".to_string()];
        let copied = |path: &str| {
            let manifest = format!("[tool.setuptools_scm]\nversion_file = \"{path}\"\n");
            fs::write(checkout.join("pyproject.toml"), manifest.replace(path, "src/_version.py")).unwrap();
            usual(checkout, &files, &|_| Some(manifest.clone().into_bytes()))
        };
        assert_eq!(copied("src/_version.py"), ["src/_version.py"]);
        let refused = [
            ".env",
            "src/settings.py",
            "src/_version.txt",
            "src",
            "src/linked_version.py",
            "link/version.py",
        ];
        for path in refused {
            assert_eq!(copied(path), Vec::<String>::new(), "{path}");
        }
        let mut spec = CheckSpec::new("unit", Tier::Two, CheckAction::argv(&["true"]));
        spec.copies = vec!["link/version.py".to_string(), "secret".to_string()];
        assert_eq!(wanted(checkout, &[spec]), BTreeSet::from([PathBuf::from("secret")]));
    }

    // UP-03
    #[test]
    fn an_old_copy_is_replaced_and_an_unreadable_file_is_left_out() {
        let temp = tempfile::tempdir().unwrap();
        let (checkout, tree) = (temp.path().join("checkout"), temp.path().join("tree"));
        for folder in ["build", "own"] {
            fs::create_dir_all(checkout.join(folder)).unwrap();
            fs::create_dir_all(tree.join(folder)).unwrap();
        }
        fs::write(checkout.join("build/data"), "old").unwrap();
        fs::write(checkout.join("own/kept"), "of the checkout").unwrap();
        fs::write(tree.join("own/kept"), "of the tree").unwrap();
        fs::remove_dir(tree.join("build")).unwrap();
        let mut spec = CheckSpec::new("unit", Tier::Two, CheckAction::argv(&["true"]));
        spec.copies = ["build", "own/kept"].map(str::to_string).into();
        let specs = [spec];
        link(&checkout, &tree, &specs).unwrap();
        fs::write(checkout.join("build/data"), "new").unwrap();
        fs::write(checkout.join("build/locked"), "").unwrap();
        fs::set_permissions(checkout.join("build/locked"), fs::Permissions::from_mode(0o000)).unwrap();
        // Root can read everything.
        let unreadable = fs::read(checkout.join("build/locked")).is_err();
        remove_old(&checkout, &tree, &specs, &[PathBuf::from("own/kept")]).unwrap();
        let linked = link(&checkout, &tree, &specs).unwrap();
        assert_eq!(fs::read_to_string(tree.join("build/data")).unwrap(), "new");
        assert_eq!(fs::read_to_string(tree.join("own/kept")).unwrap(), "of the tree");
        let left_out = [checkout.join("build/locked")];
        assert_eq!(linked.left_out, if unreadable { left_out.to_vec() } else { Vec::new() });
        let (gone, mut left_out) = (checkout.join("gone"), Vec::new());
        assert!(!copy(&gone, &tree.join("gone"), &mut left_out).unwrap());
        assert_eq!(left_out, [gone]);
    }
}
