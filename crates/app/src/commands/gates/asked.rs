//! One open gate: the question, what it is about, the options with what each does, and how to answer.

use super::{answer_with, place};
use crate::commands::findings::{Tally, tally};
use crate::exit::Failure;
use crate::table::{Cell, Fit, Ink, Table, Tone, amount, indented, line};
use crate::workplace::of_ledger;
use remand_kernel::event::Limits;
use remand_ledger::Reader;
use remand_ledger::query::{GateRow, RunRow};
use remand_runtime::clock;
use remand_runtime::question;
use serde_json::{Value, json};

/// The label of an option is at most this wide.
const LABEL: usize = 50;

/// A gate with its context.
pub struct Asked<'g> {
    gate: &'g GateRow,
    open: &'g [GateRow],
    run: RunRow,
    findings: Tally,
    /// What led to it, a line each.
    context: Vec<String>,
}

impl<'g> Asked<'g> {
    pub fn read(reader: &Reader, gate: &'g GateRow, open: &'g [GateRow]) -> Result<Asked<'g>, Failure> {
        let run = reader.run(&gate.run.0).map_err(|error| of_ledger(&error))?;
        let findings = reader.findings(&gate.run).map_err(|error| of_ledger(&error))?;
        let mut context: Vec<String> = figures(&run, gate.limit()).into_iter().collect();
        context.extend(question::context(reader, gate).map_err(|error| of_ledger(&error))?);
        Ok(Asked { gate, open, run, findings: tally(&findings), context })
    }

    pub fn json(&self) -> Value {
        let answers: Vec<Value> = self
            .gate
            .options
            .iter()
            .map(|option| {
                json!({
                    "option": option.name,
                    "does": does(&option.name, option.action.as_deref(), self.gate.limit()),
                    "default": self.gate.default.as_ref() == Some(&option.name),
                    "command": answer_with(self.gate, self.open, &option.name),
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

    pub fn text(&self, ink: Ink) -> String {
        let (gate, run) = (self.gate, &self.run);
        let asked = amount::age(clock::now().0, gate.opened_at.0);
        let name = ink.paint(Tone::Strong, &gate.run.0);
        let mut text = format!("{name}  {}, asked {asked} ago\n", line::cut(&place(gate), 60));
        text.push_str(&indented(&gate.question, 2));
        text.push_str(&indented(
            &format!("{}: {}", run.subject, line::cut(&line::first(&run.request), 200)),
            2,
        ));
        text.push_str(&indented(
            &format!("confidence {}; findings: {}", run.confidence, self.findings.words()),
            2,
        ));
        if run.risk != "green" {
            text.push_str(&indented(&format!("risk {}", run.risk), 2));
        }
        for line in &self.context {
            text.push_str(&indented(&format!("- {}", line::one(line)), 2));
        }
        for (at, approach) in gate.approaches.iter().enumerate() {
            text.push_str(&indented(
                &format!("approach {} failed: {}", at + 1, line::one(&approach.text)),
                2,
            ));
        }
        text.push_str(&self.options(ink));
        for withheld in &gate.withheld {
            let why = match &withheld.exhausted {
                Some(budget) => format!("the budget {budget} is used up"),
                None => "it cannot be followed now".to_string(),
            };
            text.push_str(&indented(&format!("not offered: {}, since {why}", line::one(&withheld.name)), 2));
        }
        let first =
            gate.default.as_deref().or_else(|| gate.options.first().map(|option| option.name.as_str()));
        let command = answer_with(gate, self.open, first.unwrap_or("OPTION"));
        text.push_str(&format!("  answer with `{command}`; `--note TEXT` goes along with it\n"));
        text
    }

    fn options(&self, ink: Ink) -> String {
        let mut table = Table::list(&[Fit::Whole, Fit::Whole, Fit::Wrap], 2);
        for option in &self.gate.options {
            let is_default = self.gate.default.as_ref() == Some(&option.name);
            let does = does(&option.name, option.action.as_deref(), self.gate.limit());
            table.row(vec![
                Cell::new(if is_default { "*" } else { "-" }),
                Cell::new(line::cut(&line::one(&option.name), LABEL)).toned(Tone::Strong),
                Cell::new(if is_default { format!("{does} (default)") } else { does }),
            ]);
        }
        table.render(ink)
    }
}

/// What was used of a limit that is asked about.
fn figures(run: &RunRow, limit: Option<&str>) -> Option<String> {
    let (used, limits) = (&run.used, &run.limits);
    let (used, limit) = match limit? {
        Limits::DISPATCHES => (amount::grouped(used.dispatches), amount::grouped(limits.dispatches?)),
        Limits::TOKENS => (amount::grouped(used.tokens), amount::grouped(limits.tokens?)),
        Limits::TIME => (amount::time(used.time), amount::time(limits.time?)),
        Limits::MONEY => (amount::money(used.money), amount::money(limits.money?)),
        _ => return None,
    };
    Some(format!("used so far: {used}; the limit is {limit}, each time it is let go on"))
}

/// What an option does, for somebody who has never seen the workflow; of a hold at a limit, what it grants.
fn does(option: &str, action: Option<&str>, limit: Option<&str>) -> String {
    let Some(action) = action else {
        return match (option, limit) {
            ("go-on", Some(limit @ (Limits::DISPATCHES | Limits::TOKENS | Limits::TIME | Limits::MONEY))) => {
                format!(
                    "goes on with as much again of the limit on {limit}, and of no other; `--grant AMOUNT` sets another"
                )
            }
            ("go-on", Some(Limits::UNTOLD | Limits::UNPRICED)) => {
                "goes on with what is unknown so far, and lifts no limit".to_string()
            }
            ("go-on", Some(_) | None) => "goes on with the run".to_string(),
            ("stop", _) => "ends the run".to_string(),
            (other, _) => other.to_string(),
        };
    };
    let (verb, rest) = action.split_once(' ').unwrap_or((action, ""));
    match (verb, rest) {
        ("next", _) => "goes on to the next phase".to_string(),
        ("to", phase) => format!("goes on with {phase}"),
        ("remand", "injector") => "sends the findings back to the phase that caused them".to_string(),
        ("remand", phase) => format!("sends the work back to {phase}"),
        ("restore", phase) => format!("takes the work back to how {phase} left it"),
        ("return", _) => "goes back to the phase that asked".to_string(),
        ("raise", signal) => format!("ends the task with {signal}"),
        ("done", _) => "ends the run: done".to_string(),
        ("fail", _) => "ends the run as failed".to_string(),
        ("stop", "") => "ends the run".to_string(),
        ("stop", why) => format!("ends the run: {why}"),
        ("hold", _) => "asks whether to go on".to_string(),
        ("ignore", _) => "changes nothing".to_string(),
        _ => action.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // EP-12
    #[test]
    fn every_action_of_an_option_is_described_in_words() {
        let does = |option, action| does(option, action, None);
        assert_eq!(does("approve", Some("next")), "goes on to the next phase");
        assert_eq!(does("revise", Some("remand plan")), "sends the work back to plan");
        assert_eq!(
            does("abort", Some("stop the user does not want it")),
            "ends the run: the user does not want it"
        );
        assert_eq!(does("go-on", None), "goes on with the run");
    }

    // CORE-07
    #[test]
    fn what_goes_on_past_a_limit_says_how_far() {
        let does = |limit| does("go-on", None, Some(limit));
        assert_eq!(
            does(Limits::MONEY),
            "goes on with as much again of the limit on money, and of no other; `--grant AMOUNT` sets another"
        );
        assert_eq!(does(Limits::UNTOLD), "goes on with what is unknown so far, and lifts no limit");
        assert_eq!(does("an agent's own budget"), "goes on with the run");
    }
}
