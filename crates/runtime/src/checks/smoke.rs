//! Tier 3: loading what changed and running smoke commands, where no test has shown the program at work (EP-15).

use super::installed::{environments, program_of};
use super::outcome::{CheckOutcome, End, Known, Listed, Steadiness};
use super::spec::{Action, CheckSpec};
use remand_kernel::evidence::Tier;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The row that says why nothing could be run.
const INFEASIBLE: &str = "tier3-infeasible";

const LOAD_PYTHON: &str = "load-python";

/// Detected checks that build or look at code and run none of it.
const STATIC: [&str; 9] =
    ["cargo-clippy", "cmake-build", "eslint", "make", "mvn-compile", "mypy", "pyright", "ruff", "tsc"];

/// Loading takes no longer than this.
const LOADING: Duration = Duration::from_secs(60);
const SMOKING: Duration = Duration::from_secs(5 * 60);

/// The exit code of a loader that could load nothing, for want of packages, and what it says last. A module that ends the
/// program when it is loaded may choose the code.
const NOTHING_LOADED: (i32, &str) = (42, "0 loaded");

/// More modules than this say nothing new.
const MOST: usize = 50;

const PYTHON: &str = "import importlib, os, sys\nloaded = 0\nfor name in sys.argv[1:]:\n    try:\n        \
importlib.import_module(name)\n        loaded += 1\n    except ModuleNotFoundError as error:\n        \
top = (error.name or '').split('.')[0]\n        if any(os.path.exists(p) for f in ('', 'src') for p in \
(os.path.join(f, top), os.path.join(f, top + '.py'))):\n            raise\n        \
print(name, 'is left out: there is no package', top)\nprint(loaded, 'loaded')\nsys.exit(0 if loaded else 42)\n";

const NODE: &str = "const { pathToFileURL } = require('node:url');\n(async () => {\n  let loaded = 0;\n  \
for (const file of process.argv.slice(1)) {\n    try { await import(pathToFileURL(file)); loaded += 1; }\n    \
catch (error) {\n      const missing = /Cannot find (?:module|package) '([^'.\\/][^']*)'/.exec(error.message);\n      \
if (!missing) throw error;\n      console.log(file, 'is left out: there is no package', missing[1]);\n    }\n  }\n  \
console.log(loaded, 'loaded');\n  process.exit(loaded ? 0 : 42);\n})().catch((error) => { console.error(error); \
process.exit(1); });\n";

/// Whether a test ran, or a check that may have run one.
pub fn has_runtime_signal(outcomes: &[CheckOutcome]) -> bool {
    outcomes.iter().any(|outcome| {
        let name = outcome.name.split(':').next().unwrap_or_default();
        let has_run = match outcome.collected {
            Some(count) => count > 0,
            None => outcome.passed() && !STATIC.contains(&name),
        };
        outcome.tier > Tier::One && outcome.counts() && has_run
    })
}

/// Checks that load the changed modules of a tree. Python loads those beside an environment that `checks` use with that
/// environment, from the folder that it is in.
pub fn loading(changed: &[String], checks: &[CheckSpec], is_test: impl Fn(&Path) -> bool) -> Vec<CheckSpec> {
    let sources = || changed.iter().filter(|file| !is_test(Path::new(file)));
    let environments = environments(checks);
    let mut modules: BTreeMap<(&Path, &str), Vec<String>> = BTreeMap::new();
    for file in sources() {
        let (folder, environment) = beside(file, &environments);
        let inside = Path::new(file).strip_prefix(folder).ok().and_then(Path::to_str);
        if let Some(module) = inside.and_then(module) {
            modules.entry((folder, environment)).or_default().push(module);
        }
    }
    let spec = |name: &str, program: [&str; 3], what: Vec<String>| {
        let argv = program.iter().map(|word| word.to_string()).chain(what.into_iter().take(MOST)).collect();
        let mut spec = CheckSpec::new(name, Tier::Three, Action::Argv(argv));
        spec.time = LOADING;
        spec
    };
    let of_python = |((folder, environment), modules): ((&Path, &str), Vec<String>)| {
        let folder = folder.to_string_lossy().into_owned();
        let name =
            if folder.is_empty() { LOAD_PYTHON.to_string() } else { format!("{LOAD_PYTHON}:{folder}") };
        let python =
            if environment.is_empty() { "python3".to_string() } else { program_of(environment, "python") };
        let spec = spec(&name, [&python, "-c", PYTHON], modules);
        CheckSpec { folder, ..spec.with("PYTHONPATH", "src:.").with("PYTHONDONTWRITEBYTECODE", "1") }
    };
    let mut specs: Vec<CheckSpec> = modules.into_iter().map(of_python).collect();
    let files: Vec<String> = sources().filter(|file| is_script(file)).cloned().collect();
    if !files.is_empty() {
        specs.push(spec("load-node", ["node", "-e", NODE], files));
    }
    specs
}

/// The nearest folder above a file that an environment of Python is in, and its name there; none is in the root without
/// a name.
fn beside<'e>(file: &str, environments: &'e BTreeSet<PathBuf>) -> (&'e Path, &'e str) {
    let split = |environment: &'e PathBuf| Some((environment.parent()?, environment.file_name()?.to_str()?));
    let above =
        environments.iter().filter_map(split).filter(|(folder, _)| Path::new(file).starts_with(folder));
    above.max_by_key(|(folder, _)| folder.components().count()).unwrap_or((Path::new(""), ""))
}

/// Smoke commands that a verifier proposed, as one check that ends at the first failure.
pub fn smoke(task: &str, lines: &[String]) -> CheckSpec {
    let text = format!("set -e\n{}", lines.join("\n"));
    let mut spec = CheckSpec::new(&format!("smoke:{task}"), Tier::Three, Action::Shell(text));
    spec.tool = "sh".to_string();
    spec.time = SMOKING;
    spec
}

/// What tier 3 leaves in the evidence: what ran, and otherwise the reason why nothing could.
pub fn kept(outcomes: Vec<CheckOutcome>, why_not: Option<&str>) -> Vec<CheckOutcome> {
    let says_nothing = |outcome: &CheckOutcome| {
        let (code, said) = NOTHING_LOADED;
        let last = String::from_utf8_lossy(&outcome.output);
        let is_empty = outcome.exit_code == Some(code) && last.trim_end().lines().next_back() == Some(said);
        !outcome.counts() || (is_load(outcome) && is_empty)
    };
    let (silent, mut kept): (Vec<CheckOutcome>, Vec<CheckOutcome>) =
        outcomes.into_iter().partition(|outcome| says_nothing(outcome));
    if kept.is_empty() {
        let tried =
            silent.iter().map(|outcome| format!("`{}` says nothing: {}", outcome.name, said(outcome)));
        let reasons: Vec<String> = why_not.map(str::to_string).into_iter().chain(tried).collect();
        let reason = if reasons.is_empty() {
            "no test ran, nothing that changed can be loaded by itself, and no smoke command was proposed"
                .to_string()
        } else {
            format!("no test ran; {}", reasons.join("; "))
        };
        kept.push(infeasible(reason));
    }
    kept
}

/// Whether loading did not come to its end.
pub fn hangs(outcome: &CheckOutcome) -> bool {
    is_load(outcome) && outcome.end == End::TimedOut
}

/// What hangs before the change too serves for ever, and says nothing.
pub fn serving(outcome: CheckOutcome) -> CheckOutcome {
    let reason = format!("{}, as it does before the change", outcome.reason);
    CheckOutcome { end: End::Skipped, snippet: reason.clone(), reason, ..outcome }
}

fn is_load(outcome: &CheckOutcome) -> bool {
    outcome.name.starts_with("load-")
}

fn said(outcome: &CheckOutcome) -> &str {
    if outcome.reason.is_empty() { &outcome.snippet } else { &outcome.reason }
}

fn infeasible(reason: String) -> CheckOutcome {
    CheckOutcome {
        name: INFEASIBLE.to_string(),
        tool: "remand".to_string(),
        tier: Tier::Three,
        command: None,
        end: End::Skipped,
        exit_code: None,
        output: Vec::new(),
        snippet: reason.chars().take(super::snippet::LONGEST).collect(),
        collected: None,
        duration: Duration::ZERO,
        tests: Vec::new(),
        listed: Listed::All,
        reason,
        steadiness: Steadiness::Steady,
        known: Known::Unkept,
    }
}

/// `src/a/b.py` as `a.b`; none for what runs when it is loaded, or has no name as a module.
fn module(file: &str) -> Option<String> {
    let path = file.strip_suffix(".py")?;
    let path = path.strip_prefix("src/").unwrap_or(path);
    let path = path.strip_suffix("/__init__").unwrap_or(path);
    let is_word = |part: &str| {
        !part.is_empty()
            && !part.starts_with(|c: char| c.is_ascii_digit())
            && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let last = path.rsplit('/').next()?;
    let is_meant = !["setup", "__main__", "conftest", "manage"].contains(&last);
    (is_meant && path.split('/').all(is_word)).then(|| path.replace('/', "."))
}

/// A JavaScript module by its ending; what configures a tool is loaded by that tool.
fn is_script(file: &str) -> bool {
    let is_named = [".js", ".mjs", ".cjs"].iter().any(|ending| file.ends_with(ending));
    is_named && !file.contains(".config.") && !file.starts_with("bin/")
}
