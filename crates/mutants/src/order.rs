//! The order of mutants: the most telling first, spread over files, functions and lines, so that a small budget covers
//! all of a change.

use crate::source_file::AlteredSource;
use crate::{Mutant, MutantKind};
use remand_source::{Language, ParsedSource};
use std::collections::{BTreeMap, BTreeSet};

/// The number of mutants of one change; no budget tries more.
const MAX_MUTANTS: usize = 300;

/// The mutants of a change, the most telling first. Each one parses, and differs from the others.
pub fn mutants(files: &[AlteredSource<'_>]) -> Vec<Mutant> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let texts: BTreeMap<_, _> = files.iter().map(|file| (file.path, file.text)).collect();
    for mutant in spread(files.iter().flat_map(AlteredSource::proposals).collect()) {
        if found.len() == MAX_MUTANTS {
            break;
        }
        let Some(text) = texts.get(mutant.path.as_path()) else { continue };
        let altered = mutant.apply(text);
        if altered != *text && parses(&mutant, &altered, text) && seen.insert((mutant.path.clone(), altered))
        {
            found.push(mutant);
        }
    }
    found
}

/// Whether a mutant has no more syntax errors than the original. The original can have some, where the grammar lacks newer
/// syntax.
fn parses(mutant: &Mutant, altered: &str, original: &str) -> bool {
    let errors = |text: &str| {
        let language = Language::of(&mutant.path)?;
        Some(ParsedSource::parse(language, text)?.errors().len())
    };
    errors(altered).is_some_and(|count| count == 0 || errors(original).is_some_and(|before| count <= before))
}

/// Takes one mutant from each function in turn, and within a function from each line in turn.
fn spread(proposals: Vec<Mutant>) -> Vec<Mutant> {
    let mut by_line: BTreeMap<_, Vec<Mutant>> = BTreeMap::new();
    for mutant in proposals {
        let place = (mutant.path.clone(), mutant.function.clone(), mutant.line);
        by_line.entry(place).or_default().push(mutant);
    }
    let mut by_function: BTreeMap<_, Vec<(usize, MutantKind, usize, Mutant)>> = BTreeMap::new();
    for ((path, function, line), mut of_line) in by_line {
        of_line.sort_by_key(|mutant| mutant.kind);
        let ranked = of_line.into_iter().enumerate().map(|(nth, mutant)| (nth, mutant.kind, line, mutant));
        by_function.entry((path, function)).or_default().extend(ranked);
    }
    // The functions in the order of the text, in which code outside functions comes last.
    let mut functions: Vec<_> = by_function.into_iter().collect();
    functions.sort_by_key(|((path, function), mutants)| {
        let first = mutants.iter().map(|(_, _, line, _)| *line).min();
        (function.is_empty(), path.clone(), first)
    });
    let mut turns = Vec::new();
    for (at, (_, mut mutants)) in functions.into_iter().enumerate() {
        mutants.sort_by_key(|(nth, kind, line, _)| (*nth, *kind, *line));
        turns.extend(mutants.into_iter().enumerate().map(|(turn, (.., mutant))| (turn, at, mutant)));
    }
    turns.sort_by_key(|(turn, at, _)| (*turn, *at));
    turns.into_iter().map(|(.., mutant)| mutant).collect()
}
