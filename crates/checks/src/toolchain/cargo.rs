//! Rust, detected by `Cargo.toml`.

use super::{Dependency, FilesBelow, Nested, Toolchain, Workspace, matches, read, toml_file};
use crate::action::CheckAction;
use crate::members::{MEMBERS, Members, Naming};
use crate::probe::ToolProbe;
use crate::spec::{CheckSpec, Parser, SCRATCH};
use remand_kernel::evidence::Tier;
use std::path::{Component, Path, PathBuf};
use toml::{Table, Value};

pub const TOOLCHAIN: Toolchain = Toolchain {
    markers: &[MANIFEST],
    files: FilesBelow::Own,
    covers,
    name,
    dependencies,
    workspace: Workspace::Members { name: |folder, _| name(folder), lists, sources: &["rs", "toml"] },
    checks,
};

const MANIFEST: &str = "Cargo.toml";

/// The variable that says where Cargo builds.
pub const TARGET_FOLDER: &str = "CARGO_TARGET_DIR";

const DEPENDENCIES: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

fn checks(folder: &Path, probe: &ToolProbe<'_>) -> Vec<CheckSpec> {
    if !folder.join(MANIFEST).is_file() {
        return Vec::new();
    }
    let builds_elsewhere = builds_elsewhere(folder);
    // If a member is patched in for an external package, other external packages may depend on it.
    let is_patched = toml_file(folder, MANIFEST).contains_key("patch");
    let spec = |name: &str, tier: Tier, argv: &[&str]| {
        let narrowed: Vec<&str> =
            argv.iter().map(|word| if *word == "--workspace" { MEMBERS } else { word }).collect();
        let members = Members::of_command(&narrowed, Naming::Flag("-p".to_string()));
        let spec =
            CheckSpec::new(name, tier, CheckAction::argv(argv)).with_variable("CARGO_TERM_COLOR", "never");
        let spec = match builds_elsewhere {
            true => spec.with_variable(TARGET_FOLDER, &format!("{SCRATCH}/target")),
            false => spec,
        };
        if is_patched { spec } else { spec.with_members(members) }
    };
    let mut specs = vec![spec("cargo-check", Tier::One, &["cargo", "check", "--workspace", "--all-targets"])];
    let mut add = |spec: CheckSpec| specs.push(spec.needing("cargo-check"));
    if has_lints(folder) && probe.has_program("cargo-clippy") {
        let argv = ["cargo", "clippy", "--workspace", "--all-targets"];
        add(spec("cargo-clippy", Tier::Two, &argv));
    }
    // All binaries run even after a failure: otherwise tests that were not reached would look removed.
    if folder.join(".config/nextest.toml").is_file() && probe.has_program("cargo-nextest") {
        let argv = ["cargo", "nextest", "run", "--workspace", "--no-fail-fast", "--status-level", "all"];
        add(spec("cargo-nextest", Tier::Two, &argv).parsed_by(Parser::Nextest));
        // nextest does not run documentation tests.
        let argv = ["cargo", "test", "--workspace", "--no-fail-fast", "--doc"];
        if folder.join("src/lib.rs").is_file() {
            add(spec("cargo-doctest", Tier::Two, &argv).parsed_by(Parser::Cargo));
        }
    } else {
        let argv = ["cargo", "test", "--workspace", "--no-fail-fast"];
        add(spec("cargo-test", Tier::Two, &argv).parsed_by(Parser::Cargo));
    }
    specs
}

/// Whether the settings of Cargo put the build outside the project, where a check cannot write.
fn builds_elsewhere(folder: &Path) -> bool {
    let is_target_elsewhere = |settings: &Path| {
        let folder = toml_file(settings, "config.toml")
            .get("build")
            .and_then(|build| build.get("target-dir").and_then(Value::as_str).map(PathBuf::from));
        folder.is_some_and(|folder| {
            folder.is_absolute() || folder.components().any(|part| part == Component::ParentDir)
        })
    };
    let mut settings: Vec<PathBuf> = Vec::new();
    for above in folder.ancestors() {
        settings.push(above.join(".cargo"));
        if above.join(".git").exists() {
            break;
        }
    }
    let home = std::env::var_os("HOME").map(|home| Path::new(&home).join(".cargo"));
    settings.extend(std::env::var_os("CARGO_HOME").map(PathBuf::from).or(home));
    settings.iter().any(|settings| is_target_elsewhere(settings))
}

/// Whether the project configures Clippy lints.
fn has_lints(folder: &Path) -> bool {
    let manifest = toml_file(folder, MANIFEST);
    let lints = |table: Option<&Value>| {
        table.and_then(|table| table.get("lints")?.get("clippy")).is_some_and(Value::is_table)
    };
    ["clippy.toml", ".clippy.toml"].iter().any(|file| folder.join(file).is_file())
        || lints(Some(&Value::Table(manifest.clone())))
        || lints(manifest.get("workspace"))
}

/// Cargo expects every package below a workspace to be a member, unless it is excluded or is a workspace itself.
fn covers(nested: Nested<'_>) -> bool {
    let manifest = toml_file(nested.above, MANIFEST);
    let Some(workspace) = manifest.get("workspace") else { return false };
    let excluded = workspace.get("exclude").and_then(Value::as_array).into_iter().flatten();
    let is_excluded = excluded.filter_map(Value::as_str).any(|path| {
        let path = path.trim_start_matches("./").trim_end_matches('/');
        Path::new(nested.relative).starts_with(path)
    });
    !is_excluded && !toml_file(nested.folder, MANIFEST).contains_key("workspace")
}

fn lists(nested: Nested<'_>) -> bool {
    let manifest = toml_file(nested.above, MANIFEST);
    let members = manifest.get("workspace").and_then(|workspace| workspace.get("members")?.as_array());
    let mut patterns = members.into_iter().flatten().filter_map(Value::as_str);
    patterns.any(|pattern| matches(pattern, nested.relative)) && covers(nested)
}

fn name(folder: &Path) -> Option<String> {
    toml_file(folder, MANIFEST).get("package")?.get("name")?.as_str().map(str::to_string)
}

/// Packages by their names, which the workspace or a patch may map to paths, and by their paths if the manifest has them.
fn dependencies(folder: &Path) -> Vec<Dependency> {
    if read(folder, MANIFEST).is_some_and(|text| text.parse::<Table>().is_err()) {
        return vec![Dependency::Anything];
    }
    let manifest = toml_file(folder, MANIFEST);
    let inherited = inherited(folder);
    let targets = manifest.get("target").and_then(Value::as_table).into_iter().flatten();
    let tables = targets.filter_map(|(_, target)| target.as_table()).chain([&manifest]);
    let patches = manifest.get("patch").and_then(Value::as_table).into_iter().flatten();
    tables
        .flat_map(|table| DEPENDENCIES.iter().filter_map(|kind| table.get(*kind)?.as_table()))
        .chain(patches.filter_map(|(_, patched)| patched.as_table()))
        .flatten()
        .flat_map(|(name, dependency)| {
            let path = dependency.get("path").and_then(Value::as_str);
            let path = path.map(|path| Dependency::Folder(path.to_string()));
            let is_inherited = dependency.get("workspace").and_then(Value::as_bool) == Some(true);
            let definition = if is_inherited { inherited.get(name) } else { Some(dependency) };
            let package =
                definition.and_then(|definition| definition.get("package")?.as_str()).unwrap_or(name);
            [Dependency::Name(package.to_string())].into_iter().chain(path)
        })
        .collect()
}

/// The dependencies that a package inherits from its workspace.
fn inherited(folder: &Path) -> Table {
    let above = folder.ancestors().map(|above| toml_file(above, MANIFEST));
    let workspace = above.into_iter().find_map(|manifest| manifest.get("workspace").cloned());
    workspace.and_then(|workspace| workspace.get("dependencies")?.as_table().cloned()).unwrap_or_default()
}
