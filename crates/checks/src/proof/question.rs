//! The tests that must be able to fail: new ones, changed ones, and those that the change turned green.

use crate::integrity::{Edited, ends_with_name};
use crate::result::{CheckResult, TestListing};
use remand_kernel::change::TestEnd;
use remand_ledger::proof::TestOrigin;
use remand_source::{Language, ParsedSource, changed_definitions, is_test_file};
use std::collections::BTreeSet;
use std::path::Path;

/// A test that passes after a change and must be able to fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestInQuestion {
    pub check: String,
    /// As the runner names it.
    pub name: String,
    pub origin: TestOrigin,
    /// The identifiers in its source and in the helpers of its file; empty if its source was not found.
    pub uses: BTreeSet<String>,
    /// Whether it passes on the code before the change too.
    pub is_green_at_base: bool,
}

/// The tests in question among these results, by check and name. `before` has the results before the change.
pub fn tests_in_question(
    edited: &[Edited],
    before: &[CheckResult],
    after: &[CheckResult],
) -> Vec<TestInQuestion> {
    let sources: Vec<TestSource> = edited.iter().flat_map(TestSource::of_file).collect();
    let helpers: BTreeSet<String> = edited
        .iter()
        .filter(|file| is_test_file(Path::new(&file.path)))
        .flat_map(|file| {
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            let language = Language::of(Path::new(&file.path)).filter(|language| language.is_code());
            language.map(|language| changed_definitions(language, &text(&file.before), &text(&file.after)))
        })
        .flatten()
        .map(|definition| definition.name)
        .collect();
    let lists_tests =
        |result: &&CheckResult| result.listing != TestListing::ChangedFiles && result.tier.is_some();
    let mut found = Vec::new();
    for result in after.iter().filter(lists_tests) {
        let earlier = || before.iter().filter(|before| before.name == result.name && before.counts());
        if earlier().next().is_none() {
            continue;
        }
        for test in result.tests.iter().filter(|test| test.end == TestEnd::Passed) {
            let ends: BTreeSet<TestEnd> = earlier()
                .flat_map(|before| before.tests.iter().filter(|old| old.name == test.name))
                .map(|old| old.end)
                .collect();
            let source = sources
                .iter()
                .filter(|source| source.is_named(&test.name))
                .max_by_key(|source| source.rank(&test.name));
            let uses = source.map(|source| source.uses.clone()).unwrap_or_default();
            let differs = source.is_some_and(|source| source.differs || !source.uses.is_disjoint(&helpers));
            let origin = if ends.is_empty() {
                TestOrigin::New
            } else if !ends.contains(&TestEnd::Passed) && ends.contains(&TestEnd::Failed) {
                TestOrigin::Fixed
            } else if differs {
                TestOrigin::Changed
            } else {
                continue;
            };
            found.push(TestInQuestion {
                check: result.name.clone(),
                name: test.name.clone(),
                origin,
                uses,
                is_green_at_base: false,
            });
        }
    }
    found
}

/// A test in a changed file.
struct TestSource {
    file: String,
    path: Vec<String>,
    uses: BTreeSet<String>,
    differs: bool,
}

impl TestSource {
    fn of_file(file: &Edited) -> Vec<TestSource> {
        let Some(language) = Language::of(Path::new(&file.path)).filter(|language| language.is_code()) else {
            return Vec::new();
        };
        let read = |text: &Option<String>| {
            ParsedSource::parse(language, text.as_deref()?).map(|source| source.tests())
        };
        let before = read(&file.before).unwrap_or_default();
        let Some(source) = file.after.as_deref().and_then(|text| ParsedSource::parse(language, text)) else {
            return Vec::new();
        };
        let definitions = source.definitions();
        let with_helpers = |tokens: &[String]| {
            let mut uses: BTreeSet<String> =
                tokens.iter().filter(|token| is_identifier(token)).cloned().collect();
            let called = definitions.iter().filter(|definition| uses.contains(&definition.name));
            let more: Vec<String> = called.flat_map(|definition| definition.tokens.iter().cloned()).collect();
            uses.extend(more.into_iter().filter(|token| is_identifier(token)));
            uses
        };
        let tests = source.tests().into_iter().map(|test| TestSource {
            file: file.path.clone(),
            differs: !before.iter().any(|old| old.path == test.path && old.tokens == test.tokens),
            uses: with_helpers(&test.tokens),
            path: test.path,
        });
        tests.collect()
    }

    fn is_named(&self, name: &str) -> bool {
        let Some(title) = self.path.last() else { return false };
        ends_with_name(name, title) || name.split('/').any(|part| ends_with_name(part, title))
    }

    /// How well file and groups agree with a reported name.
    fn rank(&self, name: &str) -> usize {
        let stem = Path::new(&self.file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        usize::from(stem.is_some_and(|stem| name.contains(&stem)))
            + self.path.iter().filter(|part| name.contains(*part)).count()
    }
}

fn is_identifier(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && token.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$')
}
