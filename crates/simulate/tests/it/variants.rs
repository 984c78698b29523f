//! Variants of the shipped workflows, proven again and simulated with the same random numbers.

use crate::support::plan;
use remand_simulate::{
    ParameterSet, SimulationSummary, SimulationVariant, Variation, combinations, simulate,
};
use remand_workflow::roles::Roles;

fn variants(workflow: &str, varied: &[&str], parameters: &ParameterSet) -> Vec<SimulationVariant> {
    let checked = remand_workflow::check_shipped(workflow).expect("shipped");
    let compiled = checked.compiled.expect("compiled");
    let variations: Vec<Variation> = varied.iter().map(|written| Variation::read(written).unwrap()).collect();
    let variant = |changes: &Vec<_>| {
        SimulationVariant::new(&compiled, &checked.source, &Roles::shipped(), changes, parameters)
            .unwrap_or_else(|error| panic!("{workflow} {changes:?}: {error}"))
    };
    combinations(&variations).unwrap().iter().map(variant).collect()
}

fn summaries(variants: &[SimulationVariant], runs: u32) -> Vec<SimulationSummary> {
    let summary = |variant: &SimulationVariant| {
        let samples = simulate(&variant.program, &variant.parameters, plan(runs, 1)).expect("simulated");
        let summary = SimulationSummary::new(&variant.program, &samples);
        println!(
            "{:<44} money {:.2} dispatches {:.1} escaped {:.2} flawed {:.2} {:?} {:?}",
            variant.label,
            summary.money.mean,
            summary.dispatches.mean,
            summary.escaped.mean,
            summary.flawed,
            summary.ends,
            variant.broken
        );
        summary
    };
    variants.iter().map(summary).collect()
}

// BY-05
#[test]
fn variants_of_every_kind_are_proven_and_simulated() {
    for (workflow, varied) in [
        ("feature", "budgets.replan=0..4"),
        ("feature", "budgets.design-revision=0..2"),
        ("feature", "reviewers=1..5"),
        ("feature", "reviewers.code-review=1..5"),
        ("feature", "rounds.code-review=1..3"),
        ("feature", "without=none,design-review,code-review"),
        ("feature", "feedback=phase-aware,single-step"),
        ("quick", "reviewers=1..5"),
        ("quick", "budgets.fixes=0..3"),
        ("quick", "retries=0..2"),
        ("quick", "without=none,review"),
        ("issue", "reviewers.final-review=1..3"),
        ("ticket", "rounds.impl-review=1,3,7"),
        ("spec", "budgets.rounds=2,10"),
        ("issue", "feedback=phase-aware,single-step"),
        ("tsp", "feedback=phase-aware,single-step"),
        ("tsp", "without=none,code-review,design-review"),
        ("tsp", "budgets.corrections=1,5,10,20"),
    ] {
        let variants = variants(workflow, &[varied], &ParameterSet::default());
        let summaries = summaries(&variants, 100);
        assert!(summaries.windows(2).any(|pair| pair[0] != pair[1]), "{workflow} {varied}");
    }
}

#[test]
fn removing_the_last_review_breaks_the_guarantees_that_name_it() {
    let all = variants("feature", &["without=none,code-review"], &ParameterSet::default());
    assert_eq!(all[0].broken, Vec::<String>::new());
    assert_eq!(
        all[1].broken,
        ["no commit unless code-review approved or code-review dissent since change of code"]
    );
}

#[test]
fn reviewers_who_overlook_the_same_defects_find_less_together_and_as_much_alone() {
    let parameters = ParameterSet::default();
    let causes = "common-cause=0,0.95";
    let together =
        summaries(&variants("quick", &["reviewers=4", "rounds.review=1", causes], &parameters), 3000);
    assert!(together[1].flaws.mean > 1.15 * together[0].flaws.mean);
    let alone = summaries(&variants("quick", &["rounds.review=1", causes], &parameters), 3000);
    let (low, high) = alone[0].flaws.interval();
    assert!((low..high).contains(&alone[1].flaws.mean), "{low} {high} {}", alone[1].flaws.mean);
}

// BY-05
#[test]
fn wrong_origins_cost_only_where_the_origin_decides() {
    let feedback = "feedback=phase-aware,single-step";
    let all = variants("tsp", &[feedback, "attribution.error=0,0.5"], &ParameterSet::default());
    let found = summaries(&all, 1500);
    assert!(found[1].money.mean > 1.05 * found[0].money.mean);
    assert_eq!(found[2], found[3]);
    assert!(all.iter().all(|variant| variant.broken.is_empty()));
}
