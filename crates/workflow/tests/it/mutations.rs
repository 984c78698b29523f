//! Every route, budget and payment of the shipped workflows is needed: a file without it is refused by the right
//! rule and at the right line.

use remand_workflow::diagnostic::{Code, Diagnostic};
use remand_workflow::file::{KindDecl, PhaseDecl, RouteDecl, WorkflowFile};
use remand_workflow::roles::Roles;
use remand_workflow::source::{SourceText, Span};
use remand_workflow::{check, shipped};

/// A file with one element removed.
struct Mutant {
    what: String,
    text: String,
    /// The file must break one of these rules.
    rules: &'static [Code],
    /// The diagnostic must be at one of these lines; empty if it can be at any use of the element.
    lines: Vec<usize>,
}

fn mutants(source: &SourceText, file: &WorkflowFile) -> Vec<Mutant> {
    let mut all = Vec::new();
    for phase in phases(&file.phases) {
        for (signal, route) in &phase.on {
            let lines = vec![source.position(phase.on_span.start).0, source.position(signal.span.start).0];
            all.push(Mutant {
                what: format!("route {}: {}", phase.name.value, signal.value),
                text: without_entry(source, signal.span, route.span),
                rules: &[Code::NoRoute, Code::Exception],
                lines: [lines, lines_of_aliases(source, phase, &signal.value)].concat(),
            });
            all.extend(without_payment(source, &format!("{}: {}", phase.name.value, signal.value), route));
        }
        if let Some(rounds) = &phase.rounds {
            all.push(Mutant {
                what: format!("rounds of {}", phase.name.value),
                text: without_line(source, rounds.span),
                rules: &[Code::UnknownBudget],
                lines: Vec::new(),
            });
        }
    }
    for default in &file.defaults {
        all.push(Mutant {
            what: format!("default {}", default.signal.value),
            text: without_line(source, default.signal.span),
            rules: &[Code::NoRoute],
            lines: Vec::new(),
        });
    }
    for budget in &file.budgets {
        all.push(Mutant {
            what: format!("budget {}", budget.name.value),
            text: without_line(source, budget.name.span),
            rules: &[Code::UnknownBudget],
            lines: Vec::new(),
        });
        if let Some(then) = &budget.then {
            all.extend(without_payment(source, &format!("then of {}", budget.name.value), then));
        }
    }
    all
}

fn phases(decls: &[PhaseDecl]) -> Vec<&PhaseDecl> {
    let mut all = Vec::new();
    for decl in decls {
        all.push(decl);
        if let KindDecl::Flow { phases: inner, .. } = &decl.kind {
            all.extend(phases(inner));
        }
    }
    all
}

/// The lines of routes that say `as SIGNAL`, which break when the route of that signal is removed.
fn lines_of_aliases(source: &SourceText, phase: &PhaseDecl, signal: &str) -> Vec<usize> {
    let alias = format!("as {signal}");
    phase
        .on
        .iter()
        .filter(|(_, route)| source.slice(route.span) == alias)
        .map(|(_, route)| source.position(route.span.start).0)
        .collect()
}

/// Mutants of a route without its payment, and without the payment of its `else`.
fn without_payment(source: &SourceText, what: &str, route: &RouteDecl) -> Vec<Mutant> {
    let mut all = Vec::new();
    if let (Some(first), Some(last)) = (route.spends.first(), route.spends.last()) {
        let before = source.text[..first.span.start].rfind(" spending ").expect("spending");
        let text = format!("{}{}", &source.text[..before], &source.text[last.span.end..]);
        all.push(Mutant {
            what: format!("spending of {what}"),
            text,
            rules: &[Code::Unpaid],
            lines: vec![source.position(route.span.start).0],
        });
    }
    if let Some(otherwise) = &route.otherwise {
        all.extend(without_payment(source, what, otherwise));
    }
    all
}

fn without_line(source: &SourceText, span: Span) -> String {
    let start = source.text[..span.start].rfind('\n').map_or(0, |at| at + 1);
    let end = source.text[span.start..].find('\n').map_or(source.text.len(), |at| span.start + at + 1);
    format!("{}{}", &source.text[..start], &source.text[end..])
}

/// Removes `key: value`: its line, or its part of the line if it is in braces.
fn without_entry(source: &SourceText, key: Span, value: Span) -> String {
    let start = source.text[..key.start].rfind('\n').map_or(0, |at| at + 1);
    if !source.text[start..key.start].contains('{') {
        return without_line(source, key);
    }
    let (before, after) = (&source.text[..key.start], &source.text[value.end..]);
    match after.strip_prefix(", ") {
        Some(rest) => format!("{before}{rest}"),
        None => format!("{}{after}", before.strip_suffix(", ").unwrap_or(before)),
    }
}

fn assert_all_found(name: &str) {
    let text = shipped::workflow(name).expect("shipped");
    let roles = Roles::shipped();
    let source = SourceText::new(format!("{name}.yaml"), text);
    let compiled = check(source.clone(), &roles).compiled.expect("compiled");
    let mutants = mutants(&source, &compiled.file);
    for mutant in &mutants {
        assert_ne!(mutant.text, source.text, "{} is no mutant", mutant.what);
        let checked = check(SourceText::new(source.name.clone(), mutant.text.clone()), &roles);
        assert!(!checked.accepted(), "{name}: {} is not missed", mutant.what);
        let right = |problem: &Diagnostic| {
            let line = checked.source.position(problem.span.start).0;
            // Everything after a removed line moves up by one.
            let near = mutant.lines.iter().any(|expected| line == *expected || line + 1 == *expected);
            mutant.rules.contains(&problem.code) && (mutant.lines.is_empty() || near)
        };
        let found: Vec<String> = checked
            .diagnostics
            .iter()
            .map(|problem| {
                format!(
                    "{} line {}: {}",
                    problem.code.id(),
                    checked.source.position(problem.span.start).0,
                    problem.message
                )
            })
            .collect();
        assert!(
            checked.diagnostics.iter().any(right),
            "{name}: {} at {:?} is found by another rule: {found:#?}",
            mutant.what,
            mutant.lines
        );
    }
    println!("{name}: {} mutants, all found", mutants.len());
}

// CORE-02
#[test]
fn nothing_can_be_removed_from_feature() {
    assert_all_found("feature");
}

#[test]
fn nothing_can_be_removed_from_quick() {
    assert_all_found("quick");
}

#[test]
fn nothing_can_be_removed_from_issue() {
    assert_all_found("issue");
}

#[test]
fn nothing_can_be_removed_from_ticket() {
    assert_all_found("ticket");
}

#[test]
fn nothing_can_be_removed_from_spec() {
    assert_all_found("spec");
}

#[test]
fn nothing_can_be_removed_from_tsp() {
    assert_all_found("tsp");
}
