//! The embedded cases.

use super::case::{GauntletCase, Measured};
use super::family::Family;
use super::kind::CaseKind;
use super::must::Commit;
use super::project::ProjectName;
use crate::embedded::{self, GAUNTLET};
use remand_terminal::CommandFailure;
use remand_workflow::diagnostic::nearest;
use std::collections::BTreeSet;

/// A case to play.
#[derive(Clone, Debug)]
pub struct ChosenCase {
    /// Such as `claims/changes-nothing`, or `green/subject-replaced/wrapped-rust` for a case of a kind.
    pub name: String,
    /// The text of its file if that may have placeholders.
    text: Option<&'static str>,
    pub case: GauntletCase,
}

/// All cases in the order of the report: by family, then by file.
fn all() -> Result<Vec<ChosenCase>, CommandFailure> {
    let mut cases = Vec::new();
    for file in embedded::files_below(GAUNTLET, "cases") {
        let Some(name) = file.path.strip_suffix(".yaml") else { continue };
        if !matches(name, Family::Green.name()) {
            let case = GauntletCase::parse(file.text, name)?;
            cases.push(ChosenCase { name: name.to_string(), text: Some(file.text), case });
            continue;
        }
        let kind = CaseKind::parse(file.text, name)?;
        for (short, variant) in kind.cases.clone() {
            let case = variant.case(&kind);
            cases.push(ChosenCase { name: format!("{name}/{short}"), text: None, case });
        }
    }
    cases.sort_by_key(ChosenCase::family);
    Ok(cases)
}

/// The cases with these names, of these kinds or of these families; all cases if `wanted` is empty.
pub fn select(wanted: &[String]) -> Result<Vec<ChosenCase>, CommandFailure> {
    let cases = all()?;
    for word in wanted {
        if !cases.iter().any(|choice| matches(&choice.name, word)) {
            return Err(unknown(word, &cases));
        }
    }
    let is_wanted =
        |choice: &ChosenCase| wanted.is_empty() || wanted.iter().any(|word| matches(&choice.name, word));
    Ok(cases.into_iter().filter(is_wanted).collect())
}

/// A part of the cases: of each kind, the first honest case and the first bad one on every other project, alternating from
/// kind to kind. Families without kinds are whole.
pub fn sample(choices: Vec<ChosenCase>) -> Vec<ChosenCase> {
    let kinds: BTreeSet<String> =
        choices.iter().filter_map(|choice| Some(choice.kind()?.to_string())).collect();
    let mut seen = BTreeSet::new();
    let is_chosen = |choice: &ChosenCase| {
        let Some(kind) = choice.kind() else { return true };
        let number = kinds.iter().position(|known| known == kind).unwrap_or(0);
        let project = ProjectName::WITH_KINDS.iter().position(|name| *name == choice.case.project);
        let is_turn = choice.is_honest() || (number + project.unwrap_or(0)).is_multiple_of(2);
        let place = if choice.is_honest() { None } else { project };
        is_turn && seen.insert((number, place))
    };
    choices.into_iter().filter(is_chosen).collect()
}

impl ChosenCase {
    pub fn family(&self) -> Family {
        self.case.family
    }

    /// The name within its family and kind.
    pub fn short(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }

    /// The kind of the case, if its family has kinds.
    pub fn kind(&self) -> Option<&str> {
        self.name.split_once('/')?.1.split_once('/').map(|(kind, _)| kind)
    }

    /// Whether the work of the case must be committed.
    pub fn is_honest(&self) -> bool {
        self.case.must.commit == Commit::Good
    }

    pub fn is_measured_lie(&self) -> bool {
        self.case.measured == Some(Measured::Lie)
    }

    /// The case with its placeholders replaced.
    pub fn filled_in(&self, fill_in: impl Fn(&str) -> String) -> Result<GauntletCase, CommandFailure> {
        self.text
            .map_or_else(|| Ok(self.case.clone()), |text| GauntletCase::parse(&fill_in(text), &self.name))
    }
}

fn matches(name: &str, word: &str) -> bool {
    name == word || name.split('/').any(|part| part == word)
}

fn unknown(word: &str, cases: &[ChosenCase]) -> CommandFailure {
    let families = Family::ALL.iter().map(|family| family.name());
    let names = cases.iter().flat_map(|choice| choice.name.split('/').chain([choice.name.as_str()]));
    let near = nearest(word, families.chain(names));
    let hint = match near {
        Some(near) => format!("did you mean `{near}`? `remand gauntlet --list` shows all"),
        None => "`remand gauntlet --list` shows all".to_string(),
    };
    CommandFailure::user(format!("no family, kind or case is named `{word}`"), hint)
}

#[cfg(test)]
#[path = "catalogue_tests.rs"]
mod tests;
