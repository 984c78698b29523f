//! Decodes a YAML tree into a workflow file: reads every key and parses every phrase.

use crate::diagnostic::{Code, Diagnostic};
use crate::fields::{MappingReader, head, text};
use crate::file::{ItemsDecl, KindDecl, PhaseDecl, TallyDecl, WorkflowFile};
use crate::phrase;
use crate::source::{Span, Spanned};
use crate::yaml::{YamlKey, YamlNode, YamlValue};

/// The default number of tasks that run in parallel.
const DEFAULT_AT_ONCE: u16 = 4;

/// Reads a workflow file from its tree. Unreadable parts are reported and left out.
pub fn decode(root: &YamlNode, problems: &mut Vec<Diagnostic>) -> Option<WorkflowFile> {
    if !matches!(root.value, YamlValue::Map(_)) {
        let message = format!("a workflow must be a mapping, but this is {}", root.value.shape());
        problems.push(Diagnostic::error(Code::Shape, head(root.span), message, "write `key: value` lines"));
        return None;
    }
    let mut fields = MappingReader::open(root, "a workflow", problems);
    let name = fields.required_text("name", "my-workflow");
    let about = fields.required_text("about", "One sentence on what it is for.");
    let subject = fields.required_text("subject", "request");
    let flags = fields
        .entries("flags")
        .map_or_else(Vec::new, |entries| entries.iter().map(|(key, _)| spanned_name(key)).collect());
    let injects = fields.texts("injects");
    let confirms_origin = fields.flag("confirm-origin");
    let budgets = fields.entries("budgets").unwrap_or(&[]);
    let budgets = decode_phrases(&mut fields, budgets, phrase::budget);
    let (retries, defaults) = match fields.take("defaults") {
        Some((_, node)) => decode_defaults(node, fields.problems()),
        None => (None, Vec::new()),
    };
    let phases = match fields.take("phases") {
        Some((_, node)) => decode_phases(node, Depth::Main, fields.problems()),
        None => {
            let start = head(fields.span());
            let remedy = "add `phases:` with one entry per phase";
            fields.report(Diagnostic::error(Code::MissingKey, start, "the workflow has no `phases`", remedy));
            Vec::new()
        }
    };
    let failure = fields.texts("failure");
    let guarantees = fields
        .texts("guarantees")
        .into_iter()
        .filter_map(|written| {
            let parsed = phrase::guarantee(&written.value, written.span);
            fields.accept(parsed)
        })
        .collect();
    fields.finish();
    for name in [&name, &subject].into_iter().flatten() {
        check_name(name, problems);
    }
    Some(WorkflowFile {
        name: name?,
        about: about?,
        subject: subject?,
        flags,
        injects,
        confirms_origin,
        budgets,
        retries,
        defaults,
        phases,
        failure,
        guarantees,
    })
}

/// Which flow a list of phases belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Main,
    SubFlow,
}

fn spanned_name(key: &YamlKey) -> Spanned<String> {
    Spanned::new(key.name.clone(), key.span)
}

/// Reads each entry of a mapping as a phrase.
fn decode_phrases<T>(
    fields: &mut MappingReader<'_, '_>,
    entries: &[(YamlKey, YamlNode)],
    read: impl Fn(Spanned<String>, &str, Span) -> Result<T, Diagnostic>,
) -> Vec<T> {
    let mut all = Vec::new();
    for (key, node) in entries {
        check_name(&spanned_name(key), fields.problems());
        if let Some(written) = text(node, &key.name, fields.problems()) {
            let parsed = read(spanned_name(key), &written.value, written.span);
            all.extend(fields.accept(parsed));
        }
    }
    all
}

fn decode_defaults(
    node: &YamlNode,
    problems: &mut Vec<Diagnostic>,
) -> (Option<Spanned<u16>>, Vec<crate::file::DefaultDecl>) {
    let mut fields = MappingReader::open(node, "`defaults`", problems);
    let retries = fields.number("retries");
    let YamlValue::Map(entries) = &node.value else {
        return (retries, Vec::new());
    };
    let routes: Vec<(YamlKey, YamlNode)> =
        entries.iter().filter(|(key, _)| key.name != "retries").cloned().collect();
    let defaults = decode_phrases(&mut fields, &routes, phrase::default);
    (retries, defaults)
}

fn decode_phases(node: &YamlNode, depth: Depth, problems: &mut Vec<Diagnostic>) -> Vec<PhaseDecl> {
    let YamlValue::Map(entries) = &node.value else {
        let message = format!("`phases` must be a mapping, but this is {}", node.value.shape());
        problems.push(Diagnostic::error(
            Code::Shape,
            node.span,
            message,
            "write `PHASE:` lines with keys below",
        ));
        return Vec::new();
    };
    entries
        .iter()
        .map(|(key, node)| {
            check_name(&spanned_name(key), problems);
            decode_phase(key, node, depth, problems)
        })
        .collect()
}

fn decode_phase(key: &YamlKey, node: &YamlNode, depth: Depth, problems: &mut Vec<Diagnostic>) -> PhaseDecl {
    let mut fields = MappingReader::open(node, format!("phase `{}`", key.name), problems);
    let kind = decode_kind(key, &mut fields, depth);
    let aside = fields.flag("aside");
    let checkpoint = fields.flag("checkpoint");
    let afresh = fields.flag("afresh");
    let when = fields.text("when").and_then(|written| {
        let parsed = phrase::condition(&written.value, written.span);
        fields.accept(parsed)
    });
    let reads = fields.texts("reads");
    let may_read = fields.texts("may-read");
    let writes = fields.texts("writes");
    let discards = fields.texts("discards");
    let sets = fields.texts("sets");
    let rounds = fields.number("rounds");
    let repeats = fields.number("repeats");
    let retries = fields.number("retries");
    let status = fields.text("status").map_or_else(String::new, |status| status.value);
    let on_span = fields.entry_span("on").unwrap_or(key.span);
    let routes = fields.entries("on").unwrap_or(&[]);
    let (on, unreadable) = decode_routes(&mut fields, routes);
    fields.finish();
    PhaseDecl {
        name: spanned_name(key),
        kind,
        aside,
        checkpoint,
        afresh,
        when,
        reads,
        may_read,
        writes,
        discards,
        sets,
        rounds,
        repeats,
        retries,
        status,
        on,
        unreadable,
        on_span,
    }
}

/// The routes of a phase, and the signals with unreadable routes.
fn decode_routes(
    fields: &mut MappingReader<'_, '_>,
    entries: &[(YamlKey, YamlNode)],
) -> (Vec<(Spanned<String>, crate::file::RouteDecl)>, Vec<String>) {
    let mut all = Vec::new();
    let mut unreadable = Vec::new();
    for (key, node) in entries {
        if key.name.starts_with("else ") || key.name.starts_with("then ") {
            let message = "inside `{…}` a comma ends the entry, so this is not part of the previous route";
            let remedy = "write each route on a separate line instead of in braces";
            fields.report(Diagnostic::error(Code::Yaml, key.span, message, remedy));
            continue;
        }
        let written = text(node, &key.name, fields.problems());
        let parsed = written.map(|written| phrase::route(&written.value, written.span));
        match parsed.and_then(|parsed| fields.accept(parsed)) {
            Some(route) => all.push((spanned_name(key), route)),
            None => unreadable.push(key.name.clone()),
        }
    }
    (all, unreadable)
}

/// The keys that determine the kind of a phase, except `phases`, which is used together with `each`.
const KINDS: [&str; 4] = ["role", "panel", "do", "ask"];

fn decode_kind(key: &YamlKey, fields: &mut MappingReader<'_, '_>, depth: Depth) -> KindDecl {
    let present: Vec<&str> = KINDS.into_iter().filter(|kind| fields.has(kind)).collect();
    let is_flow = fields.has("phases");
    if present.len() + usize::from(is_flow) != 1 {
        let found = if is_flow { [present.as_slice(), &["phases"]].concat() } else { present };
        let message = if found.is_empty() {
            format!("phase `{}` does not say what it does", key.name)
        } else {
            format!("phase `{}` has several kinds: {}", key.name, found.join(", "))
        };
        let remedy = "give it exactly one of `role`, `panel`, `do`, `ask`, or `each` with `phases`";
        fields.report(Diagnostic::error(Code::Conflict, key.span, message, remedy));
        for known in
            ["role", "panel", "do", "ask", "phases", "each", "as", "tally", "quorum", "diverse", "up-to"]
        {
            fields.take(known);
        }
        for known in ["at-once", "advisors", "mode", "default", "options"] {
            fields.take(known);
        }
        return KindDecl::Unknown;
    }
    if is_flow {
        return decode_flow(key, fields, depth);
    }
    match present.first().copied() {
        Some("role") => decode_role(fields),
        Some("panel") => {
            KindDecl::Panel { members: fields.texts("panel"), advisors: fields.texts("advisors") }
        }
        Some("do") => match fields.text("do") {
            Some(operation) => KindDecl::Do { operation },
            None => KindDecl::Unknown,
        },
        Some(_) | None => decode_ask(fields),
    }
}

fn decode_flow(key: &YamlKey, fields: &mut MappingReader<'_, '_>, depth: Depth) -> KindDecl {
    let list = fields.required_text("each", "tasks");
    let at_once = fields.number("at-once").map_or(DEFAULT_AT_ONCE, |number| number.value.max(1));
    let tally = decode_tally(fields);
    let phases = match fields.take("phases") {
        Some((_, node)) if depth == Depth::Main => decode_phases(node, Depth::SubFlow, fields.problems()),
        Some(_) => {
            let message = "a sub-flow cannot contain another sub-flow";
            let remedy = "move the inner phases to the outer sub-flow";
            fields.report(Diagnostic::error(Code::Conflict, key.span, message, remedy));
            Vec::new()
        }
        None => Vec::new(),
    };
    match list {
        Some(list) => KindDecl::Flow { list, at_once, phases, tally },
        None => KindDecl::Unknown,
    }
}

fn decode_role(fields: &mut MappingReader<'_, '_>) -> KindDecl {
    let Some(role) = fields.text("role") else {
        return KindDecl::Unknown;
    };
    let nearest = fields.text("as");
    let nearest_caller = match &nearest {
        Some(written) if written.value == "caller" => true,
        Some(written) => {
            let message = format!("`as: {}` is not valid", written.value);
            let remedy = "write `as: caller`, so that the agent of the phase that led here takes this role";
            fields.report(Diagnostic::error(Code::Phrase, written.span, message, remedy));
            false
        }
        None => false,
    };
    let Some((_, node)) = fields.take("each") else {
        return KindDecl::Role { role, nearest_caller };
    };
    let items = match &node.value {
        YamlValue::List(_) => ItemsDecl::Fixed(crate::fields::texts(node, "each", fields.problems())),
        YamlValue::Text(list) => {
            let up_to = fields.number("up-to").map_or(1, |number| number.value.max(1));
            ItemsDecl::Listed { list: Spanned::new(list.clone(), node.span), up_to }
        }
        YamlValue::Empty | YamlValue::Map(_) => {
            let message = format!("`each` must be a list, but this is {}", node.value.shape());
            let problem =
                Diagnostic::error(Code::Shape, node.span, message, "write `[a, b]` or the name of a list");
            fields.report(problem);
            ItemsDecl::Fixed(Vec::new())
        }
    };
    let tally = decode_tally(fields);
    let quorum = fields.number("quorum");
    let diverse = fields.flag("diverse");
    KindDecl::Each { role, items, tally, quorum, diverse }
}

fn decode_tally(fields: &mut MappingReader<'_, '_>) -> Vec<TallyDecl> {
    let rows = fields.entries("tally").unwrap_or(&[]);
    decode_phrases(fields, rows, phrase::tally)
}

fn decode_ask(fields: &mut MappingReader<'_, '_>) -> KindDecl {
    let question = fields.text("ask");
    let mode = fields.text("mode");
    let interactive = match &mode {
        Some(written) if written.value == "interactive" => true,
        Some(written) => {
            let message = format!("`mode: {}` is not valid", written.value);
            let remedy = "write `mode: interactive`, or leave `mode` out to ask in every mode";
            fields.report(Diagnostic::error(Code::Phrase, written.span, message, remedy));
            false
        }
        None => false,
    };
    let default = fields.text("default");
    let options = fields
        .texts("options")
        .into_iter()
        .filter_map(|written| {
            let parsed = phrase::option(&written.value, written.span);
            fields.accept(parsed)
        })
        .collect();
    match question {
        Some(question) => KindDecl::Ask { question, interactive, default, options },
        None => KindDecl::Unknown,
    }
}

fn check_name(name: &Spanned<String>, problems: &mut Vec<Diagnostic>) {
    let is_word = |word: &str| {
        !word.is_empty() && word.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit())
    };
    if name.value.split('-').all(is_word) || name.value.is_empty() {
        return;
    }
    let message = format!("`{}` is not a valid name", name.value);
    let remedy = "use lower-case letters, digits and single hyphens, such as `plan-review`";
    problems.push(Diagnostic::error(Code::Name, name.span, message, remedy));
}
