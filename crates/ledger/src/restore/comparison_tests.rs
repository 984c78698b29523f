use super::Comparison;
use crate::fact::RunId;
use crate::replay_error::ReplayFailure;
use remand_kernel::ids::{Lane, PhaseId, SignalId};
use remand_kernel::program::{Action, Confidence};
use remand_kernel::ruling::{Disposition, Rule, Ruling, Why};

fn ruling(index: u16) -> Ruling {
    Ruling {
        phase: PhaseId(4),
        lane: Lane::Task { batch: 1, index },
        signal: SignalId(25),
        rule: Rule::Route { line: 38 },
        verdict: Disposition::Follow { action: Action::Next, target: Some(PhaseId(5)) },
        exhausted: Vec::new(),
        charges: Vec::new(),
        effects: Vec::new(),
        confidence: Confidence::High,
        why: Why::Said,
    }
}

const SHORT: &str = r#"[{"phase":4,"lane":"b1t1","signal":25,"rule":{"route":{"line":38}},"verdict":{"follow":{"action":"next","target":5}},"confidence":"high","why":"said"}]"#;

/// The same rulings in the encoding before format 10.
const LONG: &str = r#"[{"phase":4,"lane":{"task":{"batch":1,"index":0}},"signal":25,"rule":{"route":{"line":38}},"verdict":{"follow":{"action":"next","target":5}},"exhausted":[],"charges":[],"effects":[],"confidence":"high","why":"said"}]"#;

#[test]
fn a_ruling_matches_in_either_encoding() {
    let run = RunId("r".to_string());
    let mut comparison = Comparison::default();
    for text in [SHORT, SHORT, LONG, LONG, SHORT] {
        assert!(comparison.compare(&run, 1, text, &[ruling(0)]).is_ok(), "{text}");
    }
}

#[test]
fn a_different_ruling_is_found_whatever_was_compared_before() {
    let run = RunId("r".to_string());
    let mut comparison = Comparison::default();
    assert!(comparison.compare(&run, 1, SHORT, &[ruling(0)]).is_ok());
    for text in [SHORT, LONG] {
        let found = comparison.compare(&run, 2, text, &[ruling(1)]);
        assert!(matches!(found, Err(ReplayFailure::Mismatch { seq: 2, .. })), "{text}");
    }
    let forged = SHORT.replace("\"signal\":25", "\"signal\":26");
    assert!(matches!(
        comparison.compare(&run, 3, &forged, &[ruling(0)]),
        Err(ReplayFailure::Mismatch { .. })
    ));
    assert!(matches!(comparison.compare(&run, 4, SHORT, &[]), Err(ReplayFailure::Mismatch { .. })));
    assert!(
        matches!(comparison.compare(&run, 5, "", &[]), Err(ReplayFailure::Fault(_))),
        "an empty string is not a list"
    );
    assert!(comparison.compare(&run, 5, "[]", &[]).is_ok());
}

// CORE-11
#[test]
fn a_ruling_matches_if_its_reason_is_worded_differently_but_not_if_the_reason_differs() {
    let run = RunId("r".to_string());
    let detected =
        |sentence: &str| Ruling { why: Why::Detected { sentence: sentence.to_string() }, ..ruling(0) };
    let recorded =
        serde_json::to_string(&[detected("in the words of an earlier version")]).unwrap_or_default();
    let mut comparison = Comparison::default();
    assert!(comparison.compare(&run, 1, &recorded, &[detected("in other words")]).is_ok());
    let other_reason = comparison.compare(&run, 2, &recorded, &[ruling(0)]);
    assert!(matches!(other_reason, Err(ReplayFailure::Mismatch { .. })));
}
