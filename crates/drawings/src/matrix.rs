//! The routing matrix: every phase, who does it, every signal and its route, and the budgets.

use crate::columns::{WIDTH, table, wrap};
use crate::edges::{EdgeTarget, edges, written_order};
use crate::phrase::{
    condition_phrase, remarks, route_phrase, scope_phrase, signal_names, size_phrase, then_phrase, who,
};
use remand_kernel::ids::{PhaseId, SignalId};
use remand_kernel::program::{Phase, Program, QuestionOption, Work};
use serde_json::{Value, json};

/// The matrix as a table for the terminal.
pub fn text(program: &Program) -> String {
    let mut rows = vec![cells(["phase", "who", "signal", "route"])];
    for (id, phase) in phases(program) {
        rows.extend(phase_rows(program, id, phase));
    }
    let mut budgets = vec![cells(["budget", "size", "scope", "then"])];
    budgets.extend(budget_rows(program));
    let title = wrap(&format!("{}: {}", program.name, program.about), WIDTH).join("\n");
    let mut text = format!("{title}\n\n{}", table(&rows, &MAX_WIDTHS));
    if budgets.len() > 1 {
        text.push_str(&format!("\n{}", table(&budgets, &[24, 16, 30, 34])));
    }
    if has_detectors(program) {
        text.push_str("\n* found by a detector\n");
    }
    text
}

/// The maximum widths of the columns of the matrix.
const MAX_WIDTHS: [usize; 4] = [20, 24, 24, 36];

/// The rows of one phase; its description continues next to the routes.
fn phase_rows(program: &Program, id: PhaseId, phase: &Phase) -> Vec<Vec<String>> {
    let indent = if phase.owner.is_some() { "  " } else { "" };
    let aside = if phase.aside { " (aside)" } else { "" };
    let names = wrap(&format!("{}{aside}", phase.name), MAX_WIDTHS[0] - indent.len());
    let about: Vec<String> = [vec![who(program, phase)], remarks(program, phase)].concat();
    let about: Vec<String> = about.iter().flat_map(|line| wrap(line, MAX_WIDTHS[1])).collect();
    let mut routes: Vec<(String, String)> = Vec::new();
    for (signals, route) in merged_routes(program, id) {
        let (signals, route) = (wrap(&signals, MAX_WIDTHS[2]), wrap(&route, MAX_WIDTHS[3]));
        for line in 0..signals.len().max(route.len()) {
            routes.push((
                signals.get(line).cloned().unwrap_or_default(),
                route.get(line).cloned().unwrap_or_default(),
            ));
        }
    }
    (0..names.len().max(about.len()).max(routes.len()))
        .map(|line| {
            let name = names.get(line).map(|name| format!("{indent}{name}")).unwrap_or_default();
            let (signals, route) = routes.get(line).cloned().unwrap_or_default();
            vec![name, about.get(line).cloned().unwrap_or_default(), signals, route]
        })
        .collect()
}

/// The matrix as Markdown tables.
pub fn markdown(program: &Program) -> String {
    let mut text = format!("## {}\n\n{}\n\n", program.name, program.about);
    text.push_str("| phase | who | signal | route |\n| --- | --- | --- | --- |\n");
    for (id, phase) in phases(program) {
        let indent = if phase.owner.is_some() { "↳ " } else { "" };
        let aside = if phase.aside { " *(aside)*" } else { "" };
        let mut about: Vec<String> = vec![who(program, phase)];
        about.extend(remarks(program, phase));
        let mut name = format!("{indent}**{}**{aside}", escape(&phase.name));
        let mut who = escape(&about.join("; "));
        for (signals, route) in merged_routes(program, id) {
            text.push_str(&format!(
                "| {name} | {who} | {} | `{}` |\n",
                escape(&signals),
                route.replace('|', "\\|")
            ));
            (name, who) = (String::new(), String::new());
        }
    }
    if !program.budgets.is_empty() {
        text.push_str("\n| budget | size | scope | then |\n| --- | --- | --- | --- |\n");
        for row in budget_rows(program) {
            let row: Vec<String> = row.iter().map(|cell| escape(cell)).collect();
            text.push_str(&format!("| {} |\n", row.join(" | ")));
        }
    }
    if has_detectors(program) {
        text.push_str("\n\\* found by a detector\n");
    }
    text
}

/// The matrix and the edges as JSON.
pub fn json(program: &Program) -> Value {
    let phases: Vec<Value> = phases(program).map(|(id, phase)| phase_json(program, id, phase)).collect();
    let budgets: Vec<Value> = program
        .budgets
        .iter()
        .map(|budget| {
            json!({
                "name": budget.name,
                "size": size_phrase(program, budget.size),
                "scope": scope_phrase(program, budget.scope),
                "then": then_phrase(program, budget),
            })
        })
        .collect();
    json!({
        "name": program.name,
        "about": program.about,
        "subject": program.subject,
        "phases": phases,
        "budgets": budgets,
        "edges": edges_json(program),
    })
}

fn phase_json(program: &Program, id: PhaseId, phase: &Phase) -> Value {
    let routes: Vec<Value> = written_order(phase)
        .into_iter()
        .map(|(signal, route)| {
            json!({"signal": program.signal(*signal), "route": route_phrase(program, id, route), "line": route.line})
        })
        .collect();
    json!({
        "name": phase.name,
        "owner": phase.owner.map(|owner| program.phase(owner).name.clone()),
        "aside": phase.aside,
        "when": phase.when.as_ref().map(|when| condition_phrase(program, when)),
        "who": who(program, phase),
        "rounds": crate::phrase::rounds(program, phase),
        "line": phase.line,
        "routes": routes,
    })
}

fn edges_json(program: &Program) -> Vec<Value> {
    edges(program)
        .iter()
        .map(|edge| {
            let to = match &edge.to {
                EdgeTarget::Phase(id) => json!({"phase": program.phase(*id).name}),
                EdgeTarget::Injector => json!("injector"),
                EdgeTarget::Caller => json!("caller"),
                EdgeTarget::End(end) => json!({"end": end.name()}),
            };
            let signals: Vec<&str> = edge.signals.iter().map(|signal| program.signal(*signal)).collect();
            json!({
                "from": program.phase(edge.from).name,
                "to": to,
                "kind": edge.kind.name(),
                "signals": signals,
                "spends": edge.spends.iter().map(|id| program.budget(*id).name.as_str()).collect::<Vec<_>>(),
                "exhausted": edge.empty.iter().map(|id| program.budget(*id).name.as_str()).collect::<Vec<_>>(),
                "effect": edge.effect.map(|effect| effect.name()),
            })
        })
        .collect()
}

fn phases(program: &Program) -> impl Iterator<Item = (PhaseId, &Phase)> {
    program.phase_ids().map(|id| (id, program.phase(id)))
}

/// The routes of a phase; signals with the same route share a row.
fn merged_routes(program: &Program, id: PhaseId) -> Vec<(String, String)> {
    let phase = program.phase(id);
    let mut rows: Vec<(Vec<SignalId>, String)> = Vec::new();
    for (signal, route) in written_order(phase) {
        let phrase = route_phrase(program, id, route);
        match rows.iter_mut().find(|(_, known)| *known == phrase) {
            Some((signals, _)) => signals.push(*signal),
            None => rows.push((vec![*signal], phrase)),
        }
    }
    if rows.is_empty() {
        return vec![(String::new(), String::new())];
    }
    rows.into_iter().map(|(signals, phrase)| (signals_phrase(program, phase, &signals), phrase)).collect()
}

/// The names of signals. A single option of a question is followed by the condition for offering it.
fn signals_phrase(program: &Program, phase: &Phase, signals: &[SignalId]) -> String {
    let options: &[QuestionOption] = match &phase.work {
        Work::Ask { options, .. } => options,
        Work::Role { .. }
        | Work::Each { .. }
        | Work::Panel { .. }
        | Work::Flow { .. }
        | Work::Operation { .. } => &[],
    };
    let condition = |signal: &SignalId| {
        let option = options.iter().find(|option| option.signal == *signal)?;
        option.offered.as_ref().map(|offered| condition_phrase(program, offered))
    };
    match signals {
        [one] => match condition(one) {
            Some(condition) => format!("{} if {condition}", signal_names(program, phase, signals)),
            None => signal_names(program, phase, signals),
        },
        several => signal_names(program, phase, several),
    }
}

fn budget_rows(program: &Program) -> Vec<Vec<String>> {
    program
        .budgets
        .iter()
        .map(|budget| {
            let then = then_phrase(program, budget).unwrap_or_default();
            vec![
                budget.name.clone(),
                size_phrase(program, budget.size),
                scope_phrase(program, budget.scope),
                then,
            ]
        })
        .collect()
}

fn has_detectors(program: &Program) -> bool {
    program.phases.iter().any(|phase| {
        phase.routes.iter().any(|(signal, _)| remand_kernel::program::is_detector(phase, *signal))
    })
}

fn cells<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

fn escape(text: &str) -> String {
    text.replace('|', "\\|").replace('*', "\\*")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn signals_with_the_same_route_share_a_row() {
        let text = text(&sample::program());
        let row = text.lines().find(|line| line.contains("needs-work")).unwrap();
        assert!(row.contains("needs-work, block") && row.ends_with("remand plan spending round"), "{row}");
    }

    #[test]
    fn phases_of_a_sub_flow_are_indented() {
        let text = text(&sample::program());
        assert!(text.lines().any(|line| line.starts_with("  verify ")));
        assert!(text.lines().any(|line| line.starts_with("tasks ")));
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        assert!(text(&sample::program()).lines().all(|line| line.chars().count() <= WIDTH));
    }

    #[test]
    fn a_bar_in_a_name_does_not_break_the_markdown_table() {
        let mut program = sample::program();
        program.phases[0].name = "a|b".into();
        assert!(markdown(&program).contains("**a\\|b**"));
    }

    #[test]
    fn every_budget_has_a_row_with_scope_and_then() {
        let json = json(&sample::program());
        assert_eq!(json["budgets"][0]["then"], "to decide");
        assert_eq!(json["budgets"][1]["scope"], "per entry of review");
    }
}
