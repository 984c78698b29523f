//! Java, by `pom.xml`; offline, since a check must not change what it checks against.

use super::{Below, Lean, Nested, Toolchain, Workspace, read};
use crate::action::CheckAction;
use crate::members::{MEMBERS, Members, Naming};
use crate::probe::ToolProbe;
use crate::spec::{CheckSpec, Parser};
use remand_kernel::evidence::Tier;
use roxmltree::{Document, Node};
use std::path::Path;

pub const TOOLCHAIN: Toolchain = Toolchain {
    markers: &[MANIFEST],
    below: Below::Own,
    covers,
    name,
    leans,
    workspace: Workspace::Members {
        name: |_, way| (!way.is_empty()).then(|| way.to_string()),
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
    // Offline, modules are found in the same build only, so their dependencies are built too.
    let made = |name: &str, tier: Tier, argv: &[&str]| {
        let of_some: Vec<&str> = argv.iter().chain(&["-pl", MEMBERS, "-am"]).copied().collect();
        CheckSpec::new(name, tier, CheckAction::argv(argv))
            .by_member(Members::of_command(&of_some, Naming::List))
    };
    let compile = made("mvn-compile", Tier::One, &["mvn", "-o", "-q", "-B", "test-compile"]);
    // All modules are tested even after a failure: otherwise tests that were not reached would look removed.
    let test = made("mvn-test", Tier::Two, &["mvn", "-o", "-q", "-B", "-fae", "test"]);
    let test = test.parsed_by(Parser::Junit);
    // Each module of a larger build writes its report to its own folder.
    let report = if modules(folder).is_empty() { REPORTS.to_string() } else { format!("**/{REPORTS}") };
    let test = CheckSpec { report: Some(report), ..test };
    vec![compile, test.needing("mvn-compile")]
}

/// Modules may have modules.
fn covers(nested: Nested<'_>) -> bool {
    modules(nested.above).iter().any(|module| {
        let folder = nested.above.join(module.trim_end_matches("/pom.xml"));
        folder == nested.folder
            || nested
                .folder
                .strip_prefix(&folder)
                .ok()
                .and_then(Path::to_str)
                .is_some_and(|way| covers(Nested { above: &folder, folder: nested.folder, way }))
    })
}

fn modules(folder: &Path) -> Vec<String> {
    texts(folder, |node| node.tag_name().name() == "module")
}

fn name(folder: &Path) -> Option<String> {
    let is_own = |node: &Node<'_, '_>| {
        node.tag_name().name() == "artifactId"
            && node.parent().is_some_and(|parent| parent.tag_name().name() == "project")
    };
    texts(folder, |node| is_own(node)).into_iter().next()
}

/// Artifacts are matched by name alone; a wrong match only costs one run of a check.
fn leans(folder: &Path) -> Vec<Lean> {
    let is_named = |node: &Node<'_, '_>| {
        node.tag_name().name() == "artifactId"
            && node.parent().is_some_and(|parent| matches!(parent.tag_name().name(), "dependency" | "parent"))
    };
    texts(folder, |node| is_named(node)).into_iter().map(Lean::Name).collect()
}

fn texts(folder: &Path, wanted: impl Fn(&Node<'_, '_>) -> bool) -> Vec<String> {
    let text = read(folder, MANIFEST).unwrap_or_default();
    let Ok(document) = Document::parse(&text) else { return Vec::new() };
    let found = document.descendants().filter(|node| wanted(node)).filter_map(|node| node.text());
    found.map(|text| text.trim().to_string()).collect()
}
