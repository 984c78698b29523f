//! Whether the checks of a repository can prove the work of a run. This is settled before the run costs anything.

use crate::prompt::GatePrompt;
use remand_checks::CheckSpec;
use remand_git::{CommitId, Repository};
use remand_kernel::EngineOperation;
use remand_kernel::event::Mode;
use remand_kernel::program::Program;
use remand_terminal::CommandFailure;
use remand_terminal::output::tell;
use std::io::BufRead;

/// The user's decision about work that nothing can prove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnprovenWork {
    /// Ask, or refuse if nobody can be asked.
    Ask,
    Accept,
}

const REMEDY: &str = "add a build or test command to remand.toml, such as `[checks.test]` with `command = \"make test\"`, \
                      or continue with `--unproven`, which leaves the work to you";

const COMMITS_REMEDY: &str = "add a build or test command to remand.toml, such as `[checks.test]` with `command = \"make test\"`, \
                              or use `quick` or `feature` with `--unproven`, which leave the work to you";

/// Why nothing can prove the work of this workflow; `None` if something can, or if the workflow judges no code.
pub fn missing_proof(
    program: &Program,
    checks: &[CheckSpec],
    repository: &Repository,
    base: &CommitId,
) -> Result<Option<String>, CommandFailure> {
    if !judges_code(program) {
        return Ok(None);
    }
    let files = repository.files(&repository.tree_of(base)?)?;
    Ok(remand_checks::why_unprovable(checks, &files))
}

/// Refuses work that nothing can prove, unless the user accepts it and the workflow leaves it to the user instead of
/// committing it. Returns whether the run is unproven.
pub fn settle(
    program: &Program,
    why: Option<&str>,
    mode: Mode,
    answer: UnprovenWork,
) -> Result<bool, CommandFailure> {
    let Some(why) = why else { return Ok(false) };
    let what = format!("nothing can prove the work: {why}");
    let can_hand_over =
        program.operations.iter().any(|operation| operation.name == EngineOperation::HandOver);
    if !can_hand_over {
        let what = format!("{what}, and the workflow `{}` would commit it", program.name);
        return Err(CommandFailure::user(what, COMMITS_REMEDY));
    }
    match (answer, mode) {
        (UnprovenWork::Accept, _) => {
            tell(&format!("{what}; the run ends with low confidence, and its work is left to you"));
            Ok(true)
        }
        (UnprovenWork::Ask, Mode::Interactive) if GatePrompt::is_possible() && is_accepted(&what) => Ok(true),
        (UnprovenWork::Ask, Mode::Interactive | Mode::Autonomous) => Err(CommandFailure::user(what, REMEDY)),
    }
}

fn is_accepted(what: &str) -> bool {
    tell(&format!("{what}.\nTo prove it, {REMEDY}.\nContinue without proof? [y/N]"));
    let mut line = String::new();
    let is_read = std::io::stdin().lock().read_line(&mut line).is_ok();
    is_read && matches!(line.trim().to_lowercase().as_str(), "y" | "yes")
}

/// Whether the workflow has an operation that judges a change by the checks.
fn judges_code(program: &Program) -> bool {
    let judges = |name| matches!(name, EngineOperation::Checks | EngineOperation::Integrate);
    program.operations.iter().any(|operation| judges(operation.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    // UP-06
    #[test]
    fn work_that_nothing_can_prove_is_refused_with_what_to_add_unless_it_is_accepted() {
        let of = |workflow: &str| {
            let checked = remand_workflow::check_shipped(workflow).expect("a shipped workflow");
            checked.compiled.expect("a program").program
        };
        let settled = |workflow: &str, why: Option<&str>, answer: UnprovenWork| {
            settle(&of(workflow), why, Mode::Autonomous, answer).map_err(|failure| failure.what)
        };
        assert_eq!(settled("tsp", None, UnprovenWork::Ask), Ok(false));
        assert_eq!(settled("quick", Some("why"), UnprovenWork::Accept), Ok(true));
        let refused = "nothing can prove the work: why".to_string();
        assert_eq!(settled("quick", Some("why"), UnprovenWork::Ask), Err(refused.clone()));
        let commits = format!("{refused}, and the workflow `tsp` would commit it");
        assert_eq!(settled("tsp", Some("why"), UnprovenWork::Accept), Err(commits));
    }
}
