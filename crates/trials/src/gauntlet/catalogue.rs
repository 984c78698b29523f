//! The embedded cases.

use super::case::{GauntletCase, Measured};
use super::family::Family;
use crate::embedded::{self, EmbeddedFile, GAUNTLET};
use remand_terminal::CommandFailure;
use remand_workflow::diagnostic::nearest;

/// Name and text of each case, in the order in which they are played: by family, then by file.
fn cases() -> Vec<(&'static str, &'static str)> {
    let named = |file: EmbeddedFile| Some((file.path.strip_suffix(".yaml")?, file.text));
    let mut cases: Vec<_> = embedded::below(GAUNTLET, "cases").into_iter().filter_map(named).collect();
    let family = |name: &str| Family::ALL.iter().position(|family| fits(name, family.name()));
    cases.sort_by_key(|(name, _)| family(name));
    cases
}

/// A case that is to be played.
#[derive(Clone, Debug)]
pub struct ChosenCase {
    /// Such as `claims/changes-nothing`.
    pub name: &'static str,
    /// The text of its file, with placeholders.
    pub text: &'static str,
    pub case: GauntletCase,
}

/// The cases of these names, families, or both; all when none is given.
pub fn chosen(wanted: &[String]) -> Result<Vec<ChosenCase>, CommandFailure> {
    let cases = cases();
    for word in wanted {
        if !cases.iter().any(|(name, _)| fits(name, word)) {
            return Err(unknown(word, &cases));
        }
    }
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|word| fits(name, word));
    let fitting = cases.into_iter().filter(|(name, _)| is_wanted(name));
    fitting
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

fn fits(name: &str, word: &str) -> bool {
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
