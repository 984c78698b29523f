//! JavaScript and TypeScript, detected by `package.json`.

use super::{Dependency, FilesBelow, Nested, Toolchain, Workspace, matches, read};
use crate::action::CheckAction;
use crate::members::{MEMBERS, Members, Naming};
use crate::probe::ToolProbe;
use crate::spec::{CheckSpec, Parser, SCRATCH};
use remand_kernel::evidence::Tier;
use serde_json::Value;
use std::path::Path;

pub const TOOLCHAIN: Toolchain = Toolchain {
    markers: &[MANIFEST],
    files: FilesBelow::All,
    covers,
    name,
    dependencies,
    workspace: Workspace::Members {
        name: |_, relative| (!relative.is_empty()).then(|| format!("./{relative}")),
        lists: covers,
        sources: &["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "json"],
    },
    checks,
};

const MANIFEST: &str = "package.json";

/// The test script that `npm init` writes.
const NO_TESTS: &str = "no test specified";

const DEPENDENCIES: [&str; 4] =
    ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"];

/// Programs that can run a script for all packages of a workspace, each with its options for all packages and its option
/// for one package.
const WORKSPACE_RUNNERS: [(&str, &[&str], &str); 2] =
    [("npm", &["--workspaces", "-ws", "--ws"], "-w"), ("pnpm", &["-r", "--recursive"], "--filter")];

/// Characters with a meaning in a shell. A script without the first eight is a single command without redirections.
const SHELL_CHARACTERS: [char; 10] = ['&', '|', ';', '>', '<', '(', '`', '$', '"', '\''];

/// The maximum number of folders that are searched for a project's tools, from the project upwards.
const MAX_SEARCHED_FOLDERS: usize = 6;

fn checks(folder: &Path, probe: &ToolProbe<'_>) -> Vec<CheckSpec> {
    let Some(package) = package(folder) else {
        return Vec::new();
    };
    let mut check = CheckSpec::new("node-check", Tier::One, CheckAction::argv(&["node", "--check"]));
    check.each = ["js", "mjs", "cjs"].map(str::to_string).to_vec();
    let mut specs = vec![check];
    let mut add = |spec: CheckSpec| specs.push(spec.with_variable("NO_COLOR", "1").needing("node-check"));
    if folder.join("tsconfig.json").is_file()
        && let Some(tsc) = installed(folder, "tsc")
    {
        // With references to other projects, only a build checks their files.
        let mode = if has_references(folder) { "-b" } else { "--noEmit" };
        add(CheckSpec::new("tsc", Tier::Two, CheckAction::argv(&[&tsc, mode, "--pretty", "false"])));
    }
    if has_lint(folder, &package)
        && let Some(eslint) = installed(folder, "eslint")
    {
        add(CheckSpec::new("eslint", Tier::Two, CheckAction::argv(&[&eslint, "."])));
    }
    if let Some(script) = test_script(&package) {
        let test = test_check(script);
        add(CheckSpec { members: narrowed_script(script, &package, probe), ..test });
    }
    specs
}

/// The check that runs the test script, with a report that the engine can read if the runner can write one.
fn test_check(script: &str) -> CheckSpec {
    let spec_with = |name: &str, more: &[&str], parser: Parser| {
        let argv: Vec<&str> = ["npm", "test", "--silent", "--"].iter().chain(more).copied().collect();
        CheckSpec::new(name, Tier::Two, CheckAction::argv(&argv)).parsed_by(parser)
    };
    let report = format!("{SCRATCH}/tests.json");
    match Runner::of(script) {
        Runner::Vitest => {
            let file = format!("--outputFile.json={report}");
            let spec =
                spec_with("vitest", &["--run", "--reporter=default", "--reporter=json", &file], Parser::Jest);
            CheckSpec { report: Some(report), ..spec }
        }
        Runner::Jest => {
            let file = format!("--outputFile={report}");
            let spec = spec_with("jest", &["--ci", "--json", &file], Parser::Jest);
            CheckSpec { report: Some(report), ..spec }
        }
        Runner::Other(parser) => {
            CheckSpec::new("npm-test", Tier::Two, CheckAction::argv(&["npm", "test"])).parsed_by(parser)
        }
    }
}

/// The test runner of a script.
enum Runner {
    Vitest,
    Jest,
    Other(Parser),
}

impl Runner {
    fn of(script: &str) -> Runner {
        let words: Vec<&str> = script.split_whitespace().collect();
        let has = |word: &str| words.contains(&word);
        // npm appends arguments to the last command of a script only.
        let is_single = !script.contains(&SHELL_CHARACTERS[..8]);
        let first = words.iter().find(|word| !word.contains('=') && !matches!(**word, "npx" | "cross-env"));
        match first.copied() {
            Some("vitest") if is_single && !has("watch") => Runner::Vitest,
            Some("jest") if is_single && !has("--watch") => Runner::Jest,
            _ if has("--test") => Runner::Other(Parser::Node),
            _ if has("tap") || has("tape") => Runner::Other(Parser::Tap),
            _ => Runner::Other(Parser::None),
        }
    }
}

/// The command that runs a workspace's test script for some of its packages; `None` if the script does not allow it.
fn narrowed_script(script: &str, package: &Value, probe: &ToolProbe<'_>) -> Option<Members> {
    let has = |name: &str| package.pointer(&format!("/scripts/{name}")).is_some();
    if script.contains(SHELL_CHARACTERS) || has("pretest") || has("posttest") {
        return None;
    }
    let words: Vec<&str> = script.split_whitespace().collect();
    let (program, all_options, flag) =
        WORKSPACE_RUNNERS.iter().find(|(program, ..)| words.first() == Some(program))?;
    let is_all = |word: &&str| all_options.contains(word);
    if words.iter().filter(|word| is_all(word)).count() != 1 || !probe.has_program(program) {
        return None;
    }
    let words: Vec<&str> = words.iter().map(|word| if is_all(word) { MEMBERS } else { word }).collect();
    Some(Members::of_command(&words, Naming::Flag(flag.to_string())))
}

fn package(folder: &Path) -> Option<Value> {
    Some(serde_json::from_str(&read(folder, MANIFEST)?).unwrap_or_default())
}

fn test_script(package: &Value) -> Option<&str> {
    let script = package.pointer("/scripts/test").and_then(Value::as_str)?;
    (!script.contains(NO_TESTS)).then_some(script)
}

fn has_lint(folder: &Path, package: &Value) -> bool {
    let prefixes = ["eslint.config.", ".eslintrc"];
    let is_config = |name: &str| prefixes.iter().any(|prefix| name.starts_with(prefix));
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    package.get("eslintConfig").is_some()
        || entries.into_iter().any(|entry| is_config(&entry.file_name().to_string_lossy()))
}

/// Whether the TypeScript project consists of others. Its settings may contain comments, so they are not parsed.
fn has_references(folder: &Path) -> bool {
    let text: String = read(folder, "tsconfig.json").unwrap_or_default().split_whitespace().collect();
    text.split_once("\"references\":[").is_some_and(|(_, rest)| !rest.starts_with(']'))
}

/// The path of a program that is installed for the project or, in a workspace, in a folder above it.
fn installed(folder: &Path, program: &str) -> Option<String> {
    let mut relative = String::new();
    for above in folder.ancestors().take(MAX_SEARCHED_FOLDERS) {
        let path = format!("node_modules/.bin/{program}");
        if above.join(&path).exists() {
            return Some(format!("{relative}{path}"));
        }
        if above.join(".git").exists() {
            return None;
        }
        relative.push_str("../");
    }
    None
}

/// A workspace with a test script covers its members.
fn covers(nested: Nested<'_>) -> bool {
    let Some(above) = package(nested.above) else { return false };
    test_script(&above).is_some()
        && member_patterns(nested.above, &above).iter().any(|pattern| matches(pattern, nested.relative))
}

fn member_patterns(folder: &Path, package: &Value) -> Vec<String> {
    let listed = package.get("workspaces");
    let listed = listed.and_then(|found| found.get("packages")).or(listed).and_then(Value::as_array);
    let listed = listed.into_iter().flatten().filter_map(Value::as_str).map(str::to_string);
    let pnpm = read(folder, "pnpm-workspace.yaml").unwrap_or_default();
    let pnpm = pnpm.lines().filter_map(|line| line.trim().strip_prefix("- "));
    listed.chain(pnpm.map(|pattern| pattern.trim().trim_matches(['"', '\'']).to_string())).collect()
}

fn name(folder: &Path) -> Option<String> {
    package(folder)?.get("name")?.as_str().map(str::to_string)
}

fn dependencies(folder: &Path) -> Vec<Dependency> {
    let package = package(folder).unwrap_or_default();
    let tables = DEPENDENCIES.iter().filter_map(|kind| package.get(*kind)?.as_object());
    tables
        .flatten()
        .flat_map(|(name, version)| {
            let path = version.as_str().and_then(|version| {
                ["file:", "link:", "portal:"].iter().find_map(|kind| version.strip_prefix(kind))
            });
            let path = path.map(|path| Dependency::Folder(path.to_string()));
            [Dependency::Name(name.clone())].into_iter().chain(path)
        })
        .collect()
}
