//! What releases a test that does not pass as it was.

use super::gone_names::GoneNames;
use super::values::{ValueChange, is_value, names_value, plain_tokens, replacements};
use super::{BrokenHow, BrokenTest};
use crate::asked::asks_to_update;
use crate::failure::{assertion_failures, is_short_for};
use crate::integrity::{Announced, ends_with_name};
use crate::proof::asserts_in_test_code;
use crate::red::{BaseFile, TestSubject, Wording};
use crate::result::CheckResult;
use crate::sides::{ChangedFile, FileVersion, Reason, Side, Sides};
use crate::spec::Parser;
use remand_kernel::change::TestEnd;
use remand_source::tests::{TestFile, WeakeningKind, compare, tokens};
use remand_source::{Language, ParsedSource};
use std::collections::BTreeSet;
use std::path::Path;

/// Everything that a release can rest on.
#[derive(Clone, Copy)]
pub struct Release<'r> {
    /// What the plan or a person releases.
    pub announced: &'r Announced,
    /// What the user asks for.
    pub words: &'r str,
    pub names: &'r GoneNames,
    pub sides: &'r Sides,
    /// The source files of the base.
    pub code: &'r [BaseFile],
    pub parser: Parser,
    /// The result of the check with the new tests.
    pub head: &'r CheckResult,
    /// The result with the tests as they were.
    pub now: &'r CheckResult,
}

/// The files on the side of the tests whose new version counts: data that the user asks to change, and what the plan or a
/// person releases. Each with the reason.
pub fn accepted_files(sides: &Sides, announced: &Announced, words: &str) -> Vec<(String, String)> {
    let reason = |(file, side): (&ChangedFile, &Side)| {
        let is_code = Language::of(Path::new(&file.path)).is_some_and(Language::is_code);
        let is_settings = *side == Side::Tests(Reason::Settings);
        let why = if announced.has_file(&file.path) && is_settings {
            "the plan or the request announces it"
        } else if is_code || is_settings || *side == Side::Both {
            return None;
        } else if announced.tests.iter().any(|entry| covers(entry, &file.path)) {
            "it is released by name"
        } else if asks_to_update(words, &file.path) {
            "the request asks to change it"
        } else {
            return None;
        };
        Some((file.path.clone(), why.to_string()))
    };
    sides.of_tests().filter_map(reason).collect()
}

fn covers(entry: &str, path: &str) -> bool {
    entry == path || (entry.ends_with('/') && path.starts_with(entry))
}

impl Release<'_> {
    /// The file of a test at the base; empty if it was not found.
    pub fn file_of(&self, test: &BrokenTest) -> String {
        TestSubject::find(&test.name, self.code).files.into_iter().next().unwrap_or_default()
    }

    /// Why a test need not pass as it was; a clause that completes "because".
    pub fn why(&self, test: &BrokenTest) -> Option<String> {
        let subject = TestSubject::find(&test.name, self.code);
        let is_removed = |file: &String| {
            let is_gone =
                |changed: &ChangedFile| changed.path == *file && changed.head == FileVersion::Absent;
            self.sides.of_tests().any(|(changed, _)| is_gone(changed))
                && self.announced.has_removed_file(file)
        };
        if let Some(file) = subject.files.first().filter(|file| is_removed(file)) {
            return Some(format!("the request asks to remove `{file}`"));
        }
        let is_listed = self.announced.has_reported_test(&test.name)
            || subject.files.iter().any(|file| self.announced.has_test(file, &subject.path));
        if is_listed {
            return Some("it is released by name".to_string());
        }
        if !subject.is_found {
            return None;
        }
        if !self.failed_by_assertion(test)
            && let Some(why) = self.names.why_released(&subject.uses, self.words)
        {
            return Some(why);
        }
        self.new_value(test, &subject)
    }

    fn failed_by_assertion(&self, test: &BrokenTest) -> bool {
        let asserts_at = |file: &str, line: usize| {
            let text = self.code.iter().find(|known| known.path == file).map(|known| known.text.as_str());
            text.is_some_and(|text| asserts_in_test_code(Path::new(file), text, line))
        };
        let output = String::from_utf8_lossy(&self.now.output);
        test.how == BrokenHow::Failed
            && assertion_failures(self.parser, &output, &asserts_at)
                .iter()
                .any(|name| is_short_for(name, &test.name))
    }

    /// Whether the change replaces nothing but values of the test, and the request names the new ones and what they are about.
    fn new_value(&self, test: &BrokenTest, subject: &TestSubject) -> Option<String> {
        // A new value of a case may be a part of its name.
        let bare = |name: &str| name.split('[').next().unwrap_or(name).to_string();
        let new_name = self.new_name(subject).and_then(|(_, path)| path.last().cloned());
        let is_it = |now: &str| match &new_name {
            Some(name) => ends_with_name(now, name),
            None => bare(now) == bare(&test.name),
        };
        let of_test = self.head.tests.iter().filter(|now| is_it(&now.name));
        let ends: BTreeSet<TestEnd> = of_test.map(|now| now.end).collect();
        let passes_now = ends.len() == 1 && ends.contains(&TestEnd::Passed);
        if test.how != BrokenHow::Failed || !passes_now {
            return None;
        }
        let (replaced, kept) = self.replaced(subject)?;
        let mut named: Vec<String> = Vec::new();
        for replacement in &replaced {
            named.extend(replacement.named_in(self.words)?);
        }
        let words = Wording::new(self.words);
        let is_linked = words.is_about(subject)
            || replaced.iter().any(|replacement| replacement.old_is_named_in(self.words))
            || kept.iter().any(|value| names_value(self.words, value));
        named.dedup();
        let shown: Vec<String> =
            named.iter().map(|value| format!("`{}`", value.trim_matches(['"', '\'']))).collect();
        (is_linked && !shown.is_empty())
            .then(|| format!("the request names the new value {}", shown.join(", ")))
    }

    /// The file and the name that the change gives to a test.
    fn new_name(&self, subject: &TestSubject) -> Option<(String, Vec<String>)> {
        let files = |text_of: fn(&ChangedFile) -> Option<&str>| -> Vec<TestFile> {
            let read = |file: &ChangedFile| {
                let source = ParsedSource::parse(Language::of(Path::new(&file.path))?, text_of(file)?)?;
                Some(TestFile { path: file.path.clone(), tests: source.tests() })
            };
            self.sides.of_tests().filter_map(|(file, _)| read(file)).collect()
        };
        let (before, after) = (files(|file| file.base.text()), files(|file| file.head.text()));
        let changes = compare(&before, &after);
        let of_test = changes
            .into_iter()
            .filter(|change| subject.files.first() == Some(&change.file) && change.path == subject.path);
        of_test.into_iter().find_map(|change| match change.kind {
            WeakeningKind::Renamed { file, path } => Some((file, path)),
            _ => None,
        })
    }

    /// The values that the change replaces in what a test expects, and the values of the test that stay. `None` if the
    /// change does more to the test.
    fn replaced(&self, subject: &TestSubject) -> Option<(Vec<ValueChange>, Vec<String>)> {
        let path = subject.files.first()?;
        let changed: Vec<&ChangedFile> = self.sides.of_tests().map(|(file, _)| file).collect();
        let own = changed.iter().find(|file| file.path == *path);
        let tokens_in = |text: Option<&str>| test_tokens(path, text?, &subject.path);
        let before = match own {
            Some(file) => tokens_in(file.base.text())?,
            None => {
                test_tokens(path, &self.code.iter().find(|file| file.path == *path)?.text, &subject.path)?
            }
        };
        let after = match (self.new_name(subject), own) {
            (Some((file, path)), _) => {
                let file = changed.iter().find(|changed| changed.path == file)?;
                test_tokens(&file.path, file.head.text()?, &path)?
            }
            (None, Some(file)) => tokens_in(file.head.text())?,
            (None, None) => before.clone(),
        };
        let kept = |replaced: &[ValueChange]| -> Vec<String> {
            let is_kept = |token: &&String| !replaced.iter().any(|one| one.old.contains(token));
            before.iter().filter(|token| is_value(token)).filter(is_kept).cloned().collect()
        };
        let in_test = only_values(replacements(&before, &after)?)?;
        if !in_test.is_empty() {
            let kept = kept(&in_test);
            return Some((in_test, kept));
        }
        // The expectation is elsewhere: in a constant or table of the file, or in data that the file names.
        let mut all = Vec::new();
        if let Some(file) = own {
            let (old, new) = (file.base.text().unwrap_or_default(), file.head.text().unwrap_or_default());
            let of_values = |one: &ValueChange| one.is_of_values() && !one.old.is_empty();
            let tokens = |text: &str| file_tokens(path, text);
            all.extend(replacements(&tokens(old)?, &tokens(new)?)?.into_iter().filter(of_values));
        }
        let text = self.code.iter().find(|file| file.path == *path).map_or("", |file| file.text.as_str());
        for data in changed.iter().filter(|file| file.path != *path) {
            let name = data.path.rsplit('/').next().unwrap_or(&data.path);
            if Language::of(Path::new(&data.path)).is_some_and(Language::is_code) || !text.contains(name) {
                continue;
            }
            let quoted = |text: &str| -> Vec<String> {
                plain_tokens(text).into_iter().map(|token| format!("\"{token}\"")).collect()
            };
            let (old, new) = (data.base.text()?, data.head.text()?);
            all.extend(replacements(&quoted(old), &quoted(new))?);
        }
        let kept = kept(&all);
        (!all.is_empty()).then_some((all, kept))
    }
}

/// The replacements, if all of them are of values. What is only added cannot weaken a test that fails.
fn only_values(found: Vec<ValueChange>) -> Option<Vec<ValueChange>> {
    let found: Vec<ValueChange> = found.into_iter().filter(|one| !one.old.is_empty()).collect();
    found.iter().all(ValueChange::is_of_values).then_some(found)
}

fn test_tokens(path: &str, text: &str, test: &[String]) -> Option<Vec<String>> {
    let source = ParsedSource::parse(Language::of(Path::new(path))?, text)?;
    source.tests().into_iter().find(|item| item.path == test).map(|item| item.tokens)
}

fn file_tokens(path: &str, text: &str) -> Option<Vec<String>> {
    let source = ParsedSource::parse(Language::of(Path::new(path))?, text)?;
    Some(tokens(&source, source.root()))
}
