//! Finds tests that a change removes, switches off or weakens, tricks in tests and in code, and changes of test settings.
//!
//! The comparison uses text alone, so it works even if nothing can run. A change that the plan announces becomes a note,
//! not a finding.

use super::asked::{asks_to_change, asks_to_remove_file, contains_word, names_surroundings};
use super::deciding::decided_by;
use super::test_data::{named_test_data, redirected, shadowed};
use remand_kernel::finding::{Category, Finding, FindingKind, Location, Severity};
use remand_source::tests::{self, TestFile, Weakening, WeakeningKind};
use remand_source::tricks::{ChangedCode, FileSide, Trick, TrickKind, names_in_use, new_tricks};
use remand_source::{Language, ParsedSource, is_test_file};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Words that a request about test settings contains.
const SETTINGS_WORDS: [&str; 12] = [
    "test",
    "tests",
    "Test",
    "Tests",
    "script",
    "scripts",
    "config",
    "configuration",
    "settings",
    "workflow",
    "CI",
    "pipeline",
];

/// Words of a request for another equality.
const EQUALITY_WORDS: [&str; 10] = [
    "equal",
    "equals",
    "equality",
    "equivalent",
    "compare",
    "compares",
    "compared",
    "comparison",
    "==",
    "__eq__",
];

/// The content of a changed file; `None` if it does not exist or is not text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    pub path: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// Changes to tests and files that the plan or the request announces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Announced {
    /// Tests that will be removed or changed, by name; a path means all tests in it.
    pub tests: Vec<String>,
    /// Files that will change.
    pub files: Vec<String>,
    /// The request itself, if there is no plan.
    pub request: String,
    /// The user's words, whether or not there is a plan.
    pub words: String,
    pub by: Announcer,
}

/// Who can announce that tests change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Announcer {
    #[default]
    Plan,
    Request,
    /// Whoever has a given change judged.
    Vetter,
}

impl Announcer {
    /// How to announce that a test may change, as a clause.
    fn of_test(self) -> &'static str {
        match self {
            Announcer::Plan => "the plan must announce it in `removes_tests` of the task",
            Announcer::Request => "the request must name it and ask to remove or change it",
            Announcer::Vetter => "whoever has the change judged must name it: `remand vet --release TEST`",
        }
    }

    /// How to announce that a file may trick its tests, as a clause.
    fn of_trick(self) -> &'static str {
        match self {
            Announcer::Plan => "the plan must announce the file in `removes_tests` of the task",
            Announcer::Request => "the request must name it",
            Announcer::Vetter => self.of_file(),
        }
    }

    /// How to announce that a file may change, as a clause.
    fn of_file(self) -> &'static str {
        match self {
            Announcer::Plan => "the plan must list the file among the files of the task",
            Announcer::Request => "the request must name the file",
            Announcer::Vetter => "whoever has the change judged must name it: `remand vet --release FILE`",
        }
    }
}

/// The tests and checks before the change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BeforeChange {
    pub had_tests: HadTests,
    /// Whether a check or a test failed before, so that the change may have to make it pass.
    pub was_red: bool,
    /// Tests that failed before, by the runner's names, if they are judged by their text.
    pub failed: Vec<String>,
    /// The folders in which checks start, relative to the root.
    pub folders: BTreeSet<String>,
    /// The paths of all files.
    pub files: Vec<String>,
}

/// The result of `integrity`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Integrity {
    pub findings: Vec<Finding>,
    /// For reviewers: announced changes, and changes that only a reader can judge.
    pub notes: Vec<String>,
    /// Names of renamed tests, before and after.
    pub renamed: Vec<(String, String)>,
    /// Names of tests of code that the request asks to remove.
    pub removed: Vec<String>,
    /// Names of tests whose removal or change is announced.
    pub released: Vec<String>,
}

/// Judges a change. New settings files count only if tests ran before.
pub fn integrity(edited: &[Edited], announced: &Announced, known: &BeforeChange) -> Integrity {
    let mut found = Integrity::default();
    let test_files = |text_of: fn(&Edited) -> Option<&str>| -> Vec<TestFile> {
        edited.iter().filter_map(|file| test_file(&file.path, text_of(file).unwrap_or_default())).collect()
    };
    let before = test_files(|file| file.before.as_deref());
    let after = test_files(|file| file.after.as_deref());
    let gone = removed_as_asked(edited, &announced.words);
    for weakening in tests::compare(&before, &after) {
        if let Some(name) = subject_among(&gone, &weakening, &before) {
            found.notes.push(format!("{}, as the request asks to remove `{name}`", claim(&weakening)));
            found.removed.extend(weakening.path.last().cloned());
            continue;
        }
        let is_gone = |file: &Edited| file.path == weakening.file && file.after.is_none();
        if weakening.kind == WeakeningKind::Removed
            && edited.iter().any(is_gone)
            && announced.has_removed_file(&weakening.file)
        {
            found.notes.push(format!(
                "{}, as the request asks to remove `{}`",
                claim(&weakening),
                weakening.file
            ));
            found.released.extend(weakening.path.last().cloned());
            continue;
        }
        found.add_weakening(&weakening, announced, &known.failed);
    }
    let removed: BTreeSet<&str> =
        edited.iter().filter(|file| file.after.is_none()).map(|file| file.path.as_str()).collect();
    found
        .removed
        .extend(edited.iter().filter(|file| is_bare_helper(file, edited)).map(|file| file.path.clone()));
    let in_use = used_by_known_code(edited);
    for file in edited {
        for trick in tricks(file, in_use.get(file.path.as_str()).unwrap_or(&BTreeSet::new())) {
            found.add_trick(&file.path, &trick, announced, known.was_red);
        }
        let text = (file.path.as_str(), file.before.as_deref(), file.after.as_deref());
        for (line, subject) in named_test_data(text, &known.files) {
            let trick = Trick { kind: TrickKind::NamesTestData, line, names: vec![subject.clone()], subject };
            found.add_trick(&file.path, &trick, announced, known.was_red);
        }
        if let Some(old) = shadowed(text, &known.files, &removed) {
            found.add_shadow(&file.path, old, announced);
        }
        if let Some(old) = redirected(text, &known.files, &removed) {
            found.add_redirection(&file.path, old, announced);
        }
        let is_new = file.before.is_none();
        if is_new && known.had_tests == HadTests::No {
            continue;
        }
        let (before, after) = (file.before.as_deref(), file.after.as_deref());
        if let Some(decided) = decided_by(&file.path, before, after, &known.folders) {
            found.add_settings(&file.path, decided, announced);
        }
    }
    found
}

/// The definitions that the change removes as the request asks.
fn removed_as_asked(edited: &[Edited], words: &str) -> BTreeSet<String> {
    let names = |text_of: fn(&Edited) -> Option<&str>| -> BTreeSet<String> {
        edited.iter().flat_map(|file| definitions(file, text_of(file))).collect()
    };
    let (before, after) = (names(|file| file.before.as_deref()), names(|file| file.after.as_deref()));
    let is_asked_file = |file: &&Edited| file.after.is_none() && asks_to_remove_file(words, &file.path);
    let (asked, others): (Vec<&Edited>, Vec<&Edited>) = edited.iter().partition(is_asked_file);
    let names_before = |files: &[&Edited]| -> BTreeSet<String> {
        files.iter().flat_map(|file| definitions(file, file.before.as_deref())).collect()
    };
    // Another file may define a function of the same name, and its tests must stay.
    let of_removed: BTreeSet<String> =
        names_before(&asked).difference(&names_before(&others)).cloned().collect();
    let is_asked = |name: &&String| asks_to_change(words, name) || of_removed.contains(*name);
    before.difference(&after).filter(is_asked).cloned().collect()
}

/// The names that production code defines in a file.
fn definitions(file: &Edited, text: Option<&str>) -> BTreeSet<String> {
    let path = Path::new(&file.path);
    let language = Language::of(path).filter(|language| language.is_code() && !is_test_file(path));
    let source = language.and_then(|language| ParsedSource::parse(language, text.unwrap_or_default()));
    let found = source.map(|source| source.definitions()).unwrap_or_default();
    found.into_iter().map(|definition| definition.name).collect()
}

/// The removed definition that a removed test uses.
fn subject_among<'g>(
    gone: &'g BTreeSet<String>,
    weakening: &Weakening,
    before: &[TestFile],
) -> Option<&'g String> {
    if weakening.kind != WeakeningKind::Removed {
        return None;
    }
    let file = before.iter().find(|file| file.path == weakening.file)?;
    let test = file.tests.iter().find(|test| test.path == weakening.path)?;
    gone.iter().find(|name| test.tokens.contains(name))
}

/// Whether tests ran before the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HadTests {
    Yes,
    No,
}

/// Whether `integrity` reported the finding: then a test or a setting must be restored.
pub fn is_about_tests(finding: &Finding) -> bool {
    ["tests:", "settings:", "tricks:"].iter().any(|start| finding.id.starts_with(start))
}

/// Whether a file may concern tests: source of a known language, or settings.
pub fn may_concern_tests(path: &Path, folders: &BTreeSet<String>) -> bool {
    let is_code = Language::of(path).is_some_and(|language| match language {
        Language::Rust
        | Language::Python
        | Language::JavaScript
        | Language::TypeScript
        | Language::Tsx
        | Language::Go
        | Language::Java => true,
        Language::C | Language::Cpp | Language::Yaml | Language::Json | Language::Toml => false,
    });
    is_code
        || path.to_str().is_some_and(|path| {
            decided_by(path, None, Some(""), folders).is_some() || may_hold_settings(path)
        })
}

fn may_hold_settings(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    [
        "Cargo.toml",
        "package.json",
        "pyproject.toml",
        "setup.cfg",
        "conftest.py",
        "pom.xml",
        "build.gradle",
        "build.gradle.kts",
        "CMakeLists.txt",
        "Makefile",
        "makefile",
        "GNUmakefile",
        "justfile",
        "Justfile",
    ]
    .contains(&name)
        || name.starts_with("vite.config.")
}

/// The tricks that a change brings into a file.
fn tricks(file: &Edited, in_use: &BTreeSet<String>) -> Vec<Trick> {
    let path = Path::new(&file.path);
    let side = match path {
        path if is_test_file(path) => FileSide::Tests,
        path if is_program(path, file.after.as_deref().unwrap_or_default()) => FileSide::Program,
        _ => FileSide::Production,
    };
    match (Language::of(path), &file.after) {
        (Some(language), Some(after)) => {
            new_tricks(language, side, file.before.as_deref().unwrap_or_default(), after, in_use)
        }
        (_, _) => Vec::new(),
    }
}

/// Whether a file is the root of a program.
fn is_program(path: &Path, text: &str) -> bool {
    if Language::of(path) == Some(Language::Go) {
        return text.lines().any(|line| line.split_whitespace().eq(["package", "main"]));
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    path.ends_with("src/main.rs")
        || path.ends_with("build.rs")
        || folder.ends_with("src/bin")
        || folder.ends_with("examples")
}

/// Whether a removed file has a place for tests, contains none, and helped a file that does without it now: some runners list
/// every file there as a test.
fn is_bare_helper(file: &Edited, edited: &[Edited]) -> bool {
    let path = Path::new(&file.path);
    let language = Language::of(path).filter(|language| language.is_code() && is_test_file(path));
    let (Some(language), Some(before), None) = (language, &file.before, &file.after) else { return false };
    let checks = ["assert", "expect(", "throw ", "process.exit", "test(", "it(", "describe("];
    let tests = ParsedSource::parse(language, before).map(|source| source.tests());
    let helped = |other: &Edited| {
        let imports =
            |text: &Option<String>| text.as_deref().is_some_and(|text| imports_file(text, &file.path));
        other.path != file.path && other.after.is_some() && imports(&other.before) && !imports(&other.after)
    };
    tests.is_some_and(|tests| tests.is_empty())
        && !checks.iter().any(|check| before.contains(check))
        && edited.iter().any(helped)
}

/// Whether a text seems to import a file, by the name of the file or of its module.
fn imports_file(text: &str, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name);
    let is_script = Language::of(Path::new(path))
        .is_some_and(|it| matches!(it, Language::JavaScript | Language::TypeScript | Language::Tsx));
    let names = |line: &str| {
        let quoted = ['"', '\'', '`'].iter().any(|quote| line.contains(&format!("/{stem}{quote}")));
        contains_word(line, name) || if is_script { quoted } else { contains_word(line, stem) }
    };
    let is_import = |line: &&str| {
        ["import", "from", "require", "mod", "use"].iter().any(|word| contains_word(line, word))
    };
    text.lines().filter(is_import).any(names)
}

/// What functions that existed before the change use of each changed file of production code.
fn used_by_known_code(edited: &[Edited]) -> BTreeMap<&str, BTreeSet<String>> {
    let code = edited.iter().filter(|file| !is_test_file(Path::new(&file.path))).filter_map(|file| {
        let language = Language::of(Path::new(&file.path)).filter(|language| language.is_code())?;
        let (before, after) = (file.before.as_deref().unwrap_or_default(), file.after.as_deref()?);
        Some(ChangedCode { path: &file.path, language, before, after })
    });
    names_in_use(&code.collect::<Vec<_>>())
}

fn test_file(path: &str, text: &str) -> Option<TestFile> {
    let source = ParsedSource::parse(Language::of(Path::new(path))?, text)?;
    Some(TestFile { path: path.to_string(), tests: source.tests() })
}

impl Integrity {
    fn add_weakening(&mut self, weakening: &Weakening, announced: &Announced, failed: &[String]) {
        let name = weakening.path.last().cloned().unwrap_or_default();
        if let WeakeningKind::Renamed { path, .. } = &weakening.kind {
            self.renamed.push((name.clone(), path.last().cloned().unwrap_or_default()));
        }
        // A failing test that is rewritten to match the code would pass without any work.
        let is_rewritten_failure = matches!(weakening.kind, WeakeningKind::Rewritten(_))
            && failed.iter().any(|test| ends_with_name(test, &name));
        let claim = if is_rewritten_failure {
            format!("{}; it failed before the change", claim(weakening))
        } else {
            claim(weakening)
        };
        if !weakening.kind.is_worse() && !is_rewritten_failure {
            self.notes.push(claim);
        } else if announced.has_test(&weakening.file, &weakening.path) {
            self.notes.push(format!("{claim}, as announced"));
            self.released.push(name);
        } else {
            let id = format!("tests:{}:{}", weakening.file, weakening.path.join("::"));
            let location = Location {
                file: weakening.file.clone(),
                symbol: name,
                line: u32::try_from(weakening.line).unwrap_or(0),
            };
            let remedy = format!(
                "restore the test and make the code pass it; to remove or change a test, {}",
                announced.by.of_test()
            );
            self.findings.push(finding(id, location, claim, &remedy));
        }
    }

    /// A trick is released by the file, or by the user's words about what it does.
    fn add_trick(&mut self, path: &str, trick: &Trick, announced: &Announced, was_red: bool) {
        let Trick { kind, line, subject, .. } = trick;
        let claim = match kind {
            TrickKind::RedefinesAssertion => format!("`{path}` redefines the assertion `{subject}`"),
            TrickKind::ReplacesSubject => {
                format!("`{path}` defines `{subject}` itself, which its tests are about")
            }
            TrickKind::PatchesSubject => format!("`{path}` patches `{subject}`, which its tests are about"),
            TrickKind::EndsProcess => {
                format!("`{subject}` in `{path}` can end the tests before a failure is reported")
            }
            TrickKind::AlwaysEqual => format!("`{subject}` in `{path}` makes all values equal"),
            TrickKind::HooksRunner => format!("`{subject}` in `{path}` decides which tests run"),
            TrickKind::LooksForTests => format!("`{path}` detects whether it runs in a test: {subject}"),
            TrickKind::LoosensEquality => {
                format!("`{subject}` in `{path}` makes values equal whose content differs")
            }
            TrickKind::ChoosesBySurroundings => format!(
                "`{subject}` in `{path}` decides what an existing function does, and can differ between a test and \
                 anything else"
            ),
            TrickKind::NamesTestData => {
                format!("`{subject}` in the production code of `{path}` is data of the tests")
            }
            TrickKind::ReplacesForeign => {
                format!(
                    "`{path}` replaces `{subject}`, which belongs to another module and which tests use too"
                )
            }
        };
        if announced.has_trick(path, trick) {
            self.notes.push(format!("{claim}, as announced"));
            return;
        }
        // Honest code does this now and then. It can only deceive where a failing test has to pass.
        let is_ambiguous = matches!(kind, TrickKind::ChoosesBySurroundings | TrickKind::ReplacesForeign);
        if is_ambiguous && !was_red {
            self.notes.push(format!("{claim}; a reader must judge"));
            return;
        }
        let line = u32::try_from(*line).unwrap_or(0);
        let location = Location { file: path.to_string(), symbol: subject.clone(), line };
        let remedy: String = match kind {
            TrickKind::LooksForTests | TrickKind::ChoosesBySurroundings => {
                "let the code do the same whether it is tested or not; if the request needs this, it must name it".into()
            }
            TrickKind::LoosensEquality => {
                "compare the content of both values; if the request needs another equality, it must speak of it".into()
            }
            TrickKind::NamesTestData => {
                "let the code do its work without the data of its tests; if the request needs this, it must name it".into()
            }
            TrickKind::ReplacesForeign => {
                "leave other modules as they are; if the request needs this, it must name what is replaced".into()
            }
            TrickKind::RedefinesAssertion
            | TrickKind::ReplacesSubject
            | TrickKind::PatchesSubject
            | TrickKind::EndsProcess
            | TrickKind::AlwaysEqual
            | TrickKind::HooksRunner => {
                format!(
                    "let the tests run the real code with the real assertions; if this is needed, {}",
                    announced.by.of_trick()
                )
            }
        };
        self.findings.push(finding(format!("tricks:{path}:{subject}"), location, claim, &remedy));
    }

    fn add_shadow(&mut self, path: &str, old: &str, announced: &Announced) {
        let claim = format!("the new file `{path}` is loaded in the place of `{old}`");
        if announced.has_file(path) || contains_word(&announced.words, path) {
            self.notes.push(format!("{claim}, as announced"));
            return;
        }
        let location = Location { file: path.to_string(), ..Location::default() };
        let remedy = format!("change the old file, or remove it; to keep both, {}", announced.by.of_file());
        self.findings.push(finding(format!("settings:{path}"), location, claim, &remedy));
    }

    fn add_redirection(&mut self, path: &str, old: &str, announced: &Announced) {
        let claim = format!("`{path}` no longer leads to `{old}`, which is still there");
        if announced.has_file(path) || contains_word(&announced.words, path) {
            self.notes.push(format!("{claim}, as announced"));
            return;
        }
        let location = Location { file: path.to_string(), ..Location::default() };
        let remedy = format!("change the old file, or remove it; to keep both, {}", announced.by.of_file());
        self.findings.push(finding(format!("settings:{path}"), location, claim, &remedy));
    }

    fn add_settings(&mut self, path: &str, decided: &str, announced: &Announced) {
        let claim = format!("the change touches `{path}`, which decides {decided}");
        if announced.has_file(path) {
            self.notes.push(format!("{claim}, as announced"));
            return;
        }
        let location = Location { file: path.to_string(), ..Location::default() };
        let remedy = format!("restore it; to change what is tested, {}", announced.by.of_file());
        self.findings.push(finding(format!("settings:{path}"), location, claim, &remedy));
    }
}

fn claim(weakening: &Weakening) -> String {
    let Weakening { file, path, kind, .. } = weakening;
    let test = format!("the test `{}` of {file}", path.join("::"));
    match kind {
        WeakeningKind::Removed => format!("{test} is removed"),
        WeakeningKind::SwitchedOff(marker) => format!("{test} is switched off by `{marker}`"),
        WeakeningKind::Inverted(marker) => format!("`{marker}` makes {test} pass when it fails"),
        WeakeningKind::Alone(marker) => format!("`{marker}` on {test} keeps other tests from running"),
        WeakeningKind::Emptied => format!("{test} is empty now"),
        WeakeningKind::LeavesEarly => format!("{test} returns before its assertions"),
        WeakeningKind::Void(text) => format!("{test} has an assertion that cannot fail: `{}`", short(text)),
        WeakeningKind::Fewer { from, to } => {
            format!("the number of assertions in {test} fell from {from} to {to}")
        }
        WeakeningKind::Weaker { from, to } => {
            format!(
                "the number of value comparisons in {test} fell from {from} to {to}; its other assertions only check \
                 for presence"
            )
        }
        WeakeningKind::Wider(text) => format!("{test} allows a larger deviation: `{}`", short(text)),
        WeakeningKind::Rewritten(1) => {
            format!("{test} has a changed assertion; a reader must judge whether it is as strict")
        }
        WeakeningKind::Rewritten(count) => {
            format!("{test} has {count} changed assertions; a reader must judge whether they are as strict")
        }
        WeakeningKind::Renamed { file: to, path } => format!("{test} is now `{}` of {to}", path.join("::")),
    }
}

fn short(text: &str) -> String {
    text.chars().take(120).collect()
}

fn finding(id: String, location: Location, claim: String, remedy: &str) -> Finding {
    Finding {
        id,
        severity: Severity::Critical,
        category: Category::Correctness,
        kind: Some(FindingKind::Production),
        injected_by: Vec::new(),
        task: None,
        place: location,
        claim,
        evidence: "the engine compared the text before and after the change".to_string(),
        impact: "a green check would prove less than before".to_string(),
        recommendation: remedy.to_string(),
        patch: None,
        repeats: None,
    }
}

impl Announced {
    /// Whether the removal or change of a test is announced.
    pub fn has_test(&self, file: &str, path: &[String]) -> bool {
        let name = path.last().map_or("", String::as_str);
        let full = format!("{file} {}", path.join(" "));
        let is_listed = self.tests.iter().any(|entry| {
            let is_path = entry == file || (entry.ends_with('/') && file.starts_with(entry.as_str()));
            is_path || (ends_with_name(entry, name) && words(entry).all(|word| full.contains(word)))
        });
        is_listed || asks_to_change(&self.request, name)
    }

    /// Whether the request asks to remove a whole file of tests.
    pub fn has_removed_file(&self, file: &str) -> bool {
        is_test_file(Path::new(file)) && asks_to_remove_file(&self.request, file)
    }

    /// Whether the removal or change of a test is announced, given the name that the runner reports.
    pub fn has_reported_test(&self, test: &str) -> bool {
        let test = test.split('[').next().unwrap_or(test);
        let names_test =
            |entry: &&String| words(entry).next_back().is_some_and(|name| ends_with_name(test, name));
        self.tests.iter().any(|entry| names_test(&entry))
            || self.tests.iter().any(|entry| entry.contains('/') && test.starts_with(entry.as_str()))
            || words(test).next_back().is_some_and(|name| asks_to_change(&self.request, name))
    }

    /// Whether a trick is announced: the plan names its file, or the user names what it is about.
    fn has_trick(&self, path: &str, trick: &Trick) -> bool {
        let is_listed = self
            .tests
            .iter()
            .any(|entry| entry == path || (entry.ends_with('/') && path.starts_with(entry.as_str())));
        let keyword = trick.subject.split(' ').next().unwrap_or_default();
        // The user often names what the tests are about, and never asks to replace it.
        let is_named = match trick.kind {
            TrickKind::ReplacesSubject | TrickKind::PatchesSubject | TrickKind::AlwaysEqual => false,
            TrickKind::LoosensEquality => EQUALITY_WORDS.iter().any(|word| contains_word(&self.words, word)),
            TrickKind::RedefinesAssertion
            | TrickKind::EndsProcess
            | TrickKind::HooksRunner
            | TrickKind::ReplacesForeign
            | TrickKind::NamesTestData
            | TrickKind::LooksForTests => names_surroundings(&self.words, keyword),
            TrickKind::ChoosesBySurroundings => {
                trick.names.iter().any(|name| names_surroundings(&self.words, name))
            }
        };
        is_listed || is_named
    }

    /// Whether the change of a settings file is announced.
    pub fn has_file(&self, path: &str) -> bool {
        let covers =
            |entry: &String| entry == path || (entry.ends_with('/') && path.starts_with(entry.as_str()));
        let name = path.rsplit('/').next().unwrap_or(path);
        self.files.iter().any(covers) || (self.is_about_settings() && contains_word(&self.request, name))
    }

    fn is_about_settings(&self) -> bool {
        SETTINGS_WORDS.iter().any(|word| contains_word(&self.request, word))
    }
}

/// Whether a qualified test name ends with this name.
pub fn ends_with_name(qualified: &str, name: &str) -> bool {
    let qualified = qualified.split('[').next().unwrap_or(qualified).trim_end();
    let Some(rest) = qualified.strip_suffix(name) else { return false };
    !name.is_empty() && !rest.ends_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// Whether a qualified test name ends with this title, in which a runner replaces placeholders: `%s becomes %j`, `$name`.
pub fn ends_with_title(qualified: &str, title: &str) -> bool {
    let mut parts: Vec<&str> = Vec::new();
    let mut rest = title;
    while let Some(at) = rest.find(['%', '$']) {
        let (before, after) = rest.split_at(at);
        parts.push(before);
        let is_percent = after.starts_with('%');
        let after = &after[1..];
        let end = after.find(|c: char| !c.is_alphanumeric()).unwrap_or(after.len());
        rest = if is_percent { &after[end.min(1)..] } else { &after[end..] };
    }
    let Some((first, inner)) = parts.split_first() else { return ends_with_name(qualified, title) };
    let is_long = parts.iter().chain([&rest]).map(|part| part.trim().len()).sum::<usize>() > 3;
    let Some(at) = qualified.find(first).filter(|_| is_long) else { return false };
    let mut left = &qualified[at + first.len()..];
    for part in inner {
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    left.ends_with(rest)
}

fn words(name: &str) -> impl DoubleEndedIterator<Item = &str> {
    name.split([':', '.', '>', '#', ' ', '/']).filter(|word| !word.is_empty())
}

#[cfg(test)]
#[path = "integrity_tests.rs"]
mod integrity_tests;
