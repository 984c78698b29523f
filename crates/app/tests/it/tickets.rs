//! A small project with a ticket, and scripted agents for `ticket` that the tests of this workflow vary.

use super::place::{Place, Shown};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub const TICKET: &str = "tickets/0079_doubling.md";
pub const FOLDER: &str = "docs/designs/0079_doubling";

/// A ticket from before design revisions, with a note after a status.
pub const TEXT: &str = "# Feature Ticket: 0079 Doubling

## Status
- [x] Draft
- [x] Ready for Design
- [ ] Design Complete — Awaiting Review (Dana looks)
- [ ] Ready for Implementation
- [ ] Implementation Complete — Awaiting Test Writing
- [ ] Test Writing Complete — Awaiting Quality Gate
- [ ] Quality Gate Passed — Awaiting Review
- [ ] Approved — Ready to Merge
- [ ] Merged / Complete

## Metadata
- **Created**: 2026-01-30
- **Author**: Dana

## Summary
Numbers are doubled, *fractions too*.   <!-- two blanks, a comment -->

## Workflow Log

### Design Phase
- **Started**: 2026-01-31

### Implementation Phase

## Human Feedback

### Feedback on Implementation
";

pub const SHIFT: &str = "Double a number by shifting its bits one place to the left.";
pub const ADD: &str = "Add the number to itself, so that fractions keep their value.";

/// The proposal of the findings; the revised design follows it in other words.
pub const PROPOSAL: &str = "Compute the sum of the value with itself.";

const TEST: &str = "import unittest\n\nfrom sums.double import double\n\n\nclass DoubleTest(unittest.TestCase):\n    \
                    def test_doubles(self):\n        self.assertEqual(double(1.5), 3.0)\n";

const SETTINGS: &str = r#"
[checks]
detect = false

[checks.finished]
command = "! grep -rq FIXME sums"
tier = 1

[checks.whole]
command = "test -f sums/add.py"
tier = 2
"#;

/// The project with this ticket.
pub fn place(ticket: &str) -> Place {
    let place = Place::new();
    place.write("remand.toml", SETTINGS);
    place.write(TICKET, ticket);
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "A ticket"]);
    place
}

/// A design with this approach and these reasons for its two decisions.
pub fn design(approach: &str, first: &str, second: &str, notes: &str) -> String {
    let decision = |id: &str, title: &str, rationale: &str| {
        format!(
            "### {id}: {title}\n- **Affects**: `sums/double.py`\n- **Rationale**: {rationale}\n- **Alternatives**: None \
             worth it.\n- **Trade-offs**: One more file.\n- **Status**: active\n\n"
        )
    };
    format!(
        "# Design: doubling\n\n## Summary\n\n`double` doubles.\n\n## Approach\n\n{approach}\n\n## Components\n\nOne \
         module.\n\n## Decisions\n\n{}{}## Test Impact\n\nOne test.\n{notes}",
        decision("DD-0079-001", "How", first),
        decision("DD-0079-002", "Where", second),
    )
}

pub fn revised() -> String {
    let notes = "\n## Design Revision Notes\n\n- DD-0079-001: addition, since fractions cannot be shifted.\n- Preserved: \
                 DD-0079-002.\n- Warm start: keep the test, discard `sums/bits.py`.\n";
    design(ADD, "Addition is exact for fractions.", "A module for each sum.", notes)
}

/// One entry of a rehearsal: the dispatches it matches, their actions, and their results.
pub fn entry(fits: Value, actions: &[Value], payload: Value) -> String {
    let mut all = actions.to_vec();
    all.push(json!({ "result": { "payload": payload } }));
    let mut entry = fits;
    entry["do"] = Value::Array(all);
    format!("  - {entry}\n")
}

pub fn write(path: &str, text: &str) -> Value {
    json!({ "write": { "path": path, "text": text } })
}

pub fn document(markdown: &str) -> Value {
    let changed = markdown.contains("Revision Notes");
    let notes = json!([{ "changed": "DD-0079-001", "why": "fractions cannot be shifted", "preserved": ["DD-0079-002"] }]);
    json!({
        "verdict": "done",
        "title": "Doubling",
        "markdown": markdown,
        "approach": { "text": "as the document says", "decisions": ["DD-0079-001"] },
        "revision_notes": if changed { notes } else { json!([]) },
    })
}

pub fn coded(hypothesis: &str) -> Value {
    json!({ "verdict": "done", "hypothesis": hypothesis, "changes": [{ "file": "sums/double.py", "what": "doubles" }] })
}

pub fn reviewed(verdict: &str, findings: Value) -> Value {
    json!({ "verdict": verdict, "summary": "Looked at it all.", "checked": ["Decisions"], "findings": findings })
}

/// The judgement of a revised design.
pub fn judged(met: &str) -> Value {
    let ids = [
        "root-cause-addressed",
        "oscillation-free",
        "delta-scope",
        "warm-start-preserved",
        "decision-citation",
    ];
    let place = json!({ "file": "design.md", "symbol": "DD-0079-001" });
    let rows: Vec<Value> =
        ids.iter().map(|id| json!({ "criterion": id, "met": met, "place": place })).collect();
    let mut payload = reviewed("approved", json!([]));
    payload["criteria"] = Value::Array(rows);
    payload
}

/// Findings about the design. The first design has three attempts in these rehearsals.
pub fn findings(produced_by: &str, trigger: &str, revision: u16, approach: &str) -> Value {
    let attempt = if revision == 2 { 4 } else { 1 };
    json!({
        "verdict": "done",
        "date": "2026-01-31",
        "produced_by": produced_by,
        "trigger": trigger,
        "revision": revision,
        "iterations": [{ "number": attempt, "hypothesis": "A shift.", "outcome": "Fractions fail.", "files": ["sums/double.py"] }],
        "ruled_out": [{ "approach": "Shifting", "reason": "Fractions have no bits to shift." }],
        "category": "INCORRECT_INVARIANT",
        "category_rationale": "The design holds that every number is whole.",
        "root_cause": { "section": "DD-0079-001", "assumption": "Every number is whole.", "evidence": "`finished` fails." },
        "workaround": { "possible": false, "explanation": "Any shift needs whole numbers." },
        "proposed_change": {
            "scope": "DD-0079-001 only",
            "approach": { "text": approach, "decisions": ["DD-0079-001"] },
            "preserve": ["DD-0079-002"],
            "hints": [
                { "file": "sums/double.py", "action": "modify", "note": "the body" },
                { "file": "sums/bits.py", "action": "discard" },
                { "file": "tests/test_double.py", "action": "keep" },
            ],
        },
        "oscillation": {
            "tried_before": { "answer": false, "explanation": "Nobody added yet." },
            "may_swing_back": { "answer": false, "explanation": "The test with a fraction stays." },
        },
        "checklist": {
            "root_cause_credible": "Every variant failed for the same reason.",
            "change_scoped": "One decision changes.",
            "oscillation_checked": "Both are answered with no.",
            "prototype_advice": "Not needed.",
        },
    })
}

/// Agents that succeed immediately, and a design that is revised after findings.
pub fn agents() -> String {
    let whole = |text: &str| write("sums/double.py", text);
    [
        "rehearsal: 1\nabout: agents that get it right at once\n\ndispatches:\n".to_string(),
        entry(
            json!({ "role": "architect" }),
            &[],
            document(&design(SHIFT, "A shift is quick.", "A module for each sum.", "")),
        ),
        entry(json!({ "role": "architect/revise" }), &[], document(&revised())),
        entry(json!({ "role": "design-reviewer" }), &[], reviewed("approved", json!([]))),
        entry(json!({ "role": "design-reviewer", "round": 2 }), &[], judged("met")),
        entry(json!({ "role": "coder" }), &[whole("def double(a):\n    return a + a\n")], coded("Addition keeps fractions.")),
        entry(
            json!({ "role": "test-writer" }),
            &[write("tests/test_double.py", TEST)],
            json!({ "verdict": "done", "hypothesis": "Fractions double.", "changes": [{ "file": "tests/test_double.py", "what": "a test" }] }),
        ),
        entry(json!({ "role": "impl-reviewer" }), &[], reviewed("approved", json!([]))),
        entry(json!({ "role": "documenter" }), &[], json!({ "verdict": "done", "title": "Doubling", "markdown": "# Doubling\n\nIt doubles.\n" })),
        entry(
            json!({ "role": "prototyper" }),
            &[],
            json!({ "verdict": "works", "title": "Prototype", "markdown": "# Prototype\n\n1.5 + 1.5 is 3.0.\n" }),
        ),
    ]
    .concat()
}

/// The third attempt ends like the first, a circle, and the implementer reports findings about it.
pub fn circling() -> String {
    let shift =
        |line: &str| write("sums/double.py", &format!("def double(a):\n    return {line}  # FIXME\n"));
    let first = [shift("a << 1"), write("sums/bits.py", "WIDTH = 64\n"), write("tests/test_double.py", TEST)];
    [
        agents(),
        entry(json!({ "role": "coder", "round": 1 }), &first, coded("A plain shift doubles whole numbers.")),
        entry(
            json!({ "role": "coder", "round": 2 }),
            &[shift("int(a) * 2")],
            coded("Rounding keeps fractions out."),
        ),
        entry(
            json!({ "role": "coder", "round": 3 }),
            &[shift("a << 1")],
            coded("It was the rounding that was wrong."),
        ),
        entry(
            json!({ "role": "coder", "round": 4 }),
            &[
                json!({ "run": "cp sums/double.py seen.txt; test -e sums/bits.py && touch bits-seen.txt" }),
                write("sums/double.py", "def double(a):\n    return a + a\n"),
            ],
            coded("Addition keeps fractions."),
        ),
        entry(json!({ "role": "findings" }), &[], findings("implementer", "circle", 1, PROPOSAL)),
    ]
    .concat()
}

/// Three attempts with different hypotheses that each end red at the quality gate.
pub fn failing() -> String {
    let attempts = [
        ("a << 1", "A plain shift doubles whole numbers."),
        ("int(a) * 2", "Rounding down before it keeps fractions out."),
        ("struct.pack('d', a)", "The raw bytes of the machine word can be moved."),
    ];
    let mut rehearsal = agents();
    for (round, (line, hypothesis)) in (1..).zip(attempts) {
        let text = format!("def double(a):\n    return {line}  # FIXME {round}\n");
        let actions = [write("sums/double.py", &text), write("sums/bits.py", "WIDTH = 64\n")];
        rehearsal.push_str(&entry(json!({ "role": "coder", "round": round }), &actions, coded(hypothesis)));
    }
    let stated = findings("quality-gate", "quality-gate-failed", 1, PROPOSAL);
    rehearsal.push_str(&entry(json!({ "role": "findings" }), &[], stated));
    rehearsal
}

pub fn arguments(place: &Place, rehearsal: &str) -> Vec<String> {
    let script = place.write_outside("rehearsal.yaml", rehearsal);
    let words = ["run", "--ticket", TICKET, "--autonomous", "--agent"];
    words.iter().map(ToString::to_string).chain([format!("rehearsal:{script}")]).collect()
}

pub fn run(place: &Place, rehearsal: &str) -> Shown {
    let words = arguments(place, rehearsal);
    place.remand(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

pub fn answer(place: &Place, words: &[&str]) -> Shown {
    let run = place.latest().run;
    place.remand(&[&["answer", run.0.as_str()], words].concat())
}

/// A file on the branch of the newest run.
pub fn on_branch(place: &Place, path: &str) -> String {
    place.git(&["show", &format!("{}:{path}", place.latest().branch)])
}

/// Subjects of the commits on the branch, the oldest first.
pub fn subjects(place: &Place) -> Vec<String> {
    let row = place.latest();
    let range = format!("{}..{}", row.base, row.branch);
    place.git(&["log", "--reverse", "--format=%s", &range]).lines().map(str::to_string).collect()
}

/// Every file on the branch, without the id of the run.
pub fn files(place: &Place) -> BTreeMap<String, String> {
    let row = place.latest();
    let names = place.git(&["ls-tree", "-r", "--name-only", &row.branch]);
    names.lines().map(|name| (name.to_string(), on_branch(place, name).replace(&row.run.0, "RUN"))).collect()
}

/// The phases that were dispatched, in order.
pub fn dispatched(place: &Place) -> Vec<String> {
    let run = place.latest().run;
    let mut rows = place.reader().dispatches(&run).expect("dispatches");
    // Dispatches that were interrupted with the engine are left out.
    rows.retain(|row| !row.command.contains('~'));
    rows.into_iter().map(|row| row.phase).collect()
}
