//! Links packages that are installed in the user's checkout into a work tree.
//!
//! Node looks for packages in folders above the code, and Python in an environment next to it; a clean work tree has
//! neither. Packages of the repository itself are linked to the work tree, never to the checkout, because the work tree
//! holds the change to test.

use super::action::CheckAction;
use super::spec::CheckSpec;
use super::tree_files;
use remand_git::{GitError, HookFiles, has_real_parents, remove_inside};
use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};

pub const NODE_MODULES: &str = "node_modules";

/// Usual names of Python environments.
const ENVIRONMENTS: [&str; 2] = [".venv", "venv"];

/// The folder with an environment's programs.
const PROGRAMS: &str = "bin";

/// The name of a file that marks a folder as created by this module.
const LINK_MARKER: &str = ".linked-by-remand";

/// Hidden entries that tools need to find packages; other hidden entries are caches.
const HIDDEN: [&str; 2] = [".bin", ".pnpm"];

/// The name of the Python environment in a folder of the checkout.
pub fn environment(folder: &Path) -> Option<&'static str> {
    ENVIRONMENTS.into_iter().find(|name| {
        let environment = folder.join(name);
        environment.join("pyvenv.cfg").is_file() && environment.join(PROGRAMS).join("python").is_file()
    })
}

/// The path of an environment's program, relative to the folder that holds the environment.
pub fn program_path(environment: &str, program: &str) -> String {
    format!("{environment}/{PROGRAMS}/{program}")
}

/// The Python environments whose programs the checks name, relative to the root.
pub fn named_environments(specs: &[CheckSpec]) -> BTreeSet<PathBuf> {
    let environments_of = |spec: &CheckSpec| {
        let words: Vec<&str> = match &spec.action {
            CheckAction::Argv(argv) => argv.iter().map(String::as_str).collect(),
            CheckAction::Shell(text) => text.split_whitespace().collect(),
            CheckAction::BuiltIn(_) => Vec::new(),
        };
        let is_named = |name: &&str| words.iter().any(|word| word.starts_with(&program_path(name, "")));
        ENVIRONMENTS.into_iter().filter(is_named).map(|name| Path::new(&spec.folder).join(name)).collect()
    };
    specs.iter().flat_map(|spec| -> Vec<PathBuf> { environments_of(spec) }).collect()
}

/// The Python environments that checks may use: those that they name, those next to them, and the one at the root.
pub fn environments(checkout: &Path, specs: &[CheckSpec]) -> BTreeSet<PathBuf> {
    let folders = specs.iter().map(|spec| Path::new(&spec.folder)).chain([Path::new("")]);
    let nearby = folders.filter_map(|folder| Some(folder.join(environment(&checkout.join(folder))?)));
    named_environments(specs).into_iter().chain(nearby).collect()
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

/// The package folders of an environment, relative to it.
pub fn packages(environment: &Path) -> Vec<PathBuf> {
    let versions = std::fs::read_dir(environment.join("lib")).into_iter().flatten().flatten();
    let folders = versions.map(|version| Path::new("lib").join(version.file_name()).join("site-packages"));
    folders.filter(|folder| environment.join(folder).is_dir()).collect()
}

/// Whether an environment has a package with this name.
pub fn has_package(environment: &Path, name: &str) -> bool {
    packages(environment).iter().any(|packages| environment.join(packages).join(name).is_dir())
}

/// Links the packages that checks, hooks and agents need, and returns the folders of the checkout that the links lead to.
pub fn link(checkout: &Path, tree: &Path, specs: &[CheckSpec]) -> io::Result<Vec<PathBuf>> {
    let linking = Linking { checkout: &checkout.canonicalize()?, tree };
    // An agent may have replaced a folder with a link; nothing is written through that link.
    let has_folder =
        |path: &Path| has_real_parents(tree, path) && tree.join(path).parent().is_some_and(Path::is_dir);
    let mut linked = Vec::new();
    for folder in package_folders(checkout, specs) {
        let (from, to) = (checkout.join(&folder).join(NODE_MODULES), tree.join(&folder).join(NODE_MODULES));
        let is_package = || tree.join(&folder).join("package.json").is_file();
        if has_folder(&folder.join(NODE_MODULES)) && is_package() && make_folder(&to)? {
            linking.link_packages(&from, &to)?;
            linked.push(from);
        }
    }
    for environment in environments(checkout, specs) {
        let (from, to) = (checkout.join(&environment), tree.join(&environment));
        if from.is_dir() && has_folder(&environment) && make_folder(&to)? {
            linking.link_environment(&from, &to)?;
            linked.push(from);
        }
    }
    Ok(linked)
}

/// Links the packages that hooks may need into the tree that they run in.
pub fn hook_files(checkout: &Path, tree: &Path, specs: &[CheckSpec]) -> io::Result<HookFiles> {
    let reads = link(checkout, tree, specs)?;
    let inside = reads.iter().filter_map(|folder| folder.strip_prefix(checkout).ok());
    Ok(HookFiles { added: inside.map(Path::to_path_buf).collect(), reads })
}

/// Removes the links that lead to these folders of the checkout, and everything that was added next to them.
pub fn unlink(checkout: &Path, tree: &Path, linked: &[PathBuf]) -> Result<(), GitError> {
    let inside = linked.iter().filter_map(|folder| folder.strip_prefix(checkout).ok());
    inside.into_iter().try_for_each(|folder| remove_inside(tree, folder))
}

/// Links everything that is installed in the folders of these files into a copy of the checkout, for detection.
pub fn link_for_detection(checkout: &Path, copy: &Path, files: &[String]) -> io::Result<()> {
    // Detection does not look for packages above a folder that contains `.git`.
    std::fs::create_dir(copy.join(".git"))?;
    let folders: BTreeSet<&Path> = files.iter().filter_map(|file| Path::new(file).parent()).collect();
    for folder in folders.into_iter().flat_map(Path::ancestors).collect::<BTreeSet<_>>() {
        for name in ENVIRONMENTS.into_iter().chain([NODE_MODULES]) {
            let (from, to) = (checkout.join(folder).join(name), copy.join(folder).join(name));
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
        for part in ["pyvenv.cfg", PROGRAMS] {
            symlink(from.join(part), to.join(part))?;
        }
        // The environment is not part of the work, whether the repository ignores it or not.
        std::fs::write(to.join(".gitignore"), "*\n")?;
        for packages in packages(from) {
            std::fs::create_dir_all(to.join(&packages))?;
            for entry in std::fs::read_dir(from.join(&packages))? {
                let entry = entry?;
                let destination = to.join(&packages).join(entry.file_name());
                let name = entry.file_name().to_string_lossy().into_owned();
                // These files name the folders of editable packages.
                let is_editable = name.ends_with(".pth") || name.starts_with("__editable__");
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
        let is_installed = |part: Component<'_>| {
            ENVIRONMENTS.into_iter().chain([NODE_MODULES]).any(|name| part.as_os_str() == name)
        };
        let in_repository = inside.filter(|path| !path.components().any(is_installed));
        Ok(in_repository.map_or(real.clone(), |path| self.tree.join(path)))
    }
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
            assert_eq!(linked, std::slice::from_ref(&modules));
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
        assert!(link(&checkout, &vendored, &[spec]).unwrap().is_empty());
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
            linked,
            [checkout.join("node_modules"), modules.clone()].map(|path| path.canonicalize().unwrap())
        );
        let target = |path: &str| fs::read_link(tree.join("packages/app/node_modules").join(path)).unwrap();
        assert_eq!(target("@mono/core"), tree.join("packages/core"));
        assert!(target("left").ends_with(".pnpm/left@1/node_modules/left") && target("left").is_dir());
        assert!(!tree.join("packages/core/node_modules").exists());
        fs::write(modules.join(".package-lock.json"), "{}").unwrap();
        assert_ne!(installed(&checkout, &[spec]), before);
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

        let runner =
            |job: remand_process::ProcessJob| remand_process::run(&job, &remand_process::Cancel::new());
        let files = tree_files::all(&checkout);
        let specs =
            detect(&checkout, &files, &ToolProbe { environment: &project.environment, runner: &runner });
        let commands: Vec<String> = specs.iter().filter_map(|spec| spec.action.typed()).collect();
        assert!(!commands.is_empty() && commands.iter().all(|text| text.starts_with(".venv/bin/python ")));
        for _ in 0..2 {
            assert_eq!(link(&checkout, &project.tree(), &specs).unwrap(), std::slice::from_ref(&environment));
        }
        let results = project.run(&specs);
        let tests = results.iter().find(|result| result.name == "unittest:py").unwrap();
        assert!(tests.passed() && tests.collected == Some(1), "{tests:#?}");

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
        assert_eq!(link(&checkout, &project.tree(), &specs).unwrap(), Vec::<PathBuf>::new());
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    }
}
