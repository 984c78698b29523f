//! The projects of a repository: where they are, which of them cover others, and which lean on which.

use super::detect::Probe;
use super::spec::{CheckSpec, SCRATCH, Scope};
use super::toolchain::{Below, LAST, Lean, Nested, TOOLCHAINS, Toolchain};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

/// Deeper folders and more projects than these are left out: a repository with more says what to run.
const DEEPEST: usize = 6;
const MOST: usize = 200;

/// Folders whose projects are not the repository's own, or are not meant to pass.
const NOT_OWN: [&str; 16] = [
    "node_modules",
    "target",
    "vendor",
    "vendored",
    "third_party",
    "third-party",
    "venv",
    "dist",
    "build",
    "fixtures",
    "__fixtures__",
    "testdata",
    "test-data",
    "examples",
    "samples",
    "templates",
];

/// One project with its checks.
pub struct Project {
    toolchain: &'static Toolchain,
    /// Relative to the root; empty for the root itself.
    folder: String,
    /// Its own folder and those of the projects that its checks see to as well.
    homes: Vec<String>,
    checks: Vec<CheckSpec>,
}

/// Finds the projects among the files of a repository; those nearer to the root first.
pub fn projects(root: &Path, files: &[String], probe: &Probe<'_>) -> Vec<Project> {
    let mut found: Vec<Project> = Vec::new();
    for toolchain in &TOOLCHAINS {
        let from = found.len();
        for folder in candidates(toolchain, files) {
            take(root, toolchain, folder, from, &mut found, probe);
        }
    }
    let from = found.len();
    for folder in candidates(&LAST, files) {
        let is_near =
            |project: &Project| is_below(&folder, &project.folder) || is_below(&project.folder, &folder);
        if !found[..from].iter().any(is_near) {
            take(root, &LAST, folder, from, &mut found, probe);
        }
    }
    found.truncate(MOST);
    found
}

/// The checks of all projects, each with the changes that can affect it.
pub fn checks(root: &Path, projects: Vec<Project>) -> Vec<CheckSpec> {
    let scopes: Vec<Scope> = (0..projects.len()).map(|at| scope(root, &projects, at)).collect();
    let mut specs: Vec<CheckSpec> = Vec::new();
    for (project, scope) in projects.into_iter().zip(scopes) {
        // What goes file by file is not done twice, where a project above looks at the same files.
        let mut above: BTreeMap<String, String> = BTreeMap::new();
        for check in project.checks {
            let is_same = |spec: &&CheckSpec| {
                !check.each.is_empty()
                    && spec.action == check.action
                    && is_below(&project.folder, &spec.folder)
            };
            if let Some(spec) = specs.iter().find(is_same) {
                above.insert(named(&check.name, &project.folder), spec.name.clone());
                continue;
            }
            let mut check = placed(check, &project.folder);
            for need in &mut check.needs {
                *need = above.get(need).unwrap_or(need).clone();
            }
            specs.push(CheckSpec { scope: scope.clone(), ..check });
        }
    }
    specs
}

fn take(
    root: &Path,
    toolchain: &'static Toolchain,
    folder: String,
    from: usize,
    found: &mut Vec<Project>,
    probe: &Probe<'_>,
) {
    let own = root.join(&folder);
    let covering = found[from..].iter_mut().find(|project| {
        let above = root.join(&project.folder);
        let Some(way) = own.strip_prefix(&above).ok().and_then(Path::to_str) else { return false };
        !way.is_empty() && (toolchain.covers)(Nested { above: &above, folder: &own, way })
    });
    match covering {
        Some(project) => project.homes.push(folder),
        None => {
            let checks = (toolchain.checks)(&own, probe);
            if !checks.is_empty() {
                found.push(Project { toolchain, homes: vec![folder.clone()], folder, checks });
            }
        }
    }
}

/// The root, and every folder with a marker; those nearer to the root first.
fn candidates(toolchain: &Toolchain, files: &[String]) -> Vec<String> {
    let is_own = |folder: &str| {
        folder
            .split('/')
            .all(|name| !name.starts_with('.') && !name.contains("{{") && !NOT_OWN.contains(&name))
    };
    let folders = files.iter().filter_map(|file| {
        let (folder, name) = file.rsplit_once('/')?;
        (toolchain.markers.contains(&name) && is_own(folder)).then_some(folder)
    });
    let depth = |folder: &str| folder.split('/').count();
    let folders: BTreeSet<&str> = folders.filter(|folder| depth(folder) <= DEEPEST).collect();
    let mut folders: Vec<&str> = folders.into_iter().collect();
    folders.sort_by_key(|folder| (depth(folder), *folder));
    [""].into_iter().chain(folders).map(str::to_string).collect()
}

/// What can affect a project: its own folders and those of all that it leans on, and of what these lean on.
fn scope(root: &Path, projects: &[Project], at: usize) -> Scope {
    let mut reached = BTreeSet::from([at]);
    let mut open = vec![at];
    while let Some(project) = open.pop().and_then(|at| projects.get(at)) {
        if project.folder.is_empty() && project.toolchain.below == Below::All {
            return Scope::Whole;
        }
        for home in &project.homes {
            for lean in (project.toolchain.leans)(&root.join(home)) {
                let Some(found) = lean.projects(root, projects, project, home) else { return Scope::Whole };
                open.extend(found.into_iter().filter(|at| reached.insert(*at)));
            }
        }
    }
    let homes = reached.into_iter().filter_map(|at| projects.get(at)).flat_map(|project| &project.homes);
    let folders: BTreeSet<&String> = homes.filter(|home| !home.is_empty()).collect();
    Scope::Folders(folders.into_iter().cloned().collect())
}

impl Lean {
    /// The projects that are meant; none where that cannot be told.
    fn projects(&self, root: &Path, projects: &[Project], by: &Project, home: &str) -> Option<Vec<usize>> {
        let same =
            projects.iter().enumerate().filter(|(_, project)| std::ptr::eq(project.toolchain, by.toolchain));
        match self {
            Lean::Anything => None,
            Lean::Name(name) => Some(
                same.filter(|(_, project)| {
                    let mut homes = project.homes.iter();
                    homes.any(|home| (project.toolchain.name)(&root.join(home)).as_ref() == Some(name))
                })
                .map(|(at, _)| at)
                .collect(),
            ),
            Lean::Folder(path) => {
                let folder = normal(home, path)?;
                Some(same.filter(|(_, project)| project.homes.contains(&folder)).map(|(at, _)| at).collect())
            }
        }
    }
}

/// A check of a project in a folder: known by that folder, and with a throw-away folder of its own.
fn placed(check: CheckSpec, folder: &str) -> CheckSpec {
    if folder.is_empty() {
        return check;
    }
    let own = format!("{SCRATCH}/{}", folder.replace('/', "+"));
    let moved = |text: &str| text.replace(SCRATCH, &own);
    CheckSpec {
        name: named(&check.name, folder),
        folder: folder.to_string(),
        needs: check.needs.iter().map(|need| named(need, folder)).collect(),
        action: check.action.with_words(moved),
        report: check.report.as_deref().map(moved),
        environment: check.environment.iter().map(|(name, value)| (name.clone(), moved(value))).collect(),
        ..check
    }
}

fn named(check: &str, folder: &str) -> String {
    if folder.is_empty() { check.to_string() } else { format!("{check}:{folder}") }
}

/// A path from a folder, relative to the root; none where it leads out of the repository.
fn normal(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for component in Path::new(path).components() {
        match component {
            Component::Normal(part) => parts.push(part.to_str()?),
            Component::ParentDir => {
                parts.pop()?;
            }
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts.join("/"))
}

fn is_below(folder: &str, above: &str) -> bool {
    Path::new(folder).starts_with(above)
}
