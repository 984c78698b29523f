//! Rules for the results of specification rounds: they are not empty, and their verdicts match their entries.

use super::super::expectation::{Expectation, NO_GAPS};
use super::super::gaps::{engineer_output, new_gaps, reviewer_output};
use super::super::problem::{ContractProblem, Shortfall, one_of};
use super::super::schema::gaps::{GapInventory, GapProposals, GapReview, ProposalJudgement, ReportedIssue};
use super::super::schema::words::ReportedGapSeverity;
use super::duplicate_ids;

pub(super) fn inventory(it: &GapInventory, verdict: &str) -> Vec<ContractProblem> {
    let mut problems = new_gaps(it).err().unwrap_or_default();
    let means_no_gaps = NO_GAPS.contains(&verdict);
    if means_no_gaps && !it.gaps.is_empty() {
        let expected = format!("no gaps, because the verdict is `{verdict}`");
        problems.push(ContractProblem::new("payload.gaps", expected, it.gaps.len().to_string()));
    }
    if !means_no_gaps && it.gaps.is_empty() {
        problems.push(ContractProblem::new(
            "payload.gaps",
            format!("at least one gap, because the verdict is `{verdict}`"),
            "none",
        ));
    }
    problems
}

pub(super) fn proposals(it: &GapProposals, verdict: &str, expected: &Expectation) -> Vec<ContractProblem> {
    let mut problems = engineer_output(it).err().unwrap_or_default();
    let gaps = it.proposals.iter().enumerate();
    problems.extend(duplicate_ids(
        gaps.map(|(at, one)| (format!("payload.proposals[{at}].gap"), one.gap.0.as_str())),
    ));
    let is_empty = it.proposals.is_empty() && it.answers.is_empty() && it.new_gaps.is_empty();
    match verdict {
        "nothing" if !it.proposals.is_empty() => {
            problems.push(ContractProblem::new(
                "payload.proposals",
                "none, because the verdict is `nothing`",
                "some",
            ));
        }
        "proposed" if is_empty => {
            let expected = "at least one proposal, answer or new gap, because the verdict is `proposed`";
            problems.push(ContractProblem::new("payload.proposals", expected, "none"));
        }
        _ => {}
    }
    // A result without proposals may still answer issues or report new gaps.
    if !it.proposals.is_empty() {
        problems.extend(unaddressed_gaps(
            it.proposals.iter().map(|one| one.gap.0.as_str()),
            "proposals",
            expected,
        ));
    }
    problems
}

pub(super) fn review(it: &GapReview, verdict: &str, expected: &Expectation) -> Vec<ContractProblem> {
    let mut problems = Vec::new();
    match reviewer_output(it) {
        Err(found) => problems.extend(found),
        Ok(output) => {
            if verdict == "no-issues" && !output.is_clean() {
                let found = "issues, new gaps or a proposal that needs revision";
                problems.push(ContractProblem::new(
                    "payload.verdict",
                    "`reviewed`",
                    format!("`no-issues` together with {found}"),
                ));
            }
            if verdict == "reviewed" && output.is_empty() {
                let expected = "at least one review, because the verdict is `reviewed`";
                problems.push(ContractProblem::new("payload.reviews", expected, "none"));
            }
        }
    }
    let gaps = it.reviews.iter().enumerate();
    problems.extend(duplicate_ids(
        gaps.map(|(at, one)| (format!("payload.reviews[{at}].gap"), one.gap.0.as_str())),
    ));
    for (at, one) in it.reviews.iter().enumerate() {
        let is_severe = |issue: &ReportedIssue| {
            matches!(issue.severity, ReportedGapSeverity::Critical | ReportedGapSeverity::High)
        };
        if one.issues.iter().any(is_severe) && one.judgement != ProposalJudgement::NeedsRevision {
            let path = format!("payload.reviews[{at}].judgement");
            problems.push(ContractProblem::new(
                path,
                "`needs-revision`",
                "an approval despite a high or critical issue",
            ));
        }
    }
    problems.extend(unaddressed_gaps(it.reviews.iter().map(|one| one.gap.0.as_str()), "reviews", expected));
    problems
}

/// If gaps were assigned, the result must address at least one of them.
fn unaddressed_gaps<'a>(
    gaps: impl Iterator<Item = &'a str>,
    list: &str,
    expected: &Expectation,
) -> Option<ContractProblem> {
    let known = expected.known.gaps.as_ref().filter(|known| !known.is_empty())?;
    let gaps: Vec<&str> = gaps.collect();
    let addresses_none = !gaps.iter().any(|gap| known.iter().any(|id| id == gap));
    addresses_none.then(|| {
        let expected = format!("at least one assigned gap: {}", one_of(known.iter().map(String::as_str)));
        let found = if gaps.is_empty() { "none".to_string() } else { gaps.join(", ") };
        ContractProblem::new(format!("payload.{list}"), expected, found).with_shortfall(Shortfall::NoGap)
    })
}
