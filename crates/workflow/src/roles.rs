//! Roles: the contracts and prompts of role files, shipped ones and those of the user.
//!
//! `roles/adopt.rs` uses the role file of another tool as a prompt; `roles/write.rs` writes role files.

mod adopt;
mod write;

use crate::diagnostic::{Code, Diagnostic, suggest, tidy};
use crate::fields::{MappingReader, head};
use crate::front::front_matter;
use crate::needs::{self, Need};
use crate::permissions::{self, Writable};
use crate::prompt::{self, Prompt};
use crate::source::{SourceText, Span, Spanned};
use crate::yaml;
use adopt::Adopted;
use std::collections::{BTreeMap, BTreeSet};

/// The result schemas by name, with their contents. The contract crate has the types.
pub const RESULTS: &[(&str, &str)] = &[
    ("completion-contract", "Only the header: verdict, summary, findings, and where the output is."),
    ("research-output", "What was found in the repository from one point of view, with locations."),
    (
        "spec-output",
        "Requirements and acceptance criteria with ids, assumptions, and concerns about the request.",
    ),
    ("design-output", "The approach, components, decision records with alternatives, testing, risks."),
    (
        "plan-output",
        "Tasks with files and risks, sizes, dependencies, criteria and pointers; the overall risk.",
    ),
    (
        "split-output",
        "A plan as one task or as several independent ones, with the numbers that decide whether to split.",
    ),
    (
        "implementation-report",
        "The hypothesis, what was changed and why, answers to findings, what remains open.",
    ),
    ("verification-report", "A judgement of each acceptance criterion, with a location or an evidence row."),
    (
        "review-findings",
        "An adversarial review from one point of view: findings with location and evidence, and what was checked.",
    ),
    (
        "knowledge-output",
        "Decisions, lessons with the files they concern, and proposals for instruction files.",
    ),
    ("verdict", "Any other review: a summary, findings, judged criteria, and what was checked."),
    ("diagnosis", "A cause, the evidence for it, and notes for the next agent."),
    ("findings-report", "Why a design does not work: attempts, category, root cause, proposed change."),
    ("document", "A Markdown document, with the approach if it states one, and revision notes."),
    (
        "gap-inventory",
        "The gaps of a specification with category, severity and sections, and what was checked.",
    ),
    ("gap-proposals", "A proposal for each gap with the text for a section, answers to issues, new gaps."),
    ("gap-review", "A judgement of each proposal, issues with severity, checks performed, new gaps."),
];

/// The default result of a role.
const DEFAULT_RESULT: &str = "completion-contract";
/// The result that has a field for the criteria that a role judges.
const JUDGING_RESULT: &str = "verdict";
/// The default time limit of a dispatch, in minutes.
const DEFAULT_TIME: u16 = 30;
/// The maximum time limit of a dispatch, in minutes: one day.
const MAX_TIME: u16 = 24 * 60;

/// The contract of a role in one mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleSpec {
    /// `check`, or `check/code` for a mode.
    pub title: String,
    pub about: String,
    /// The success verdict first, then from mild to severe.
    pub says: Vec<String>,
    /// The verdict that counts as the success verdict when all its findings are minor.
    pub mild: Option<String>,
    pub findings: bool,
    pub by_kind: bool,
    pub changes: Vec<String>,
    pub states_approach: bool,
    pub guarded: bool,
    /// Whether its result is a delta of the design it reads.
    pub delta: bool,
    pub lists: Vec<String>,
    /// The ids of the criteria that every result must judge.
    pub judges: Vec<String>,
    /// What it must be given on every way in.
    pub needs: Vec<Need>,
    /// The schema of its result, one of [`RESULTS`].
    pub result: String,
    /// Minutes that one dispatch may take.
    pub time: u16,
    /// Where it may write; the report is always included.
    pub may_write: BTreeSet<Writable>,
    pub shell: bool,
    /// Whether it sees the work tree; otherwise it sees only documents.
    pub tree: bool,
    pub network: bool,
    /// Whether it continues its session when its work is sent back.
    pub remembers: bool,
    /// Its model, as its agent names it; the configuration takes precedence.
    pub model: Option<String>,
}

impl RoleSpec {
    /// Whether it may write only its report.
    pub fn is_read_only(&self) -> bool {
        self.may_write.iter().all(|writable| *writable == Writable::Report)
    }
}

/// Roles by title.
#[derive(Clone, Debug, Default)]
pub struct Roles {
    by_title: BTreeMap<String, RoleSpec>,
    by_name: BTreeMap<String, RoleFile>,
    /// The prompts from files of other tools, by title.
    adopted: BTreeMap<String, Adopted>,
}

#[derive(Clone, Debug)]
struct RoleFile {
    text: String,
    prompt: Prompt,
}

impl Roles {
    /// The roles that Remand ships.
    pub fn shipped() -> Roles {
        let mut roles = Roles::default();
        for (name, text) in crate::shipped::ROLES {
            // A test checks that the shipped files have no problems.
            let _ = roles.add(name, &SourceText::new(format!("roles/{name}.md"), *text));
        }
        roles
    }

    pub fn get(&self, title: &str) -> Option<&RoleSpec> {
        self.by_title.get(title)
    }

    pub fn titles(&self) -> impl Iterator<Item = &str> + Clone {
        self.by_title.keys().map(String::as_str)
    }

    pub fn all(&self) -> impl Iterator<Item = &RoleSpec> {
        self.by_title.values()
    }

    /// The prompt for an agent in this role: the common part of the file, and the section of its mode.
    pub fn prompt(&self, title: &str) -> Option<String> {
        self.get(title)?;
        if let Some(adopted) = self.adopted.get(title) {
            return Some(adopted.prompt.clone());
        }
        match title.split_once('/') {
            Some((name, mode)) => Some(self.by_name.get(name)?.prompt.for_mode(mode)),
            None => Some(self.by_name.get(title)?.prompt.plain()),
        }
    }

    /// The full text of the file that a role comes from; a run pins it.
    pub fn text(&self, title: &str) -> Option<&str> {
        self.get(title)?;
        let adopted = self.adopted.get(title).map(|adopted| adopted.text.as_str());
        adopted.or_else(|| Some(&self.by_name.get(title.split('/').next()?)?.text))
    }

    /// A section of the role's prompt, without its heading.
    pub fn section(&self, title: &str, heading: &str) -> Option<String> {
        prompt::section(&self.prompt(title)?, heading)
    }

    /// The name and full text of every role file in our format, sorted by name.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.by_name.iter().map(|(name, file)| (name.as_str(), file.text.as_str()))
    }

    /// Adds a role file. It replaces a role with the same name, including all its modes.
    pub fn add(&mut self, name: &str, source: &SourceText) -> Result<(), Vec<Diagnostic>> {
        let mut problems = Vec::new();
        let parsed = read_file(name, source, &mut problems);
        let Some((specs, prompt)) = parsed.filter(|_| problems.is_empty()) else {
            return Err(tidy(problems));
        };
        let has_other_name = |title: &String| title.split('/').next() != Some(name);
        self.by_title.retain(|title, _| has_other_name(title));
        self.adopted.retain(|title, _| has_other_name(title));
        for spec in specs {
            self.by_title.insert(spec.title.clone(), spec);
        }
        self.by_name.insert(name.to_string(), RoleFile { text: source.text.clone(), prompt });
        Ok(())
    }
}

fn read_file(
    name: &str,
    source: &SourceText,
    problems: &mut Vec<Diagnostic>,
) -> Option<(Vec<RoleSpec>, Prompt)> {
    let Some((front, body)) = front_matter(source) else {
        let remedy = "start the file with `---`, the contract, and `---`";
        problems.push(Diagnostic::error(
            Code::MissingKey,
            Span::default(),
            "the role file has no front matter",
            remedy,
        ));
        return None;
    };
    let root = yaml::parse(&front, problems)?;
    let mut fields = MappingReader::open(&root, format!("role `{name}`"), problems);
    let modes = fields.entries("modes").unwrap_or(&[]);
    let plain = read_contract(name.to_string(), fields, None);
    let mut specs: Vec<RoleSpec> = plain.iter().cloned().collect();
    for (key, node) in modes {
        let fields = MappingReader::open(node, format!("mode `{}`", key.name), problems);
        specs.extend(read_contract(format!("{name}/{}", key.name), fields, plain.as_ref()));
    }
    let prompt = Prompt::read(&source.text[body..], body);
    let known: Vec<&str> = modes.iter().map(|(key, _)| key.name.as_str()).collect();
    check_sections(&prompt, &known, problems);
    Some((specs, prompt))
}

/// Reads one contract. A mode inherits result, time, permissions and model from the plain role unless it sets them.
fn read_contract(
    title: String,
    mut fields: MappingReader<'_, '_>,
    plain: Option<&RoleSpec>,
) -> Option<RoleSpec> {
    let about = fields.required_text("about", "One sentence on what the role does.");
    let says = fields.texts("says");
    if says.is_empty() {
        let message = format!("`{title}` has no verdicts");
        let problem = Diagnostic::error(
            Code::MissingKey,
            head(fields.span()),
            message,
            "list its verdicts, the success verdict first: `says: [approve, needs-revision]`",
        );
        fields.report(problem);
    }
    let mild = fields.text("mild");
    if let Some(mild) = &mild
        && !says.iter().any(|verdict| verdict.value == mild.value)
    {
        let message = format!("`{}` is not a verdict of the role", mild.value);
        fields.report(Diagnostic::error(Code::UnknownSignal, mild.span, message, "name one of its verdicts"));
    }
    let changes = fields.texts("changes");
    let span = fields.entry_span("may-write").unwrap_or(head(fields.span()));
    let may_write = if fields.has("may-write") {
        let written = fields.texts("may-write");
        permissions::read(&written, fields.problems())
    } else {
        let _ = fields.texts("may-write");
        plain.map_or_else(|| BTreeSet::from([Writable::Report]), |plain| plain.may_write.clone())
    };
    permissions::check_changes(&title, &changes, &may_write, span, fields.problems());
    let names = |texts: Vec<Spanned<String>>| texts.into_iter().map(|text| text.value).collect();
    let result = read_result(&mut fields, plain);
    let judges = read_judges(&mut fields, &result);
    let spec = RoleSpec {
        title,
        about: about?.value,
        says: names(says),
        mild: mild.map(|mild| mild.value),
        findings: fields.flag("findings"),
        by_kind: fields.flag("by-kind"),
        changes: names(changes),
        states_approach: fields.flag("states-approach"),
        guarded: fields.flag("guarded"),
        delta: fields.flag("delta"),
        lists: names(fields.texts("lists")),
        judges: names(judges),
        needs: read_needs(&mut fields),
        result,
        time: read_time(&mut fields, plain),
        may_write,
        shell: flag_or(&mut fields, "shell", plain.is_none_or(|plain| plain.shell)),
        tree: flag_or(&mut fields, "tree", plain.is_none_or(|plain| plain.tree)),
        network: flag_or(&mut fields, "network", plain.is_some_and(|plain| plain.network)),
        remembers: flag_or(&mut fields, "remembers", plain.is_some_and(|plain| plain.remembers)),
        model: fields.text("model").map(|model| model.value).or_else(|| plain?.model.clone()),
    };
    fields.finish();
    Some(spec)
}

fn read_result(fields: &mut MappingReader<'_, '_>, plain: Option<&RoleSpec>) -> String {
    let Some(written) = fields.text("result") else {
        return plain.map_or_else(|| DEFAULT_RESULT.to_string(), |plain| plain.result.clone());
    };
    if !RESULTS.iter().any(|(name, _)| *name == written.value) {
        let message = format!("there is no result `{}`", written.value);
        let remedy = suggest(&written.value, RESULTS.iter().map(|(name, _)| *name));
        fields.report(Diagnostic::error(Code::RoleValue, written.span, message, remedy));
    }
    written.value
}

/// What the role needs. A mode does not inherit the needs of the plain role: it is given other things.
fn read_needs(fields: &mut MappingReader<'_, '_>) -> Vec<Need> {
    let mut all = Vec::new();
    for written in fields.texts("needs") {
        match Need::parse(&written.value) {
            Some(need) => all.push(need),
            None => {
                let message = format!("`{}` is not a need", written.value);
                let remedy = format!("write {}", needs::FORM);
                fields.report(Diagnostic::error(Code::RoleValue, written.span, message, remedy));
            }
        }
    }
    all
}

/// The criteria that every result judges. Only the `verdict` result has a field for them.
fn read_judges(fields: &mut MappingReader<'_, '_>, result: &str) -> Vec<Spanned<String>> {
    let judges = fields.texts("judges");
    if let Some(first) = judges.first().filter(|_| result != JUDGING_RESULT) {
        let message = format!("a `{result}` result has no field for a judgement of `{}`", first.value);
        let remedy = format!("write `result: {JUDGING_RESULT}`, or remove `judges`");
        fields.report(Diagnostic::error(Code::RoleValue, first.span, message, remedy));
    }
    judges
}

fn read_time(fields: &mut MappingReader<'_, '_>, plain: Option<&RoleSpec>) -> u16 {
    let default = plain.map_or(DEFAULT_TIME, |plain| plain.time);
    let Some(minutes) = fields.number("time") else {
        return default;
    };
    if !(1..=MAX_TIME).contains(&minutes.value) {
        let message = format!("`time: {}` is not a valid time limit", minutes.value);
        let remedy = format!("write a number of minutes from 1 to {MAX_TIME}");
        fields.report(Diagnostic::error(Code::RoleValue, minutes.span, message, remedy));
    }
    minutes.value
}

fn flag_or(fields: &mut MappingReader<'_, '_>, key: &'static str, default: bool) -> bool {
    let is_set = fields.has(key);
    let flag = fields.flag(key);
    if is_set { flag } else { default }
}

/// Checks that every mode section belongs to a mode of the contract, and that no mode has two.
fn check_sections(prompt: &Prompt, known: &[&str], problems: &mut Vec<Diagnostic>) {
    let mut seen = BTreeSet::new();
    for mode in prompt.modes() {
        if !known.contains(&mode.value.as_str()) {
            let message = format!("there is no mode `{}` in the front matter", mode.value);
            let remedy = suggest(&mode.value, known.iter().copied());
            problems.push(Diagnostic::error(Code::RoleSection, mode.span, message, remedy));
        } else if !seen.insert(&mode.value) {
            let message = format!("mode `{}` has a second section", mode.value);
            problems.push(Diagnostic::error(Code::RoleSection, mode.span, message, "merge the two sections"));
        }
    }
}
