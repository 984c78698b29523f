//! The scripted results of engineers and reviewers in these tests.

use crate::rehearsed::{Entry, Script, role};
use serde_json::{Value, json};

/// A gap in an inventory.
pub fn gap(category: &str, severity: &str, section: &str) -> Value {
    json!({
        "category": category, "severity": severity, "claim": format!("What about {section}?"), "sections": [section],
    })
}

pub fn inventory(gaps: &[Value]) -> Entry {
    let verdict = if gaps.is_empty() { "none" } else { "found" };
    role("spec-reviewer/inventory")
        .says(json!({"verdict": verdict, "gaps": gaps, "checks": ["every section", "every number"]}))
}

pub fn proposal(gap: &str, section: &str, text: &str) -> Value {
    json!({
        "gap": gap, "confidence": "high", "solution": format!("Say it in {section}."), "section": section,
        "text": text, "examples": ["An example."], "trade_offs": ["A trade-off."],
    })
}

pub fn proposed(proposals: &[Value]) -> Value {
    json!({"verdict": "proposed", "proposals": proposals})
}

pub fn engineer(batch: &str) -> Entry {
    role("engineer").item(batch)
}

pub fn reviewer() -> Entry {
    role("spec-reviewer")
}

pub fn approved(gaps: &[&str]) -> Value {
    let reviews: Vec<Value> = gaps.iter().map(|gap| json!({"gap": gap, "judgement": "approved"})).collect();
    json!({"verdict": "no-issues", "reviews": reviews, "checks": ["closes the gap"]})
}

/// A review that rejects a proposal with one issue.
pub fn objected(gap: &str, severity: &str, concern: &str) -> Value {
    let issue = json!({"severity": severity, "concern": concern});
    json!({
        "verdict": "reviewed", "checks": ["closes the gap"],
        "reviews": [{"gap": gap, "judgement": "needs-revision", "note": concern, "issues": [issue]}],
    })
}

pub fn final_review() -> Entry {
    role("spec-reviewer/final").says(json!({"verdict": "clean", "gaps": [], "checks": ["read as a whole"]}))
}

/// One gap about logging in; the engineer proposes and the reviewer approves, round after round.
pub fn one_gap() -> Script {
    Script::of([
        inventory(&[gap("FLOW", "high", "Login")]),
        engineer("batch-1").says(proposed(&[proposal("GAP-FLOW-001", "Login", "Three tries.")])),
        reviewer().says(approved(&["GAP-FLOW-001"])),
        final_review(),
    ])
}
