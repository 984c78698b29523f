//! `remand check`: proofs, or diagnostics.

use super::Context;
use crate::exit::{Exit, Failure, print, print_json};
use crate::load;
use remand_kernel::program::Size;
use remand_workflow::Checked;
use remand_workflow::explore::Bounds;
use serde_json::json;

pub fn run(context: &Context<'_>, names: &[String]) -> Result<Exit, Failure> {
    let roles = load::roles(context)?;
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
    Ok(if refused { Exit::Refused } else { Exit::Done })
}

fn line(name: &str, checked: &Checked) -> String {
    if !checked.accepted() {
        let count = checked.diagnostics.len();
        return format!("{name}: refused, {count} {}", if count == 1 { "problem" } else { "problems" });
    }
    let guarantees = checked.compiled.as_ref().map_or(0, |compiled| compiled.file.guarantees.len());
    let costs = formula(checked).map_or_else(String::new, |(happy, most)| {
        let within = growing(checked).map_or_else(String::new, |within| format!(" with {within}"));
        format!("; {happy} dispatches when all goes well, {most} at most{within}, retries not counted")
    });
    format!("{name}: it ends, is complete and alive, and keeps its {guarantees} guarantees{costs}")
}

fn to_json(name: &str, checked: &Checked) -> serde_json::Value {
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

/// Up to which length of a list the worst case does not grow with it.
fn growing(checked: &Checked) -> Option<String> {
    let program = &checked.compiled.as_ref()?.program;
    program.budgets.iter().find_map(|budget| match budget.size {
        Size::Share { floor, list, divisor, .. } => {
            Some(format!("up to {} {}", floor.saturating_mul(divisor), program.lists[list.index()]))
        }
        Size::Fixed(_) => None,
    })
}

/// Happy path and worst case as functions of the number of tasks.
fn formula(checked: &Checked) -> Option<(String, String)> {
    let program = &checked.compiled.as_ref().filter(|_| checked.accepted())?.program;
    let mut bounds = Bounds::new(program);
    let mut at = |tasks: u16| bounds.of(&[("tasks", tasks)]).ok();
    let (few, more, most) = (at(4)?, at(5)?, at(6)?);
    let line = |a: u64, b: u64, c: u64| {
        let slope = b.checked_sub(a)?;
        // Counts are straight lines in the number of tasks; anything else is shown for no number at all.
        (c.checked_sub(b)? == slope).then(|| {
            let fixed = a.saturating_sub(4 * slope);
            if slope == 0 { fixed.to_string() } else { format!("{fixed} + {slope} per task") }
        })
    };
    Some((line(few.happy, more.happy, most.happy)?, line(few.most(), more.most(), most.most())?))
}
