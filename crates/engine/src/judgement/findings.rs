//! The findings of a judged change, each with a rule and an identity that stays the same when code moves.

use remand_ledger::query::FindingRow;
use remand_reports::{CheckSummary, FindingSummary, SecretSummary, TestChange};

/// The number of digits of an identity.
const DIGITS: usize = 32;

/// A finding as reports show it.
pub fn summary(finding: &FindingRow, checks: &[CheckSummary]) -> FindingSummary {
    let rule = rule(finding, checks);
    // The engine's ids name the test, check or file. Reviewers number their findings, so their words count.
    let key = match rule {
        "review" => {
            let place = &finding.place;
            format!(
                "{}\n{}\n{}\n{}",
                finding.category.name(),
                place.file,
                place.symbol,
                words(&finding.claim)
            )
        }
        _ => finding.id.clone(),
    };
    FindingSummary {
        identity: identity(&[rule, &key]),
        rule: rule.to_string(),
        severity: finding.severity,
        place: finding.place.clone(),
        claim: finding.claim.clone(),
        evidence: finding.evidence.clone(),
        remedy: finding.recommendation.clone(),
    }
}

/// Gives the tests that have a finding its place and claim.
pub fn explain_tests(checks: &mut [CheckSummary], findings: &[FindingRow]) {
    for check in checks {
        let prefix = format!("test:{}:", check.name);
        for test in &mut check.tests {
            let of_test =
                |finding: &&FindingRow| finding.id.strip_prefix(&prefix) == Some(test.name.as_str());
            let Some(finding) = findings.iter().find(of_test) else { continue };
            test.place = Some(finding.place.clone()).filter(|place| !place.file.is_empty());
            test.message.clone_from(&finding.claim);
        }
    }
}

/// The secrets that the change adds.
pub fn secrets(findings: &[FindingRow]) -> Vec<SecretSummary> {
    let of_secrets = findings.iter().filter(|finding| finding.id.starts_with("secret-"));
    of_secrets
        .map(|finding| {
            let shape = finding.evidence.split_once("[secret: ").and_then(|(_, rest)| rest.split_once(']'));
            SecretSummary {
                identity: identity(&["secret", &finding.place.file, finding.evidence.trim()]),
                shape: shape.map_or_else(|| "secret".to_string(), |(shape, _)| shape.to_string()),
                place: finding.place.clone(),
            }
        })
        .collect()
}

/// The kind of defect, by the id that the engine gives its findings.
fn rule(finding: &FindingRow, checks: &[CheckSummary]) -> &'static str {
    let Some((prefix, rest)) = finding.id.split_once(':') else {
        return if finding.id.starts_with("merge-") {
            "merge-conflict"
        } else if finding.id.starts_with("gate-") {
            "gate"
        } else {
            "review"
        };
    };
    match prefix {
        "test" => {
            let mut of_check = checks.iter().filter_map(|check| {
                let test = rest.strip_prefix(check.name.as_str())?.strip_prefix(':')?;
                Some((check, check.tests.iter().find(|known| known.name == test)))
            });
            match of_check.next() {
                // The engine's own checks list files.
                Some((check, _)) if check.command.is_none() => "syntax-error",
                Some((_, test)) => test_rule(test.map(|test| test.change)),
                None => test_rule(None),
            }
        }
        "check" => "check-failed",
        "old-test" => "old-test-fails",
        "test-proof" => "unproven",
        "doubt" => "check-doubtful",
        "tests" => "test-weakened",
        "settings" => "settings-changed",
        _ => "review",
    }
}

fn test_rule(change: Option<TestChange>) -> &'static str {
    match change {
        Some(TestChange::Gone) => "test-gone",
        Some(TestChange::NewRed) => "test-new-red",
        Some(TestChange::NewFlaky | TestChange::Flaky) => "test-flaky",
        Some(TestChange::StillRed) => "test-still-red",
        Some(TestChange::SwitchedOff | TestChange::Skipped) => "test-switched-off",
        Some(TestChange::Regressed | TestChange::Fixed | TestChange::New | TestChange::Passed) | None => {
            "test-regressed"
        }
    }
}

fn identity(parts: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(part.as_bytes());
        hasher.update(&[0]);
    }
    hasher.finalize().to_hex()[..DIGITS].to_string()
}

/// The words of a claim without digits and punctuation, which change when code moves.
fn words(claim: &str) -> String {
    let words = claim.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}
