//! The projects of a repository: where they are, which cover others, and which depend on which.

use super::members::{Member, Members};
use super::probe::ToolProbe;
use super::spec::{CheckScope, CheckSpec, SCRATCH};
use super::toolchain::{Below, LAST, Lean, Nested, TOOLCHAINS, Toolchain, Workspace};
use super::tree_files;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

/// Deeper folders and further projects are ignored: such a repository configures its checks.
const DEEPEST: usize = 6;
const MOST: usize = 200;

/// Folders whose projects are not the repository's own, or need not pass.
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
pub struct DetectedProject {
    toolchain: &'static Toolchain,
    /// Relative to the root; empty for the root itself.
    folder: String,
    /// Its own folder first, then those of projects that its checks cover.
    homes: Vec<ProjectFolder>,
    /// Whether its checks cover projects that detection ignores.
    has_strays: bool,
    checks: Vec<CheckSpec>,
}

/// A folder of a project, with what its manifest says.
struct ProjectFolder {
    /// Relative to the root; empty for the root itself.
    folder: String,
    name: Option<String>,
    leans: Vec<Lean>,
}

impl ProjectFolder {
    fn new(root: &Path, toolchain: &Toolchain, folder: String) -> ProjectFolder {
        let path = root.join(&folder);
        ProjectFolder { name: (toolchain.name)(&path), leans: (toolchain.leans)(&path), folder }
    }
}

/// Finds the projects among the files of a repository, those nearer to the root first.
pub fn projects(root: &Path, files: &[String], probe: &ToolProbe<'_>) -> Vec<DetectedProject> {
    let mut found: Vec<DetectedProject> = Vec::new();
    for toolchain in &TOOLCHAINS {
        let from = found.len();
        for folder in candidates(toolchain, files) {
            take(root, toolchain, folder, from, &mut found, probe);
        }
    }
    let from = found.len();
    for folder in candidates(&LAST, files) {
        let is_near = |project: &DetectedProject| {
            is_below(&folder, &project.folder) || is_below(&project.folder, &folder)
        };
        if !found[..from].iter().any(is_near) {
            take(root, &LAST, folder, from, &mut found, probe);
        }
    }
    found.truncate(MOST);
    for project in &mut found {
        project.has_strays = has_strays(root, project, files);
    }
    found
}

/// The checks of all projects, each with the changes that can affect it.
pub fn checks(root: &Path, projects: Vec<DetectedProject>) -> Vec<CheckSpec> {
    let scopes: Vec<CheckScope> = (0..projects.len()).map(|at| scope(&projects, at)).collect();
    let mut specs: Vec<CheckSpec> = Vec::new();
    for (project, scope) in projects.into_iter().zip(scopes) {
        // A check of single files is dropped where a project above looks at the same files.
        let mut above: BTreeMap<String, String> = BTreeMap::new();
        let members = members(root, &project);
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
            check.members = check.members.filter(|_| members.len() > 1).map(|part| Members {
                manifests: project.toolchain.markers.iter().map(|marker| marker.to_string()).collect(),
                all: members.clone(),
                ..part
            });
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
    found: &mut Vec<DetectedProject>,
    probe: &ToolProbe<'_>,
) {
    let own = root.join(&folder);
    let covering = found[from..].iter_mut().find(|project| {
        let above = root.join(&project.folder);
        let Some(way) = own.strip_prefix(&above).ok().and_then(Path::to_str) else { return false };
        !way.is_empty() && (toolchain.covers)(Nested { above: &above, folder: &own, way })
    });
    match covering {
        Some(project) => project.homes.push(ProjectFolder::new(root, toolchain, folder)),
        None => {
            let checks = (toolchain.checks)(&own, probe);
            if !checks.is_empty() {
                let homes = vec![ProjectFolder::new(root, toolchain, folder.clone())];
                found.push(DetectedProject { toolchain, homes, has_strays: false, folder, checks });
            }
        }
    }
}

fn has_strays(root: &Path, project: &DetectedProject, files: &[String]) -> bool {
    let Workspace::Members { lists, .. } = project.toolchain.workspace else { return false };
    let above = root.join(&project.folder);
    let folders = files.iter().filter_map(|file| {
        let (folder, name) = file.rsplit_once('/')?;
        project.toolchain.markers.contains(&name).then_some(folder)
    });
    let mut others = folders.filter(|folder| !project.homes.iter().any(|home| home.folder == **folder));
    others.any(|other| {
        let way = Path::new(other).strip_prefix(&project.folder).ok().and_then(Path::to_str);
        let folder = root.join(other);
        way.is_some_and(|way| lists(Nested { above: &above, folder: &folder, way }))
    })
}

/// The root and every folder with a marker file, those nearer to the root first.
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

/// The folders that can affect a project: its own, and those of all its direct and indirect dependencies.
fn scope(projects: &[DetectedProject], at: usize) -> CheckScope {
    let mut reached = BTreeSet::from([at]);
    let mut open = vec![at];
    while let Some(project) = open.pop().and_then(|at| projects.get(at)) {
        if project.folder.is_empty() && project.toolchain.below == Below::All {
            return CheckScope::Whole;
        }
        let same =
            projects.iter().enumerate().filter(|(_, other)| std::ptr::eq(other.toolchain, project.toolchain));
        let same: Vec<(usize, &DetectedProject)> = same.collect();
        for home in &project.homes {
            for lean in &home.leans {
                let Some(meant) = lean.meant(home) else { return CheckScope::Whole };
                let found = same.iter().filter(|(_, other)| other.homes.iter().any(|home| meant.is(home)));
                open.extend(found.map(|(at, _)| *at).filter(|at| reached.insert(*at)));
            }
        }
    }
    let homes = reached.into_iter().filter_map(|at| projects.get(at)).flat_map(|project| &project.homes);
    let folders = homes.map(|home| &home.folder).filter(|folder| !folder.is_empty());
    CheckScope::Folders(folders.collect::<BTreeSet<_>>().into_iter().cloned().collect())
}

/// The projects that the checks of one cover, as members of a workspace; none if they cannot be separated.
fn members(root: &Path, project: &DetectedProject) -> Vec<Member> {
    let Workspace::Members { name, sources, .. } = &project.toolchain.workspace else { return Vec::new() };
    // A dependency through another project may lead back to any of them.
    let is_within = |home: &ProjectFolder, lean: &Lean| match lean.meant(home) {
        Some(Meant::Folder(folder)) => project.homes.iter().any(|home| home.folder == folder),
        Some(Meant::Name(_)) => true,
        None => false,
    };
    let is_known = project.homes.iter().all(|home| home.leans.iter().all(|lean| is_within(home, lean)));
    if !is_known || project.has_strays || project.homes.len() < 2 {
        return Vec::new();
    }
    let named: Vec<(&ProjectFolder, String)> = project
        .homes
        .iter()
        .filter_map(|home| {
            let way = Path::new(&home.folder).strip_prefix(&project.folder).ok()?.to_str()?;
            Some((home, name(&root.join(&home.folder), way)?))
        })
        .collect();
    let leans = |home: &ProjectFolder| {
        let meant: Vec<Meant<'_>> = home.leans.iter().filter_map(|lean| lean.meant(home)).collect();
        let others = named.iter().filter(|(other, _)| meant.iter().any(|meant| meant.is(other)));
        others.map(|(_, name)| name.clone()).collect()
    };
    let member = |(home, name): &(&ProjectFolder, String)| {
        let own = own_folders(project, home);
        Member { name: name.clone(), reads: reads(root, home, &own, sources), own, leans: leans(home) }
    };
    named.iter().map(member).collect()
}

/// A package above the other members owns its usual folders only: everything else may belong to all.
fn own_folders(project: &DetectedProject, home: &ProjectFolder) -> Vec<String> {
    if home.folder != project.folder {
        return vec![home.folder.clone()];
    }
    ["src", "tests", "benches", "examples"].iter().filter_map(|name| normal(&home.folder, name)).collect()
}

/// Existing paths that lead upwards in the sources of a member, relative to the file or to the member's folder.
fn reads(root: &Path, home: &ProjectFolder, own: &[String], sources: &[&str]) -> Vec<String> {
    let mut found = BTreeSet::new();
    for folder in own {
        for file in tree_files::all(&root.join(folder)) {
            let path = Path::new(folder).join(file);
            if !path.extension().is_some_and(|ending| sources.iter().any(|source| ending == *source)) {
                continue;
            }
            let text = std::fs::read_to_string(root.join(&path)).unwrap_or_default();
            let own_folder = path.parent().and_then(Path::to_str).unwrap_or_default();
            let literals = text.split(['"', '\'', '`', '<', '>', '\n']);
            for upwards in literals.filter_map(|literal| Some(&literal[literal.find("../")?..])) {
                found.extend([own_folder, &home.folder].into_iter().filter_map(|from| normal(from, upwards)));
            }
        }
    }
    found.into_iter().filter(|path| root.join(path).exists()).collect()
}

/// What a dependency leads to.
enum Meant<'m> {
    Name(&'m str),
    /// Relative to the root.
    Folder(String),
}

impl Meant<'_> {
    fn is(&self, home: &ProjectFolder) -> bool {
        match self {
            Meant::Name(name) => home.name.as_deref() == Some(*name),
            Meant::Folder(folder) => home.folder == *folder,
        }
    }
}

impl Lean {
    /// What a dependency of this folder means; none if that is unknown.
    fn meant(&self, home: &ProjectFolder) -> Option<Meant<'_>> {
        match self {
            Lean::Anything => None,
            Lean::Name(name) => Some(Meant::Name(name)),
            Lean::Folder(path) => normal(&home.folder, path).map(Meant::Folder),
        }
    }
}

/// A check of a project in a folder: named after the folder, and with its own scratch folder.
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
        members: check.members.map(|members| Members {
            command: members.command.iter().map(|word| moved(word)).collect(),
            ..members
        }),
        report: check.report.as_deref().map(moved),
        environment: check.environment.iter().map(|(name, value)| (name.clone(), moved(value))).collect(),
        ..check
    }
}

fn named(check: &str, folder: &str) -> String {
    if folder.is_empty() { check.to_string() } else { format!("{check}:{folder}") }
}

/// A path from a folder, relative to the root; none if it leaves the repository.
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
