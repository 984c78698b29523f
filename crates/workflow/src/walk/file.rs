//! Reads a walk file: the workflow, the start of the run, and the steps in order.

use super::walk_step::{Says, WalkError, WalkStep};
use super::walker::Walker;
use crate::diagnostic::{Code, Diagnostic, tidy};
use crate::fields::{MappingReader, text};
use crate::source::{SourceText, Span, Spanned};
use crate::yaml::{self, YamlKey, YamlNode, YamlValue};
use remand_kernel::change::{Approach, Change, Digest, FileChange, Hunk, TestEnd, TestResult};
use remand_kernel::event::{Event, Item, Mode, Start};
use remand_kernel::finding::{Category, Finding, FindingKind, Location, Severity};
use remand_kernel::gaps::RetryMode;

/// A walk as written.
#[derive(Clone, Debug)]
pub struct Walk {
    /// The name of a shipped workflow, or a file.
    pub workflow: Spanned<String>,
    pub start: Start,
    pub lists: Vec<(String, Vec<Item>)>,
    pub happens: Vec<Spanned<WalkEntry>>,
}

/// One entry of a walk.
#[derive(Clone, Debug)]
pub enum WalkEntry {
    Happens(Box<WalkStep>),
    /// Everything succeeds until the run waits for this phase.
    Until(String),
    /// Everything succeeds until the run ends.
    Finish,
    Pause,
    Resume,
    Cancel,
    RollBack(u16),
    RemoveApproach(u16),
}

impl WalkEntry {
    /// Performs the entry.
    pub fn perform(&self, walker: &mut Walker<'_>) -> Result<(), WalkError> {
        let by = || "a human".to_string();
        let (event, happened) = match self {
            WalkEntry::Happens(step) => return walker.happen(step),
            WalkEntry::Until(phase) => return walker.until(phase),
            WalkEntry::Finish => return walker.finish(),
            WalkEntry::Pause => (Event::Paused { by: by() }, "a human pauses the run"),
            WalkEntry::Resume => (Event::Resumed { by: by() }, "a human resumes the run"),
            WalkEntry::Cancel => (Event::Cancelled { by: by() }, "a human cancels the run"),
            WalkEntry::RollBack(to) => {
                let event = Event::RolledBack {
                    to: *to,
                    by: by(),
                    reason: String::new(),
                    mode: RetryMode::default(),
                    context: String::new(),
                };
                (event, "a human rolls back a round")
            }
            WalkEntry::RemoveApproach(number) => {
                let event = Event::ApproachRemoved { at: number.saturating_sub(1), by: by() };
                (event, "a human removes an approach from the list")
            }
        };
        walker.feed(event, happened.to_string()).map(|_| ())
    }
}

/// Reads a walk file.
pub fn read(source: &SourceText) -> Result<Walk, Vec<Diagnostic>> {
    let mut problems = Vec::new();
    let walk = yaml::parse(source, &mut problems).and_then(|root| decode(&root, &mut problems));
    match walk {
        Some(walk) if problems.is_empty() => Ok(walk),
        Some(_) | None => Err(tidy(problems)),
    }
}

fn decode(root: &YamlNode, problems: &mut Vec<Diagnostic>) -> Option<Walk> {
    let mut fields = MappingReader::open(root, "a walk", problems);
    let workflow = fields.required_text("workflow", "feature");
    let mode = match fields.text("mode") {
        None => Mode::Autonomous,
        Some(written) => match written.value.as_str() {
            "autonomous" => Mode::Autonomous,
            "interactive" => Mode::Interactive,
            other => {
                let message = format!("`{other}` is not a mode");
                fields.report(Diagnostic::error(
                    Code::Phrase,
                    written.span,
                    message,
                    "write `autonomous` or `interactive`",
                ));
                Mode::Autonomous
            }
        },
    };
    let tasks = match fields.take("tasks") {
        Some((_, node)) => decode_items(node, fields.problems()),
        None => vec![Item { id: "t1".to_string(), ..Item::default() }],
    };
    let gaps = match fields.take("gaps") {
        Some((_, node)) => decode_items(node, fields.problems()),
        None => vec![Item { id: "GAP-FLOW-001".to_string(), ..Item::default() }],
    };
    let batches = match fields.take("batches") {
        Some((_, node)) => decode_items(node, fields.problems()),
        None => vec![Item { id: "batch-1".to_string(), ..Item::default() }],
    };
    let flags = decode_flags(&mut fields);
    let spent = fields
        .entries("spent")
        .unwrap_or(&[])
        .iter()
        .filter_map(|(key, node)| {
            number(node, &key.name, fields.problems()).map(|spent| (key.name.clone(), spent))
        })
        .collect();
    let approaches = fields
        .texts("approaches")
        .into_iter()
        .map(|text| Approach { text: text.value, decisions: Vec::new() })
        .collect();
    let happens = match fields.take("happens") {
        Some((_, node)) => decode_happens(node, fields.problems()),
        None => Vec::new(),
    };
    fields.finish();
    Some(Walk {
        workflow: workflow?,
        start: Start { mode, flags, spent, approaches, ..Start::default() },
        lists: vec![
            ("tasks".to_string(), tasks),
            ("gaps".to_string(), gaps),
            ("batches".to_string(), batches),
        ],
        happens,
    })
}

fn decode_flags(fields: &mut MappingReader<'_, '_>) -> Vec<(String, bool)> {
    let entries = fields.entries("flags").unwrap_or(&[]);
    entries
        .iter()
        .filter_map(|(key, node)| {
            let written = text(node, &key.name, fields.problems())?;
            Some((key.name.clone(), written.value == "true" || written.value == "yes"))
        })
        .collect()
}

fn number(node: &YamlNode, key: &str, problems: &mut Vec<Diagnostic>) -> Option<u16> {
    let written = text(node, key, problems)?;
    let parsed = written.value.parse().ok();
    if parsed.is_none() {
        let message = format!("`{key}` must be a number, not `{}`", written.value);
        problems.push(Diagnostic::error(Code::Shape, written.span, message, "write a whole number"));
    }
    parsed
}

/// Items of a list: a number, ids, or mappings with `id`, `needs`, `files` and `spec`.
fn decode_items(node: &YamlNode, problems: &mut Vec<Diagnostic>) -> Vec<Item> {
    match &node.value {
        YamlValue::Text(_) => {
            let count = number(node, "tasks", problems).unwrap_or(0);
            (1..=count).map(|number| Item { id: format!("t{number}"), ..Item::default() }).collect()
        }
        YamlValue::List(nodes) => nodes.iter().filter_map(|node| decode_item(node, problems)).collect(),
        YamlValue::Empty | YamlValue::Map(_) => {
            let message = "items must be a number or a list".to_string();
            problems.push(Diagnostic::error(Code::Shape, node.span, message, "write `3` or `[t1, t2]`"));
            Vec::new()
        }
    }
}

fn decode_item(node: &YamlNode, problems: &mut Vec<Diagnostic>) -> Option<Item> {
    if let YamlValue::Text(id) = &node.value {
        return Some(Item { id: id.clone(), ..Item::default() });
    }
    let mut fields = MappingReader::open(node, "an item", problems);
    let id = fields.required_text("id", "t1");
    let needs = fields.texts("needs").into_iter().map(|need| need.value).collect();
    let files = fields.texts("files").into_iter().map(|file| file.value).collect();
    let spec = fields.text("spec").map_or(Digest::default(), |spec| digest(&spec.value));
    fields.finish();
    Some(Item { id: id?.value, needs, spec, files })
}

/// A digest for a string in a walk.
fn digest(text: &str) -> Digest {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Digest(hash.max(1))
}

fn decode_happens(node: &YamlNode, problems: &mut Vec<Diagnostic>) -> Vec<Spanned<WalkEntry>> {
    let YamlValue::List(entries) = &node.value else {
        let message = format!("`happens` must be a list, but this is {}", node.value.shape());
        problems.push(Diagnostic::error(Code::Shape, node.span, message, "write `- PHASE: SIGNAL` lines"));
        return Vec::new();
    };
    entries
        .iter()
        .filter_map(|entry| {
            decode_entry(entry, problems)
                .map(|decoded| Spanned::new(decoded, crate::fields::head(entry.span)))
        })
        .collect()
}

fn decode_entry(node: &YamlNode, problems: &mut Vec<Diagnostic>) -> Option<WalkEntry> {
    if let YamlValue::Text(word) = &node.value {
        match word.as_str() {
            "pause" => return Some(WalkEntry::Pause),
            "resume" => return Some(WalkEntry::Resume),
            "cancel" => return Some(WalkEntry::Cancel),
            "finish" => return Some(WalkEntry::Finish),
            _ => {}
        }
    }
    let YamlValue::Map(entries) = &node.value else {
        let message = "an entry must say what happens at a phase";
        let remedy = "write `PHASE: SIGNAL`, `until: PHASE`, `finish`, `pause`, `resume` or `cancel`";
        problems.push(Diagnostic::error(Code::Shape, node.span, message, remedy));
        return None;
    };
    let (key, value) = entries.first()?;
    match key.name.as_str() {
        "until" => text(value, "until", problems).map(|phase| WalkEntry::Until(phase.value)),
        "roll-back" => number(value, "roll-back", problems).map(WalkEntry::RollBack),
        "remove-approach" => number(value, "remove-approach", problems).map(WalkEntry::RemoveApproach),
        _ => decode_step(node, key, value, problems).map(|step| WalkEntry::Happens(Box::new(step))),
    }
}

fn decode_step(
    node: &YamlNode,
    key: &YamlKey,
    value: &YamlNode,
    problems: &mut Vec<Diagnostic>,
) -> Option<WalkStep> {
    let (task, phase) = match key.name.split_once('/') {
        Some((task, phase)) => (Some(task.to_string()), phase.to_string()),
        None => (None, key.name.clone()),
    };
    let says = match &value.value {
        YamlValue::List(_) => Says::Members(
            crate::fields::texts(value, "verdicts", problems).into_iter().map(|text| text.value).collect(),
        ),
        YamlValue::Empty | YamlValue::Text(_) | YamlValue::Map(_) => {
            Says::Signal(text(value, &key.name, problems)?.value)
        }
    };
    // The first key is the phase; the rest are details.
    let rest = match &node.value {
        YamlValue::Map(entries) => YamlNode { span: node.span, value: YamlValue::Map(entries[1..].to_vec()) },
        YamlValue::Empty | YamlValue::Text(_) | YamlValue::List(_) => node.clone(),
    };
    let mut fields = MappingReader::open(&rest, "an entry", problems);
    let findings = match fields.take("findings") {
        Some((_, node)) => decode_findings(node, fields.problems()),
        None => Vec::new(),
    };
    let hypothesis = fields.text("hypothesis").map(|text| text.value);
    let files = match fields.take("changes") {
        Some((_, node)) => decode_changes(node, fields.problems()),
        None => Vec::new(),
    };
    let tree = fields.text("tree").map(|tree| digest(&tree.value));
    let change = (hypothesis.is_some() || !files.is_empty() || tree.is_some()).then(|| Change {
        tree: tree.unwrap_or_default(),
        files,
        hypothesis,
        restored: false,
    });
    let tests = decode_tests(&mut fields);
    let decisions = fields.texts("decisions").into_iter().map(|decision| decision.value).collect();
    let approach = fields.text("approach").map(|text| Approach { text: text.value, decisions });
    let lists = match fields.take("tasks") {
        Some((_, node)) => vec![("tasks".to_string(), decode_items(node, fields.problems()))],
        None => Vec::new(),
    };
    let flags = decode_flags(&mut fields);
    let step = WalkStep {
        phase,
        task,
        says,
        findings,
        change,
        tests,
        approach,
        lists,
        flags,
        models: fields.texts("models").into_iter().map(|model| model.value).collect(),
        unchanged: fields.flag("unchanged"),
        disputes: fields.flag("disputes"),
        by: fields.text("by").map_or_else(String::new, |by| by.value),
        note: fields.text("note").map_or_else(String::new, |note| note.value),
    };
    fields.finish();
    Some(step)
}

fn decode_findings(node: &YamlNode, problems: &mut Vec<Diagnostic>) -> Vec<Finding> {
    let YamlValue::List(nodes) = &node.value else {
        let message = "`findings` must be a list of mappings";
        problems.push(Diagnostic::error(Code::Shape, node.span, message, "write `- {id: F1, claim: …}`"));
        return Vec::new();
    };
    nodes.iter().filter_map(|node| decode_finding(node, problems)).collect()
}

fn decode_finding(node: &YamlNode, problems: &mut Vec<Diagnostic>) -> Option<Finding> {
    let mut fields = MappingReader::open(node, "a finding", problems);
    let id = fields.required_text("id", "F1");
    let claim = fields.required_text("claim", "what is wrong");
    let severity = one_of(
        &mut fields,
        "severity",
        &[
            ("minor", Severity::Minor),
            ("major", Severity::Major),
            ("critical", Severity::Critical),
            ("blocker", Severity::Blocker),
        ],
    );
    let category = one_of(
        &mut fields,
        "category",
        &[
            ("security", Category::Security),
            ("correctness", Category::Correctness),
            ("performance", Category::Performance),
            ("maintainability", Category::Maintainability),
            ("design", Category::Design),
        ],
    );
    let kind = one_of(
        &mut fields,
        "kind",
        &[
            ("plan", FindingKind::Plan),
            ("test", FindingKind::Test),
            ("production", FindingKind::Production),
            ("cosmetic", FindingKind::Cosmetic),
        ],
    );
    let place = Location {
        file: fields.text("place").map_or_else(String::new, |place| place.value),
        symbol: fields.text("symbol").map_or_else(String::new, |symbol| symbol.value),
        line: 0,
    };
    let injected_by = fields.texts("injected-by").into_iter().map(|phase| phase.value).collect();
    let task = fields.text("task").map(|task| task.value);
    let patch = fields.text("patch").map(|patch| patch.value);
    let repeats = fields.text("repeats").map(|repeats| repeats.value);
    fields.finish();
    Some(Finding {
        id: id?.value,
        severity: severity.unwrap_or(Severity::Major),
        category: category.unwrap_or(Category::Correctness),
        kind,
        injected_by,
        task,
        place,
        claim: claim?.value,
        evidence: String::new(),
        impact: String::new(),
        recommendation: String::new(),
        patch,
        repeats,
    })
}

fn one_of<T: Copy>(fields: &mut MappingReader<'_, '_>, key: &'static str, known: &[(&str, T)]) -> Option<T> {
    let written = fields.text(key)?;
    let found = known.iter().find(|(name, _)| *name == written.value).map(|(_, value)| *value);
    if found.is_none() {
        let message = format!("`{}` is not a {key}", written.value);
        let remedy = crate::diagnostic::suggest(
            &written.value,
            known.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
        );
        fields.report(Diagnostic::error(Code::Phrase, written.span, message, remedy));
    }
    found
}

/// Changes by file: `path: {removed: […], added: […]}`.
fn decode_changes(node: &YamlNode, problems: &mut Vec<Diagnostic>) -> Vec<FileChange> {
    let YamlValue::Map(entries) = &node.value else {
        let message = "`changes` must be a mapping of files";
        let remedy = "write `changes: {src/a.rs: {removed: [old line], added: [new line]}}`";
        problems.push(Diagnostic::error(Code::Shape, node.span, message, remedy));
        return Vec::new();
    };
    entries
        .iter()
        .map(|(path, node)| {
            let mut fields = MappingReader::open(node, format!("the change of `{}`", path.name), problems);
            let lines = |texts: Vec<Spanned<String>>| texts.into_iter().map(|line| line.value).collect();
            let hunk = Hunk { removed: lines(fields.texts("removed")), added: lines(fields.texts("added")) };
            let generated = fields.flag("generated");
            fields.finish();
            FileChange { path: path.name.clone(), hunks: vec![hunk], generated }
        })
        .collect()
}

fn decode_tests(fields: &mut MappingReader<'_, '_>) -> Vec<TestResult> {
    let entries = fields.entries("tests").unwrap_or(&[]);
    entries
        .iter()
        .filter_map(|(key, node)| {
            let written = text(node, &key.name, fields.problems())?;
            let end = match written.value.as_str() {
                "passed" => TestEnd::Passed,
                "failed" => TestEnd::Failed,
                "flaky" => TestEnd::Flaky,
                "skipped" => TestEnd::Skipped,
                other => {
                    let message = format!("`{other}` is not a test result");
                    let span: Span = written.span;
                    let problem = Diagnostic::error(
                        Code::Phrase,
                        span,
                        message,
                        "write passed, failed, flaky or skipped",
                    );
                    fields.report(problem);
                    return None;
                }
            };
            Some(TestResult { name: key.name.clone(), end })
        })
        .collect()
}
