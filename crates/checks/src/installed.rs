//! Links packages that are installed in the user's checkout into a work tree.
//!
//! Node looks for packages in folders above the code, and Python in an environment next to it; a clean work tree has
//! neither. Packages of the repository itself are linked to the work tree, never to the checkout, because the work tree
//! holds the change to test.

use super::action::CheckAction;
use super::copied;
use super::environments::{Environment, PROGRAMS, USUAL_NAMES, is_environment, packages, program_path};
use super::spec::CheckSpec;
use super::tree_files;
use remand_git::{GitError, HookFiles, has_real_parents, remove_inside};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};

pub const NODE_MODULES: &str = "node_modules";

/// The name of a file that marks a folder as created by this module.
const LINK_MARKER: &str = ".linked-by-remand";

/// Hidden entries that tools need to find packages; other hidden entries are caches.
const HIDDEN: [&str; 3] = [".bin", ".pnpm", ".prisma"];

/// The maximum size in bytes of a program of an environment that is copied because it names the environment.
const MAX_SCRIPT: u64 = 256 * 1024;

/// What was added to a work tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddedPackages {
    /// Relative to the tree.
    pub added: Vec<PathBuf>,
    /// The folders outside the tree that it needs.
    pub reads: Vec<PathBuf>,
    /// Files of the checkout that were not copied, because they cannot be read.
    pub left_out: Vec<PathBuf>,
}

/// The Python environments whose programs the checks name, relative to the root.
pub fn named_environments(specs: &[CheckSpec]) -> BTreeSet<PathBuf> {
    let environments_of = |spec: &CheckSpec| {
        let words: Vec<&str> = match &spec.action {
            CheckAction::Argv(argv) => argv.iter().map(String::as_str).collect(),
            CheckAction::Shell(text) => text.split_whitespace().collect(),
            CheckAction::BuiltIn(_) => Vec::new(),
        };
        let usual = USUAL_NAMES
            .into_iter()
            .filter(|name| words.iter().any(|word| word.starts_with(&program_path(name, ""))));
        // Under another name, only the interpreter shows that this is an environment.
        let of_python = words.iter().filter_map(|word| word.strip_suffix(&program_path("", "python")));
        let of_python = of_python.filter(|path| !path.is_empty() && Path::new(path).is_relative());
        let names: BTreeSet<&str> = usual.chain(of_python).collect();
        names.into_iter().filter_map(|name| inside(&Path::new(&spec.folder).join(name))).collect::<Vec<_>>()
    };
    specs.iter().flat_map(environments_of).collect()
}

/// A path without `..`; `None` if it leads out of the root.
fn inside(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => plain.push(name),
            Component::ParentDir if plain.pop() => {}
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(plain)
}

/// The Python environments that checks may use, by their paths in a work tree: those next to the checks or above them, and
/// those that the checks name.
pub fn environments(checkout: &Path, specs: &[CheckSpec]) -> BTreeMap<PathBuf, PathBuf> {
    let folders: BTreeSet<&Path> =
        specs.iter().flat_map(|spec| Path::new(&spec.folder).ancestors()).collect();
    let nearby = folders.into_iter().chain([Path::new("")]).filter_map(|folder| {
        let found = Environment::of(&checkout.join(folder))?;
        Some((folder.join(found.path), found.source))
    });
    let named = named_environments(specs).into_iter().map(|path| (path.clone(), checkout.join(path)));
    let is_usable = |(path, from): &(PathBuf, PathBuf)| {
        !path.as_os_str().is_empty() && has_real_parents(checkout, path) && is_below_or_beside(checkout, from)
    };
    named.chain(nearby).filter(is_usable).collect()
}

/// Whether a folder is an environment that does not contain the checkout: all of it can be read.
fn is_below_or_beside(checkout: &Path, environment: &Path) -> bool {
    let is_marked = ["pyvenv.cfg", "conda-meta"].iter().any(|mark| environment.join(mark).exists());
    let contains_checkout = || match (checkout.canonicalize(), environment.canonicalize()) {
        (Ok(checkout), Ok(environment)) => checkout.starts_with(environment),
        (Err(_), _) | (_, Err(_)) => true,
    };
    is_marked && environment.join(PROGRAMS).is_dir() && !contains_checkout()
}

/// The file of a program that a check names with a path. It may be in an environment outside the checkout.
pub fn program_file(checkout: &Path, spec: &CheckSpec, name: &str) -> PathBuf {
    let named = Path::new(&spec.folder).join(name);
    let in_environment = inside(&named).and_then(|path| {
        let environments = environments(checkout, std::slice::from_ref(spec)).into_iter();
        environments.filter_map(|(at, source)| Some(source.join(path.strip_prefix(at).ok()?))).next()
    });
    in_environment.unwrap_or_else(|| checkout.join(named))
}

/// The folders with installed packages of Node, relative to the root: those of checks, those above them, and those of the
/// packages below. Some package managers give every package of a workspace a folder of its own.
pub fn package_folders(checkout: &Path, specs: &[CheckSpec]) -> BTreeSet<PathBuf> {
    let has_packages = |folder: &Path| checkout.join(folder).join(NODE_MODULES).is_dir();
    let of_checks = specs.iter().flat_map(|spec| Path::new(&spec.folder).ancestors());
    let roots: BTreeSet<&Path> = of_checks.chain([Path::new("")]).filter(|path| has_packages(path)).collect();
    let mut found: BTreeSet<PathBuf> = roots.iter().map(|path| path.to_path_buf()).collect();
    let is_below_another = |folder: &Path| folder.ancestors().skip(1).any(|above| roots.contains(above));
    for root in roots.iter().filter(|root| !is_below_another(root)) {
        let manifests = tree_files::all(&checkout.join(root)).into_iter().map(|file| root.join(file));
        let members = manifests.filter(|file| file.ends_with("package.json"));
        let members = members.filter_map(|file| file.parent().map(Path::to_path_buf));
        found.extend(members.filter(|folder| has_packages(folder)));
    }
    found
}

/// Adds the packages and files of the checkout that checks, hooks and agents need and a clean work tree does not have.
pub fn link(checkout: &Path, tree: &Path, specs: &[CheckSpec]) -> io::Result<AddedPackages> {
    let linking = Linking { checkout: &checkout.canonicalize()?, tree };
    // An agent may have replaced a folder with a link; nothing is written through that link.
    let has_folder =
        |path: &Path| has_real_parents(tree, path) && tree.join(path).parent().is_some_and(Path::is_dir);
    let mut linked = AddedPackages::default();
    for folder in package_folders(checkout, specs) {
        let path = folder.join(NODE_MODULES);
        let (from, to) = (checkout.join(&path), tree.join(&path));
        let is_package = || tree.join(&folder).join("package.json").is_file();
        if has_folder(&path) && is_package() && make_folder(&to)? {
            linking.link_packages(&from, &to)?;
            linked.reads.push(from);
            linked.added.push(path);
        }
    }
    for (path, from) in environments(checkout, specs) {
        let to = tree.join(&path);
        if from.is_dir() && has_folder(&path) && make_folder(&to)? {
            linking.link_environment(&from, &to)?;
            linked.reads.push(from);
            linked.added.push(path);
        }
    }
    let copies = add_copies(checkout, tree, specs)?;
    linked.added.extend(copies.added);
    linked.left_out = copies.left_out;
    Ok(linked)
}

/// Copies the files of the checkout that the checks name.
pub fn add_copies(checkout: &Path, tree: &Path, specs: &[CheckSpec]) -> io::Result<AddedPackages> {
    let mut copies = AddedPackages::default();
    for path in copied::wanted(checkout, specs) {
        let to = tree.join(&path);
        // An agent may have replaced a folder with a link; nothing is written through that link.
        let has_folder = has_real_parents(tree, &path) && to.parent().is_some_and(Path::is_dir);
        if has_folder && copied::copy(&checkout.join(&path), &to, &mut copies.left_out)? {
            copies.added.push(path);
        }
    }
    Ok(copies)
}

/// Adds what hooks may need to the tree that they run in.
pub fn hook_files(checkout: &Path, tree: &Path, specs: &[CheckSpec]) -> io::Result<HookFiles> {
    let AddedPackages { added, reads, .. } = link(checkout, tree, specs)?;
    Ok(HookFiles { added, reads })
}

/// Removes what was added to a work tree.
pub fn unlink(tree: &Path, added: &AddedPackages) -> Result<(), GitError> {
    added.added.iter().try_for_each(|path| remove_inside(tree, path))
}

/// Links everything that is installed in the folders of these files into a copy of the checkout, for detection.
pub fn link_for_detection(checkout: &Path, copy: &Path, files: &[String]) -> io::Result<()> {
    // Detection does not look for packages above a folder that contains `.git`.
    std::fs::create_dir(copy.join(".git"))?;
    let folders: BTreeSet<&Path> = files.iter().filter_map(|file| Path::new(file).parent()).collect();
    for folder in folders.into_iter().flat_map(Path::ancestors).collect::<BTreeSet<_>>() {
        let environment = Environment::of(&checkout.join(folder));
        let environment = environment.map(|found| (found.source, copy.join(folder).join(found.path)));
        let packages = (checkout.join(folder).join(NODE_MODULES), copy.join(folder).join(NODE_MODULES));
        for (from, to) in environment.into_iter().chain([packages]) {
            if from.is_dir() && to.symlink_metadata().is_err() {
                symlink(from, to)?;
            }
        }
    }
    Ok(())
}

/// Makes an empty folder; returns false if the repository itself has something at this path.
fn make_folder(folder: &Path) -> io::Result<bool> {
    if folder.join(LINK_MARKER).exists() {
        std::fs::remove_dir_all(folder)?;
    }
    if folder.symlink_metadata().is_ok() {
        return Ok(false);
    }
    std::fs::create_dir(folder)?;
    std::fs::write(folder.join(LINK_MARKER), "")?;
    Ok(true)
}

struct Linking<'l> {
    checkout: &'l Path,
    tree: &'l Path,
}

impl Linking<'_> {
    fn link_packages(&self, from: &Path, to: &Path) -> io::Result<()> {
        for entry in std::fs::read_dir(from)? {
            let entry = entry?;
            let name = entry.file_name();
            let text = name.to_string_lossy();
            if text.starts_with('.') && !HIDDEN.contains(&text.as_ref()) {
                continue;
            }
            let destination = to.join(&name);
            if text.starts_with('@') && entry.file_type()?.is_dir() {
                std::fs::create_dir(&destination)?;
                self.link_packages(&entry.path(), &destination)?;
            } else if let Ok(target) = self.target(&entry.path()) {
                // A dangling link is skipped: nothing could be loaded from it.
                symlink(target, destination)?;
            }
        }
        Ok(())
    }

    /// Python recognizes an environment by its `pyvenv.cfg`, and its packages by their folder.
    fn link_environment(&self, from: &Path, to: &Path) -> io::Result<()> {
        symlink(from.join("pyvenv.cfg"), to.join("pyvenv.cfg"))?;
        link_programs(from, to)?;
        // The environment is not part of the work, whether the repository ignores it or not.
        std::fs::write(to.join(".gitignore"), "*\n")?;
        for packages in packages(from) {
            std::fs::create_dir_all(to.join(&packages))?;
            for entry in std::fs::read_dir(from.join(&packages))? {
                let entry = entry?;
                let destination = to.join(&packages).join(entry.file_name());
                let name = entry.file_name().to_string_lossy().into_owned();
                // These files name the folders of editable packages.
                let is_editable = [".pth", ".egg-link"].iter().any(|end| name.ends_with(end))
                    || name.starts_with("__editable__");
                if let Some(text) = is_editable.then(|| std::fs::read_to_string(entry.path()).ok()).flatten()
                {
                    let (checkout, tree) = (self.checkout.to_string_lossy(), self.tree.to_string_lossy());
                    std::fs::write(destination, text.replace(checkout.as_ref(), &tree))?;
                } else if let Ok(target) = self.target(&entry.path()) {
                    symlink(target, destination)?;
                }
            }
        }
        Ok(())
    }

    /// The target of the link to an entry. For a package of the repository itself, the target is in the work tree.
    fn target(&self, entry: &Path) -> io::Result<PathBuf> {
        let real = entry.canonicalize()?;
        let inside = real.strip_prefix(self.checkout).ok();
        let is_installed = |path: &Path| {
            path.components().any(|part| part.as_os_str() == NODE_MODULES)
                // The checkout itself may be an environment too.
                || path
                    .ancestors()
                    .filter(|above| !above.as_os_str().is_empty())
                    .any(|above| is_environment(&self.checkout.join(above)))
        };
        let in_repository = inside.filter(|path| !is_installed(path));
        Ok(in_repository.map_or(real.clone(), |path| self.tree.join(path)))
    }
}

/// Links the programs of an environment. Scripts that name the environment, such as those of installed packages, are copied
/// with the new name: otherwise they would run with the packages of the checkout, and the code that is installed there.
fn link_programs(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::create_dir(to.join(PROGRAMS))?;
    let names: BTreeSet<PathBuf> = [from.to_path_buf()].into_iter().chain(from.canonicalize()).collect();
    for entry in std::fs::read_dir(from.join(PROGRAMS))? {
        let entry = entry?;
        let destination = to.join(PROGRAMS).join(entry.file_name());
        let is_script = entry.metadata().is_ok_and(|found| found.is_file() && found.len() <= MAX_SCRIPT);
        let text = is_script.then(|| std::fs::read_to_string(entry.path()).ok()).flatten();
        let renamed = text.and_then(|text| {
            let rename = |name: &PathBuf| renamed(&text, &name.to_string_lossy(), &to.to_string_lossy());
            names.iter().rev().find_map(rename)
        });
        match renamed {
            Some(text) => {
                std::fs::write(&destination, text)?;
                let mode = entry.metadata()?.permissions().mode();
                std::fs::set_permissions(&destination, std::fs::Permissions::from_mode(mode | 0o600))?;
            }
            None => symlink(entry.path(), destination)?,
        }
    }
    Ok(())
}

/// A text with another path instead of this one and of paths inside it; `None` if it has no such path.
fn renamed(text: &str, from: &str, to: &str) -> Option<String> {
    let mut result = String::new();
    let mut parts = text.split(from).peekable();
    let mut is_changed = false;
    let continues = |next: char| next.is_alphanumeric() || ['-', '_', '.'].contains(&next);
    while let Some(part) = parts.next() {
        result.push_str(part);
        let Some(next) = parts.peek() else { break };
        // Otherwise it is the start of the name of another folder.
        let is_whole = !next.starts_with(continues) && !part.ends_with(continues);
        is_changed |= is_whole;
        result.push_str(if is_whole { to } else { from });
    }
    is_changed.then_some(result)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::run_tests::Project;
    use crate::{CheckAction, CheckSpec, ToolProbe, detect, installed, loading, tree_files};
    use remand_kernel::evidence::Tier;
    use std::fs;

    #[test]
    fn packages_are_linked_and_those_of_the_repository_come_from_the_work_tree() {
        let folder = tempfile::tempdir().unwrap();
        let (checkout, tree) = (folder.path().join("checkout"), folder.path().join("tree"));
        for root in [&checkout, &tree] {
            fs::create_dir_all(root.join("packages/local")).unwrap();
            fs::write(root.join("package.json"), "{}").unwrap();
        }
        let modules = checkout.join(NODE_MODULES);
        for path in ["other", "@scope/deep", ".cache", ".bin"] {
            fs::create_dir_all(modules.join(path)).unwrap();
        }
        symlink("../packages/local", modules.join("local")).unwrap();
        let mut spec =
            CheckSpec::new("vitest:packages/local", Tier::Two, CheckAction::argv(&["npm", "test"]));
        spec.folder = "packages/local".to_string();
        for _ in 0..2 {
            let linked = link(&checkout, &tree, std::slice::from_ref(&spec)).unwrap();
            assert_eq!(linked.reads, std::slice::from_ref(&modules));
            let target = |path: &str| fs::read_link(tree.join(NODE_MODULES).join(path)).unwrap();
            assert_eq!(target("local"), tree.join("packages/local"));
            assert_eq!(target("other"), modules.canonicalize().unwrap().join("other"));
            assert_eq!(target("@scope/deep"), modules.canonicalize().unwrap().join("@scope/deep"));
            assert!(
                tree.join(NODE_MODULES).join(".bin").is_dir()
                    && !tree.join(NODE_MODULES).join(".cache").exists()
            );
        }
        let vendored = folder.path().join("vendored");
        fs::create_dir_all(vendored.join(NODE_MODULES)).unwrap();
        fs::write(vendored.join("package.json"), "{}").unwrap();
        assert_eq!(link(&checkout, &vendored, &[spec]).unwrap(), AddedPackages::default());
    }

    // UP-03
    #[test]
    fn every_package_of_a_workspace_has_its_own_folder_of_links_if_it_has_one_in_the_checkout() {
        let folder = tempfile::tempdir().unwrap();
        let (checkout, tree) = (folder.path().join("checkout"), folder.path().join("tree"));
        for root in [&checkout, &tree] {
            for package in ["", "packages/core", "packages/app"] {
                fs::create_dir_all(root.join(package)).unwrap();
                fs::write(root.join(package).join("package.json"), "{}").unwrap();
            }
        }
        fs::create_dir_all(checkout.join("node_modules/.pnpm/left@1/node_modules/left")).unwrap();
        let modules = checkout.join("packages/app/node_modules");
        fs::create_dir_all(modules.join("@mono")).unwrap();
        symlink("../../../core", modules.join("@mono/core")).unwrap();
        symlink("../../../node_modules/.pnpm/left@1/node_modules/left", modules.join("left")).unwrap();
        let spec = CheckSpec::new("npm-test", Tier::Two, CheckAction::argv(&["npm", "test"]));
        let before = installed(&checkout, std::slice::from_ref(&spec));
        let linked = link(&checkout, &tree, std::slice::from_ref(&spec)).unwrap();
        assert_eq!(
            linked.reads,
            [checkout.join("node_modules"), modules.clone()].map(|path| path.canonicalize().unwrap())
        );
        let target = |path: &str| fs::read_link(tree.join("packages/app/node_modules").join(path)).unwrap();
        assert_eq!(target("@mono/core"), tree.join("packages/core"));
        assert!(target("left").ends_with(".pnpm/left@1/node_modules/left") && target("left").is_dir());
        assert!(!tree.join("packages/core/node_modules").exists());
        fs::write(modules.join(".package-lock.json"), "{}").unwrap();
        assert_ne!(installed(&checkout, &[spec]), before);
    }

    #[test]
    fn only_whole_paths_in_scripts_are_renamed() {
        let text = "#!/a/env/bin/python\nx = '/a/env'; y = '/a/env2/bin:/a/env-old'; z = '/b/a/env'\n";
        let expected = "#!/t/v/bin/python\nx = '/t/v'; y = '/a/env2/bin:/a/env-old'; z = '/b/a/env'\n";
        assert_eq!(renamed(text, "/a/env", "/t/v").unwrap(), expected);
        assert_eq!(renamed("/a/env2", "/a/env", "/t/v"), None);
    }

    // UP-03 CORE-05
    #[test]
    fn only_environments_inside_the_checkout_are_shown_whatever_a_command_names() {
        let folder = tempfile::tempdir().unwrap();
        let (checkout, tree) = (folder.path().join("checkout"), folder.path().join("tree"));
        for path in ["bin", "secret/bin", "data", "real/env/bin", "good/bin"] {
            fs::create_dir_all(checkout.join(path)).unwrap();
        }
        for path in ["", "real/env", "good", "data"] {
            fs::write(checkout.join(path).join("pyvenv.cfg"), "").unwrap();
        }
        for path in ["bin", "secret/bin", "real/env/bin", "good/bin"] {
            fs::write(checkout.join(path).join("python"), "").unwrap();
        }
        symlink("real", checkout.join("link")).unwrap();
        symlink(".", checkout.join("again")).unwrap();
        fs::create_dir(&tree).unwrap();
        fs::write(tree.join(LINK_MARKER), "").unwrap();
        fs::write(tree.join("kept"), "").unwrap();
        let named = "./bin/python secret/bin/python data/bin/python again/bin/python link/env/bin/python \
                     good/bin/python x; venv/bin/pip";
        let mut spec = CheckSpec::new("own", Tier::Two, CheckAction::Shell(named.to_string()));
        spec.folder = String::new();
        let linked = link(&checkout, &tree, &[spec]).unwrap();
        assert_eq!(linked.added, [PathBuf::from("good")]);
        assert_eq!(linked.reads, [checkout.join("good")]);
        assert!(tree.join("kept").exists());
    }

    #[test]
    fn a_package_of_a_checkout_that_is_an_environment_comes_from_the_work_tree() {
        let folder = tempfile::tempdir().unwrap();
        let checkout = folder.path().canonicalize().unwrap();
        for path in ["bin", "packages/local"] {
            fs::create_dir_all(checkout.join(path)).unwrap();
        }
        fs::write(checkout.join("pyvenv.cfg"), "").unwrap();
        fs::write(checkout.join("bin/python"), "").unwrap();
        let linking = Linking { checkout: &checkout, tree: Path::new("/tree") };
        let target = linking.target(&checkout.join("packages/local")).unwrap();
        assert_eq!(target, Path::new("/tree/packages/local"));
    }

    // OT-23
    #[test]
    fn checks_in_python_use_the_environment_of_the_checkout_and_packages_of_the_work_tree() {
        let test = "import sys\nimport unittest\n\nimport near\nimport tiny\n\n\nclass Tiny(unittest.TestCase):\n    \
                    def test_tiny(self):\n        self.assertEqual((tiny.NUMBER, near.NUMBER), (7, 2))\n        \
                    self.assertTrue(sys.prefix.endswith('.venv'))\n";
        let project = Project::new(&[
            ("py/pyproject.toml", "[project]\nname = \"demo\"\n"),
            ("py/test_tiny.py", test),
            ("near/near.py", "NUMBER = 2\n"),
        ]);
        let folder = tempfile::tempdir().unwrap();
        let checkout = folder.path().canonicalize().unwrap();
        for (file, text) in [
            ("py/pyproject.toml", "[project]\nname = \"demo\"\n"),
            ("py/test_tiny.py", test),
            ("near/near.py", "NUMBER = 1\n"),
        ] {
            fs::create_dir_all(checkout.join(file).parent().unwrap()).unwrap();
            fs::write(checkout.join(file), text).unwrap();
        }
        let make = ["python3", "-m", "venv", "--without-pip", "py/.venv"];
        let mut job = remand_process::ProcessJob::standalone(make, &checkout, "venv");
        job.environment = project.environment.clone();
        assert!(remand_process::run(&job, &remand_process::Cancel::new()).unwrap().exit.succeeded());
        let environment = checkout.join("py/.venv");
        let site = environment.join(&packages(&environment)[0]);
        fs::create_dir(site.join("tiny")).unwrap();
        fs::write(site.join("tiny/__init__.py"), "NUMBER = 7\n").unwrap();
        fs::write(site.join("near.pth"), format!("{}\n", checkout.join("near").display())).unwrap();
        let script = environment.join("bin/near");
        let text =
            format!("#!{}/bin/python\nimport near\nprint('number', near.NUMBER)\n", environment.display());
        fs::write(&script, text).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();

        let runner =
            |job: remand_process::ProcessJob| remand_process::run(&job, &remand_process::Cancel::new());
        let files = tree_files::all(&checkout);
        let specs =
            detect(&checkout, &files, &ToolProbe { environment: &project.environment, runner: &runner });
        let commands: Vec<String> = specs.iter().filter_map(|spec| spec.action.typed()).collect();
        assert!(!commands.is_empty() && commands.iter().all(|text| text.starts_with(".venv/bin/python ")));
        for _ in 0..2 {
            let linked = link(&checkout, &project.tree(), &specs).unwrap();
            assert_eq!(
                (linked.reads, linked.added),
                (vec![environment.clone()], vec![PathBuf::from("py/.venv")])
            );
        }
        let results = project.run(&specs);
        let tests = results.iter().find(|result| result.name == "unittest:py").unwrap();
        assert!(tests.passed() && tests.collected == Some(1), "{tests:#?}");
        let mut own = CheckSpec::new("own", Tier::Two, CheckAction::argv(&[".venv/bin/near"]));
        own.folder = "py".to_string();
        let own = project.run(&[own]);
        assert!(String::from_utf8_lossy(&own[0].output).contains("number 2"), "{own:#?}");

        let changed = ["py/uses.py".to_string(), "near/near.py".to_string()];
        fs::write(
            project.tree().join("py/uses.py"),
            "import sys\nimport tiny\nassert sys.prefix.endswith('.venv') and tiny.NUMBER == 7\n",
        )
        .unwrap();
        let loaded = project.run(&loading(&changed, &specs, |_| false));
        let ends: Vec<_> = loaded.iter().map(|load| (load.name.as_str(), load.passed())).collect();
        assert_eq!(ends, [("load-python", true), ("load-python:py", true)], "{loaded:#?}");
        let output = String::from_utf8_lossy(&loaded[1].output);
        assert!(output.contains("1 loaded") && !output.contains("skipped"), "{output}");

        fs::create_dir(site.join("pytest")).unwrap();
        let probe = ToolProbe { environment: &project.environment, runner: &runner };
        assert!(detect(&checkout, &files, &probe).iter().any(|spec| spec.name == "pytest:py"));

        let known = installed(&checkout, &specs);
        assert_eq!(known, installed(&checkout, &specs));
        fs::create_dir(site.join("more-1.0.dist-info")).unwrap();
        let more = installed(&checkout, &specs);
        assert!(more != known && more.contains("more-1.0.dist-info"), "{more}");

        let outside = tempfile::tempdir().unwrap();
        fs::remove_dir_all(project.tree().join("py")).unwrap();
        symlink(outside.path(), project.tree().join("py")).unwrap();
        assert_eq!(link(&checkout, &project.tree(), &specs).unwrap(), AddedPackages::default());
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    }
}
