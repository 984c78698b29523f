use super::{Comparison, Failed};
use crate::fact::RunId;
use remand_kernel::ids::{Lane, PhaseId, SignalId};
use remand_kernel::program::{Action, Confidence};
use remand_kernel::ruling::{Rule, Ruling, Verdict, Why};

fn ruling(index: u16) -> Ruling {
    Ruling {
        phase: PhaseId(4),
        lane: Lane::Task { batch: 1, index },
        signal: SignalId(25),
        rule: Rule::Route { line: 38 },
        verdict: Verdict::Follow { action: Action::Next, target: Some(PhaseId(5)) },
        exhausted: Vec::new(),
        charges: Vec::new(),
        effects: Vec::new(),
        confidence: Confidence::High,
        why: Why::Said,
    }
}

const SHORT: &str = r#"[{"phase":4,"lane":"b1t1","signal":25,"rule":{"route":{"line":38}},"verdict":{"follow":{"action":"next","target":5}},"confidence":"high","why":"said"}]"#;

/// The same as journals before format 10 have it.
const LONG: &str = r#"[{"phase":4,"lane":{"task":{"batch":1,"index":0}},"signal":25,"rule":{"route":{"line":38}},"verdict":{"follow":{"action":"next","target":5}},"exhausted":[],"charges":[],"effects":[],"confidence":"high","why":"said"}]"#;

#[test]
fn the_same_ruling_is_known_however_it_was_written() {
    let run = RunId("r".to_string());
    let mut comparison = Comparison::default();
    for text in [SHORT, SHORT, LONG, LONG, SHORT] {
        assert!(comparison.compare(&run, 1, text, &[ruling(0)]).is_ok(), "{text}");
    }
}

#[test]
fn another_ruling_is_told_whatever_was_compared_before() {
    let run = RunId("r".to_string());
    let mut comparison = Comparison::default();
    assert!(comparison.compare(&run, 1, SHORT, &[ruling(0)]).is_ok());
    for text in [SHORT, LONG] {
        let found = comparison.compare(&run, 2, text, &[ruling(1)]);
        assert!(matches!(found, Err(Failed::Mismatch { seq: 2, .. })), "{text}");
    }
    let forged = SHORT.replace("\"signal\":25", "\"signal\":26");
    assert!(matches!(comparison.compare(&run, 3, &forged, &[ruling(0)]), Err(Failed::Mismatch { .. })));
    assert!(matches!(comparison.compare(&run, 4, SHORT, &[]), Err(Failed::Mismatch { .. })));
    assert!(matches!(comparison.compare(&run, 5, "", &[]), Err(Failed::Fault(_))), "nothing is no list");
    assert!(comparison.compare(&run, 5, "[]", &[]).is_ok());
}
