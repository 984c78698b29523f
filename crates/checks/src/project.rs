//! The projects of a repository: their folders, their dependencies, and which projects cover others.

use super::members::{Member, Members};
use super::probe::ToolProbe;
use super::spec::{CheckScope, CheckSpec, SCRATCH};
use super::toolchain::{Dependency, FALLBACK, FilesBelow, Nested, TOOLCHAINS, Toolchain, Workspace};
use super::tree_files;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

/// Deeper folders and further projects are ignored: the user of such a large repository configures the checks.
const MAX_DEPTH: usize = 6;
const MAX_PROJECTS: usize = 200;

/// Names of folders with third-party projects, or with projects that need not pass.
const IGNORED_FOLDERS: [&str; 16] = [
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
pub struct DetectedProject {
    toolchain: &'static Toolchain,
    /// Relative to the root; empty for the root itself.
    folder: String,
    /// The project's folder first, then the folders of projects that its checks cover.
    covered: Vec<ProjectFolder>,
    /// Whether its checks cover projects that detection ignores.
    has_ignored_members: bool,
    checks: Vec<CheckSpec>,
}

/// The folder of a project, with the data of its manifest.
struct ProjectFolder {
    /// Relative to the root; empty for the root itself.
    path: String,
    name: Option<String>,
    dependencies: Vec<Dependency>,
}

impl ProjectFolder {
    fn new(root: &Path, toolchain: &Toolchain, folder: String) -> ProjectFolder {
        let full = root.join(&folder);
        let dependencies = (toolchain.dependencies)(&full);
        ProjectFolder { name: (toolchain.name)(&full), dependencies, path: folder }
    }
}

/// Finds the projects among the files of a repository. For each toolchain, those nearer to the root come first.
pub fn projects(root: &Path, files: &[String], probe: &ToolProbe<'_>) -> Vec<DetectedProject> {
    let mut found: Vec<DetectedProject> = Vec::new();
    for toolchain in &TOOLCHAINS {
        let first = found.len();
        for folder in candidates(toolchain, files) {
            add(root, toolchain, folder, first, &mut found, probe);
        }
    }
    let first = found.len();
    for folder in candidates(&FALLBACK, files) {
        let is_near = |project: &DetectedProject| {
            is_below(&folder, &project.folder) || is_below(&project.folder, &folder)
        };
        if !found[..first].iter().any(is_near) {
            add(root, &FALLBACK, folder, first, &mut found, probe);
        }
    }
    found.truncate(MAX_PROJECTS);
    for project in &mut found {
        project.has_ignored_members = has_ignored_members(root, project, files);
    }
    found
}

/// The checks of all projects, each with its scope.
pub fn checks(root: &Path, projects: Vec<DetectedProject>) -> Vec<CheckSpec> {
    let scopes: Vec<CheckScope> = (0..projects.len()).map(|at| scope(&projects, at)).collect();
    let mut specs: Vec<CheckSpec> = Vec::new();
    for (project, scope) in projects.into_iter().zip(scopes) {
        // A check of individual files is dropped if a project above looks at the same files.
        let mut replaced: BTreeMap<String, String> = BTreeMap::new();
        let members = members(root, &project);
        for check in project.checks {
            let is_same = |spec: &&CheckSpec| {
                !check.each.is_empty()
                    && spec.action == check.action
                    && is_below(&project.folder, &spec.folder)
            };
            if let Some(spec) = specs.iter().find(is_same) {
                replaced.insert(name_in(&project.folder, &check.name), spec.name.clone());
                continue;
            }
            let mut check = move_to(&project.folder, check);
            for need in &mut check.needs {
                *need = replaced.get(need).unwrap_or(need).clone();
            }
            check.members = check.members.filter(|_| members.len() > 1).map(|command| Members {
                manifests: project.toolchain.markers.iter().map(|marker| marker.to_string()).collect(),
                all: members.clone(),
                ..command
            });
            specs.push(CheckSpec { scope: scope.clone(), ..check });
        }
    }
    specs
}

/// Adds the project in a folder, or adds the folder to the project that covers it. The projects of the toolchain start at
/// the index `first`.
fn add(
    root: &Path,
    toolchain: &'static Toolchain,
    folder: String,
    first: usize,
    found: &mut Vec<DetectedProject>,
    probe: &ToolProbe<'_>,
) {
    let path = root.join(&folder);
    let covering = found[first..].iter_mut().find(|project| {
        let above = root.join(&project.folder);
        let Some(relative) = path.strip_prefix(&above).ok().and_then(Path::to_str) else { return false };
        !relative.is_empty() && (toolchain.covers)(Nested { above: &above, folder: &path, relative })
    });
    match covering {
        Some(project) => project.covered.push(ProjectFolder::new(root, toolchain, folder)),
        None => {
            let checks = (toolchain.checks)(&path, probe);
            if !checks.is_empty() {
                let covered = vec![ProjectFolder::new(root, toolchain, folder.clone())];
                found.push(DetectedProject {
                    toolchain,
                    covered,
                    has_ignored_members: false,
                    folder,
                    checks,
                });
            }
        }
    }
}

fn has_ignored_members(root: &Path, project: &DetectedProject, files: &[String]) -> bool {
    let Workspace::Members { lists, .. } = project.toolchain.workspace else { return false };
    let above = root.join(&project.folder);
    let folders = files.iter().filter_map(|file| {
        let (folder, name) = file.rsplit_once('/')?;
        project.toolchain.markers.contains(&name).then_some(folder)
    });
    let mut others = folders.filter(|folder| !project.covered.iter().any(|covered| covered.path == **folder));
    others.any(|other| {
        let relative = Path::new(other).strip_prefix(&project.folder).ok().and_then(Path::to_str);
        let folder = root.join(other);
        relative.is_some_and(|relative| lists(Nested { above: &above, folder: &folder, relative }))
    })
}

/// The root, then the folders with a marker file, those nearer to the root first.
fn candidates(toolchain: &Toolchain, files: &[String]) -> Vec<String> {
    let is_considered = |folder: &str| {
        folder
            .split('/')
            .all(|name| !name.starts_with('.') && !name.contains("{{") && !IGNORED_FOLDERS.contains(&name))
    };
    let folders = files.iter().filter_map(|file| {
        let (folder, name) = file.rsplit_once('/')?;
        (toolchain.markers.contains(&name) && is_considered(folder)).then_some(folder)
    });
    let depth = |folder: &str| folder.split('/').count();
    let folders: BTreeSet<&str> = folders.filter(|folder| depth(folder) <= MAX_DEPTH).collect();
    let mut folders: Vec<&str> = folders.into_iter().collect();
    folders.sort_by_key(|folder| (depth(folder), *folder));
    [""].into_iter().chain(folders).map(str::to_string).collect()
}

/// The folders that can affect a project: its folders, and those of all its direct and indirect dependencies.
fn scope(projects: &[DetectedProject], at: usize) -> CheckScope {
    let mut reached = BTreeSet::from([at]);
    let mut pending = vec![at];
    while let Some(project) = pending.pop().and_then(|at| projects.get(at)) {
        if project.folder.is_empty() && project.toolchain.files == FilesBelow::All {
            return CheckScope::Whole;
        }
        let same_toolchain =
            projects.iter().enumerate().filter(|(_, other)| std::ptr::eq(other.toolchain, project.toolchain));
        let same_toolchain: Vec<(usize, &DetectedProject)> = same_toolchain.collect();
        for folder in &project.covered {
            for dependency in &folder.dependencies {
                let Some(target) = dependency.target(folder) else { return CheckScope::Whole };
                let found = same_toolchain
                    .iter()
                    .filter(|(_, other)| other.covered.iter().any(|folder| target.matches(folder)));
                pending.extend(found.map(|(at, _)| *at).filter(|at| reached.insert(*at)));
            }
        }
    }
    let reached = reached.into_iter().filter_map(|at| projects.get(at));
    let folders = reached.flat_map(|project| &project.covered).map(|covered| &covered.path);
    let folders = folders.filter(|folder| !folder.is_empty());
    CheckScope::Folders(folders.collect::<BTreeSet<_>>().into_iter().cloned().collect())
}

/// The projects that a project's checks cover, as members of a workspace; empty if the checks cannot run for some of them.
fn members(root: &Path, project: &DetectedProject) -> Vec<Member> {
    let Workspace::Members { name, sources, .. } = &project.toolchain.workspace else { return Vec::new() };
    // A project outside the workspace may in turn depend on any member.
    let is_within = |folder: &ProjectFolder, dependency: &Dependency| match dependency.target(folder) {
        Some(DependencyTarget::Folder(path)) => project.covered.iter().any(|covered| covered.path == path),
        Some(DependencyTarget::Name(_)) => true,
        None => false,
    };
    let is_known = project
        .covered
        .iter()
        .all(|folder| folder.dependencies.iter().all(|dependency| is_within(folder, dependency)));
    if !is_known || project.has_ignored_members || project.covered.len() < 2 {
        return Vec::new();
    }
    let named: Vec<(&ProjectFolder, String)> = project
        .covered
        .iter()
        .filter_map(|folder| {
            let relative = Path::new(&folder.path).strip_prefix(&project.folder).ok()?.to_str()?;
            Some((folder, name(&root.join(&folder.path), relative)?))
        })
        .collect();
    let dependencies = |folder: &ProjectFolder| {
        let targets: Vec<DependencyTarget<'_>> =
            folder.dependencies.iter().filter_map(|dependency| dependency.target(folder)).collect();
        let others = named.iter().filter(|(other, _)| targets.iter().any(|target| target.matches(other)));
        others.map(|(_, name)| name.clone()).collect()
    };
    let member = |(folder, name): &(&ProjectFolder, String)| {
        let folders = member_folders(project, folder);
        let reads = upward_paths(root, folder, &folders, sources);
        Member { name: name.clone(), reads, folders, dependencies: dependencies(folder) }
    };
    named.iter().map(member).collect()
}

/// The folders of a member. A package above the other members owns only its usual folders: everything else may belong to
/// all members.
fn member_folders(project: &DetectedProject, folder: &ProjectFolder) -> Vec<String> {
    if folder.path != project.folder {
        return vec![folder.path.clone()];
    }
    ["src", "tests", "benches", "examples"].iter().filter_map(|name| resolve(&folder.path, name)).collect()
}

/// Existing paths that the sources of a member name with `../`, relative to the file or to the member's folder.
fn upward_paths(root: &Path, member: &ProjectFolder, folders: &[String], extensions: &[&str]) -> Vec<String> {
    let mut found = BTreeSet::new();
    for folder in folders {
        for file in tree_files::all(&root.join(folder)) {
            let path = Path::new(folder).join(file);
            if !path.extension().is_some_and(|found| extensions.iter().any(|extension| found == *extension)) {
                continue;
            }
            let text = std::fs::read_to_string(root.join(&path)).unwrap_or_default();
            let file_folder = path.parent().and_then(Path::to_str).unwrap_or_default();
            let literals = text.split(['"', '\'', '`', '<', '>', '\n']);
            for upward in literals.filter_map(|literal| Some(&literal[literal.find("../")?..])) {
                found
                    .extend([file_folder, &member.path].into_iter().filter_map(|from| resolve(from, upward)));
            }
        }
    }
    found.into_iter().filter(|path| root.join(path).exists()).collect()
}

/// The project that a dependency leads to.
enum DependencyTarget<'d> {
    Name(&'d str),
    /// Relative to the root.
    Folder(String),
}

impl DependencyTarget<'_> {
    fn matches(&self, folder: &ProjectFolder) -> bool {
        match self {
            DependencyTarget::Name(name) => folder.name.as_deref() == Some(*name),
            DependencyTarget::Folder(path) => folder.path == *path,
        }
    }
}

impl Dependency {
    /// The target of a dependency of the project in this folder; `None` if it is unknown.
    fn target(&self, folder: &ProjectFolder) -> Option<DependencyTarget<'_>> {
        match self {
            Dependency::Anything => None,
            Dependency::Name(name) => Some(DependencyTarget::Name(name)),
            Dependency::Folder(path) => resolve(&folder.path, path).map(DependencyTarget::Folder),
        }
    }
}

/// Moves a check to a folder: it is named after the folder, and has a separate scratch folder.
fn move_to(folder: &str, check: CheckSpec) -> CheckSpec {
    if folder.is_empty() {
        return check;
    }
    let scratch = format!("{SCRATCH}/{}", folder.replace('/', "+"));
    let moved = |text: &str| text.replace(SCRATCH, &scratch);
    CheckSpec {
        name: name_in(folder, &check.name),
        folder: folder.to_string(),
        needs: check.needs.iter().map(|need| name_in(folder, need)).collect(),
        action: check.action.map_words(moved),
        members: check.members.map(|members| Members {
            command: members.command.iter().map(|word| moved(word)).collect(),
            ..members
        }),
        report: check.report.as_deref().map(moved),
        environment: check.environment.iter().map(|(name, value)| (name.clone(), moved(value))).collect(),
        ..check
    }
}

fn name_in(folder: &str, check: &str) -> String {
    if folder.is_empty() { check.to_string() } else { format!("{check}:{folder}") }
}

/// Resolves a path from a folder to a path relative to the root; `None` if it leaves the repository.
fn resolve(folder: &str, path: &str) -> Option<String> {
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
