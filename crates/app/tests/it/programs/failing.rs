//! What goes wrong at a model's service is told apart, waited for, and asked about; a program that hangs or says nothing is
//! dispatched once more.

use super::desk::{CLAUDE, CODEX, Desk, GEMINI, OPENCODE, Program, QWEN};

/// The first attempt meets this, the second one works.
fn script(trouble: &str) -> String {
    format!(
        r#"
rehearsal: 1
dispatches:
  - role: implementer
    attempt: 1
    do:
      - {trouble}
  - role: implementer
    do:
      - write: {{path: sums/sub.py, text: "def sub(a, b):\n    return a - b\n"}}
      - result:
          payload:
            verdict: done
            hypothesis: A function is enough.
            changes: [{{file: sums/sub.py, what: Subtraction., why: the request}}]
  - role: reviewer
    do:
      - result:
          payload: {{verdict: approve, summary: It does what was asked for.}}
"#
    )
}

/// Runs with trouble in the first attempt, and gives its failure with what was said of it.
fn first_failure(program: Program, trouble: &str) -> Option<(String, String)> {
    let desk = Desk::new(&script(trouble))?;
    // Some try again for minutes without a word.
    desk.at_home(".config/remand/config.toml", &format!("[agents.{}]\nsilence = 45\n", program.name));
    let shown = desk.quick(program);
    assert_eq!(shown.code, 0, "{trouble}: {shown:?}");
    assert!(desk.files().contains("sums/sub.py"));
    let rows = desk.dispatches();
    let roles: Vec<&str> = rows.iter().map(|row| row.role.as_str()).collect();
    assert_eq!(roles, ["implementer", "implementer", "reviewer"], "{trouble}: {rows:?}");
    Some((rows[0].failure.clone().unwrap_or_default(), rows[0].detail.clone().unwrap_or_default()))
}

fn fails(program: Program, trouble: &str, failure: &str, words: &str) {
    let Some((failed, detail)) = first_failure(program, trouble) else { return };
    assert_eq!(failed, failure, "{trouble}: {detail}");
    assert!(detail.contains(words), "{trouble}: {detail}");
}

const REFUSED: &str = "service: {status: 401}";
const LIMITED: &str = "service: {status: 429, retry-after: 1}";
const BROKEN: &str = "service: {status: 500}";
const HANGS: &str = "hang: true";
const SILENT: &str = "silent: true";

const NOT_SIGNED_IN: &str = "is not signed in";
const TO_WAIT: &str = "asks to wait";
const NO_ANSWER: &str = "cannot answer at the moment";
const NOTHING_SAID: &str = "said nothing for too long";
const NO_RESULT: &str = "expected the result";

// CORE-10
#[test]
fn claude_without_access_waits_and_goes_on() {
    fails(CLAUDE, REFUSED, "environment", NOT_SIGNED_IN);
    fails(CLAUDE, LIMITED, "environment", TO_WAIT);
    fails(CLAUDE, BROKEN, "environment", NO_ANSWER);
}

// CORE-10
#[test]
fn codex_without_access_waits_and_goes_on() {
    fails(CODEX, REFUSED, "environment", NOT_SIGNED_IN);
    fails(CODEX, LIMITED, "environment", TO_WAIT);
    fails(CODEX, BROKEN, "environment", NO_ANSWER);
}

// CORE-10
#[test]
fn opencode_without_access_waits_and_goes_on() {
    fails(OPENCODE, REFUSED, "environment", NOT_SIGNED_IN);
    fails(OPENCODE, LIMITED, "environment", TO_WAIT);
    // It tries again without end and without a word.
    fails(OPENCODE, BROKEN, "timeout", NOTHING_SAID);
}

// CORE-10
#[test]
fn gemini_without_access_waits_and_goes_on() {
    fails(GEMINI, REFUSED, "environment", NOT_SIGNED_IN);
    fails(GEMINI, LIMITED, "environment", TO_WAIT);
    fails(GEMINI, BROKEN, "environment", NO_ANSWER);
}

// CORE-10
#[test]
fn qwen_without_access_waits_and_goes_on() {
    fails(QWEN, REFUSED, "environment", NOT_SIGNED_IN);
    fails(QWEN, LIMITED, "environment", TO_WAIT);
    // It tries again for minutes without a word.
    fails(QWEN, BROKEN, "timeout", NOTHING_SAID);
}

// CORE-15
#[test]
fn programs_that_hang_are_ended_and_dispatched_once_more() {
    for program in [CLAUDE, CODEX, OPENCODE, GEMINI, QWEN] {
        fails(program, HANGS, "timeout", NOTHING_SAID);
    }
}

// CORE-15
#[test]
fn programs_that_end_without_a_word_have_no_result() {
    for program in [CLAUDE, CODEX, OPENCODE] {
        fails(program, SILENT, "malformed", NO_RESULT);
    }
    // These try again by themselves and give up.
    fails(QWEN, SILENT, "crashed", "exit code 1");
    fails(GEMINI, SILENT, "crashed", "empty response");
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
