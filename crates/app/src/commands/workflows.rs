//! `remand workflows`: the shipped workflows, and those of the repository.

use crate::context::CommandContext;
use crate::load;
use remand_terminal::output::{print, print_json};
use remand_terminal::{CommandFailure, ExitCode};
use remand_workflow::shipped;
use serde_json::json;

pub fn run(context: &CommandContext<'_>, name: Option<&str>) -> Result<ExitCode, CommandFailure> {
    if let Some(name) = name {
        return print_one(context, name);
    }
    let roles = load::roles(context)?;
    let mut rows = Vec::new();
    let local = load::repository_workflows(context);
    let shipped = shipped::WORKFLOWS.iter().map(|(name, _)| *name);
    let shipped = shipped.filter(|name| !local.iter().any(|local| local == name));
    for name in shipped.chain(local.iter().map(String::as_str)) {
        let checked = load::workflow(context, name, &roles)?;
        let about = checked.compiled.map_or_else(String::new, |compiled| compiled.program.about);
        rows.push((name, about));
    }
    if context.json {
        let rows: Vec<_> = rows.iter().map(|(name, about)| json!({ "name": name, "about": about })).collect();
        print_json(&json!(rows))?;
    } else {
        let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let lines: Vec<String> =
            rows.iter().map(|(name, about)| format!("{name:<width$}  {about}")).collect();
        print(&lines.join("\n"))?;
    }
    Ok(ExitCode::Done)
}

fn print_one(context: &CommandContext<'_>, name: &str) -> Result<ExitCode, CommandFailure> {
    let own = load::workflow(context, name, &load::roles(context)?)?.source.text;
    // A shell that writes the output to the repository's own file has already emptied it.
    let shipped = shipped::workflow(name).filter(|_| own.is_empty()).map(str::to_string);
    let text = shipped.unwrap_or(own);
    if context.json {
        print_json(&json!({ "name": name, "text": text }))?;
    } else {
        print(&text)?;
    }
    Ok(ExitCode::Done)
}
