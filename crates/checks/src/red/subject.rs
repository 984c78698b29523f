//! What a test is about: its source at the base, and the code that it uses.

use crate::integrity::ends_with_name;
use remand_source::{Definition, DefinitionKind, Language, ParsedSource, is_test_file, test_regions};
use std::collections::BTreeSet;
use std::path::Path;

/// A file of the base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseFile {
    pub path: String,
    pub text: String,
}

/// A test with everything that can link it to a request or a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestSubject {
    /// As the runner names it.
    pub name: String,
    /// The name or title in the source.
    pub title: String,
    /// The classes and groups around it.
    pub groups: Vec<String>,
    /// The files that may contain it.
    pub files: Vec<String>,
    /// Its path in those files: groups and title.
    pub path: Vec<String>,
    /// Identifiers that the test and its helpers use.
    pub uses: BTreeSet<String>,
    /// Those of `uses` that name definitions of the project's code.
    pub subjects: BTreeSet<String>,
    /// Texts in quotes.
    pub literals: BTreeSet<String>,
    /// All identifiers of its files, in lower case.
    pub around: BTreeSet<String>,
    pub is_found: bool,
}

impl TestSubject {
    /// Finds the source of a test in the code of the base. Several tests may have the same name: then all of them count.
    pub fn find(name: &str, code: &[BaseFile]) -> TestSubject {
        let mut subject =
            TestSubject { name: name.to_string(), title: reported_title(name), ..TestSubject::default() };
        let mut candidates: Vec<Candidate> =
            code.iter().filter_map(|file| Candidate::of(file, name)).collect();
        let best = candidates.iter().map(|candidate| candidate.rank).max().unwrap_or(0);
        candidates.retain(|candidate| candidate.rank == best);
        for candidate in candidates {
            subject.add(candidate);
        }
        let used: Vec<&String> = subject.uses.iter().collect();
        subject.subjects = defined(&used, code);
        subject
    }

    fn add(&mut self, candidate: Candidate) {
        self.is_found = true;
        self.files.push(candidate.file);
        if let Some((title, groups)) = candidate.path.split_last() {
            self.title = title.clone();
            self.groups.extend(groups.iter().cloned());
            self.path = candidate.path.clone();
        }
        for token in candidate.tokens {
            match literal(&token) {
                Some(text) => self.literals.extend([text.to_string()]),
                None if is_identifier(&token) => self.uses.extend([token]),
                None => {}
            }
        }
        self.around.extend(candidate.around);
    }
}

/// A file that may contain the test.
struct Candidate {
    file: String,
    path: Vec<String>,
    tokens: Vec<String>,
    around: BTreeSet<String>,
    /// How well file and groups agree with the reported name.
    rank: usize,
}

impl Candidate {
    fn of(file: &BaseFile, name: &str) -> Option<Candidate> {
        let language = Language::of(Path::new(&file.path)).filter(|language| language.is_code())?;
        let is_module = is_named_module(&file.path, name);
        if !is_module && !keys(name).iter().any(|key| file.text.contains(key)) {
            return None;
        }
        let source = ParsedSource::parse(language, &file.text)?;
        let tests = source.tests();
        let is_it = |title: &str| {
            ends_with_name(name, title) || name.split('/').any(|part| ends_with_name(part, title))
        };
        // A case of a Go test has the name of the test in front of it; the longest title is the most exact one.
        let test = tests.iter().filter(|test| is_it(test.name())).max_by_key(|test| test.name().len());
        let definitions = source.definitions();
        let all = || definitions.iter().flat_map(|definition| &definition.tokens);
        let in_tests = || tests.iter().flat_map(|test| &test.tokens);
        let around = all().chain(in_tests()).filter(|token| is_identifier(token));
        let around: BTreeSet<String> = around.map(|token| token.to_lowercase()).collect();
        let (path, tokens) = match test {
            Some(test) => (test.path.clone(), with_helpers(file, &definitions, &test.tokens)),
            // The runner names the module because it cannot be loaded.
            None if is_module => (Vec::new(), all().chain(in_tests()).cloned().collect()),
            None => return None,
        };
        let stem = stem(&file.path);
        let rank = usize::from(name.contains(stem)) + path.iter().filter(|part| name.contains(*part)).count();
        Some(Candidate { file: file.path.clone(), path, tokens, around, rank })
    }
}

/// Parts of a reported name, one of which the source must contain.
fn keys(name: &str) -> Vec<String> {
    let plain = name.split('[').next().unwrap_or(name).trim();
    let last_word = |text: &str| text.rsplit([' ', ':', '.', '#']).next().unwrap_or(text).to_string();
    let parts = plain.split('/').map(last_word);
    let keys = [reported_title(name), last_word(plain)].into_iter().chain(parts);
    keys.filter(|key| key.chars().count() > 3).collect()
}

/// The tokens of a test, and of the helpers for tests in its file that it uses.
fn with_helpers(file: &BaseFile, definitions: &[Definition], test: &[String]) -> Vec<String> {
    let regions = if is_test_file(Path::new(&file.path)) { None } else { Some(test_regions(&file.text)) };
    let is_helper = |definition: &&Definition| {
        regions.as_ref().is_none_or(|regions| regions.iter().any(|region| region.contains(&definition.start)))
    };
    let mut tokens = test.to_vec();
    let mut added: BTreeSet<usize> = BTreeSet::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at).cloned() {
        at += 1;
        for definition in definitions.iter().filter(is_helper).filter(|definition| definition.name == token) {
            if definition.kind == DefinitionKind::Value && added.insert(definition.start) {
                tokens.extend(definition.tokens.iter().cloned());
            }
        }
    }
    tokens
}

/// The identifiers that the project's own code defines.
fn defined(identifiers: &[&String], code: &[BaseFile]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for file in code.iter().filter(|file| !is_test_file(Path::new(&file.path))) {
        let missing = |name: &&&String| !found.contains(**name) && file.text.contains(name.as_str());
        let wanted: Vec<&&String> = identifiers.iter().filter(missing).collect();
        let language = Language::of(Path::new(&file.path));
        let Some(language) = language.filter(|_| !wanted.is_empty()) else { continue };
        let source = ParsedSource::parse(language, &file.text);
        let definitions = source.map(|source| source.definitions()).unwrap_or_default();
        let is_defined = |name: &str| definitions.iter().any(|definition| definition.name == name);
        let names: Vec<String> =
            wanted.into_iter().filter(|name| is_defined(name)).map(|name| name.to_string()).collect();
        found.extend(names);
    }
    found
}

/// Whether a runner's name is that of a whole file: its path, or the dotted path of a module.
fn is_named_module(path: &str, name: &str) -> bool {
    let dotted = path.rsplit_once('.').map_or(path, |(stem, _)| stem).replace('/', ".");
    let name = name.split([' ', '(']).find(|part| !part.is_empty()).unwrap_or(name);
    name == path || name == dotted || name.ends_with(&format!("._FailedTest.{dotted}"))
}

pub fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// The last part of a reported name, without parameters.
fn reported_title(name: &str) -> String {
    let name = name.split('[').next().unwrap_or(name).trim();
    let last = name.rsplit("::").next().unwrap_or(name);
    let last = last.rsplit(" > ").next().unwrap_or(last);
    let last = if last.contains(' ') { last } else { last.rsplit('.').next().unwrap_or(last) };
    last.to_string()
}

fn is_identifier(token: &str) -> bool {
    token.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && token.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$')
}

/// The text between the quotes of a literal.
fn literal(token: &str) -> Option<&str> {
    let start = token.find(['"', '\'', '`']).filter(|start| *start <= 3)?;
    let quote = token[start..].chars().next()?;
    let inner = token[start..].trim_matches(quote);
    (token.ends_with(quote) && !inner.is_empty()).then_some(inner)
}
