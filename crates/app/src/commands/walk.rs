//! `remand walk`: walks through a workflow on paper.

use crate::context::CommandContext;
use crate::load;
use remand_kernel::Program;
use remand_kernel::state::FiledStatus;
use remand_terminal::output::{print, print_json};
use remand_terminal::{CommandFailure, ExitCode};
use remand_workflow::diagnostic::{Code, Diagnostic};
use remand_workflow::source::SourceText;
use remand_workflow::walk::{Walk, WalkRecord, Walker, read};
use remand_workflow::yaml;
use serde_json::json;
use std::path::Path;

pub fn run(context: &CommandContext<'_>, path: &Path) -> Result<ExitCode, CommandFailure> {
    let roles = load::roles(context)?;
    let name = path.display().to_string();
    let source = yaml::decode(&name, &load::read(path)?)
        .map_err(|undecodable| load::refuse(&undecodable.source, &[undecodable.problem]))?;
    let walk = read(&source).map_err(|problems| load::refuse(&source, &problems))?;
    let next_to_walk =
        path.parent().map(|folder| folder.join(&walk.workflow.value)).filter(|file| file.is_file());
    let workflow =
        next_to_walk.map_or_else(|| walk.workflow.value.clone(), |file| file.display().to_string());
    let program = load::program(context, &workflow, &roles)?;
    let (walker, problem) = walk_through(&program, &walk, &source)?;
    if context.json {
        print_json(&to_json(&program, &walker, problem.as_ref(), &source))?;
    } else {
        print(&to_text(&walker))?;
    }
    match problem {
        None => Ok(ExitCode::Done),
        Some(problem) if context.json => {
            let _ = problem;
            Ok(ExitCode::User)
        }
        Some(problem) => Err(load::refuse(&source, &[problem])),
    }
}

/// Walks until the first error, which it returns with the walk so far.
fn walk_through<'p>(
    program: &'p Program,
    walk: &Walk,
    source: &SourceText,
) -> Result<(Walker<'p>, Option<Diagnostic>), CommandFailure> {
    let mut walker = Walker::start(program, walk.start.clone(), walk.lists.clone()).map_err(|error| {
        CommandFailure::user(
            format!("{} cannot start: {error}", source.name),
            "correct the start of the walk",
        )
    })?;
    for entry in &walk.happens {
        if let Err(error) = entry.value.perform(&mut walker) {
            let remedy = "correct this entry, or the ones before it";
            let problem = Diagnostic::error(Code::UnknownSignal, entry.span, error.to_string(), remedy);
            return Ok((walker, Some(problem)));
        }
    }
    Ok((walker, None))
}

fn to_text(walker: &Walker<'_>) -> String {
    let mut text = String::new();
    for WalkRecord { happened, rulings, commands, given, .. } in &walker.records {
        text.push_str(&format!("{happened}\n"));
        for ruling in rulings {
            text.push_str(&format!("  ⇒ {}\n", ruling.line()));
            text.push_str(&format!("    {}: {}\n", ruling.rule.source(&walker.program.name), ruling.why));
            if !ruling.exhausted.is_empty() {
                text.push_str(&format!("    used up: {}\n", ruling.exhausted.join(", ")));
            }
        }
        for (command, given) in commands.iter().zip(given) {
            let given = given.as_ref().map(|given| format!(", given {given}")).unwrap_or_default();
            text.push_str(&format!("  ! {command}{given}\n"));
        }
    }
    let state = &walker.state;
    text.push_str(&format!(
        "\n{} · confidence {} · {} dispatches\n",
        walker.status(),
        state.confidence.name(),
        state.used.dispatches
    ));
    text.push_str(&open_findings(walker));
    let left: Vec<String> = walker
        .program
        .budgets
        .iter()
        .zip(&state.left)
        .map(|(budget, left)| format!("{} {left}", budget.name))
        .collect();
    text.push_str(&format!("left: {}\n", left.join(", ")));
    text
}

/// Lists the known issues and follow-ups.
fn open_findings(walker: &Walker<'_>) -> String {
    let state = &walker.state;
    let known: Vec<&str> = state
        .known
        .iter()
        .filter_map(|at| state.findings.get(*at as usize))
        .map(|filed| filed.finding.id.as_str())
        .collect();
    let later: Vec<&str> = state
        .findings
        .iter()
        .filter(|filed| filed.status == FiledStatus::FollowUp)
        .map(|filed| filed.finding.id.as_str())
        .collect();
    let line = |what: &str, ids: &[&str]| {
        if ids.is_empty() { String::new() } else { format!("{what}: {}\n", ids.join(", ")) }
    };
    line("known issues", &known) + &line("follow-ups", &later)
}

fn to_json(
    program: &Program,
    walker: &Walker<'_>,
    problem: Option<&Diagnostic>,
    source: &SourceText,
) -> serde_json::Value {
    let steps: Vec<serde_json::Value> = walker
        .records
        .iter()
        .map(|record| {
            json!({
                "happened": record.happened, "rulings": record.rulings, "commands": record.commands,
                "given": record.given,
            })
        })
        .collect();
    let left: serde_json::Map<String, serde_json::Value> = program
        .budgets
        .iter()
        .zip(&walker.state.left)
        .map(|(budget, left)| (budget.name.clone(), json!(left)))
        .collect();
    json!({
        "workflow": program.name,
        "steps": steps,
        "standing": walker.status(),
        "over": walker.state.end().is_some(),
        "confidence": walker.state.confidence.name(),
        "dispatches": walker.state.used.dispatches,
        "left": left,
        "problem": problem.map(|problem| problem.json(source)),
    })
}
