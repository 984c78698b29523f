//! An open gate for people and programs: the question, its context, what each option does, and how to answer.

use crate::finding_counts::{FindingCounts, count_findings, is_open};
use remand_engine::clock;
use remand_engine::question::ApprovalRequest;
use remand_ledger::query::{FindingRow, GateKind, GateRow, RunRow};
use remand_ledger::view::TaskOverview;
use remand_ledger::{LimitKind, Reader, RunView};
use remand_terminal::table::{Cell, ColumnFit, TextTable, indented};
use remand_terminal::{CommandFailure, Ink, Tone, amount, invocation, line};
use serde_json::{Value, json};

/// The maximum number of gates that a list shows in full.
const MAX_IN_FULL: usize = 20;

/// The maximum width of an option's label, in columns.
const MAX_LABEL_WIDTH: usize = 50;

/// The maximum number of open findings that a gate lists.
const MAX_FINDINGS: usize = 10;

/// The maximum length of a finding's claim in a gate, in columns.
const MAX_CLAIM: usize = 200;

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
    /// The open findings, the most severe first.
    open_findings: Vec<FindingRow>,
    /// The tasks of the run and the state of each.
    tasks: Vec<TaskOverview>,
    /// Dispatches that did not report their tokens.
    unreported_tokens: u64,
    request: ApprovalRequest,
}

impl<'g> GateInContext<'g> {
    fn read(
        reader: &Reader,
        gate: &'g GateRow,
        open: &'g [GateRow],
    ) -> Result<GateInContext<'g>, CommandFailure> {
        let RunView { row: run, findings, tasks, unreported_tokens, .. } = reader.run_view(&gate.run)?;
        let mut request = ApprovalRequest::read(reader, gate)?;
        request.context.splice(..0, usage_and_limit(&run, gate.limit_kind));
        let counts = count_findings(&findings);
        let mut open_findings: Vec<FindingRow> =
            findings.into_iter().filter(|finding| finding.known || is_open(finding.status)).collect();
        open_findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        Ok(GateInContext {
            gate,
            open,
            run,
            findings: counts,
            open_findings,
            tasks,
            unreported_tokens,
            request,
        })
    }

    fn json(&self) -> Value {
        let answers: Vec<Value> = self
            .gate
            .options
            .iter()
            .zip(&self.request.implications)
            .map(|(option, implication)| {
                json!({
                    "option": option.name,
                    "does": implication,
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
            "elapsed": self.request.elapsed,
            "worked": self.run.used.time,
            "used": self.run.used,
            "currency": amount::CURRENCY,
            "context": self.request.context,
            "plan": self.request.plan,
            "tasks": self.tasks,
            "findings": self.findings,
            "open-findings": self.open_findings,
            "documents": self.documents(),
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
        text.push_str(&indented(&self.so_far(), 2));
        let state = format!(
            "confidence {}, risk {}; findings: {}",
            run.confidence,
            run.risk,
            self.findings.describe()
        );
        text.push_str(&indented(&state, 2));
        // A gate about origins lists its findings with the phases that injected them.
        if gate.kind != GateKind::Origin {
            for finding in self.open_findings.iter().take(MAX_FINDINGS) {
                text.push_str(&indented(&format!("- {}", describe_finding(finding)), 2));
            }
        }
        if self.open_findings.len() > MAX_FINDINGS {
            let all = invocation::command(format!("findings {}", gate.run));
            let left = self.open_findings.len() - MAX_FINDINGS;
            text.push_str(&indented(&format!("and {left} more: `{all}`"), 2));
        }
        if self.request.plan.is_none() && !self.tasks.is_empty() {
            text.push_str(&indented(&format!("tasks: {}", self.task_states()), 2));
        }
        for line in &self.request.context {
            text.push_str(&indented(&format!("- {}", line::one(line)), 2));
        }
        for (index, approach) in gate.approaches.iter().enumerate() {
            text.push_str(&indented(
                &format!("approach {} failed: {}", index + 1, line::one(&approach.text)),
                2,
            ));
        }
        for command in self.documents() {
            text.push_str(&indented(&format!("read it in full with `{command}`"), 2));
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
        text.push_str(&indented(&format!("answer with `{command}`; add a note with `--note TEXT`"), 2));
        if gate.kind == GateKind::Origin {
            let change = invocation::command(format!("defects reattribute {} FINDING --to PHASE", gate.run));
            text.push_str(&indented(&format!("change an origin first with `{change}`"), 2));
        }
        text
    }

    /// The time and cost of the run up to the question.
    fn so_far(&self) -> String {
        let used = &self.run.used;
        format!(
            "so far: {} since the start, {} of work, {}, {}, {}",
            amount::time(self.request.elapsed),
            amount::time(used.time),
            amount::cost(used.money, used.unpriced),
            amount::counted(used.dispatches, "dispatch"),
            amount::tokens(used.tokens, self.unreported_tokens)
        )
    }

    /// The state of each task.
    fn task_states(&self) -> String {
        let states: Vec<String> = self
            .tasks
            .iter()
            .map(|task| format!("{} {}", line::one(&task.summary.task), task.state))
            .collect();
        states.join(", ")
    }

    /// The commands that print the artifacts that the gate asks about.
    fn documents(&self) -> Vec<String> {
        let show = |name: &String| invocation::command(format!("show {name} --run {}", self.gate.run));
        self.request.documents.iter().map(show).collect()
    }

    fn options(&self, ink: Ink) -> String {
        let mut table = TextTable::list(&[ColumnFit::Whole, ColumnFit::Whole, ColumnFit::Wrap], 2);
        for (option, implication) in self.gate.options.iter().zip(&self.request.implications) {
            let is_default = self.gate.default.as_ref() == Some(&option.name);
            table.row(vec![
                Cell::new(if is_default { "*" } else { "-" }),
                Cell::new(line::cut(&line::one(&option.name), MAX_LABEL_WIDTH)).toned(Tone::Strong),
                Cell::new(if is_default { format!("{implication} (default)") } else { implication.clone() }),
            ]);
        }
        table.render(ink)
    }
}

fn describe_finding(finding: &FindingRow) -> String {
    let file = match finding.place.file.as_str() {
        "" => String::new(),
        file => format!(" in {}", line::one(file)),
    };
    let claim = line::cut(&line::one(&finding.claim), MAX_CLAIM);
    format!("{} {}{file}, by {}: {claim}", finding.severity.name(), finding.id, finding.phase)
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
