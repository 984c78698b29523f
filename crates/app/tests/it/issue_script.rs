//! Rehearsals of runs on issues: a tracker with two issues, all roles on one of them, and entries that a test changes.

use crate::place::{Place, Shown};
use crate::rehearsed::{Entry, SUB, Script, role};
use serde_json::{Value, json};

pub const STUB: &str = "def sub(a, b):\n    raise NotImplementedError\n";

pub const ISSUE: &str = "---\nstatus: Todo\nlabels: [feature]\ndepends-on: []\n---\n\n# More sums\n\nWe can add. We want to \
    subtract and multiply.\n\n## Acceptance criteria\n\n- [ ] AC-1: sub(3, 2) is 1\n- [ ] AC-2: mul(3, 2) is 6\n\n\
    ## Sub-issues\n\n## Comments\n";

pub const OTHER: &str =
    "---\nstatus: Todo\n---\n# Division\n\n## Acceptance criteria\n\n- [ ] AC-1: div(6, 2) is 3\n";

pub const README: &str = "# TODO\n\n## Sums\n\n- [ ] [ABC-1](ABC-1.md) More sums · Todo\n\n- [ ] [ABC-2](ABC-2.md) Division · Todo\n";

pub const TEST: &str = "import unittest\n\nfrom sums import sub as module\n\n\nclass SubTest(unittest.TestCase):\n    \
    def test_subtracts(self):\n        self.assertEqual(module.sub(3, 2), 1)\n";

/// A repository with a tracker: `ABC-1` has two criteria, `ABC-2` one.
pub fn place() -> Place {
    place_with(&[])
}

/// The same with additional or changed files.
pub fn place_with(files: &[(&str, &str)]) -> Place {
    let place = Place::new();
    let usual = [("TODO/ABC-1.md", ISSUE), ("TODO/ABC-2.md", OTHER), ("TODO/README.md", README)];
    for (path, text) in usual.iter().chain(files) {
        place.write(path, text);
    }
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "The tracker"]);
    place
}

/// The command line of a run on an issue.
pub fn arguments(place: &Place, issue: &str, script: &Script) -> Vec<String> {
    let agent = format!("rehearsal:{}", place.write_outside(&format!("{issue}.yaml"), &script.text()));
    ["run", "--issue", issue, "--agent", &agent].map(str::to_string).to_vec()
}

pub fn run(place: &Place, issue: &str, script: &Script) -> Shown {
    place.remand(&arguments(place, issue, script).iter().map(String::as_str).collect::<Vec<_>>())
}

/// One task of a split.
pub fn task(id: &str, title: &str, files: &[&str], needs: &[&str], covers: &[&str]) -> Value {
    let files: Vec<Value> = files.iter().map(|path| json!({"path": path, "risk": "green"})).collect();
    json!({
        "id": id, "title": title, "description": format!("{title}, in a module of its own."), "files": files,
        "depends_on": needs, "concerns": [title], "lines": 20, "work": ["runtime"],
        "acceptance_criteria": [{"id": "AC-1", "text": "It does.", "covers": covers, "test": "a unit test"}],
        "context": "sums/add.py shows the manner.", "plan": format!("Write the module: {title}."),
        "test_design": "One unit test.", "contracts": ["plain integers"],
    })
}

/// The task that the run performs: subtraction.
pub fn subtraction() -> Value {
    let mut first = task("task-1", "Subtract", &["sums/sub.py", "tests/test_sub.py"], &[], &["AC-1"]);
    first["signatures"] = json!(["def sub(a, b)"]);
    first
}

/// The other tasks, which are filed: the second needs the first, and the work of the run.
pub fn others() -> [Value; 2] {
    [
        task("task-2", "Multiply", &["sums/mul.py"], &[], &["AC-2"]),
        task("task-3", "Raise to powers", &["sums/power.py"], &["task-2", "task-1"], &[]),
    ]
}

pub fn split(tasks: &[Value], stubs: bool) -> Value {
    json!({
        "verdict": "done", "summary": "As many tasks as there are.", "overall_risk": "green", "tasks": tasks,
        "flags": {"new-symbols": stubs},
    })
}

pub fn plan(text: &str) -> Value {
    json!({"verdict": "done", "title": "Plan", "markdown": format!("# Plan\n\n{text}\n")})
}

pub fn acceptable() -> Value {
    json!({"verdict": "acceptable", "summary": "Nothing to object to.", "checked": ["all of it"]})
}

/// The six questions of a split.
const QUESTIONS: [&str; 6] =
    ["coverage", "no-overlap", "single-purpose", "contracts", "testable-criteria", "self-containment"];

/// A review of a split with the same answer to all questions.
pub fn split_reviewed(verdict: &str, met: &str, findings: &[Value]) -> Value {
    let answer = |id: &str| json!({"criterion": id, "met": met, "place": {"file": "task-1.yaml"}});
    json!({
        "verdict": verdict, "summary": "The split as it is.", "checked": ["every task"], "findings": findings,
        "criteria": QUESTIONS.map(answer),
    })
}

/// The final review: the first criterion is met, and the diff shows where.
pub fn reviewed(verdict: &str, findings: &[Value]) -> Value {
    json!({
        "verdict": verdict, "summary": "The change as it is.", "checked": ["the diff"], "findings": findings,
        "criteria": [{
            "criterion": "AC-1", "met": "met", "reason": "as the code has it",
            "place": {"file": "sums/sub.py", "symbol": "sub", "line": 1},
        }],
    })
}

pub fn finding(id: &str, kind: &str, file: &str, claim: &str) -> Value {
    json!({
        "id": id, "severity": "major", "category": "correctness", "kind": kind, "place": {"file": file, "line": 1},
        "claim": claim, "evidence": "Line 1 of it.", "impact": "It is wrong.", "recommendation": "Put it right.",
    })
}

pub fn made(hypothesis: &str) -> Value {
    json!({
        "verdict": "done", "hypothesis": hypothesis,
        "changes": [{"file": "sums/sub.py", "what": "sub"}],
    })
}

pub fn tested(verdict: &str, kind: &str) -> Value {
    json!({
        "verdict": verdict, "hypothesis": "There is no subtraction yet.",
        "changes": [{
            "file": "tests/test_sub.py", "what": "a test",
            "tests": [{"name": "test_subtracts", "criterion": "AC-1", "kind": kind}],
        }],
    })
}

/// The role that writes the test of subtraction.
pub fn tester() -> Entry {
    role("test").writes("tests/test_sub.py", TEST).says(tested("ready", "stub"))
}

/// All roles on `ABC-1`: split into three, subtraction with stubs, and no objections.
pub fn three_tasks() -> Script {
    let [second, third] = others();
    tasks(&[subtraction(), second, third])
}

/// The same with a plan of one task.
pub fn one_task() -> Script {
    tasks(&[subtraction()])
}

fn tasks(tasks: &[Value]) -> Script {
    Script::of([
        role("plan").says(plan("Subtract and multiply.")),
        role("check").says(acceptable()),
        role("simplify").says(acceptable()),
        role("plan/split").says(split(tasks, true)),
        role("check/split").says(split_reviewed("acceptable", "met", &[])),
        role("make/stubs").writes("sums/sub.py", STUB).says(made("Signatures only.")),
        tester(),
        role("make").writes("sums/sub.py", SUB).says(made("Subtraction is like addition.")),
        role("check/code").says(reviewed("acceptable", &[])),
    ])
}

/// A file on the run's branch.
pub fn on_branch(place: &Place, path: &str) -> String {
    place.git(&["show", &format!("{}:{path}", place.latest().branch)])
}

/// The subjects of the commits of the run, the oldest first.
pub fn commits(place: &Place) -> Vec<String> {
    let range = format!("work..{}", place.latest().branch);
    place.git(&["log", "--reverse", "--format=%s", &range]).lines().map(str::to_string).collect()
}

/// The results of the operations of a phase, in order.
pub fn operation_results(place: &Place, phase: &str) -> Vec<String> {
    let rows = place.reader().operations(&place.latest().run).expect("operations");
    rows.into_iter().filter(|row| row.phase == phase).filter_map(|row| row.result).collect()
}

/// An artifact of the latest run, in its last version.
pub fn artifact(place: &Place, name: &str) -> String {
    let reader = place.reader();
    let rows = reader.artifacts(&place.latest().run).expect("artifacts");
    let row = rows.into_iter().find(|row| row.name == name).unwrap_or_else(|| panic!("no artifact {name}"));
    String::from_utf8_lossy(&reader.blob(row.blob).expect("a blob")).into_owned()
}
