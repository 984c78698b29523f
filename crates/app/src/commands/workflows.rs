//! `remand workflows`: what is shipped.

use super::Context;
use crate::exit::{Exit, Failure, print, print_json};
use crate::load;
use serde_json::json;

pub fn run(context: &Context<'_>) -> Result<Exit, Failure> {
    let roles = load::roles(context.roles)?;
    let mut rows = Vec::new();
    for (name, _) in remand_workflow::shipped::WORKFLOWS {
        let checked = load::workflow(name, &roles)?;
        let about = checked.compiled.map_or_else(String::new, |compiled| compiled.program.about);
        rows.push((*name, about));
    }
    if context.json {
        let rows: Vec<_> = rows.iter().map(|(name, about)| json!({ "name": name, "about": about })).collect();
        print_json(&json!(rows))?;
    } else {
        let lines: Vec<String> = rows.iter().map(|(name, about)| format!("{name:<8} {about}")).collect();
        print(&lines.join("\n"))?;
    }
    Ok(Exit::Done)
}
