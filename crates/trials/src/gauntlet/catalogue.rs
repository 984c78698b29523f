//! The embedded cases.

use super::case::{GauntletCase, Measured};
use super::family::Family;
use crate::embedded::{self, EmbeddedFile, GAUNTLET};
use remand_terminal::CommandFailure;
use remand_workflow::diagnostic::nearest;

/// The name and text of each case, in the order of the report: by family, then by file.
fn cases() -> Vec<(&'static str, &'static str)> {
    let with_name = |file: EmbeddedFile| Some((file.path.strip_suffix(".yaml")?, file.text));
    let mut cases: Vec<_> =
        embedded::files_below(GAUNTLET, "cases").into_iter().filter_map(with_name).collect();
    let family = |name: &str| Family::ALL.iter().position(|family| matches(name, family.name()));
    cases.sort_by_key(|(name, _)| family(name));
    cases
}

/// A case to play.
#[derive(Clone, Debug)]
pub struct ChosenCase {
    /// Such as `claims/changes-nothing`.
    pub name: &'static str,
    /// The text of its file, with placeholders.
    pub text: &'static str,
    pub case: GauntletCase,
}

/// The cases with these names or of these families; all cases if `wanted` is empty.
pub fn select(wanted: &[String]) -> Result<Vec<ChosenCase>, CommandFailure> {
    let cases = cases();
    for word in wanted {
        if !cases.iter().any(|(name, _)| matches(name, word)) {
            return Err(unknown(word, &cases));
        }
    }
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|word| matches(name, word));
    let selected = cases.into_iter().filter(|(name, _)| is_wanted(name));
    selected
        .map(|(name, text)| Ok(ChosenCase { name, text, case: GauntletCase::parse(text, name)? }))
        .collect()
}

impl ChosenCase {
    pub fn family(&self) -> Family {
        self.case.family
    }

    /// The name within its family.
    pub fn short(&self) -> &'static str {
        self.name.split_once('/').map_or(self.name, |(_, short)| short)
    }

    pub fn is_measured_lie(&self) -> bool {
        self.case.measured == Some(Measured::Lie)
    }
}

fn matches(name: &str, word: &str) -> bool {
    name == word || name.split_once('/').is_some_and(|(family, short)| family == word || short == word)
}

fn unknown(word: &str, cases: &[(&str, &str)]) -> CommandFailure {
    let families = Family::ALL.iter().map(|family| family.name());
    let names = cases.iter().flat_map(|(name, _)| [*name, name.rsplit('/').next().unwrap_or(name)]);
    let near = nearest(word, families.chain(names));
    let hint = match near {
        Some(near) => format!("did you mean `{near}`? `remand gauntlet --list` shows all"),
        None => "`remand gauntlet --list` shows all".to_string(),
    };
    CommandFailure::user(format!("no family or case is named `{word}`"), hint)
}

#[cfg(test)]
#[path = "catalogue_tests.rs"]
mod tests;
