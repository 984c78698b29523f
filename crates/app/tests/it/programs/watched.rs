//! While an agent works, people who watch see which tool it uses, on what, and the tokens so far.

use super::desk::{CLAUDE, CODEX, Desk, GEMINI, OPENCODE, Program, QWEN};
use crate::place::Place;
use crate::rehearsed::TRIVIAL;
use remand_agents::driver::AgentRows;
use remand_agents::output::OutputReader;
use std::collections::BTreeMap;

const SCRIPT: &str = r#"
rehearsal: 1
dispatches:
  - role: implementer
    usage: {tokens: {input: 301, output: 27}}
    do:
      - run: python3 -c "print('watched')"
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

/// When a program reports its tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counts {
    AfterEachCall,
    AtTheEnd,
}

/// Reads the program's output as the engine does. `file` is what people see while the program writes the file; the model
/// of Codex writes it with a command.
fn shows_its_tools(program: Program, file: &str, counts: Counts) {
    let Some(desk) = Desk::at(Place::configured(TRIVIAL), SCRIPT) else { return };
    let shown = desk.quick(program);
    assert_eq!(shown.code, 0, "{shown:?}");
    let rows = AgentRows::from_config(&BTreeMap::new()).and_then(|rows| rows.all()).expect("the rows");
    let row = rows.into_iter().find(|row| row.name == program.name).expect("its row").row;
    let mut reader = OutputReader::new(&row.output_rules);
    let output = desk.output_of(&desk.dispatches()[0]);
    let mut activities = Vec::new();
    for line in output.lines() {
        reader.line(line.as_bytes());
        if reader.ended {
            break;
        }
        activities.push(reader.activity().to_string());
    }
    let is_seen = |what: &str| activities.iter().any(|activity| activity.contains(what));
    assert!(is_seen("watched"), "the command: {activities:#?}\n{output}");
    assert!(is_seen(file), "the file: {activities:#?}\n{output}");
    assert_eq!(is_seen("tokens so far"), counts == Counts::AfterEachCall, "{activities:#?}\n{output}");
}

// UP-09 UP-11
each! { shows_its_tools:
    claude = CLAUDE, "sums/sub.py", Counts::AfterEachCall;
    codex = CODEX, "command_execution /bin/bash -lc \"mkdir -p ", Counts::AtTheEnd;
    opencode = OPENCODE, "sums/sub.py", Counts::AfterEachCall;
    gemini = GEMINI, "sums/sub.py", Counts::AtTheEnd;
    qwen = QWEN, "sums/sub.py", Counts::AfterEachCall;
}
