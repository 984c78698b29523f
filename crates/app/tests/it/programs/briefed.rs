//! What real agent programs are given: the model answers only from the conversation, and fails a dispatch if the words
//! that it needs are not there.

use super::desk::{CLAUDE, CODEX, Desk, Program};
use crate::briefs;
use crate::issue_script;
use crate::place::{Place, shown};

// HO-01 HO-02 HO-03 HO-04
fn feature(program: Program) {
    let Some(desk) = Desk::at(Place::new(), &briefs::feature().text()) else { return };
    let ran = desk.run(&["--workflow", "feature", "--agent", program.name, "--model", program.model]);
    assert_eq!(ran.code, 0, "{ran:?}");
    briefs::kept_what_passed(&desk.place);
}

fn issue(program: Program) {
    let Some(desk) = Desk::at(issue_script::place(), &briefs::issue().text()) else { return };
    let arguments = ["run", "--issue", "ABC-1", "--agent", program.name, "--model", program.model];
    let ran = shown(desk.command(&arguments));
    assert_eq!(ran.code, 0, "{ran:?}");
}

fn tsp(program: Program) {
    let Some(desk) = Desk::at(Place::new(), &briefs::tsp().text()) else { return };
    let ran = desk.run(&["--workflow", "tsp", "--agent", program.name, "--model", program.model]);
    assert_eq!(ran.code, 0, "{ran:?}");
}

each! { feature: feature_claude = CLAUDE; feature_codex = CODEX; }
each! { issue: issue_claude = CLAUDE; issue_codex = CODEX; }
each! { tsp: tsp_claude = CLAUDE; tsp_codex = CODEX; }
