//! The names that a change takes out of the production code, and those whose parameters it changes.

use crate::asked::{asks_to_change, asks_to_remove_file, contains_word};
use crate::sides::{ChangedFile, FileVersion, Sides};
use remand_source::{
    DefinitionKind, Language, OtherNames, ParsedSource, with_renamed, with_test_parts, without_imports,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Names that the production code of the base has and that of the head does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoneNames {
    /// Names for which the request gives another one.
    renamed: OtherNames<Vec<(String, String)>>,
    /// All others.
    gone: OtherNames<BTreeSet<String>>,
    /// The parts of changed signatures that only one version has, by function.
    signatures: BTreeMap<String, BTreeSet<String>>,
    /// Definitions of files that the request asks to remove, each with its file.
    of_removed_files: BTreeMap<String, String>,
}

/// A name with what it stands for; only names of one class are renamed into each other.
type Named = (String, NameClass);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum NameClass {
    Definition(DefinitionKind),
    File,
    /// A field, a parameter, or another identifier.
    Word,
}

impl GoneNames {
    /// Compares both versions. `words` is what the user asks for.
    pub fn find(sides: &Sides, words: &str) -> GoneNames {
        let (before, after) = (names(sides, |file| &file.base), names(sides, |file| &file.head));
        let added: Vec<&Named> = after.difference(&before).collect();
        let mut renamed = OtherNames { definitions: Vec::new(), files: Vec::new() };
        let mut gone = OtherNames { definitions: BTreeSet::new(), files: BTreeSet::new() };
        for (old, class) in before.difference(&after) {
            let near = |new: &&&Named| distance(words, old, &new.0);
            let candidates = added.iter().filter(|(new, other)| {
                other == class && contains_word(words, old) && contains_word(words, new)
            });
            match (candidates.min_by_key(near), class) {
                (Some((new, _)), NameClass::Definition(_)) => {
                    renamed.definitions.push((old.clone(), new.clone()))
                }
                (Some((new, _)), NameClass::File) => renamed.files.push((old.clone(), new.clone())),
                (Some((new, _)), NameClass::Word) => renamed.definitions.push((old.clone(), new.clone())),
                (None, NameClass::Word) => {}
                (None, NameClass::Definition(_)) => {
                    gone.definitions.insert(old.clone());
                }
                (None, NameClass::File) => {
                    gone.files.insert(old.clone());
                }
            }
        }
        let of_removed_files = of_removed_files(sides, words)
            .into_iter()
            .filter(|(name, _)| gone.definitions.contains(name))
            .collect();
        GoneNames { renamed, gone, signatures: signatures(sides), of_removed_files }
    }

    /// An old test file with the names that the request gives.
    pub fn renamed_in(&self, language: Language, text: &str) -> String {
        with_renamed(language, text, &self.renamed)
    }

    /// An old test file without imports of names that are gone.
    pub fn without_imports_in(&self, language: Language, text: &str) -> String {
        without_imports(language, text, &self.gone)
    }

    /// Why a test may fail that uses these names, other than by an assertion: the user wants a name to go, or names what
    /// is new in a signature. A clause that completes "because".
    pub fn why_released(&self, uses: &BTreeSet<String>, words: &str) -> Option<String> {
        let all = self.gone.definitions.iter().chain(&self.gone.files);
        let mut gone = all.filter(|name| uses.contains(*name));
        if let Some(name) = gone.find(|name| asks_to_change(words, name)) {
            return Some(format!("the request asks to remove `{name}`"));
        }
        if let Some((_, file)) = self.of_removed_files.iter().find(|(name, _)| uses.contains(*name)) {
            return Some(format!("the request asks to remove `{file}`"));
        }
        let mut changed = self.signatures.iter().filter(|(name, _)| uses.contains(*name));
        changed.find_map(|(name, parts)| {
            let part = parts
                .iter()
                .find(|part| contains_word(words, part))
                .filter(|_| contains_word(words, name))?;
            Some(format!("the request names `{name}` and its parameter `{part}`"))
        })
    }
}

/// The names in one version of the changed production code.
fn names<'s>(sides: &'s Sides, version: impl Fn(&'s ChangedFile) -> &'s FileVersion) -> BTreeSet<Named> {
    let mut found = BTreeSet::new();
    for file in sides.of_production() {
        let Some((language, text)) = code(&file.path, version(file)) else { continue };
        found.insert((stem(&file.path).to_string(), NameClass::File));
        let Some(source) = ParsedSource::parse(language, text) else { continue };
        let tests = source.test_code();
        let is_for_tests = |start: usize| tests.iter().any(|range| range.contains(&start));
        let definitions =
            source.definitions().into_iter().filter(|definition| !is_for_tests(definition.start));
        found.extend(definitions.map(|definition| (definition.name, NameClass::Definition(definition.kind))));
        let code = with_test_parts(language, text, "").text;
        let tokens = ParsedSource::parse(language, &code)
            .map(|source| remand_source::tests::tokens(&source, source.root()));
        let words = tokens.into_iter().flatten().filter(|token| is_identifier(token));
        found.extend(words.map(|word| (word, NameClass::Word)));
    }
    found
}

/// The definitions of the files that a change removes as the request asks.
fn of_removed_files(sides: &Sides, words: &str) -> BTreeMap<String, String> {
    let is_removed =
        |file: &ChangedFile| file.head == FileVersion::Absent && asks_to_remove_file(words, &file.path);
    let (mut found, mut of_others) = (BTreeMap::new(), BTreeSet::new());
    for file in sides.of_production() {
        let source =
            code(&file.path, &file.base).and_then(|(language, text)| ParsedSource::parse(language, text));
        let definitions = source.map(|source| source.definitions()).unwrap_or_default();
        let names = definitions.into_iter().map(|definition| definition.name);
        if is_removed(file) {
            found.extend(names.map(|name| (name, file.path.clone())));
        } else {
            of_others.extend(names);
        }
    }
    // Another file may define a function of the same name, and its tests must stay.
    found.retain(|name, _| !of_others.contains(name));
    found
}

/// The identifiers that only one version of a function's signature has.
fn signatures(sides: &Sides) -> BTreeMap<String, BTreeSet<String>> {
    let mut found = BTreeMap::new();
    for file in sides.of_production() {
        let of = |version: &FileVersion| -> BTreeMap<String, String> {
            let source =
                code(&file.path, version).and_then(|(language, text)| ParsedSource::parse(language, text));
            let functions = source.map(|source| source.functions()).unwrap_or_default();
            functions.into_iter().map(|function| (function.name, function.signature)).collect()
        };
        let (before, after) = (of(&file.base), of(&file.head));
        for (name, old) in before {
            let Some(new) = after.get(&name).filter(|new| **new != old) else { continue };
            let (old, new) = (identifiers(&old), identifiers(new));
            let short = name.rsplit(['.', ':']).next().unwrap_or(&name).to_string();
            found.insert(short, old.symmetric_difference(&new).cloned().collect());
        }
    }
    found
}

fn code<'v>(path: &str, version: &'v FileVersion) -> Option<(Language, &'v str)> {
    let language = Language::of(Path::new(path)).filter(|language| language.is_code())?;
    Some((language, version.text()?))
}

/// The name by which code imports a file.
fn stem(path: &str) -> &str {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    match file.split('.').next().unwrap_or(file) {
        "mod" | "index" | "__init__" => folder.rsplit('/').next().unwrap_or(folder),
        stem => stem,
    }
}

fn identifiers(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'));
    words
        .filter(|word| word.starts_with(|c: char| c.is_alphabetic() || c == '_'))
        .map(str::to_string)
        .collect()
}

fn is_identifier(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && token.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$')
}

/// How far apart two names are in a text.
fn distance(text: &str, one: &str, other: &str) -> usize {
    let places = |name: &str| text.match_indices(name).map(|(at, _)| at).collect::<Vec<_>>();
    let (ones, others) = (places(one), places(other));
    let pairs = ones.iter().flat_map(|one| others.iter().map(|other| one.abs_diff(*other)));
    pairs.min().unwrap_or(usize::MAX)
}
