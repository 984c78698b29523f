//! An open gate for people and programs: the question, its context, what each option does, and how to answer.

use crate::finding_counts::{FindingCounts, count_findings};
use remand_engine::clock;
use remand_engine::question;
use remand_ledger::query::{GateRow, RunRow};
use remand_ledger::{LimitKind, Reader};
use remand_terminal::table::{Cell, ColumnFit, TextTable, indented};
use remand_terminal::{CommandFailure, Ink, Tone, amount, invocation, line};
use serde_json::{Value, json};

/// The maximum number of gates that a list shows in full.
const MAX_IN_FULL: usize = 20;

/// The maximum width of an option's label, in columns.
const MAX_LABEL_WIDTH: usize = 50;

/// Describes the first gates in full, and each of the others in one line.
pub fn list(reader: &Reader, open: &[GateRow], ink: Ink) -> Result<String, CommandFailure> {
    let mut text = String::new();
    for gate in open.iter().take(MAX_IN_FULL) {
        text.push_str(&format!("{}\n", text_of(reader, gate, open, ink)?));
    }
    let others = open.get(MAX_IN_FULL..).unwrap_or_default();
    if !others.is_empty() {
        text.push_str(&format!("and {} more; `remand gates RUN` shows one in full:\n", others.len()));
        for gate in others {
            text.push_str(&format!("  {}  {}\n", gate.run, phase_and_task(gate)));
        }
    }
    Ok(text.trim_end().to_string())
}

/// A gate with its context, as JSON.
pub fn json_of(reader: &Reader, gate: &GateRow, open: &[GateRow]) -> Result<Value, CommandFailure> {
    Ok(GateInContext::read(reader, gate, open)?.json())
}

/// A gate in full, and how to answer it.
pub fn text_of(
    reader: &Reader,
    gate: &GateRow,
    open: &[GateRow],
    ink: Ink,
) -> Result<String, CommandFailure> {
    Ok(GateInContext::read(reader, gate, open)?.text(ink))
}

/// The command that answers a gate with its default, or with its first option.
pub fn answer_command(gate: &GateRow, open: &[GateRow]) -> String {
    let first = gate.default.clone().or_else(|| gate.options.first().map(|option| option.name.clone()));
    command_to_answer(gate, open, &first.unwrap_or_else(|| "OPTION".to_string()))
}

/// The command that answers a gate. The id of the run is enough unless the run has several open gates.
fn command_to_answer(gate: &GateRow, open: &[GateRow], option: &str) -> String {
    let several = open.iter().filter(|other| other.run == gate.run).count() > 1;
    let option = line::one(option);
    if several {
        invocation::command(format!("answer {}/{} {option}", gate.run, gate.command))
    } else {
        invocation::command(format!("answer {} {option}", gate.run))
    }
}

/// The options except the suggested one, as the end of a sentence.
pub fn other_options(gate: &GateRow) -> String {
    let first = gate.default.as_deref().or_else(|| gate.options.first().map(|option| option.name.as_str()));
    let others: Vec<String> = gate
        .options
        .iter()
        .filter(|option| Some(option.name.as_str()) != first)
        .map(|option| line::one(&option.name))
        .collect();
    if others.is_empty() { String::new() } else { format!(", or with {}", others.join(", ")) }
}

/// The phase and task that ask.
pub fn phase_and_task(gate: &GateRow) -> String {
    match &gate.task {
        Some(task) => format!("{}[{}]", line::one(&gate.phase), line::one(task)),
        None => line::one(&gate.phase),
    }
}

/// A gate with its context.
struct GateInContext<'g> {
    gate: &'g GateRow,
    open: &'g [GateRow],
    run: RunRow,
    findings: FindingCounts,
    /// What led to the question, one line each.
    context: Vec<String>,
}

impl<'g> GateInContext<'g> {
    fn read(
        reader: &Reader,
        gate: &'g GateRow,
        open: &'g [GateRow],
    ) -> Result<GateInContext<'g>, CommandFailure> {
        let run = reader.run(&gate.run.0)?;
        let findings = reader.findings(&gate.run)?;
        let mut context: Vec<String> = usage_and_limit(&run, gate.limit_kind).into_iter().collect();
        context.extend(question::context(reader, gate)?);
        Ok(GateInContext { gate, open, run, findings: count_findings(&findings), context })
    }

    fn json(&self) -> Value {
        let answers: Vec<Value> = self
            .gate
            .options
            .iter()
            .map(|option| {
                json!({
                    "option": option.name,
                    "does": describe_option(&option.name, option.action.as_deref(), self.gate.limit_kind),
                    "default": self.gate.default.as_ref() == Some(&option.name),
                    "command": command_to_answer(self.gate, self.open, &option.name),
                })
            })
            .collect();
        json!({
            "gate": self.gate,
            "request": self.run.request,
            "confidence": self.run.confidence,
            "risk": self.run.risk,
            "context": self.context,
            "findings": self.findings,
            "answers": answers,
        })
    }

    fn text(&self, ink: Ink) -> String {
        let (gate, run) = (self.gate, &self.run);
        let asked = amount::age(clock::now().0, gate.opened_at.0);
        let name = ink.paint(Tone::Strong, &gate.run.0);
        let mut text = format!("{name}  {}, asked {asked} ago\n", line::cut(&phase_and_task(gate), 60));
        text.push_str(&indented(&gate.question, 2));
        text.push_str(&indented(
            &format!("{}: {}", run.subject, line::cut(&line::first(&run.request), 200)),
            2,
        ));
        text.push_str(&indented(
            &format!("confidence {}; findings: {}", run.confidence, self.findings.describe()),
            2,
        ));
        if run.risk != "green" {
            text.push_str(&indented(&format!("risk {}", run.risk), 2));
        }
        for line in &self.context {
            text.push_str(&indented(&format!("- {}", line::one(line)), 2));
        }
        for (index, approach) in gate.approaches.iter().enumerate() {
            text.push_str(&indented(
                &format!("approach {} failed: {}", index + 1, line::one(&approach.text)),
                2,
            ));
        }
        text.push_str(&self.options(ink));
        for withheld in &gate.withheld {
            let why = match &withheld.exhausted {
                Some(budget) => format!("budget {budget} is used up"),
                None => "its route cannot be followed now".to_string(),
            };
            text.push_str(&indented(&format!("not offered: {} ({why})", line::one(&withheld.name)), 2));
        }
        let first =
            gate.default.as_deref().or_else(|| gate.options.first().map(|option| option.name.as_str()));
        let command = command_to_answer(gate, self.open, first.unwrap_or("OPTION"));
        text.push_str(&format!("  answer with `{command}`; add a note with `--note TEXT`\n"));
        text
    }

    fn options(&self, ink: Ink) -> String {
        let mut table = TextTable::list(&[ColumnFit::Whole, ColumnFit::Whole, ColumnFit::Wrap], 2);
        for option in &self.gate.options {
            let is_default = self.gate.default.as_ref() == Some(&option.name);
            let effect = describe_option(&option.name, option.action.as_deref(), self.gate.limit_kind);
            table.row(vec![
                Cell::new(if is_default { "*" } else { "-" }),
                Cell::new(line::cut(&line::one(&option.name), MAX_LABEL_WIDTH)).toned(Tone::Strong),
                Cell::new(if is_default { format!("{effect} (default)") } else { effect }),
            ]);
        }
        table.render(ink)
    }
}

/// The usage and the limit that a gate asks about.
fn usage_and_limit(run: &RunRow, limit: Option<LimitKind>) -> Option<String> {
    let (used, limits) = (&run.used, &run.limits);
    let (used, limit) = match limit? {
        LimitKind::Dispatches => (amount::grouped(used.dispatches), amount::grouped(limits.dispatches?)),
        LimitKind::Tokens => (amount::grouped(used.tokens), amount::grouped(limits.tokens?)),
        LimitKind::Time => (amount::time(used.time), amount::time(limits.time?)),
        LimitKind::Money => (amount::money(used.money), amount::money(limits.money?)),
        LimitKind::UnknownTokens | LimitKind::UnknownCosts | LimitKind::AgentBudget => return None,
    };
    Some(format!("Used {used} so far. Limit {limit}; continuing grants another {limit}."))
}

/// What an option does, for someone who has never seen the workflow; at a limit, what it grants.
fn describe_option(option: &str, action: Option<&str>, limit: Option<LimitKind>) -> String {
    let Some(action) = action else {
        return match (option, limit) {
            ("go-on", Some(limit)) if limit.has_amount() => {
                format!(
                    "continues, and grants the {} limit once more; `--grant AMOUNT` grants another amount",
                    limit.name()
                )
            }
            ("go-on", Some(LimitKind::UnknownTokens | LimitKind::UnknownCosts)) => {
                "continues although some usage is unknown; no limit changes".to_string()
            }
            ("go-on", Some(_) | None) => "continues the run".to_string(),
            ("stop", _) => "ends the run".to_string(),
            (other, _) => other.to_string(),
        };
    };
    let (verb, rest) = action.split_once(' ').unwrap_or((action, ""));
    match (verb, rest) {
        ("next", _) => "continues with the next phase".to_string(),
        ("to", phase) => format!("continues with {phase}"),
        ("remand", "injector") => "sends the findings back to the phase that caused them".to_string(),
        ("remand", phase) => format!("sends the work back to {phase}"),
        ("restore", phase) => format!("restores the work to where {phase} left it"),
        ("return", _) => "returns to the phase that asked".to_string(),
        ("raise", signal) => format!("ends the task with {signal}"),
        ("done", _) => "ends the run: done".to_string(),
        ("fail", _) => "ends the run as failed".to_string(),
        ("stop", "") => "ends the run".to_string(),
        ("stop", why) => format!("ends the run: {why}"),
        ("hold", _) => "asks whether to continue".to_string(),
        ("ignore", _) => "changes nothing".to_string(),
        _ => action.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // EP-12
    #[test]
    fn every_action_of_an_option_has_a_description() {
        let describe = |option, action| describe_option(option, action, None);
        assert_eq!(describe("approve", Some("next")), "continues with the next phase");
        assert_eq!(describe("revise", Some("remand plan")), "sends the work back to plan");
        assert_eq!(
            describe("abort", Some("stop the user does not want it")),
            "ends the run: the user does not want it"
        );
        assert_eq!(describe("go-on", None), "continues the run");
    }

    // CORE-07
    #[test]
    fn continuing_past_a_limit_says_how_much_it_grants() {
        let describe = |limit| describe_option("go-on", None, Some(limit));
        assert_eq!(
            describe(LimitKind::Money),
            "continues, and grants the money limit once more; `--grant AMOUNT` grants another amount"
        );
        assert_eq!(
            describe(LimitKind::UnknownTokens),
            "continues although some usage is unknown; no limit changes"
        );
        assert_eq!(describe(LimitKind::AgentBudget), "continues the run");
    }
}
