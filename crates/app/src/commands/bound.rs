//! `remand bound`: how many dispatches a run takes at the very most, before anything runs.

use super::Context;
use crate::exit::{Exit, Failure, print, print_json};
use crate::load;
use remand_workflow::explore::{bound, bound::Worst};
use serde_json::json;

pub fn run(context: &Context<'_>, name: &str, tasks: u16, gaps: u16) -> Result<Exit, Failure> {
    let roles = load::roles(context)?;
    let program = load::accepted(context, name, &roles)?;
    let bound = bound(&program, &[("tasks", tasks), ("gaps", gaps)]).map_err(|_| {
        Failure::user(format!("{name} has too many states to be counted through"), "make its budgets smaller")
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
        return Ok(Exit::Done);
    }
    let row = |what: &str, worst: &Worst| {
        format!(
            "{what:<22} {:>8} dispatches, {} if each needs all its retries (at most {retries})",
            worst.dispatches, worst.with_retries
        )
    };
    print(
        &[
            format!("{}, {tasks} tasks", program.name),
            format!("{:<22} {:>8} dispatches", "when all goes well", bound.happy),
            row("at most, autonomous", &bound.autonomous),
            row("at most, interactive", &bound.interactive),
            "Dispatches repeated because the environment failed, and what a human lets go on after a hold, are not \
             bounded by a workflow."
                .to_string(),
        ]
        .join("\n"),
    )?;
    Ok(Exit::Done)
}
