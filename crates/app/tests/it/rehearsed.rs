//! Rehearsals for tests: a whole script for each workflow, and entries that a test puts in front of it.

use crate::place::{Place, Shown};
use serde_json::{Map, Value, json};

/// The request of every test that does not need another one.
pub const REQUEST: &str = "Add subtraction to the sums";

/// Two checks that any tree of the sample project passes.
pub const TRIVIAL: &str = "[checks]\ndetect = false\n\n[checks.shape]\ncommand = \"test -d sums\"\ntier = 1\n\n\
                           [checks.build]\ncommand = \"test -f sums/add.py\"\n";

pub const SUB: &str = "def sub(a, b):\n    return a - b\n";

pub const TEST_SUB: &str = "import unittest\n\nfrom sums.sub import sub\n\n\nclass SubTest(unittest.TestCase):\n    \
                            def test_subtracts(self):\n        self.assertEqual(sub(3, 2), 1)\n";

/// The actions of one dispatch.
#[derive(Clone)]
pub struct Entry {
    keys: Map<String, Value>,
    actions: Vec<Value>,
}

/// An entry for a role with its cost; the caller adds its actions.
pub fn role(name: &str) -> Entry {
    let entry = Entry { keys: Map::new(), actions: Vec::new() };
    entry.key("role", json!(name)).key("usage", json!({"tokens": 100, "money": "0.01"}))
}

impl Entry {
    fn key(mut self, key: &str, value: Value) -> Entry {
        self.keys.insert(key.to_string(), value);
        self
    }

    pub fn phase(self, phase: &str) -> Entry {
        self.key("phase", json!(phase))
    }

    pub fn task(self, task: &str) -> Entry {
        self.key("task", json!(task))
    }

    pub fn item(self, item: &str) -> Entry {
        self.key("item", json!(item))
    }

    pub fn round(self, round: u32) -> Entry {
        self.key("round", json!(round))
    }

    pub fn attempt(self, attempt: u32) -> Entry {
        self.key("attempt", json!(attempt))
    }

    pub fn model(self, model: &str) -> Entry {
        self.key("model", json!(model))
    }

    /// Sets the tokens that it claims to have used.
    pub fn costs(self, tokens: u64) -> Entry {
        self.key("usage", json!({"tokens": tokens, "money": "0.01"}))
    }

    /// Leaves its cost unknown.
    pub fn unpriced(self) -> Entry {
        self.key("usage", json!({"tokens": 100}))
    }

    /// Sets the usage that it claims, in the form of a script.
    pub fn used(self, usage: Value) -> Entry {
        self.key("usage", usage)
    }

    /// Continues after an action that fails.
    pub fn ignoring_failures(self) -> Entry {
        self.key("on-failure", json!("go-on"))
    }

    /// Fails unless the agent was given all these texts.
    pub fn given(self, texts: &[&str]) -> Entry {
        self.key("given", json!(texts))
    }

    pub fn does(mut self, action: Value) -> Entry {
        self.actions.push(action);
        self
    }

    pub fn writes(self, path: &str, text: &str) -> Entry {
        self.does(json!({"write": {"path": path, "text": text}}))
    }

    pub fn runs(self, command: &str) -> Entry {
        self.does(json!({"run": command}))
    }

    /// Ends with a result of this payload.
    pub fn says(self, payload: Value) -> Entry {
        self.does(json!({"result": {"payload": payload}}))
    }

    fn value(&self) -> Value {
        let mut keys = self.keys.clone();
        keys.insert("do".to_string(), Value::Array(self.actions.clone()));
        Value::Object(keys)
    }
}

/// A rehearsal. Of entries with the same number of keys, the most recently added one is played.
#[derive(Clone)]
pub struct Script(Vec<Entry>);

impl Script {
    #[must_use]
    pub fn with(mut self, entry: Entry) -> Script {
        self.0.insert(0, entry);
        self
    }

    /// Parses a script from JSON.
    pub fn parse(text: &str) -> Script {
        let value: Value = serde_json::from_str(text).expect("JSON");
        let entries = value["dispatches"].as_array().expect("entries").clone();
        let entry = |value: Value| {
            let mut keys = value.as_object().expect("an entry").clone();
            let actions =
                keys.remove("do").and_then(|actions| actions.as_array().cloned()).unwrap_or_default();
            Entry { keys, actions }
        };
        Script(entries.into_iter().map(entry).collect())
    }

    /// The script as JSON, which is also YAML.
    pub fn text(&self) -> String {
        let entries: Vec<Value> = self.0.iter().map(Entry::value).collect();
        json!({"rehearsal": 1, "about": "a test", "dispatches": entries}).to_string()
    }

    /// One implementer that adds subtraction with a test, one reviewer that approves.
    pub fn quick() -> Script {
        let work = role("implementer").writes("sums/sub.py", SUB).writes("tests/test_sub.py", TEST_SUB);
        Script(vec![
            work.says(implemented("")),
            role("reviewer").says(review("code", "general", "approve", &[])),
        ])
    }

    /// A script with only these entries.
    pub fn of<const N: usize>(entries: [Entry; N]) -> Script {
        Script(entries.to_vec())
    }

    /// All eight roles on these tasks; what implementers do is added.
    pub fn feature(tasks: &[Value]) -> Script {
        let mut entries: Vec<Entry> = ["architecture", "impact", "dependencies", "patterns"]
            .map(|focus| role("researcher").item(focus).says(research(focus)))
            .to_vec();
        entries.push(role("spec").says(spec("done", json!([]))));
        entries.push(role("designer").says(design()));
        for (scope, name) in [("design", "reviewer/design"), ("code", "reviewer")] {
            for (focus, model) in
                [("security", "model-a"), ("architecture", "model-b"), ("correctness", "model-c")]
            {
                let reviewer = role(name).item(focus).model(model);
                entries.push(reviewer.says(review(scope, focus, "approve", &[])));
            }
        }
        entries.push(role("planner").says(plan(tasks)));
        for task in tasks {
            let id = task["id"].as_str().expect("an id");
            entries.push(role("verifier").task(id).says(verified(id, "met")));
        }
        entries.push(role("knowledge").says(json!({"verdict": "done", "summary": "Nothing new."})));
        Script(entries)
    }

    /// The seven roles of `tsp` on these units; everything passes.
    pub fn tsp(units: &[Value]) -> Script {
        let assessed = |name: &str| role(name).says(assessment("pass", &[]));
        Script(vec![
            role("tsp-planner").says(plan(units)),
            role("tsp-designer").says(design()),
            assessed("tsp-design-reviewer"),
            role("tsp-coder").writes("sums/sub.py", SUB).says(implemented("")),
            assessed("tsp-code-reviewer"),
            role("tsp-tester").writes("tests/test_sub.py", TEST_SUB).says(assessment("pass", &[])),
            role("tsp-analyst").says(json!({
                "verdict": "done", "title": "Afterwards", "markdown": "# Afterwards\n\nNothing was found.\n",
            })),
        ])
    }

    /// All eight roles on one task: subtraction with its test.
    pub fn subtraction() -> Script {
        Script::feature(&[task("task-1", &[("sums/sub.py", "green"), ("tests/test_sub.py", "green")], &[])])
            .with(subtracting())
    }
}

/// The implementer of `Script::subtraction`.
pub fn subtracting() -> Entry {
    let work = role("implementer").task("task-1").writes("sums/sub.py", SUB);
    work.writes("tests/test_sub.py", TEST_SUB).says(implemented("task-1"))
}

pub fn research(focus: &str) -> Value {
    json!({
        "verdict": "done", "focus": focus, "summary": format!("Sums are functions, seen from {focus}."),
        "observations": [{"fact": "add is one function", "place": {"file": "sums/add.py", "line": 1}}],
    })
}

pub fn spec(verdict: &str, concerns: Value) -> Value {
    json!({
        "verdict": verdict, "title": "Subtraction", "summary": "sub takes b from a.",
        "requirements": [{"id": "FR-1", "title": "Subtract"}, {"id": "FR-2", "title": "Keep adding"}],
        "acceptance_criteria": [{"id": "AC-1", "text": "sub(3, 2) is 1.", "covers": ["FR-1"]}],
        "concerns": concerns,
    })
}

pub fn design() -> Value {
    let decision = |id: &str, title: &str| {
        json!({
            "id": id, "title": title, "context": "There is no subtraction.",
            "alternatives": [{"id": "alt-1", "label": "A module", "pros": ["small"], "cons": ["a file more"]}],
            "selected": "alt-1", "rationale": "It is like add.", "confidence": "high", "risk": "green",
            "decided_by": "designer",
        })
    };
    json!({
        "verdict": "done", "title": "Subtraction", "summary": "A module beside add.",
        "approach": {"text": "Put sub into a module of its own.", "decisions": ["D-1"]},
        "decisions": [decision("D-1", "One module a function"), decision("D-2", "Plain integers")],
    })
}

pub fn plan(tasks: &[Value]) -> Value {
    json!({"verdict": "done", "summary": "What is to be done.", "overall_risk": "green", "tasks": tasks})
}

/// A task with one criterion, `AC-1`, and pointers to one decision and one requirement.
pub fn task(id: &str, files: &[(&str, &str)], needs: &[&str]) -> Value {
    let files: Vec<Value> = files
        .iter()
        .map(|(path, risk)| json!({"path": path, "risk": risk, "change": "as the title says"}))
        .collect();
    json!({
        "id": id, "title": format!("The work of {id}"), "files": files, "size": "standard", "type": "code",
        "depends_on": needs,
        "acceptance_criteria": [{"id": "AC-1", "text": "sub(3, 2) is 1.", "test": "unit test"}],
        "relevant_context": ["design#payload.decisions[id='D-1']", "spec#payload.requirements[id='FR-1']"],
    })
}

/// A unit of a plan without pointers.
pub fn unit(id: &str, files: &[(&str, &str)], needs: &[&str]) -> Value {
    let mut unit = task(id, files, needs);
    unit["relevant_context"] = json!([]);
    unit
}

pub fn assessment(verdict: &str, findings: &[Value]) -> Value {
    json!({"verdict": verdict, "summary": "As it looks.", "checked": ["all of it"], "findings": findings})
}

/// A finding that names the phases that injected the defect.
pub fn injected(id: &str, phases: &[&str], claim: &str) -> Value {
    let mut finding = finding(id, "major", claim);
    finding["injected_by"] = json!(phases);
    finding
}

pub fn implemented(task: &str) -> Value {
    json!({
        "verdict": "done", "task": task, "hypothesis": "Subtraction is like addition.",
        "changes": [{"file": "sums/sub.py", "what": "sub", "why": "AC-1"}],
    })
}

/// The judgement of `AC-1`.
pub fn verified(task: &str, met: &str) -> Value {
    let place = json!({"file": "sums/sub.py", "symbol": "sub", "line": 1});
    let verdict = if met == "met" { "met" } else { "unmet" };
    let findings = match verdict {
        "met" => json!([]),
        _ => json!([finding("VER-1", "critical", "sub does not subtract")]),
    };
    json!({
        "verdict": verdict, "task": task, "findings": findings,
        "criteria": [{"criterion": "AC-1", "met": met, "place": place, "reason": "as the code has it"}],
    })
}

pub fn review(scope: &str, focus: &str, verdict: &str, findings: &[Value]) -> Value {
    json!({
        "verdict": verdict, "scope": scope, "focus": focus, "summary": format!("The {scope} from {focus}."),
        "checked": ["all of it"], "findings": findings,
    })
}

/// A complete finding about `sums/sub.py`.
pub fn finding(id: &str, severity: &str, claim: &str) -> Value {
    json!({
        "id": id, "severity": severity, "category": "correctness", "claim": claim,
        "place": {"file": "sums/sub.py", "symbol": "sub", "line": 1}, "evidence": "the file",
        "impact": "wrong results", "recommendation": "correct it",
    })
}

impl Place {
    /// The sample project with these settings committed.
    pub fn configured(settings: &str) -> Place {
        let place = Place::new();
        place.write("remand.toml", settings);
        place.git(&["add", "-A"]);
        place.git(&["commit", "-q", "-m", "Settings"]);
        place
    }

    /// Runs the usual request with `quick`.
    pub fn quick(&self, script: &Script, more: &[&str]) -> Shown {
        let mut arguments = vec!["--workflow", "quick"];
        arguments.extend(more);
        self.run(REQUEST, &script.text(), &arguments)
    }

    /// Runs the usual request with `tsp`.
    pub fn tsp(&self, script: &Script) -> Shown {
        self.run(REQUEST, &script.text(), &["--workflow", "tsp"])
    }

    /// Runs the usual request with `feature`.
    pub fn feature(&self, script: &Script, more: &[&str]) -> Shown {
        self.run(REQUEST, &script.text(), &[&["--workflow", "feature"], more].concat())
    }
}
