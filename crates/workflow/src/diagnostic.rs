//! Diagnostics: the problems in a source file, their positions and their remedies.

use crate::source::{SourceText, Span};
use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use serde::Serialize;

macro_rules! codes {
    ($($name:ident = $id:literal, $title:literal;)*) => {
        /// The kinds of problems. The meaning of an id never changes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $(#[doc = $title] $name,)* }

        impl Code {
            pub const ALL: &'static [Code] = &[$(Code::$name),*];

            pub fn id(self) -> &'static str {
                match self { $(Code::$name => $id,)* }
            }

            /// The rule that is broken, as a sentence.
            pub fn title(self) -> &'static str {
                match self { $(Code::$name => $title,)* }
            }
        }
    };
}

codes! {
    Encoding = "S001", "A workflow file is UTF-8 text.";
    TooLarge = "S002", "A workflow file is at most 512 KiB.";
    Yaml = "S003", "A workflow file is YAML 1.2.";
    DuplicateKey = "S004", "A key occurs once in its mapping.";
    Reference = "S005", "Anchors, aliases and tags are not used.";
    Documents = "S006", "A file contains one document.";
    Shape = "S007", "Each key takes a value of the right shape.";
    UnknownKey = "S008", "Only known keys occur.";
    MissingKey = "S009", "Required keys are present.";
    Phrase = "S010", "Routes, budgets, conditions, tallies and guarantees are short phrases of a fixed form.";
    Name = "S011", "Names are lower-case words joined by hyphens.";
    Conflict = "S012", "A phase has exactly one kind, and only keys of that kind.";
    UnknownPhase = "N101", "A route names a phase that exists.";
    UnknownBudget = "N102", "A route spends a budget that exists.";
    UnknownRole = "N103", "A phase names a role that has a contract.";
    UnknownOperation = "N104", "A phase names an operation that the engine has.";
    UnknownSignal = "N105", "A route belongs to a signal that the phase can produce.";
    UnknownFact = "N106", "A condition tests a fact that exists.";
    UnknownList = "N107", "A phase processes a list that an earlier phase produces.";
    DuplicatePhase = "N108", "Phase names are unique in the workflow.";
    NoRoute = "C201", "Every signal that a phase can produce has a route.";
    Exception = "C202", "The exceptions of a default route are exactly the phases with their own route for the signal.";
    Quiet = "C203", "A phase that continues without a result, or after its rounds are spent, names the effect on the confidence.";
    Tally = "C204", "A tally ends with `otherwise` and counts verdicts of its role.";
    Question = "C205", "A question always has an option that can be chosen.";
    Default = "C206", "A question with `mode: interactive` has a default, and its route can always be followed. A question without `mode` has no default.";
    Unpaid = "T301", "Every remand spends a budget.";
    Backward = "T302", "`to` leads forward, `remand` leads back.";
    Endless = "T303", "Every cycle spends a budget that the cycle does not refill.";
    Chain = "T304", "Replacements for exhausted routes do not form a cycle.";
    NoThen = "T305", "A budget that can run out says what happens next.";
    Unspent = "T306", "Every budget is spent by some route.";
    SubFlow = "T307", "A sub-flow spends only its own rounds, and ends normally, by `raise` or by `fail`.";
    Unreachable = "A401", "Every phase can be reached.";
    Unwritten = "A402", "On every path, everything that a phase reads has been written before.";
    OpenEnd = "A403", "The last phase of the workflow ends it.";
    HiddenChange = "A404", "A phase declares what its role or operation may change and what it needs.";
    Unused = "A405", "Everything that is declared is used.";
    Unsupplied = "A406", "On every way into a phase, its role is given what it needs.";
    Bound = "B501", "A stated number of dispatches is not lower than the actual bound.";
    TooManyStates = "B502", "The states of a workflow can be enumerated.";
    Refuted = "G601", "A stated guarantee holds on every path.";
    Vacuous = "G602", "Everything that a guarantee refers to exists in the workflow.";
    RoleValue = "R701", "A key of a role file takes one of its known values.";
    RolePermission = "R702", "A role's write permissions agree with what it changes.";
    RoleSection = "R703", "A mode section in a role file names a mode of the role, and no mode has two sections.";
    RoleForeign = "R704", "The role file of another tool is for a known role and grants the tools that it needs.";
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DiagnosticSeverity {
    Error,
    Warning,
}

/// One problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub code: Code,
    pub severity: DiagnosticSeverity,
    pub span: Span,
    pub message: String,
    pub remedy: String,
    /// The shortest path that shows the problem, one phase per line.
    pub path: Vec<String>,
}

impl Diagnostic {
    pub fn error(
        code: Code,
        span: Span,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic {
            code,
            severity: DiagnosticSeverity::Error,
            span,
            message: clip(message.into()),
            remedy: clip(remedy.into()),
            path: Vec::new(),
        }
    }

    pub fn warning(
        code: Code,
        span: Span,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic { severity: DiagnosticSeverity::Warning, ..Diagnostic::error(code, span, message, remedy) }
    }

    #[must_use]
    pub fn with_path(mut self, path: Vec<String>) -> Diagnostic {
        self.path = path;
        self
    }

    /// The diagnostic as text: id, position, source line with caret, message, path, remedy.
    pub fn render(&self, source: &SourceText, style: Style) -> String {
        let level = match self.severity {
            DiagnosticSeverity::Error => Level::ERROR,
            DiagnosticSeverity::Warning => Level::WARNING,
        };
        let (line, column) = source.position(self.span.start);
        let shown = ShownLine::around(source, self.span);
        let snippet = Snippet::source(shown.text)
            .line_start(line)
            .annotation(AnnotationKind::Primary.span(shown.start..shown.end));
        let title = level.primary_title(&*self.message).id(self.code.id());
        let mut group = title.element(snippet);
        if !self.path.is_empty() {
            let path = format!("on this path: {}", self.path.join("\n              "));
            group = group.element(Level::NOTE.message(path));
        }
        group = group.element(Level::HELP.message(&*self.remedy));
        let renderer = match style {
            Style::Plain => Renderer::plain(),
            Style::Coloured => Renderer::styled(),
        };
        let text = renderer.decor_style(DecorStyle::Ascii).render(&[group]);
        // The renderer cannot compute the position, because the snippet may be a part of a very long line.
        let position = format!("{}:{line}:{column}", source.name);
        match text.split_once('\n') {
            Some((first, rest)) => format!("{first}\n --> {position}\n{rest}"),
            None => format!("{text}\n --> {position}"),
        }
    }

    pub fn json(&self, source: &SourceText) -> serde_json::Value {
        let (line, column) = source.position(self.span.start);
        serde_json::json!({
            "id": self.code.id(),
            "severity": self.severity,
            "file": source.name,
            "line": line,
            "column": column,
            "message": self.message,
            "remedy": self.remedy,
            "path": self.path,
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Plain,
    Coloured,
}

/// Shortens a message, because names from the file may have any length.
fn clip(text: String) -> String {
    const MAX_CHARS: usize = 300;
    if text.chars().count() <= MAX_CHARS {
        return text;
    }
    text.chars().take(MAX_CHARS).chain(['…']).collect()
}

/// Sorts diagnostics by severity and position, and removes duplicates.
pub fn tidy(mut all: Vec<Diagnostic>) -> Vec<Diagnostic> {
    all.sort_by(|a, b| {
        (a.severity, a.span, a.code, &a.message).cmp(&(b.severity, b.span, b.code, &b.message))
    });
    all.dedup();
    all
}

/// The line of a span, cut to the width of a screen.
struct ShownLine<'s> {
    text: &'s str,
    start: usize,
    end: usize,
}

impl<'s> ShownLine<'s> {
    const MAX_WIDTH: usize = 160;

    fn around(source: &'s SourceText, span: Span) -> ShownLine<'s> {
        let start = source.floor(span.start);
        let line_start = source.text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = source.text[start..].find('\n').map_or(source.text.len(), |newline| start + newline);
        let from = source.floor(line_start.max(start.saturating_sub(Self::MAX_WIDTH / 2)));
        let to = source.floor(line_end.min(from + Self::MAX_WIDTH)).max(from);
        let text = &source.text[from..to];
        let end = source.floor(span.end).clamp(start, to.max(start));
        ShownLine { text, start: (start - from).min(text.len()), end: (end - from).min(text.len()) }
    }
}

/// The known name that is most similar to a misspelt one, if any is similar enough.
pub fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len().min(name.len()) / 4)
        .min()
        .map(|(_, candidate)| candidate)
}

/// A remedy for an unknown name: the most similar known name, or all known names.
pub fn suggest<'n>(name: &str, known: impl IntoIterator<Item = &'n str> + Clone) -> String {
    match nearest(name, known.clone()) {
        Some(near) => format!("write `{near}`"),
        None => {
            let all: Vec<&str> = known.into_iter().collect();
            if all.is_empty() {
                "none is known here".to_string()
            } else {
                format!("use one of: {}", all.join(", "))
            }
        }
    }
}
