//! A reviewer may only read and report, whatever permissions the repository grants. Its attempted changes have no
//! effect and are reported; if its tool for writing was refused, the dispatch fails.

use super::desk::{
    CLAUDE, CLAUDE_ACP, CODEX, CODEX_ACP, Desk, GEMINI, GEMINI_ACP, OPENCODE, OPENCODE_ACP, Program, QWEN,
    QWEN_ACP,
};
use super::working::HOSTILE;
use crate::place::Place;
use crate::rehearsed::TRIVIAL;
use remand_ledger::fact::NoteKind;

pub const MAKER: &str = r#"
rehearsal: 1
dispatches:
  - role: implementer
    do:
      - write: {path: sums/sub.py, text: "def sub(a, b):\n    return a - b\n"}
      - result:
          payload:
            verdict: done
            hypothesis: A function is enough.
            changes: [{file: sums/sub.py, what: Subtraction., why: the request}]
"#;

const READER: &str = r#"
  - role: reviewer
    attempt: 1
    do:
      - write: {path: sums/own.py, text: "mine = 1\n"}
      - run: echo mine > own.txt
      - result:
          payload: {verdict: approve, summary: It does what was asked for.}
  - role: reviewer
    do:
      - result:
          payload: {verdict: approve, summary: It does what was asked for.}
"#;

/// The consequence of a reviewer's attempt to write.
enum Consequence {
    /// Its tool for writing was refused: the dispatch fails.
    Violation,
    /// Its shell was refused, which can happen without bad intent: a warning is recorded.
    Denial,
}

fn reads_only(program: Program, expected: &Consequence) {
    let Some(desk) = Desk::at(Place::configured(TRIVIAL), &format!("{MAKER}{READER}")) else { return };
    for (path, text) in HOSTILE {
        desk.place.write(path, text);
    }
    desk.place.git(&["add", "-Af"]);
    desk.place.git(&["commit", "-qm", "Permissions for all"]);
    let shown = desk.quick(program);
    assert_eq!(shown.code, 0, "{shown:?}");
    let files = desk.files();
    assert!(files.contains("sums/sub.py") && !files.contains("own"), "{files}");
    let (notes, rows) = (desk.notes(), desk.dispatches());
    let of_kind =
        |kind| notes.iter().any(|note| note.kind == kind && note.text.contains("reviewer was denied"));
    let reviews: Vec<Option<&str>> =
        rows.iter().filter(|row| row.role == "reviewer").map(|row| row.failure.as_deref()).collect();
    match expected {
        Consequence::Violation => {
            assert!(of_kind(NoteKind::Violation), "{notes:?}");
            assert_eq!(reviews, [Some("violation"), None], "{rows:?}");
        }
        Consequence::Denial => {
            assert!(of_kind(NoteKind::Warning), "{notes:?}");
            assert_eq!(reviews, [None], "{rows:?}");
        }
    }
}

// CORE-05, CORE-15
each! { reads_only:
    claude = CLAUDE, &Consequence::Violation;
    codex = CODEX, &Consequence::Denial;
    opencode = OPENCODE, &Consequence::Denial;
    gemini = GEMINI, &Consequence::Violation;
    qwen = QWEN, &Consequence::Violation;
    claude_acp = CLAUDE_ACP, &Consequence::Violation;
    codex_acp = CODEX_ACP, &Consequence::Violation;
    opencode_acp = OPENCODE_ACP, &Consequence::Violation;
    gemini_acp = GEMINI_ACP, &Consequence::Violation;
    qwen_acp = QWEN_ACP, &Consequence::Violation;
}
