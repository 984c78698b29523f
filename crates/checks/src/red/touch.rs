//! What a change does to the code, as far as it concerns the tests that failed before.

use super::mention::Wording;
use super::subject::{TestSubject, stem};
use crate::integrity::Edited;
use remand_source::{
    ChangedDefinition, DefinitionKind, Language, ParsedSource, changed_definitions, is_prose, is_test_file,
};
use std::path::Path;

/// A change, by the definitions that it touches.
#[derive(Clone, Debug, Default)]
pub struct CodeChange {
    files: Vec<ChangedFile>,
    has_code: bool,
}

#[derive(Clone, Debug)]
struct ChangedFile {
    edited: Edited,
    definitions: Vec<ChangedDefinition>,
}

impl CodeChange {
    pub fn new(edited: &[Edited]) -> CodeChange {
        let mut change = CodeChange::default();
        for file in edited {
            change.has_code |= changes_code(file);
            let language = Language::of(Path::new(&file.path)).filter(|language| language.is_code());
            let (before, after) = (file.before.as_deref(), file.after.as_deref());
            let changed = language.map(|language| {
                changed_definitions(language, before.unwrap_or_default(), after.unwrap_or_default())
            });
            let definitions = changed.unwrap_or_default().into_iter().collect();
            change.files.push(ChangedFile { edited: file.clone(), definitions });
        }
        change
    }

    /// Whether the change is more than comments and prose.
    pub fn has_code(&self) -> bool {
        self.has_code
    }

    /// What the change touches: the test itself, or code that the test uses. A changed type counts only through its
    /// methods, because almost every change adds something to a type.
    pub fn touched_by(&self, subject: &TestSubject) -> Option<String> {
        for ChangedFile { edited, definitions } in &self.files {
            if subject.files.contains(&edited.path) && test_differs(edited, &subject.path) {
                return Some("the test".to_string());
            }
            if is_test_file(Path::new(&edited.path)) && !subject.files.contains(&edited.path) {
                continue;
            }
            let is_used = |definition: &&ChangedDefinition| {
                definition.kind == DefinitionKind::Value
                    && subject.uses.contains(&definition.name)
                    && (definition.owner.is_empty()
                        || subject.around.contains(&definition.owner.to_lowercase()))
            };
            if let Some(definition) = definitions.iter().find(is_used) {
                return Some(format!("`{}`, which the test uses", definition.name));
            }
        }
        None
    }

    /// Whether a text names a file or a definition that the change touches.
    pub fn is_named_in(&self, wording: &Wording) -> bool {
        self.files.iter().any(|ChangedFile { edited, definitions }| {
            let name = edited.path.rsplit('/').next().unwrap_or(&edited.path);
            let first = name.split('.').next().unwrap_or(name);
            wording.has_file(name)
                || [stem(name), first].iter().any(|stem| wording.has_name(stem))
                || definitions.iter().any(|definition| wording.has_name(&definition.name))
        })
    }
}

/// Whether a file changes in more than comments and prose.
fn changes_code(file: &Edited) -> bool {
    let path = Path::new(&file.path);
    if is_prose(path) {
        return false;
    }
    let Some(language) = Language::of(path).filter(|language| language.is_code()) else { return true };
    let parse = |text: &Option<String>| {
        text.as_deref().and_then(|text| ParsedSource::parse(language, text)).is_some()
    };
    if !parse(&file.before) && !parse(&file.after) {
        return true;
    }
    let (before, after) = (file.before.as_deref().unwrap_or(""), file.after.as_deref().unwrap_or(""));
    let both = ParsedSource::parse(language, before).zip(ParsedSource::parse(language, after));
    both.is_none_or(|(before, after)| !before.is_like(&after))
}

/// Whether the body of a test differs, or the test is gone.
fn test_differs(file: &Edited, path: &[String]) -> bool {
    let tokens = |text: &Option<String>| {
        let source = ParsedSource::parse(Language::of(Path::new(&file.path))?, text.as_deref()?)?;
        source.tests().into_iter().find(|test| test.path == path).map(|test| test.tokens)
    };
    !path.is_empty() && tokens(&file.before) != tokens(&file.after)
}
