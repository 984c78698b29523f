//! What a package manager installed in the user's checkout, put within reach of a work tree.
//!
//! Node looks for packages in folders above the code, and Python in an environment beside it; a clean work tree has
//! none. Packages of the repository itself are linked to the work tree and never to the checkout: what is tested is the
//! change.

use super::spec::{Action, CheckSpec};
use crate::git::is_reached;
use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};

pub const FOLDER: &str = "node_modules";

/// What an environment of Python is usually called.
const ENVIRONMENTS: [&str; 2] = [".venv", "venv"];

/// Where its programs are.
const PROGRAMS: &str = "bin";

/// Tells a folder that was made here from one of the repository.
const MARK: &str = ".linked-by-remand";

/// Of the hidden entries, those that packages are found by; the others are caches.
const HIDDEN: [&str; 2] = [".bin", ".pnpm"];

/// The environment of Python in a folder of the checkout, by its name there.
pub fn environment(folder: &Path) -> Option<&'static str> {
    ENVIRONMENTS.into_iter().find(|name| {
        let environment = folder.join(name);
        environment.join("pyvenv.cfg").is_file() && environment.join(PROGRAMS).join("python").is_file()
    })
}

/// A program of an environment, as a command in the folder that the environment is in names it.
pub fn program_of(environment: &str, program: &str) -> String {
    format!("{environment}/{PROGRAMS}/{program}")
}

/// The environments of Python that commands of checks name, relative to the root.
pub fn environments(specs: &[CheckSpec]) -> BTreeSet<PathBuf> {
    let named = |spec: &CheckSpec| {
        let words: Vec<&str> = match &spec.action {
            Action::Argv(argv) => argv.iter().map(String::as_str).collect(),
            Action::Shell(text) => text.split_whitespace().collect(),
            Action::BuiltIn(_) => Vec::new(),
        };
        let is_named = |name: &&str| words.iter().any(|word| word.starts_with(&program_of(name, "")));
        ENVIRONMENTS.into_iter().filter(is_named).map(|name| Path::new(&spec.folder).join(name)).collect()
    };
    specs.iter().flat_map(|spec| -> Vec<PathBuf> { named(spec) }).collect()
}

/// The folders in which an environment has its packages, relative to it.
pub fn packages(environment: &Path) -> Vec<PathBuf> {
    let versions = std::fs::read_dir(environment.join("lib")).into_iter().flatten().flatten();
    let folders = versions.map(|version| Path::new("lib").join(version.file_name()).join("site-packages"));
    folders.filter(|folder| environment.join(folder).is_dir()).collect()
}

/// Whether an environment has a package of this name.
pub fn has_package(environment: &Path, name: &str) -> bool {
    packages(environment).iter().any(|packages| environment.join(packages).join(name).is_dir())
}

/// Links what the checks of these folders need, and gives the folders of the checkout that it leads to.
pub fn link(checkout: &Path, tree: &Path, specs: &[CheckSpec]) -> io::Result<Vec<PathBuf>> {
    link_in(checkout, tree, folders(specs), environments(specs))
}

/// Links what hooks may need: what checks do, and what is installed at the root.
pub fn link_for_hooks(checkout: &Path, tree: &Path, specs: &[CheckSpec]) -> io::Result<Vec<PathBuf>> {
    let (mut folders, mut environments) = (folders(specs), environments(specs));
    folders.insert(Path::new(""));
    environments.extend(environment(checkout).map(PathBuf::from));
    link_in(checkout, tree, folders, environments)
}

/// The folders of checks, and those above them.
fn folders(specs: &[CheckSpec]) -> BTreeSet<&Path> {
    specs.iter().flat_map(|spec| Path::new(&spec.folder).ancestors()).collect()
}

fn link_in(
    checkout: &Path,
    tree: &Path,
    folders: BTreeSet<&Path>,
    environments: BTreeSet<PathBuf>,
) -> io::Result<Vec<PathBuf>> {
    let linking = Linking { checkout: &checkout.canonicalize()?, tree };
    // An agent may have put a link in the place of a folder, and nothing is written where that leads.
    let is_there = |path: &Path| is_reached(tree, path) && tree.join(path).parent().is_some_and(Path::is_dir);
    let mut linked = Vec::new();
    for folder in folders {
        let (from, to) = (checkout.join(folder).join(FOLDER), tree.join(folder).join(FOLDER));
        let is_package = || tree.join(folder).join("package.json").is_file();
        if from.is_dir() && is_there(&folder.join(FOLDER)) && is_package() && is_made(&to)? {
            linking.all(&from, &to)?;
            linked.push(from);
        }
    }
    for environment in environments {
        let (from, to) = (checkout.join(&environment), tree.join(&environment));
        if from.is_dir() && is_there(&environment) && is_made(&to)? {
            linking.environment(&from, &to)?;
            linked.push(from);
        }
    }
    Ok(linked)
}

/// Shows a copy of the checkout what is installed there, in every folder of these files, as it is.
pub fn lend(checkout: &Path, copy: &Path, files: &[String]) -> io::Result<()> {
    // Nobody looks above the root for packages.
    std::fs::create_dir(copy.join(".git"))?;
    let folders: BTreeSet<&Path> = files.iter().filter_map(|file| Path::new(file).parent()).collect();
    for folder in folders.into_iter().flat_map(Path::ancestors).collect::<BTreeSet<_>>() {
        for name in ENVIRONMENTS.into_iter().chain([FOLDER]) {
            let (from, to) = (checkout.join(folder).join(name), copy.join(folder).join(name));
            if from.is_dir() && to.symlink_metadata().is_err() {
                symlink(from, to)?;
            }
        }
    }
    Ok(())
}

/// Makes a folder anew, unless the repository has it itself.
fn is_made(folder: &Path) -> io::Result<bool> {
    if folder.join(MARK).exists() {
        std::fs::remove_dir_all(folder)?;
    }
    if folder.symlink_metadata().is_ok() {
        return Ok(false);
    }
    std::fs::create_dir(folder)?;
    std::fs::write(folder.join(MARK), "")?;
    Ok(true)
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

    /// Python knows an environment by the file beside its programs, and its packages by their place in it.
    fn environment(&self, from: &Path, to: &Path) -> io::Result<()> {
        for part in ["pyvenv.cfg", PROGRAMS] {
            symlink(from.join(part), to.join(part))?;
        }
        // No part of the work, whether the repository says so or not.
        std::fs::write(to.join(".gitignore"), "*\n")?;
        for packages in packages(from) {
            std::fs::create_dir_all(to.join(&packages))?;
            for entry in std::fs::read_dir(from.join(&packages))? {
                let entry = entry?;
                let place = to.join(&packages).join(entry.file_name());
                let name = entry.file_name().to_string_lossy().into_owned();
                // Such a file names folders of packages that are being worked on.
                let leads_on = name.ends_with(".pth") || name.starts_with("__editable__");
                if let Some(text) = leads_on.then(|| std::fs::read_to_string(entry.path()).ok()).flatten() {
                    let (here, there) = (self.checkout.to_string_lossy(), self.tree.to_string_lossy());
                    std::fs::write(place, text.replace(here.as_ref(), &there))?;
                } else if let Ok(target) = self.target(&entry.path()) {
                    symlink(target, place)?;
                }
            }
        }
        Ok(())
    }

    /// A package of the repository itself is taken from the work tree.
    fn target(&self, entry: &Path) -> io::Result<PathBuf> {
        let real = entry.canonicalize()?;
        let inside = real.strip_prefix(self.checkout).ok();
        let is_installed = |part: Component<'_>| {
            ENVIRONMENTS.into_iter().chain([FOLDER]).any(|name| part.as_os_str() == name)
        };
        let own = inside.filter(|path| !path.components().any(is_installed));
        Ok(own.map_or(real.clone(), |path| self.tree.join(path)))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::checks::run_tests::Project;
    use crate::checks::{Action, CheckSpec, Probe, detect, installed, loading, tree_files};
    use crate::process;
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
        let mut job = process::Job::apart(make, &checkout, "venv");
        job.environment = project.environment.clone();
        assert!(process::run(&job, &process::Cancel::new()).unwrap().exit.succeeded());
        let environment = checkout.join("py/.venv");
        let site = environment.join(&packages(&environment)[0]);
        fs::create_dir(site.join("tiny")).unwrap();
        fs::write(site.join("tiny/__init__.py"), "NUMBER = 7\n").unwrap();
        fs::write(site.join("near.pth"), format!("{}\n", checkout.join("near").display())).unwrap();

        let runner = |job: process::Job| process::run(&job, &process::Cancel::new());
        let files = tree_files::all(&checkout);
        let specs = detect(&checkout, &files, &Probe { environment: &project.environment, runner: &runner });
        let commands: Vec<String> = specs.iter().filter_map(|spec| spec.action.typed()).collect();
        assert!(!commands.is_empty() && commands.iter().all(|text| text.starts_with(".venv/bin/python ")));
        for _ in 0..2 {
            assert_eq!(link(&checkout, &project.tree(), &specs).unwrap(), std::slice::from_ref(&environment));
        }
        let outcomes = project.run(&specs);
        let tests = outcomes.iter().find(|outcome| outcome.name == "unittest:py").unwrap();
        assert!(tests.passed() && tests.collected == Some(1), "{tests:#?}");

        let changed = ["py/uses.py".to_string(), "near/near.py".to_string()];
        fs::write(
            project.tree().join("py/uses.py"),
            "import sys\nimport tiny\nassert sys.prefix.endswith('.venv') and tiny.NUMBER == 7\n",
        )
        .unwrap();
        let loaded = project.run(&loading(&changed, &specs, |_| false));
        let told: Vec<_> = loaded.iter().map(|load| (load.name.as_str(), load.passed())).collect();
        assert_eq!(told, [("load-python", true), ("load-python:py", true)], "{loaded:#?}");
        let said = String::from_utf8_lossy(&loaded[1].output);
        assert!(said.contains("1 loaded") && !said.contains("left out"), "{said}");

        fs::create_dir(site.join("pytest")).unwrap();
        let probe = Probe { environment: &project.environment, runner: &runner };
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
