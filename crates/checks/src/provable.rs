//! Whether the checks of a repository can prove a change at all.

use super::action::CheckAction;
use super::spec::CheckSpec;
use remand_kernel::evidence::Tier;
use remand_source::Language;
use std::path::PathBuf;

/// The number of passing checks of tiers 1 to 3 that the evidence gate demands.
const NEEDED: usize = 2;

/// Why the checks of a repository can prove no change; `None` if they can. The files are those of the base.
pub fn why_unprovable(checks: &[CheckSpec], files: &[PathBuf]) -> Option<String> {
    let languages: Vec<Language> = files.iter().filter_map(|file| Language::of(file)).collect();
    let is_built_in = |spec: &&CheckSpec| matches!(spec.action, CheckAction::BuiltIn(_));
    let has_syntax = checks.iter().any(|spec| is_built_in(&spec)) && !languages.is_empty();
    let is_loadable = |language: &Language| {
        matches!(language, Language::Python | Language::JavaScript | Language::TypeScript | Language::Tsx)
    };
    let own: Vec<&CheckSpec> =
        checks.iter().filter(|spec| !is_built_in(spec) && spec.tier < Tier::Four).collect();
    let has_own_run = own.iter().any(|spec| spec.tier > Tier::One);
    // Changed modules of these languages are loaded if nothing else runs.
    let is_loaded = !has_own_run && languages.iter().any(is_loadable);
    let count = own.len() + usize::from(has_syntax) + usize::from(is_loaded);
    if !has_own_run && (!is_loaded || count < NEEDED) {
        return Some("this repository has no build and no test that Remand can run".to_string());
    }
    let names: Vec<String> = own.iter().map(|spec| format!("`{}`", spec.name)).collect();
    (count < NEEDED).then(|| format!("{} is the only check, and {NEEDED} are needed", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::BuiltIn;

    fn check(name: &str, tier: Tier) -> CheckSpec {
        CheckSpec::new(name, tier, CheckAction::Argv(vec![name.to_string()]))
    }

    // UP-06
    #[test]
    fn a_build_or_a_test_and_a_second_check_can_prove_work() {
        let syntax = CheckSpec::new("syntax", Tier::One, CheckAction::BuiltIn(BuiltIn::Syntax));
        let (lint, test) = (check("lint", Tier::One), check("test", Tier::Two));
        let none = "this repository has no build and no test that Remand can run";
        let cases: [(&[CheckSpec], &str, Option<&str>); 8] = [
            (&[], "README.md", Some(none)),
            (&[], "a.py", Some(none)),
            (std::slice::from_ref(&syntax), "a.yaml", Some(none)),
            (std::slice::from_ref(&lint), "a.py", None),
            (&[syntax.clone(), lint.clone()], "a.yaml", Some(none)),
            (std::slice::from_ref(&test), "main.tf", Some("`test` is the only check, and 2 are needed")),
            (&[syntax.clone(), test.clone()], "a.go", None),
            (&[lint.clone(), test.clone()], "main.tf", None),
        ];
        for (checks, file, why) in cases {
            assert_eq!(why_unprovable(checks, &[PathBuf::from(file)]).as_deref(), why, "{checks:?}");
        }
        assert_eq!(why_unprovable(&[syntax], &[PathBuf::from("a.py")]), None, "a changed module is loaded");
    }
}
