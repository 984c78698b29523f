//! The reason for a failure is the program's own: an account without money, a missing variable.

use super::desk::{CLAUDE, CODEX, Desk, Program};
use crate::place::{Place, shown};
use crate::rehearsed::{REQUEST, TRIVIAL};

/// The service refuses as Anthropic does when an account has no money left.
const NO_CREDIT: &str = "rehearsal: 1
dispatches:
  - role: implementer
    do:
      - service:
          status: 400
          message: Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.
";

const NOTHING: &str = "rehearsal: 1\ndispatches:\n  - {role: implementer, do: [silent: true]}\n";

// UP-04 UP-08
#[test]
fn an_account_without_credit_is_reported_as_that() {
    let Some(desk) = Desk::at(Place::configured(TRIVIAL), NO_CREDIT) else { return };
    let shown = desk.quick(CLAUDE);
    let rows = desk.dispatches();
    let detail = rows[0].detail.clone().unwrap_or_default();
    assert_eq!(rows[0].failure.as_deref(), Some("environment"), "{detail}");
    assert!(detail.to_lowercase().contains("credit balance is too low"), "{detail}");
    assert!(detail.contains("the account of Claude Code cannot pay"), "{detail}");
    assert!(!detail.contains("not signed in"), "{detail}");
    assert!(shown.out.to_lowercase().contains("credit balance is too low"), "{shown:?}");
}

// UP-04 UP-08
#[test]
fn a_missing_variable_of_codex_is_reported_as_that() {
    let Some(desk) = Desk::at(Place::configured(TRIVIAL), NOTHING) else { return };
    let mut command =
        desk.command(&["run", REQUEST, "--workflow", "quick", "--agent", CODEX.name, "--model", CODEX.model]);
    command.env_remove("OPENAI_API_KEY");
    let shown = shown(command);
    let rows = desk.dispatches();
    let detail = rows[0].detail.clone().unwrap_or_default();
    assert_eq!(rows[0].failure.as_deref(), Some("environment"), "{detail}");
    assert!(detail.contains("Missing environment variable: `OPENAI_API_KEY`"), "{detail}: {shown:?}");
    assert!(detail.contains("sandbox.environment"), "{detail}");
}

/// The model itself calls git once.
const CALLS_GIT: &str = "rehearsal: 1
dispatches:
  - role: implementer
    do:
      - run: git stash
      - result: {payload: {verdict: stuck, hypothesis: Nothing., changes: []}}
";

fn warnings(program: Program) -> Option<Vec<String>> {
    let desk = Desk::at(Place::configured(TRIVIAL), CALLS_GIT)?;
    desk.quick(program);
    let texts = desk.notes().into_iter().map(|note| note.text);
    Some(texts.filter(|text| text.contains("tried to run")).collect())
}

// UP-04
#[test]
fn git_calls_of_claude_itself_are_no_reason_for_a_warning_but_those_of_its_model_are() {
    let Some(warnings) = warnings(CLAUDE) else { return };
    assert_eq!(warnings, ["implementer tried to run git stash; it was refused"]);
}

/// The model's login shell finds another git first, which cannot use the tree.
// UP-04
#[test]
fn git_calls_of_codex_itself_are_no_reason_for_a_warning() {
    let Some(warnings) = warnings(CODEX) else { return };
    assert_eq!(warnings, [""; 0]);
}
