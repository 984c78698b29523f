//! `remand check`: proves a workflow, or prints diagnostics.

use crate::context::CommandContext;
use crate::load;
use remand_kernel::program::BudgetSize;
use remand_terminal::output::{print, print_json};
use remand_terminal::{CommandFailure, ExitCode};
use remand_workflow::CheckedWorkflow;
use remand_workflow::explore::BoundCalculator;
use serde_json::json;

pub fn run(context: &CommandContext<'_>, names: &[String]) -> Result<ExitCode, CommandFailure> {
    let roles = load::roles(context)?;
    let names = if names.is_empty() { &unnamed(context) } else { names };
    let mut all = Vec::new();
    for name in names {
        all.push((name, load::workflow(context, name, &roles)?));
    }
    let refused = all.iter().any(|(_, checked)| !checked.accepted());
    if context.json {
        let workflows: Vec<serde_json::Value> =
            all.iter().map(|(name, checked)| to_json(name, checked)).collect();
        print_json(&json!({ "accepted": !refused, "workflows": workflows }))?;
    } else {
        for (name, checked) in &all {
            load::print_diagnostics(checked);
            print(&line(name, checked))?;
        }
    }
    Ok(if refused { ExitCode::Refused } else { ExitCode::Done })
}

/// The workflows of the repository, or the shipped ones if it has none.
fn unnamed(context: &CommandContext<'_>) -> Vec<String> {
    let local = load::repository_workflows(context);
    let shipped = remand_workflow::shipped::WORKFLOWS.iter().map(|(name, _)| name.to_string());
    if local.is_empty() { shipped.collect() } else { local }
}

fn line(name: &str, checked: &CheckedWorkflow) -> String {
    if !checked.accepted() {
        let count = checked.diagnostics.len();
        return format!("{name}: refused, {count} {}", if count == 1 { "problem" } else { "problems" });
    }
    let guarantees = checked.compiled.as_ref().map_or(0, |compiled| compiled.file.guarantees.len());
    let costs = formula(checked).map_or_else(String::new, |(happy, worst)| {
        let limit = list_limit(checked).map_or_else(String::new, |limit| format!(" with {limit}"));
        format!("; {happy} dispatches on the happy path, at most {worst}{limit}, not counting retries")
    });
    format!(
        "{name}: ends on every path, has no missing route or unreachable phase, and keeps its {guarantees} guarantees{costs}"
    )
}

fn to_json(name: &str, checked: &CheckedWorkflow) -> serde_json::Value {
    let guarantees: Vec<&str> = checked
        .compiled
        .as_ref()
        .map(|compiled| compiled.file.guarantees.iter().map(|guarantee| guarantee.text.as_str()).collect())
        .unwrap_or_default();
    let (happy, worst) = formula(checked).unzip();
    json!({
        "workflow": checked.compiled.as_ref().map_or(name, |compiled| &compiled.program.name),
        "file": checked.source.name,
        "accepted": checked.accepted(),
        "diagnostics": checked.diagnostics.iter().map(|problem| problem.json(&checked.source)).collect::<Vec<_>>(),
        "guarantees": guarantees,
        "happy": happy,
        "worst": worst,
    })
}

/// The length of a list up to which the formula of the worst case holds.
fn list_limit(checked: &CheckedWorkflow) -> Option<String> {
    let program = &checked.compiled.as_ref()?.program;
    program.budgets.iter().find_map(|budget| match budget.size {
        BudgetSize::Share { floor, list, divisor, .. } => {
            Some(format!("up to {} {}", floor.saturating_mul(divisor), program.lists[list.index()]))
        }
        BudgetSize::Fixed(_) => None,
    })
}

/// The dispatches on the happy path and in the worst case, as functions of the number of tasks.
fn formula(checked: &CheckedWorkflow) -> Option<(String, String)> {
    let program = &checked.compiled.as_ref().filter(|_| checked.accepted())?.program;
    let mut bounds = BoundCalculator::new(program);
    let mut bound = |tasks: u16| bounds.calculate(&[("tasks", tasks)]).ok();
    let (four, five, six) = (bound(4)?, bound(5)?, bound(6)?);
    let linear = |a: u64, b: u64, c: u64| {
        let slope = b.checked_sub(a)?;
        // Only counts that are linear in the number of tasks have a formula.
        (c.checked_sub(b)? == slope).then(|| {
            let fixed = a.saturating_sub(4 * slope);
            if slope == 0 { fixed.to_string() } else { format!("{fixed} + {slope} per task") }
        })
    };
    Some((
        linear(four.happy, five.happy, six.happy)?,
        linear(four.max_dispatches(), five.max_dispatches(), six.max_dispatches())?,
    ))
}
