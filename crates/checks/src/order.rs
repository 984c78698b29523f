//! Merges detected and configured checks, and sorts each after the checks that it needs.

use super::action::CheckAction;
use super::choice::{CheckChoice, CommandLine};
use super::spec::{CheckSpec, Parser};
use remand_kernel::evidence::Tier;
use std::collections::{BTreeMap, BTreeSet};

/// Why checks cannot run as configured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    #[error(
        "`checks.{check}` has no command, and no check with that name was detected; add `command`, or use one of: {known}"
    )]
    NoCommand { check: String, known: String },
    #[error("`checks.{check}.needs` names `{needed}`, which is not a check; use one of: {known}")]
    UnknownNeed { check: String, needed: String, known: String },
    #[error("the checks {checks} need each other in a circle; remove one `needs`")]
    Circle { checks: String },
    #[error("`checks.syntax` is built into Remand and has no `{key}`; choose another name")]
    BuiltIn { key: &'static str },
}

/// Whether detected checks are part of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detected {
    Used,
    Ignored,
}

/// Merges the configured checks into the detected ones by name and sorts them: earlier tiers first, and each check
/// after those that it needs. Built-in checks stay even if detected ones are ignored.
pub fn specs(
    found: Vec<CheckSpec>,
    detected: Detected,
    choices: &BTreeMap<String, CheckChoice>,
) -> Result<Vec<CheckSpec>, SpecError> {
    let is_kept =
        |spec: &CheckSpec| detected == Detected::Used || matches!(spec.action, CheckAction::BuiltIn(_));
    let mut specs: Vec<CheckSpec> = found.into_iter().filter(is_kept).collect();
    for (name, choice) in choices {
        let at = specs.iter().position(|spec| spec.name == *name);
        match (at, &choice.command) {
            (Some(at), _) => specs[at] = apply(choice, specs[at].clone())?,
            (None, Some(command)) => {
                let spec = CheckSpec::new(name, choice.tier.unwrap_or(Tier::Two), action(command));
                specs.push(apply(choice, spec)?);
            }
            (None, None) if choice.off => {}
            (None, None) => {
                return Err(SpecError::NoCommand { check: name.clone(), known: names(&specs) });
            }
        }
    }
    let off: BTreeSet<&str> =
        choices.iter().filter(|(_, choice)| choice.off).map(|(name, _)| name.as_str()).collect();
    specs.retain(|spec| !off.contains(spec.name.as_str()));
    for spec in &mut specs {
        spec.needs.retain(|needed| !off.contains(needed.as_str()));
    }
    sort_by_needs(specs)
}

fn apply(choice: &CheckChoice, mut spec: CheckSpec) -> Result<CheckSpec, SpecError> {
    if matches!(spec.action, CheckAction::BuiltIn(_)) {
        let settings = [
            ("command", choice.command.is_some()),
            ("tier", choice.tier.is_some()),
            ("parser", choice.parser.is_some()),
            ("folder", choice.folder.is_some()),
            ("network", choice.network.is_some()),
            ("memory", choice.memory.is_some()),
        ];
        if let Some((key, _)) = settings.into_iter().find(|(_, is_set)| *is_set) {
            return Err(SpecError::BuiltIn { key });
        }
    }
    if let Some(tier) = choice.tier {
        spec.tier = tier;
        spec.quick = tier == Tier::One;
    }
    if let Some(command) = &choice.command
        && spec.action != action(command)
    {
        // The detected settings apply only to the detected command.
        let fresh = CheckSpec::new(&spec.name, spec.tier, action(command));
        spec = CheckSpec { needs: spec.needs, quick: spec.quick, ..fresh };
    }
    spec.quick = choice.quick.unwrap_or(spec.quick);
    spec.time = choice.time.unwrap_or(spec.time);
    spec.network = choice.network.unwrap_or(spec.network);
    spec.memory = choice.memory.unwrap_or(spec.memory);
    spec.reruns = choice.reruns.unwrap_or(spec.reruns);
    spec.folder = choice.folder.clone().unwrap_or(spec.folder);
    spec.needs = choice.needs.clone().unwrap_or(spec.needs);
    if let Some(parser) = choice.parser.as_deref().and_then(Parser::by_name) {
        spec.parser = parser;
        spec.report = choice.report.clone();
    }
    Ok(spec)
}

fn action(command: &CommandLine) -> CheckAction {
    match command {
        CommandLine::Shell(text) => CheckAction::Shell(text.clone()),
        CommandLine::Argv(argv) => CheckAction::Argv(argv.clone()),
    }
}

fn sort_by_needs(mut remaining: Vec<CheckSpec>) -> Result<Vec<CheckSpec>, SpecError> {
    for spec in &remaining {
        if let Some(needed) =
            spec.needs.iter().find(|needed| !remaining.iter().any(|spec| spec.name == **needed))
        {
            let (check, needed) = (spec.name.clone(), needed.clone());
            return Err(SpecError::UnknownNeed { check, needed, known: names(&remaining) });
        }
    }
    remaining.sort_by_key(|spec| spec.tier);
    let mut sorted: Vec<CheckSpec> = Vec::new();
    while !remaining.is_empty() {
        let is_ready =
            |spec: &CheckSpec| spec.needs.iter().all(|need| sorted.iter().any(|spec| spec.name == *need));
        let Some(at) = remaining.iter().position(is_ready) else {
            return Err(SpecError::Circle { checks: names(&remaining) });
        };
        sorted.push(remaining.remove(at));
    }
    Ok(sorted)
}

fn names(specs: &[CheckSpec]) -> String {
    specs.iter().map(|spec| format!("`{}`", spec.name)).collect::<Vec<_>>().join(", ")
}
