//! Failures of a model's service are distinguished, waited out, and reported to a human; a hanging or silent program is
//! dispatched again. One run meets all of these and still ends.

use super::desk::{
    CLAUDE, CLAUDE_ACP, CODEX, CODEX_ACP, Desk, GEMINI, GEMINI_ACP, OPENCODE, OPENCODE_ACP, Program, QWEN,
    QWEN_ACP,
};
use crate::place::Place;
use crate::rehearsed::TRIVIAL;

const TROUBLED: &str = r#"
rehearsal: 1
dispatches:
  - {role: implementer, round: 1, attempt: 1, do: [service: {status: 401}]}
  - {role: implementer, round: 1, attempt: 2, do: [silent: true]}
  - role: implementer
    round: 1
    do:
      - write: {path: sums/sub.py, text: "def sub(a, b):\n    return b - a\n"}
      - result:
          payload:
            verdict: done
            hypothesis: A function is enough.
            changes: [{file: sums/sub.py, what: Subtraction., why: the request}]

  - {role: reviewer, round: 1, attempt: 1, do: [service: {status: 429, retry-after: 1}]}
  - role: reviewer
    round: 1
    do:
      - result:
          payload:
            verdict: needs-revision
            summary: The operands are swapped.
            findings:
              - id: REV-1
                severity: major
                category: correctness
                claim: The operands are swapped.
                place: {file: sums/sub.py, symbol: sub, line: 2}
                evidence: the file
                impact: wrong results
                recommendation: Swap them.

  - {role: implementer, round: 2, attempt: 1, do: [service: {status: 503, retry-after: 1}]}
  - role: implementer
    round: 2
    do:
      - patch: {path: sums/sub.py, find: b - a, replace: a - b}
      - result:
          payload:
            verdict: done
            hypothesis: The operands were swapped.
            changes: [{file: sums/sub.py, what: The operands., why: the finding}]

  - {role: reviewer, round: 2, attempt: 1, do: [hang: true]}
  - role: reviewer
    round: 2
    do:
      - result:
          payload: {verdict: approve, summary: It does what was asked for.}
"#;

/// The kind of a failure, and words of its message.
type ExpectedFailure = (&'static str, &'static str);

const NOT_SIGNED_IN: ExpectedFailure = ("environment", "is not signed in");
const RATE_LIMITED: ExpectedFailure = ("environment", "is rate limiting");
const UNAVAILABLE: ExpectedFailure = ("environment", "is currently unavailable");
const SILENT: ExpectedFailure = ("timeout", "no output and no running tool for too long");
const NO_RESULT: ExpectedFailure = ("malformed", "expected the result");

/// Programs differ in their reaction to a silent model, and in how long they may be silent: one takes long to start.
/// The failing service names a short wait, because one program otherwise retries silently for over a minute.
fn continues(program: Program, silence: u64, silent: ExpectedFailure) {
    let Some(desk) = Desk::at(Place::configured(TRIVIAL), TROUBLED) else { return };
    desk.write_in_home(
        ".config/remand/config.toml",
        &format!("[agents.{}]\nsilence = {silence}\n", program.name),
    );
    let shown = desk.quick(program);
    let rows = desk.dispatches();
    let text = |part: &Option<String>| part.clone().unwrap_or_default();
    let reported: Vec<(&str, String, String)> =
        rows.iter().map(|row| (row.role.as_str(), text(&row.failure), text(&row.detail))).collect();
    let expected = [
        ("implementer", Some(NOT_SIGNED_IN)),
        ("implementer", Some(silent)),
        ("implementer", None),
        ("reviewer", Some(RATE_LIMITED)),
        ("reviewer", None),
        ("implementer", Some(UNAVAILABLE)),
        ("implementer", None),
        ("reviewer", Some(SILENT)),
        ("reviewer", None),
    ];
    assert_eq!(reported.len(), expected.len(), "{reported:?}: {shown:?}");
    for (reported, (role, failure)) in reported.iter().zip(expected) {
        let (kind, words) = failure.unwrap_or_default();
        assert_eq!((reported.0, reported.1.as_str()), (role, kind), "{reported:?}");
        assert!(reported.2.contains(words), "{reported:?}");
    }
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(desk.committed("sums/sub.py").contains("a - b"));
}

// CORE-10, CORE-15
each! { continues:
    claude = CLAUDE, 30, NO_RESULT;
    codex = CODEX, 30, NO_RESULT;
    opencode = OPENCODE, 60, NO_RESULT;
// It retries after silence, and then gives up.
    gemini = GEMINI, 30, ("crashed", "empty response");
    qwen = QWEN, 30, ("crashed", "empty response");
    claude_acp = CLAUDE_ACP, 30, NO_RESULT;
    codex_acp = CODEX_ACP, 30, NO_RESULT;
    opencode_acp = OPENCODE_ACP, 60, NO_RESULT;
    gemini_acp = GEMINI_ACP, 30, NO_RESULT;
    qwen_acp = QWEN_ACP, 30, ("crashed", "empty response");
}

// CORE-10
#[test]
fn three_failures_of_a_service_in_a_row_ask_a_human() {
    let script =
        "rehearsal: 1\ndispatches:\n  - role: implementer\n    do:\n      - service: {status: 401}\n";
    let Some(desk) = Desk::new(script) else { return };
    let shown = desk.quick(CODEX);
    assert_eq!(shown.code, 5, "{shown:?}");
    let rows = desk.dispatches();
    assert_eq!(rows.len(), 3, "{rows:?}");
    assert!(rows.iter().all(|row| row.failure.as_deref() == Some("environment")), "{rows:?}");
    assert!(format!("{}{}", shown.out, shown.err).contains("codex login"), "{shown:?}");
}
