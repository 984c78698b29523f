//! The results of the specification rounds: silence is no result, and the verdict agrees with what is listed (SR-03, SR-05).

use super::super::expectation::{Expectation, NO_GAPS};
use super::super::gaps::{engineer_output, new_gaps, reviewer_output};
use super::super::problem::{Problem, one_of};
use super::super::schema::gaps::{GapInventory, GapProposals, GapReview, ProposalJudgement, ReportedIssue};
use super::super::schema::words::GapSeverity;
use super::super::shortfall::ASSIGNED_GAP;
use super::unique;

pub(super) fn inventory(it: &GapInventory, verdict: &str) -> Vec<Problem> {
    let mut problems = new_gaps(it).err().unwrap_or_default();
    let says_none = NO_GAPS.contains(&verdict);
    if says_none && !it.gaps.is_empty() {
        let found = format!("{} of them beside the verdict `{verdict}`", it.gaps.len());
        problems.push(Problem::new("payload.gaps", "no gaps", found));
    }
    if !says_none && it.gaps.is_empty() {
        problems.push(Problem::new(
            "payload.gaps",
            format!("at least one gap, since the verdict is `{verdict}`"),
            "none",
        ));
    }
    problems
}

pub(super) fn proposals(it: &GapProposals, verdict: &str, expected: &Expectation) -> Vec<Problem> {
    let mut problems = engineer_output(it).err().unwrap_or_default();
    let gaps = it.proposals.iter().enumerate();
    problems
        .extend(unique(gaps.map(|(at, one)| (format!("payload.proposals[{at}].gap"), one.gap.0.as_str()))));
    let is_silent = it.proposals.is_empty() && it.answers.is_empty() && it.new_gaps.is_empty();
    match verdict {
        "nothing" if !it.proposals.is_empty() => {
            problems.push(Problem::new("payload.proposals", "none, since the verdict is `nothing`", "some"));
        }
        "proposed" if is_silent => {
            let expected = "at least one proposal, answer or new gap, since the verdict is `proposed`";
            problems.push(Problem::new("payload.proposals", expected, "none"));
        }
        _ => {}
    }
    // Whoever answers issues or finds gaps instead has proposed nothing, and says so.
    if !it.proposals.is_empty() {
        problems.extend(addressed(it.proposals.iter().map(|one| one.gap.0.as_str()), "proposals", expected));
    }
    problems
}

pub(super) fn review(it: &GapReview, verdict: &str, expected: &Expectation) -> Vec<Problem> {
    let mut problems = Vec::new();
    match reviewer_output(it) {
        Err(found) => problems.extend(found),
        Ok(output) => {
            if verdict == "no-issues" && !output.is_clean() {
                let found = "issues, new gaps or a proposal that needs revision";
                problems.push(Problem::new(
                    "payload.verdict",
                    "`reviewed`",
                    format!("`no-issues` beside {found}"),
                ));
            }
            if verdict == "reviewed" && output.is_empty() {
                let expected = "at least one review, since the verdict is `reviewed`";
                problems.push(Problem::new("payload.reviews", expected, "none"));
            }
        }
    }
    let gaps = it.reviews.iter().enumerate();
    problems.extend(unique(gaps.map(|(at, one)| (format!("payload.reviews[{at}].gap"), one.gap.0.as_str()))));
    for (at, one) in it.reviews.iter().enumerate() {
        let is_grave =
            |issue: &ReportedIssue| matches!(issue.severity, GapSeverity::Critical | GapSeverity::High);
        if one.issues.iter().any(is_grave) && one.judgement != ProposalJudgement::NeedsRevision {
            let path = format!("payload.reviews[{at}].judgement");
            problems.push(Problem::new(
                path,
                "`needs-revision`",
                "an approval beside a high or critical issue",
            ));
        }
    }
    problems.extend(addressed(it.reviews.iter().map(|one| one.gap.0.as_str()), "reviews", expected));
    problems
}

/// At least one of the gaps named is one that was assigned, if any was.
fn addressed<'a>(
    named: impl Iterator<Item = &'a str>,
    list: &str,
    expected: &Expectation,
) -> Option<Problem> {
    let known = expected.known.gaps.as_ref().filter(|known| !known.is_empty())?;
    let named: Vec<&str> = named.collect();
    let none = !named.iter().any(|gap| known.iter().any(|id| id == gap));
    none.then(|| {
        let expected = format!("{ASSIGNED_GAP}: {}", one_of(known.iter().map(String::as_str)));
        let found = if named.is_empty() { "none".to_string() } else { named.join(", ") };
        Problem::new(format!("payload.{list}"), expected, found)
    })
}
