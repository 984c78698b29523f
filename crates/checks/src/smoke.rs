//! Tier 3: if no test ran the program, loads the changed modules and runs smoke commands.

use super::action::CheckAction;
use super::environments::program_path;
use super::installed::named_environments;
use super::result::{CheckEnd, CheckResult};
use super::spec::CheckSpec;
use remand_kernel::evidence::Tier;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The name of the row that says why nothing could run.
const INFEASIBLE: &str = "tier3-infeasible";

const LOAD_PYTHON: &str = "load-python";

/// Detected checks that build or analyse code without running it.
const STATIC: [&str; 9] =
    ["cargo-clippy", "cmake-build", "eslint", "make", "mvn-compile", "mypy", "pyright", "ruff", "tsc"];

const LOAD_TIMEOUT: Duration = Duration::from_secs(60);
const SMOKE_TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// The exit code and last line of a loader that could load nothing, because packages are missing. The code alone is
/// ambiguous: a module that exits while it is loaded may return the same code.
const NOTHING_LOADED: (i32, &str) = (42, "0 loaded");

const MAX_MODULES: usize = 50;

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

/// Checks that load the changed modules of a tree. If `checks` use a Python environment in a folder above a module, the
/// module is loaded from that folder, with that environment.
pub fn loading(changed: &[String], checks: &[CheckSpec], is_test: impl Fn(&Path) -> bool) -> Vec<CheckSpec> {
    let sources = || changed.iter().filter(|file| !is_test(Path::new(file)));
    let environments = named_environments(checks);
    let mut modules: BTreeMap<(&Path, &str), Vec<String>> = BTreeMap::new();
    for file in sources() {
        let (folder, environment) = nearest_environment(file, &environments);
        let inside = Path::new(file).strip_prefix(folder).ok().and_then(Path::to_str);
        if let Some(module) = inside.and_then(module) {
            modules.entry((folder, environment)).or_default().push(module);
        }
    }
    let spec = |name: &str, program: [&str; 3], files: Vec<String>| {
        let argv =
            program.iter().map(|word| word.to_string()).chain(files.into_iter().take(MAX_MODULES)).collect();
        let mut spec = CheckSpec::new(name, Tier::Three, CheckAction::Argv(argv));
        spec.time = LOAD_TIMEOUT;
        spec
    };
    let python_spec = |((folder, environment), modules): ((&Path, &str), Vec<String>)| {
        let folder = folder.to_string_lossy().into_owned();
        let name =
            if folder.is_empty() { LOAD_PYTHON.to_string() } else { format!("{LOAD_PYTHON}:{folder}") };
        let python =
            if environment.is_empty() { "python3".to_string() } else { program_path(environment, "python") };
        let spec = spec(&name, [&python, "-c", PYTHON], modules);
        CheckSpec {
            folder,
            ..spec.with_variable("PYTHONPATH", "src:.").with_variable("PYTHONDONTWRITEBYTECODE", "1")
        }
    };
    let mut specs: Vec<CheckSpec> = modules.into_iter().map(python_spec).collect();
    let files: Vec<String> = sources().filter(|file| is_script(file)).cloned().collect();
    if !files.is_empty() {
        specs.push(spec("load-node", ["node", "-e", NODE], files));
    }
    specs
}

/// The nearest folder above a file that holds a Python environment, and the name of the environment; the root and an
/// empty name if there is none.
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
    spec.time = SMOKE_TIMEOUT;
    spec
}

/// The conclusive results of tier 3; if there are none, one result that says why.
pub fn tier_3_results(results: Vec<CheckResult>, why_not: Option<&str>) -> Vec<CheckResult> {
    let is_inconclusive = |result: &CheckResult| {
        let (code, line) = NOTHING_LOADED;
        let output = String::from_utf8_lossy(&result.output);
        let loaded_nothing =
            result.exit_code == Some(code) && output.trim_end().lines().next_back() == Some(line);
        !result.counts() || (is_load(result) && loaded_nothing)
    };
    let (inconclusive, mut conclusive): (Vec<CheckResult>, Vec<CheckResult>) =
        results.into_iter().partition(|result| is_inconclusive(result));
    if conclusive.is_empty() {
        let tried = inconclusive
            .iter()
            .map(|result| format!("`{}` is inconclusive: {}", result.name, reason_or_snippet(result)));
        let reasons: Vec<String> = why_not.map(str::to_string).into_iter().chain(tried).collect();
        let reason = if reasons.is_empty() {
            "no test ran, no changed file can be loaded alone, and no smoke command was proposed".to_string()
        } else {
            format!("no test ran; {}", reasons.join("; "))
        };
        conclusive.push(infeasible(reason));
    }
    conclusive
}

/// Whether loading exceeded its time limit.
pub fn hangs(result: &CheckResult) -> bool {
    is_load(result) && result.end == CheckEnd::TimedOut
}

/// Marks a result as skipped because the module hung before the change too: it is a server, so a timeout proves nothing.
pub fn skipped_as_server(result: CheckResult) -> CheckResult {
    let reason = format!("{}, as it does before the change", result.reason);
    CheckResult { end: CheckEnd::Skipped, snippet: reason.clone(), reason, ..result }
}

fn is_load(result: &CheckResult) -> bool {
    result.name.starts_with("load-")
}

fn reason_or_snippet(result: &CheckResult) -> &str {
    if result.reason.is_empty() { &result.snippet } else { &result.reason }
}

fn infeasible(reason: String) -> CheckResult {
    CheckResult::of_engine(INFEASIBLE, Some(Tier::Three), CheckEnd::Skipped, reason)
}

/// The module name of a file, such as `a.b` for `src/a/b.py`; `None` for a script or a file without a module name.
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
    let is_importable = !["setup", "__main__", "conftest", "manage"].contains(&last);
    (is_importable && path.split('/').all(is_word)).then(|| path.replace('/', "."))
}

/// Whether a file is a JavaScript module that can be loaded alone. Tools load their configuration files themselves.
fn is_script(file: &str) -> bool {
    let has_extension = [".js", ".mjs", ".cjs"].iter().any(|extension| file.ends_with(extension));
    has_extension && !file.contains(".config.") && !file.starts_with("bin/")
}
