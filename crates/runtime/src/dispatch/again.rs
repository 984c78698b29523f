//! What a repeated dispatch is told besides the reason: by the kind of failure, something that the prompt before did not
//! say (SR-03).

use super::told::Refused;
use crate::contract::{self, Expectation, Shortfall, fence_for};
use remand_kernel::signal::Failure;
use std::path::Path;

/// The words for the attempt with this number.
pub fn words(refused: &Refused, attempt: u16, expected: &Expectation, result: &Path) -> String {
    let detail = refused.detail.trim_end();
    if refused.failure != Failure::Malformed.name() {
        return detail.to_string();
    }
    let more = match Shortfall::of(detail) {
        Shortfall::Missing => format!(
            "Nothing else that you write or say is read: your result has to be in `{}` when you end.",
            result.display()
        ),
        Shortfall::Short => {
            "Answer even if you are uncertain: say what you know, how sure you are, and what is missing."
                .to_string()
        }
        Shortfall::NoGap => {
            let gaps = expected.known.gaps.clone().unwrap_or_default();
            format!(
                "These are the gaps that your result has to be about, at least one of them:\n\n{}",
                listed(&gaps)
            )
        }
        Shortfall::Form if attempt <= 2 => {
            format!("Fill in this template:\n\n{}", fenced(&contract::outline_for(expected)))
        }
        Shortfall::Form => {
            format!("This is a whole result as it would be accepted:\n\n{}", fenced(&expected.example()))
        }
    };
    format!("{detail}\n\n{more}")
}

fn listed(gaps: &[String]) -> String {
    gaps.iter().map(|gap| format!("- {gap}\n")).collect()
}

fn fenced(text: &str) -> String {
    let fence = fence_for(text);
    format!("{fence}yaml\n{}\n{fence}", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{Problem, SchemaId};

    fn told(detail: &str, attempt: u16) -> String {
        let mut expected =
            Expectation::new(SchemaId::GapProposals, "engineer", "engineer", &["proposed", "nothing"]);
        expected.known.gaps = Some(vec!["GAP-FLOW-007".to_string()]);
        let refused = Refused { failure: Failure::Malformed.name().to_string(), detail: detail.to_string() };
        words(&refused, attempt, &expected, Path::new("/out/result.yaml"))
    }

    // SR-03
    #[test]
    fn every_kind_of_failure_changes_the_prompt_in_its_own_way() {
        let form = Problem::new("payload.proposals[0].text", "a text", "nothing").to_string();
        let cases = [
            (
                "the result: expected the result in its file, or as the last fenced block of the answer, found neither",
                2,
                "`/out/result.yaml`",
            ),
            ("the result: expected at least 100 characters of it, found 12", 2, "even if you are uncertain"),
            (form.as_str(), 2, "Fill in this template"),
            (form.as_str(), 3, "a whole result as it would be accepted"),
            (
                "payload.proposals: expected a gap that was assigned: one of GAP-FLOW-007, found GAP-X-001",
                2,
                "- GAP-FLOW-007",
            ),
        ];
        let all: Vec<String> = cases.iter().map(|(detail, attempt, _)| told(detail, *attempt)).collect();
        for ((detail, _, wanted), text) in cases.iter().zip(&all) {
            assert!(text.starts_with(detail) && text.contains(wanted), "{text}");
            assert_eq!(all.iter().filter(|other| other.contains(wanted)).count(), 1, "{wanted}");
        }
    }

    #[test]
    fn what_is_no_matter_of_form_is_told_as_it_is() {
        let refused =
            Refused { failure: "timeout".to_string(), detail: "no end within 5 seconds".to_string() };
        let expected = Expectation::new(SchemaId::GapReview, "spec-reviewer", "reviewer", &["reviewed"]);
        assert_eq!(words(&refused, 2, &expected, Path::new("x")), "no end within 5 seconds");
    }
}
