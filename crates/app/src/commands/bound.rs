//! `remand bound`: the number of dispatches of a run in the worst case, before anything runs.

use crate::context::CommandContext;
use crate::load;
use remand_terminal::output::{print, print_json};
use remand_terminal::{CommandFailure, ExitCode};
use remand_workflow::explore::{bound, bound::Worst};
use serde_json::json;

pub fn run(
    context: &CommandContext<'_>,
    name: &str,
    tasks: u16,
    gaps: u16,
) -> Result<ExitCode, CommandFailure> {
    let roles = load::roles(context)?;
    let program = load::program(context, name, &roles)?;
    let bound = bound(&program, &[("tasks", tasks), ("gaps", gaps)]).map_err(|_| {
        CommandFailure::user(format!("{name} has too many states to count"), "reduce its budgets")
    })?;
    let retries = program.phases.iter().map(|phase| phase.retries).max().unwrap_or(0);
    if context.json {
        let worst = |worst: &Worst| {
            json!({
                "dispatches": worst.dispatches,
                "retries": retries,
                "with-retries": worst.with_retries,
                "states": worst.states,
            })
        };
        print_json(&json!({
            "workflow": program.name,
            "tasks": tasks,
            "gaps": gaps,
            "happy": bound.happy,
            "worst": { "autonomous": worst(&bound.autonomous), "interactive": worst(&bound.interactive) },
        }))?;
        return Ok(ExitCode::Done);
    }
    let row = |what: &str, worst: &Worst| {
        format!(
            "{what:<24} {:>8} dispatches, {} if each needs all its retries (at most {retries})",
            worst.dispatches, worst.with_retries
        )
    };
    print(
        &[
            format!("{}, {tasks} tasks", program.name),
            format!("{:<24} {:>8} dispatches", "on the happy path", bound.happy),
            row("worst case, autonomous", &bound.autonomous),
            row("worst case, interactive", &bound.interactive),
            "These numbers exclude dispatches that are repeated because the environment failed, or that a human \
             grants at a gate."
                .to_string(),
        ]
        .join("\n"),
    )?;
    Ok(ExitCode::Done)
}
