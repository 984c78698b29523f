//! JavaScript and TypeScript, by `package.json`.

use super::{Below, Lean, Nested, Toolchain, Workspace, matches, read};
use crate::action::CheckAction;
use crate::members::{MEMBERS, Members, Naming};
use crate::probe::ToolProbe;
use crate::spec::{CheckSpec, Parser, SCRATCH};
use remand_kernel::evidence::Tier;
use serde_json::Value;
use std::path::Path;

pub const TOOLCHAIN: Toolchain = Toolchain {
    markers: &[MANIFEST],
    below: Below::All,
    covers,
    name,
    leans,
    workspace: Workspace::Members {
        name: |_, way| (!way.is_empty()).then(|| format!("./{way}")),
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

/// Programs that run a script for all packages of a workspace: the words for all, and the option before a package.
const FAN_OUTS: [(&str, &[&str], &str); 2] =
    [("npm", &["--workspaces", "-ws", "--ws"], "-w"), ("pnpm", &["-r", "--recursive"], "--filter")];

/// Text that joins several commands in a script.
const SHELL: [char; 10] = ['&', '|', ';', '>', '<', '(', '`', '$', '"', '\''];

/// How many folders above a project its tools may be.
const HIGHEST: usize = 6;

fn checks(folder: &Path, probe: &ToolProbe<'_>) -> Vec<CheckSpec> {
    let Some(package) = package(folder) else {
        return Vec::new();
    };
    let mut check = CheckSpec::new("node-check", Tier::One, CheckAction::argv(&["node", "--check"]));
    check.each = ["js", "mjs", "cjs"].map(str::to_string).to_vec();
    let mut specs = vec![check];
    let mut add = |spec: CheckSpec| specs.push(spec.with("NO_COLOR", "1").needing("node-check"));
    if folder.join("tsconfig.json").is_file()
        && let Some(tsc) = installed(folder, "tsc")
    {
        add(CheckSpec::new("tsc", Tier::Two, CheckAction::argv(&[&tsc, "--noEmit", "--pretty", "false"])));
    }
    if has_lint(folder, &package)
        && let Some(eslint) = installed(folder, "eslint")
    {
        add(CheckSpec::new("eslint", Tier::Two, CheckAction::argv(&[&eslint, "."])));
    }
    if let Some(script) = test_script(&package) {
        let tested = tested(script);
        add(CheckSpec { members: by_package(script, &package, probe), ..tested });
    }
    specs
}

/// The test script, with a reporter that the engine can read where the runner allows one.
fn tested(script: &str) -> CheckSpec {
    let named = |name: &str, more: &[&str], parser: Parser| {
        let argv: Vec<&str> = ["npm", "test", "--silent", "--"].iter().chain(more).copied().collect();
        CheckSpec::new(name, Tier::Two, CheckAction::argv(&argv)).parsed_by(parser)
    };
    let report = format!("{SCRATCH}/tests.json");
    match Runner::of(script) {
        Runner::Vitest => {
            let file = format!("--outputFile.json={report}");
            let spec =
                named("vitest", &["--run", "--reporter=default", "--reporter=json", &file], Parser::Jest);
            CheckSpec { report: Some(report), ..spec }
        }
        Runner::Jest => {
            let file = format!("--outputFile={report}");
            let spec = named("jest", &["--ci", "--json", &file], Parser::Jest);
            CheckSpec { report: Some(report), ..spec }
        }
        Runner::Other(parser) => {
            CheckSpec::new("npm-test", Tier::Two, CheckAction::argv(&["npm", "test"])).parsed_by(parser)
        }
    }
}

/// What runs the tests of a script.
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
        let is_single = !script.contains(&SHELL[..8]);
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

/// How a test script that runs the tests of all packages runs those of some.
fn by_package(script: &str, package: &Value, probe: &ToolProbe<'_>) -> Option<Members> {
    let has = |name: &str| package.pointer(&format!("/scripts/{name}")).is_some();
    if script.contains(SHELL) || has("pretest") || has("posttest") {
        return None;
    }
    let words: Vec<&str> = script.split_whitespace().collect();
    let (program, all, flag) = FAN_OUTS.iter().find(|(program, ..)| words.first() == Some(program))?;
    let is_all = |word: &&str| all.contains(word);
    if words.iter().filter(|word| is_all(word)).count() != 1 || !probe.finds(program) {
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
    let starts = ["eslint.config.", ".eslintrc"];
    let is_config = |name: &str| starts.iter().any(|start| name.starts_with(start));
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    package.get("eslintConfig").is_some()
        || entries.into_iter().any(|entry| is_config(&entry.file_name().to_string_lossy()))
}

/// A program that is installed for the project or, in a workspace, somewhere above it.
fn installed(folder: &Path, program: &str) -> Option<String> {
    let mut way = String::new();
    for above in folder.ancestors().take(HIGHEST) {
        let path = format!("node_modules/.bin/{program}");
        if above.join(&path).exists() {
            return Some(format!("{way}{path}"));
        }
        if above.join(".git").exists() {
            return None;
        }
        way.push_str("../");
    }
    None
}

/// A workspace with its own test script covers its members.
fn covers(nested: Nested<'_>) -> bool {
    let Some(above) = package(nested.above) else { return false };
    test_script(&above).is_some()
        && members(nested.above, &above).iter().any(|pattern| matches(pattern, nested.way))
}

fn members(folder: &Path, package: &Value) -> Vec<String> {
    let listed = package.get("workspaces");
    let listed = listed.and_then(|found| found.get("packages")).or(listed).and_then(Value::as_array);
    let listed = listed.into_iter().flatten().filter_map(Value::as_str).map(str::to_string);
    let other = read(folder, "pnpm-workspace.yaml").unwrap_or_default();
    let other = other.lines().filter_map(|line| line.trim().strip_prefix("- "));
    listed.chain(other.map(|pattern| pattern.trim().trim_matches(['"', '\'']).to_string())).collect()
}

fn name(folder: &Path) -> Option<String> {
    package(folder)?.get("name")?.as_str().map(str::to_string)
}

fn leans(folder: &Path) -> Vec<Lean> {
    let package = package(folder).unwrap_or_default();
    let tables = DEPENDENCIES.iter().filter_map(|kind| package.get(*kind)?.as_object());
    tables
        .flatten()
        .flat_map(|(name, version)| {
            let path = version.as_str().and_then(|version| {
                ["file:", "link:", "portal:"].iter().find_map(|kind| version.strip_prefix(kind))
            });
            let path = path.map(|path| Lean::Folder(path.to_string()));
            [Lean::Name(name.clone())].into_iter().chain(path)
        })
        .collect()
}
