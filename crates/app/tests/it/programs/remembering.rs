//! A role that remembers continues its session when its work comes back, and still gets a complete prompt.

use super::desk::{CLAUDE, CLAUDE_ACP, CODEX, Desk, OPENCODE_ACP, Program};
use crate::place::Place;
use crate::rehearsed::TRIVIAL;
use remand_ledger::fact::TokenCounts;
use std::path::PathBuf;

const SENT_BACK: &str = r#"
rehearsal: 1
dispatches:
  - role: implementer
    round: 1
    usage: {tokens: {input: 3001, output: 207}}
    do:
      - write: {path: sums/sub.py, text: "def sub(a, b):\n    return b - a\n"}
      - result:
          payload:
            verdict: done
            hypothesis: A function is enough.
            changes: [{file: sums/sub.py, what: Subtraction., why: the request}]

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

  - role: implementer
    round: 2
    usage: {tokens: {input: 1003, output: 55}}
    do:
      - patch: {path: sums/sub.py, find: b - a, replace: a - b}
      - result:
          payload:
            verdict: done
            hypothesis: The operands were swapped.
            changes: [{file: sums/sub.py, what: The operands., why: the finding}]

  - role: reviewer
    round: 2
    do:
      - result:
          payload: {verdict: approve, summary: It does what was asked for.}
"#;

const IMPLEMENTER: &str = include_str!("../../../../../roles/implementer.md");

/// `money` is the cost of the second round in millionths, if known.
fn remembers(program: Program, reports_usage: bool, money: Option<u64>) {
    let place = Place::configured(TRIVIAL);
    let role = IMPLEMENTER.replacen("---\n", "---\nremembers: true\n", 1);
    place.write(".remand/roles/implementer.md", &role);
    place.git(&["add", "-A"]);
    place.git(&["commit", "-qm", "A role that remembers"]);
    let Some(desk) = Desk::at(place, SENT_BACK) else { return };
    let shown = desk.quick(program);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(desk.committed("sums/sub.py").contains("a - b"));

    let rows = desk.dispatches();
    let sessions = |role: &str| -> Vec<Option<&str>> {
        rows.iter().filter(|row| row.role == role).map(|row| row.session.as_deref()).collect()
    };
    let (implementer, reviewer) = (sessions("implementer"), sessions("reviewer"));
    assert!(matches!(implementer[..], [Some(first), Some(second)] if first == second), "{rows:?}");
    assert!(matches!(reviewer[..], [Some(first), Some(second)] if first != second), "{rows:?}");

    // The second round got all inputs, and its usage is counted separately.
    let prompt = desk.place.reader().blob(rows[2].prompt.expect("a prompt")).expect("a blob");
    assert!(String::from_utf8_lossy(&prompt).contains("# implementer"));
    let spent = rows[2].spent.filter(|_| reports_usage);
    assert_eq!(spent, reports_usage.then_some(TokenCounts { input: 1003, output: 55, cached: 0, stored: 0 }));

    assert_eq!(rows[2].money, money, "{rows:?}");

    // No session file is left when the run is over.
    let folder = desk.place.home().join("runs").join(&desk.place.latest().run.0).join("dispatches");
    let dispatches = std::fs::read_dir(folder).expect("dispatches").flatten().map(|entry| entry.path());
    let kept = dispatches.flat_map(|path| [path.join("session.json"), path.join("home")]);
    assert_eq!(kept.filter(|path| path.exists()).collect::<Vec<_>>(), Vec::<PathBuf>::new());
}

// CORE-15
each! { remembers:
    claude = CLAUDE, true, Some(3_834);
    codex = CODEX, true, None;
    claude_acp = CLAUDE_ACP, true, Some(3_834);
    opencode_acp = OPENCODE_ACP, false, Some(1_113);
}
