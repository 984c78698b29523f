//! The section of a retry's prompt that explains the failed attempt. For a malformed result, it adds help that depends on
//! the cause.

use super::earlier::FailedAttempt;
use remand_contract::{Expectation, fence_for};
use remand_ledger::fact::MalformedCause;
use std::path::Path;

/// The explanation in the prompt of attempt number `attempt`.
pub fn explanation(failed: &FailedAttempt, attempt: u16, expected: &Expectation, result: &Path) -> String {
    let detail = failed.detail.trim_end();
    let Some(cause) = failed.malformed else { return detail.to_string() };
    let help = match cause {
        MalformedCause::Missing => format!(
            "No result was found. Submit it with the tool, or write it to `{}` before you finish.",
            result.display()
        ),
        MalformedCause::TooShort => {
            "Answer even if you are uncertain: say what you know, how sure you are, and what is missing."
                .to_string()
        }
        MalformedCause::UnassignedGap => {
            let gaps = expected.known.gaps.clone().unwrap_or_default();
            format!("Your result has to address at least one of these gaps:\n\n{}", bullets(&gaps))
        }
        MalformedCause::WrongForm if attempt <= 2 => {
            format!("Fill in this template:\n\n{}", fenced(&remand_contract::outline_for(expected)))
        }
        MalformedCause::WrongForm => {
            format!("This is an example of a complete, valid result:\n\n{}", fenced(&expected.example()))
        }
    };
    format!("{detail}\n\n{help}")
}

fn bullets(gaps: &[String]) -> String {
    gaps.iter().map(|gap| format!("- {gap}\n")).collect()
}

fn fenced(text: &str) -> String {
    let fence = fence_for(text);
    format!("{fence}yaml\n{}\n{fence}", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use remand_contract::{ContractProblem, SchemaId};
    use remand_kernel::signal::Failure;

    fn explain(cause: MalformedCause, detail: &str, attempt: u16) -> String {
        let mut expected =
            Expectation::new(SchemaId::GapProposals, "engineer", "engineer", &["proposed", "nothing"]);
        expected.known.gaps = Some(vec!["GAP-FLOW-007".to_string()]);
        let failed = FailedAttempt {
            failure: Failure::Malformed.name().to_string(),
            detail: detail.to_string(),
            malformed: Some(cause),
            refused: None,
        };
        explanation(&failed, attempt, &expected, Path::new("/out/result.yaml"))
    }

    // SR-03
    #[test]
    fn every_kind_of_malformed_result_gets_different_help() {
        let form = ContractProblem::new("payload.proposals[0].text", "a string", "nothing").to_string();
        let cases = [
            (MalformedCause::Missing, "no result was found", 2, "`/out/result.yaml`"),
            (MalformedCause::TooShort, "expected at least 100 characters", 2, "even if you are uncertain"),
            (MalformedCause::WrongForm, form.as_str(), 2, "Fill in this template"),
            (MalformedCause::WrongForm, form.as_str(), 3, "a complete, valid result"),
            (MalformedCause::UnassignedGap, "payload.proposals: GAP-X-001", 2, "- GAP-FLOW-007"),
        ];
        let all: Vec<String> =
            cases.iter().map(|(cause, detail, attempt, _)| explain(*cause, detail, *attempt)).collect();
        for ((_, detail, _, help), text) in cases.iter().zip(&all) {
            assert!(text.starts_with(detail) && text.contains(help), "{text}");
            assert_eq!(all.iter().filter(|other| other.contains(help)).count(), 1, "{help}");
        }
    }

    #[test]
    fn other_failures_are_explained_by_their_reason_alone() {
        let failed = FailedAttempt {
            failure: "timeout".to_string(),
            detail: "no result within 5 seconds".to_string(),
            malformed: None,
            refused: None,
        };
        let expected = Expectation::new(SchemaId::GapReview, "spec-reviewer", "reviewer", &["reviewed"]);
        assert_eq!(explanation(&failed, 2, &expected, Path::new("x")), "no result within 5 seconds");
    }
}
