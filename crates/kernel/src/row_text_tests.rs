use super::RowText;
use crate::evidence::{EvidenceRow, RowPhase, RowSource, Tier};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use proptest::prelude::*;
use serde_json::{Value, json};

fn row() -> EvidenceRow {
    EvidenceRow {
        check: "cargo-test".into(),
        phase: RowPhase::After,
        tier: Some(Tier::Two),
        passed: true,
        exit_code: Some(0),
        iteration: 1,
        superseded: false,
        collected: Some(412),
        duration_ms: 3180,
        reason: String::new(),
        source: RowSource::Engine,
        red_before: 0,
    }
}

fn read(value: Value) -> Option<EvidenceRow> {
    serde_json::from_value(value).ok()
}

#[test]
fn a_row_is_a_line_of_text() {
    assert_eq!(RowText(&row()).to_string(), "after.t2.passed.x0.i1.n412.d3180 cargo-test");
    let red = EvidenceRow { passed: false, exit_code: Some(101), red_before: 2, ..row() };
    assert_eq!(RowText(&red).to_string(), "after.t2.failed.x101.i1.n412.r2.d3180 cargo-test");
    assert_eq!(read(json!("after.t2.failed.x101.i1.n412.r2.d3180 cargo-test")), Some(red));
    let marker = EvidenceRow {
        check: "revert-task 2".into(),
        phase: RowPhase::Review,
        tier: None,
        passed: false,
        exit_code: None,
        superseded: true,
        collected: None,
        ..row()
    };
    assert_eq!(RowText(&marker).to_string(), "review.failed.i1.superseded.d3180 revert-task 2");
}

#[test]
fn malformed_text_is_rejected() {
    let text = "after.t2.passed.x0.i1.n412.d3180 cargo-test";
    assert_eq!(read(json!(text)), Some(row()));
    for (part, replacement) in [
        ("after", "before"),
        ("after.", ""),
        (".t2", ".t5"),
        (".t2", ".t"),
        ("passed", "well"),
        (".passed", ""),
        (".i1", ""),
        (".i1", ".i-1"),
        (".n412", ".n412.n412"),
        (".d3180", ""),
        (".d3180", ".d3180."),
        (" ", ""),
    ] {
        let malformed = text.replacen(part, replacement, 1);
        assert_eq!(read(json!(malformed)), None, "{malformed}");
    }
}

#[test]
fn rows_in_older_journals_are_read() {
    let list = json!(["cargo-test", "after", 2, true, 0, 1, false, 412, 3180, "", "engine"]);
    assert_eq!(read(list), Some(row()));
    let object = json!({
        "check": "cargo-test", "phase": "after", "tier": 2, "passed": true, "exit-code": 0, "iteration": 1,
        "superseded": false, "collected": 412, "duration-ms": 3180, "reason": "", "source": "engine",
    });
    assert_eq!(read(object), Some(row()));
}

// CORE-06, EP-33
#[test]
fn a_row_from_an_agent_cannot_be_read() {
    let object = serde_json::to_value(EvidenceRow { reason: "why".into(), ..row() }).unwrap();
    assert!(read(object.clone()).is_some());
    for other in ["agent", "implementer", "verifier"] {
        let mut forged = object.clone();
        forged["source"] = json!(other);
        assert_eq!(read(forged), None);
    }
}

fn any_row() -> impl Strategy<Value = EvidenceRow> {
    let phase = prop_oneof![Just(RowPhase::Baseline), Just(RowPhase::After), Just(RowPhase::Review)];
    let tier = proptest::option::of((1..=4_u8).prop_map(|number| Tier::try_from(number).unwrap()));
    let counts = (any::<u32>(), any::<Option<u32>>(), any::<u64>());
    let result = (any::<bool>(), any::<Option<i32>>(), any::<bool>(), 0..3_u32);
    let strings = (any::<String>(), prop_oneof![Just(String::new()), any::<String>()]);
    (phase, tier, counts, result, strings).prop_map(|(phase, tier, counts, result, (check, reason))| {
        let (iteration, collected, duration_ms) = counts;
        let (passed, exit_code, superseded, red_before) = result;
        EvidenceRow {
            check,
            phase,
            tier,
            passed,
            exit_code,
            iteration,
            superseded,
            collected,
            duration_ms,
            reason,
            red_before,
            ..row()
        }
    })
}

proptest! {
    #[test]
    fn every_row_is_read_back_as_it_was_stored(rows in proptest::collection::vec(any_row(), 0..4)) {
        let stored = serde_json::to_string(&rows).unwrap();
        prop_assert_eq!(serde_json::from_str::<Vec<EvidenceRow>>(&stored).unwrap(), rows);
    }
}
