//! A running tool is not silence, even if it takes longer than the allowed silence.

use super::desk::{CLAUDE, CLAUDE_ACP, Desk, GEMINI, Program, QWEN};
use crate::place::Place;
use crate::rehearsed::TRIVIAL;

const SLOW: &str = r#"
rehearsal: 1
dispatches:
  - role: implementer
    do:
      - run: python3 -c "import time; time.sleep(40)"
      - write: {path: sums/sub.py, text: "def sub(a, b):\n    return a - b\n"}
      - result:
          payload:
            verdict: done
            hypothesis: A function is enough.
            changes: [{file: sums/sub.py, what: Subtraction., why: the request}]
  - role: reviewer
    do:
      - result:
          payload: {verdict: approve, summary: It does what was asked for.}
"#;

fn waits_for_its_tool(program: Program) {
    let Some(desk) = Desk::at(Place::configured(TRIVIAL), SLOW) else { return };
    desk.write_in_home(".config/remand/config.toml", &format!("[agents.{}]\nsilence = 30\n", program.name));
    let shown = desk.quick(program);
    assert_eq!(shown.code, 0, "{shown:?}");
    let rows = desk.dispatches();
    assert!(rows.len() == 2 && rows.iter().all(|row| row.failure.is_none()), "{rows:?}");
}

// CORE-15
each! { waits_for_its_tool:
    claude = CLAUDE;
    gemini = GEMINI;
    qwen = QWEN;
    claude_acp = CLAUDE_ACP;
}
