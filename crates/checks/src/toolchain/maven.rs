//! Java, detected by `pom.xml`. Maven runs offline, so the installed dependencies stay the same.

use super::{Dependency, FilesBelow, Nested, Toolchain, Workspace, read};
use crate::action::CheckAction;
use crate::members::{MEMBERS, Members, Naming};
use crate::probe::ToolProbe;
use crate::spec::{CheckSpec, Parser};
use remand_kernel::evidence::Tier;
use roxmltree::{Document, Node};
use std::path::Path;

pub const TOOLCHAIN: Toolchain = Toolchain {
    markers: &[MANIFEST],
    files: FilesBelow::Own,
    covers,
    name,
    dependencies,
    workspace: Workspace::Members {
        name: |_, relative| (!relative.is_empty()).then(|| relative.to_string()),
        lists: covers,
        sources: &["java", "kt", "xml", "properties"],
    },
    checks,
};

const MANIFEST: &str = "pom.xml";
const REPORTS: &str = "target/surefire-reports";

fn checks(folder: &Path, _: &ToolProbe<'_>) -> Vec<CheckSpec> {
    if !folder.join(MANIFEST).is_file() {
        return Vec::new();
    }
    // Offline, Maven finds modules only in the same build, so `-am` adds those that the members depend on.
    let spec = |name: &str, tier: Tier, argv: &[&str]| {
        let narrowed: Vec<&str> = argv.iter().chain(&["-pl", MEMBERS, "-am"]).copied().collect();
        CheckSpec::new(name, tier, CheckAction::argv(argv))
            .with_members(Members::of_command(&narrowed, Naming::List))
    };
    let compile = spec("mvn-compile", Tier::One, &["mvn", "-o", "-q", "-B", "test-compile"]);
    // All modules are tested even after a failure: otherwise tests that were not reached would look removed.
    let test = spec("mvn-test", Tier::Two, &["mvn", "-o", "-q", "-B", "-fae", "test"]);
    let test = test.parsed_by(Parser::Junit);
    // Each module of a larger build writes its report to its folder.
    let report = if modules(folder).is_empty() { REPORTS.to_string() } else { format!("**/{REPORTS}") };
    let test = CheckSpec { report: Some(report), ..test };
    vec![compile, test.needing("mvn-compile")]
}

/// A module may itself have modules.
fn covers(nested: Nested<'_>) -> bool {
    modules(nested.above).iter().any(|module| {
        let folder = nested.above.join(module.trim_end_matches("/pom.xml"));
        folder == nested.folder
            || nested
                .folder
                .strip_prefix(&folder)
                .ok()
                .and_then(Path::to_str)
                .is_some_and(|relative| covers(Nested { above: &folder, folder: nested.folder, relative }))
    })
}

fn modules(folder: &Path) -> Vec<String> {
    element_texts(folder, |node| node.tag_name().name() == "module")
}

fn name(folder: &Path) -> Option<String> {
    let is_project_id = |node: &Node<'_, '_>| {
        node.tag_name().name() == "artifactId"
            && node.parent().is_some_and(|parent| parent.tag_name().name() == "project")
    };
    element_texts(folder, |node| is_project_id(node)).into_iter().next()
}

/// Artifacts by name alone, without their group; a wrong match costs only an extra run of a check.
fn dependencies(folder: &Path) -> Vec<Dependency> {
    let is_dependency_id = |node: &Node<'_, '_>| {
        node.tag_name().name() == "artifactId"
            && node.parent().is_some_and(|parent| matches!(parent.tag_name().name(), "dependency" | "parent"))
    };
    element_texts(folder, |node| is_dependency_id(node)).into_iter().map(Dependency::Name).collect()
}

fn element_texts(folder: &Path, is_selected: impl Fn(&Node<'_, '_>) -> bool) -> Vec<String> {
    let text = read(folder, MANIFEST).unwrap_or_default();
    let Ok(document) = Document::parse(&text) else { return Vec::new() };
    let found = document.descendants().filter(|node| is_selected(node)).filter_map(|node| node.text());
    found.map(|text| text.trim().to_string()).collect()
}
