//! Tier 3: loads what changed and runs smoke commands, where no test ran the program.

use super::action::CheckAction;
use super::installed::{environments, program_of};
use super::result::{CheckEnd, CheckResult};
use super::spec::CheckSpec;
use remand_kernel::evidence::Tier;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The row that says why nothing could run.
const INFEASIBLE: &str = "tier3-infeasible";

const LOAD_PYTHON: &str = "load-python";

/// Detected checks that build or analyse code without running it.
const STATIC: [&str; 9] =
    ["cargo-clippy", "cmake-build", "eslint", "make", "mvn-compile", "mypy", "pyright", "ruff", "tsc"];

/// Time limit of loading.
const LOADING: Duration = Duration::from_secs(60);
const SMOKING: Duration = Duration::from_secs(5 * 60);

/// Exit code and last line of a loader that could load nothing, because packages are missing. The code alone is not
/// enough: a module that exits while it is loaded may choose it.
const NOTHING_LOADED: (i32, &str) = (42, "0 loaded");

/// Maximum number of modules to load.
const MOST: usize = 50;

const PYTHON: &str = "import importlib, os, sys\nloaded = 0\nfor name in sys.argv[1:]:\n    try:\n        \
importlib.import_module(name)\n        loaded += 1\n    except ModuleNotFoundError as error:\n        \
top = (error.name or '').split('.')[0]\n        if any(os.path.exists(p) for f in ('', 'src') for p in \
(os.path.join(f, top), os.path.join(f, top + '.py'))):\n            raise\n        \
print(name, 'is skipped: there is no package', top)\nprint(loaded, 'loaded')\nsys.exit(0 if loaded else 42)\n";

const NODE: &str = "const { pathToFileURL } = require('node:url');\n(async () => {\n  let loaded = 0;\n  \
for (const file of process.argv.slice(1)) {\n    try { await import(pathToFileURL(file)); loaded += 1; }\n    \
catch (error) {\n      const missing = /Cannot find (?:module|package) '([^'.\\/][^']*)'/.exec(error.message);\n      \
if (!missing) throw error;\n      console.log(file, 'is skipped: there is no package', missing[1]);\n    }\n  }\n  \
console.log(loaded, 'loaded');\n  process.exit(loaded ? 0 : 42);\n})().catch((error) => { console.error(error); \
process.exit(1); });\n";

/// Whether a test ran, or a check that may have run one.
pub fn has_runtime_signal(results: &[CheckResult]) -> bool {
    results.iter().any(|result| {
        let name = result.name.split(':').next().unwrap_or_default();
        let has_run = match result.collected {
            Some(count) => count > 0,
            None => result.passed() && !STATIC.contains(&name),
        };
        result.tier > Some(Tier::One) && result.counts() && has_run
    })
}

/// Checks that load the changed modules of a tree. Python modules next to an environment that `checks` use are loaded with
/// that environment, from its folder.
pub fn loading(changed: &[String], checks: &[CheckSpec], is_test: impl Fn(&Path) -> bool) -> Vec<CheckSpec> {
    let sources = || changed.iter().filter(|file| !is_test(Path::new(file)));
    let environments = environments(checks);
    let mut modules: BTreeMap<(&Path, &str), Vec<String>> = BTreeMap::new();
    for file in sources() {
        let (folder, environment) = nearest_environment(file, &environments);
        let inside = Path::new(file).strip_prefix(folder).ok().and_then(Path::to_str);
        if let Some(module) = inside.and_then(module) {
            modules.entry((folder, environment)).or_default().push(module);
        }
    }
    let spec = |name: &str, program: [&str; 3], what: Vec<String>| {
        let argv = program.iter().map(|word| word.to_string()).chain(what.into_iter().take(MOST)).collect();
        let mut spec = CheckSpec::new(name, Tier::Three, CheckAction::Argv(argv));
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

/// The nearest folder above a file that holds a Python environment, and the name of the environment; the root and an
/// empty name where there is none.
fn nearest_environment<'e>(file: &str, environments: &'e BTreeSet<PathBuf>) -> (&'e Path, &'e str) {
    let split = |environment: &'e PathBuf| Some((environment.parent()?, environment.file_name()?.to_str()?));
    let above =
        environments.iter().filter_map(split).filter(|(folder, _)| Path::new(file).starts_with(folder));
    above.max_by_key(|(folder, _)| folder.components().count()).unwrap_or((Path::new(""), ""))
}

/// The smoke commands of a verifier as one check that stops at the first failure.
pub fn smoke(task: &str, lines: &[String]) -> CheckSpec {
    let text = format!("set -e\n{}", lines.join("\n"));
    let mut spec = CheckSpec::new(&format!("smoke:{task}"), Tier::Three, CheckAction::Shell(text));
    spec.tool = "sh".to_string();
    spec.time = SMOKING;
    spec
}

/// The results of tier 3: what ran, or else why nothing could.
pub fn kept(results: Vec<CheckResult>, why_not: Option<&str>) -> Vec<CheckResult> {
    let says_nothing = |result: &CheckResult| {
        let (code, said) = NOTHING_LOADED;
        let last = String::from_utf8_lossy(&result.output);
        let is_empty = result.exit_code == Some(code) && last.trim_end().lines().next_back() == Some(said);
        !result.counts() || (is_load(result) && is_empty)
    };
    let (silent, mut kept): (Vec<CheckResult>, Vec<CheckResult>) =
        results.into_iter().partition(|result| says_nothing(result));
    if kept.is_empty() {
        let tried = silent.iter().map(|result| format!("`{}` says nothing: {}", result.name, said(result)));
        let reasons: Vec<String> = why_not.map(str::to_string).into_iter().chain(tried).collect();
        let reason = if reasons.is_empty() {
            "no test ran, no changed file can be loaded by itself, and no smoke command was proposed"
                .to_string()
        } else {
            format!("no test ran; {}", reasons.join("; "))
        };
        kept.push(infeasible(reason));
    }
    kept
}

/// Whether loading exceeded its time limit.
pub fn hangs(result: &CheckResult) -> bool {
    is_load(result) && result.end == CheckEnd::TimedOut
}

/// A module that hung before the change too is a server: its result says nothing.
pub fn serving(result: CheckResult) -> CheckResult {
    let reason = format!("{}, as it does before the change", result.reason);
    CheckResult { end: CheckEnd::Skipped, snippet: reason.clone(), reason, ..result }
}

fn is_load(result: &CheckResult) -> bool {
    result.name.starts_with("load-")
}

fn said(result: &CheckResult) -> &str {
    if result.reason.is_empty() { &result.snippet } else { &result.reason }
}

fn infeasible(reason: String) -> CheckResult {
    CheckResult::of_engine(INFEASIBLE, Some(Tier::Three), CheckEnd::Skipped, reason)
}

/// `src/a/b.py` as `a.b`; none for a script, or for a file that has no module name.
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

/// Whether a file is a JavaScript module; a tool loads its configuration itself.
fn is_script(file: &str) -> bool {
    let is_named = [".js", ".mjs", ".cjs"].iter().any(|ending| file.ends_with(ending));
    is_named && !file.contains(".config.") && !file.starts_with("bin/")
}
