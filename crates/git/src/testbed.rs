//! Real repositories in temporary folders, for the tests of this crate.

use super::{CommitId, GitProgramLimits, HookFiles, ProgramWarnings, Repository, RunTrees, TreeId};
use remand_process::Cancel;
use remand_process::confine::{ContactLog, Policy};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A user's repository, and a folder for the engine's state.
pub(super) struct Testbed {
    pub(super) folder: TempDir,
}

impl Testbed {
    /// A repository with one commit on `main`.
    pub(super) fn new() -> Testbed {
        let bed = Testbed { folder: TempDir::new().expect("a temporary folder") };
        fs::create_dir(bed.user()).expect("a folder");
        bed.git(&["init", "-q", "-b", "main"]);
        bed.git(&["config", "user.name", "Ada"]);
        bed.git(&["config", "user.email", "ada@example.org"]);
        bed.write("README.md", "one\n");
        bed.write("src/lib.rs", "fn a() {}\n\n\n\n\n\nfn b() {}\n");
        bed.write(".gitignore", "target/\n*.log\n");
        bed.commit("first");
        bed
    }

    /// The user's checkout.
    pub(super) fn user(&self) -> PathBuf {
        self.folder.path().join("user")
    }

    /// The parent of the folders of runs.
    pub(super) fn runs(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    pub(super) fn git(&self, words: &[&str]) -> String {
        git_in(&self.user(), words)
    }

    pub(super) fn write(&self, file: &str, content: &str) {
        put(&self.user(), file, content.as_bytes());
    }

    /// Commits everything in the user's checkout.
    pub(super) fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
    }

    /// Installs a hook in the user's repository.
    pub(super) fn hook(&self, name: &str, script: &str) {
        let hooks = self.user().join(".git/hooks");
        put(&hooks, name, format!("#!/bin/sh\n{script}\n").as_bytes());
        fs::set_permissions(hooks.join(name), fs::Permissions::from_mode(0o755)).expect("permissions");
    }

    /// The repository, with programs that run without a sandbox.
    pub(super) fn repository(&self) -> Repository {
        self.with_confine_script("open", "shift 4\nexec \"$@\"")
    }

    /// The repository, with programs that run in a sandbox.
    pub(super) fn confined(&self) -> Repository {
        let confine = self.folder.path().join("confine");
        remand_process::testing::install(&confine, "testbed::inside");
        // `confine` is this test binary. Its output must not mix with the output of the program.
        let script = format!(
            "a=\"$3\"\nshift 4\nexec '{}' confine --policy \"$a\" -- sh -c 'exec \"$@\" >&3 3>&-' sh \"$@\" \
             3>&1 >/dev/null",
            confine.display()
        );
        self.with_confine_script("closed", &script)
    }

    /// The repository, with a sandbox that cannot be set up.
    pub(super) fn unconfinable(&self) -> Repository {
        let confine = self.folder.path().join("confine");
        remand_process::testing::install(&confine, "testbed::inside");
        let changes = r#"s|"folders":\[\]|"folders":["/var/tmp"]|; s|"storage":"[^"]*"|"storage":"/dev/null/none"|; s|"private-required":false|"private-required":true|"#;
        let script = format!(
            "a=$(printf '%s' \"$3\" | sed '{changes}')\nshift 4\nexec '{}' confine --policy \"$a\" -- \"$@\"",
            confine.display()
        );
        self.with_confine_script("unconfinable", &script)
    }

    /// The repository, with a script as the program that implements `confine`.
    fn with_confine_script(&self, name: &str, script: &str) -> Repository {
        let program = self.folder.path().join(name);
        if !program.exists() {
            put(self.folder.path(), name, format!("#!/bin/sh\n{script}\n").as_bytes());
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("permissions");
        }
        let variable = |name: &str| (name.into(), std::env::var_os(name).expect("an environment"));
        let limits = GitProgramLimits {
            program,
            environment: ["PATH", "HOME"].map(variable).into(),
            policy: Policy::default(),
            private_to_hooks: None,
            secret: Vec::new(),
            scratch: self.folder.path().join("scratch"),
            // Jobs kill all processes with their marker, so concurrent tests need different markers.
            marker: self.folder.path().display().to_string(),
            cancel: Cancel::new(),
            warnings: ProgramWarnings::default(),
            contacts: ContactLog::default(),
        };
        Repository::discover(&self.user()).expect("a repository").with_program_limits(limits)
    }

    pub(super) fn base(&self) -> CommitId {
        self.repository().head().expect("a head").commit
    }

    /// Sets up a run with this id.
    pub(super) fn run(&self, id: &str) -> RunTrees {
        self.run_in(&self.repository(), id)
    }

    pub(super) fn run_in(&self, repository: &Repository, id: &str) -> RunTrees {
        RunTrees::begin(repository, id, &self.runs().join(id), &self.base()).expect("work trees")
    }

    /// Everything in the checkout and the repository whose change a user would notice.
    pub(super) fn fingerprint(&self) -> (String, String, Vec<u8>, String) {
        let index = fs::read(self.user().join(".git/index")).expect("an index");
        let words = ["for-each-ref", "refs/heads", "refs/tags", "refs/remotes", "refs/stash"];
        (
            self.git(&["--no-optional-locks", "status", "--porcelain=v2", "--branch"]),
            fs::read_to_string(self.user().join(".git/HEAD")).expect("a HEAD"),
            index,
            self.git(&words),
        )
    }
}

/// Runs git like a user, without the settings of the person who runs the tests.
pub(super) fn git_in(folder: &Path, words: &[&str]) -> String {
    let output = git_output(folder, words);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "git {words:?}: {stderr}");
    String::from_utf8_lossy(&output.stdout).trim_end().to_string()
}

pub(super) fn git_output(folder: &Path, words: &[&str]) -> std::process::Output {
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("GIT_") {
            command.env_remove(name);
        }
    }
    command
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .args(["-c", "protocol.file.allow=always"])
        .args(words)
        .output()
        .expect("git")
}

/// Writes a file and creates its parent folders.
pub(super) fn put(root: &Path, file: impl AsRef<Path>, content: &[u8]) {
    let file = root.join(file);
    fs::create_dir_all(file.parent().expect("a parent")).expect("a folder");
    fs::write(file, content).expect("a file");
}

pub(super) fn get(root: &Path, file: impl AsRef<Path>) -> Option<Vec<u8>> {
    fs::read(root.join(file)).ok()
}

/// Everything in a folder except the `.git` at its root: bytes, executable bits, link targets, empty folders.
pub(super) fn contents(root: &Path) -> BTreeMap<PathBuf, (char, Vec<u8>)> {
    let mut found = BTreeMap::new();
    collect(root, root, &mut found);
    found.remove(Path::new(".git"));
    found
}

fn collect(root: &Path, at: &Path, found: &mut BTreeMap<PathBuf, (char, Vec<u8>)>) {
    use std::os::unix::ffi::OsStrExt;
    for entry in fs::read_dir(at).expect("a folder").flatten() {
        let path = entry.path();
        let data = fs::symlink_metadata(&path).expect("metadata");
        let inside = path.strip_prefix(root).expect("inside").to_path_buf();
        if data.is_symlink() {
            found.insert(
                inside,
                ('l', fs::read_link(&path).expect("a target").as_os_str().as_bytes().to_vec()),
            );
        } else if data.is_dir() {
            if fs::read_dir(&path).expect("a folder").next().is_none() {
                found.insert(inside, ('d', Vec::new()));
            }
            collect(root, &path, found);
        } else {
            let kind = if data.permissions().mode() & 0o100 == 0 { 'f' } else { 'x' };
            found.insert(inside, (kind, fs::read(&path).expect("a file")));
        }
    }
}

/// Writes these files in a task's work tree and takes a snapshot.
pub(super) fn task_tree(trees: &RunTrees, task: &str, files: &[(&str, &str)]) -> TreeId {
    let tree = trees.lend(task, super::TaskStart::Main).expect("a work tree");
    for (file, content) in files {
        put(tree.path(), file, content.as_bytes());
    }
    tree.snapshot().expect("a snapshot")
}

/// Adds no files to the work tree for hooks.
pub(super) fn no_hook_files(_: &Path) -> std::io::Result<HookFiles> {
    Ok(HookFiles::default())
}

/// Acts as `remand confine` if the script of `confined` started this binary; passes otherwise.
#[test]
fn inside() {
    remand_process::testing::act_as_confine();
}
