//! What to look at first when a change does not pass.

use remand_reports::{ChangeReport, ChangeSource, ChangeVerdict, CheckSummary, FindingSummary, FirstLook};

/// The one thing to look at first; `None` if the change passes.
pub fn first_look(report: &ChangeReport) -> Option<FirstLook> {
    match report.verdict {
        ChangeVerdict::Pass => None,
        ChangeVerdict::Fail => Some(at_failure(report)),
        ChangeVerdict::Unmeasured => Some(at_missing_proof(report)),
        ChangeVerdict::Blocked => Some(FirstLook {
            place: None,
            sentence: format!("the engine could not judge: {}", report.reason),
            command: Some("remand doctor".to_string()),
        }),
    }
}

fn at_failure(report: &ChangeReport) -> FirstLook {
    if let Some(secret) = report.secrets.first() {
        return FirstLook {
            sentence: format!("an added line of {} contains a {}", secret.place.file, secret.shape),
            command: Some(difference(report, &secret.place.file)),
            place: Some(secret.place.clone()),
        };
    }
    let worst = report.findings.iter().map(|finding| finding.severity).max();
    // A defect with a place is easier to look at than a check that fails because of it.
    let rank = |finding: &&FindingSummary| {
        let order = [
            "merge-conflict",
            "test-regressed",
            "check-failed",
            "old-test-fails",
            "test-weakened",
            "settings-changed",
            "test-new-red",
            "test-still-red",
            "test-gone",
            "test-switched-off",
            "test-flaky",
        ];
        let rank = order.iter().position(|rule| *rule == finding.rule).unwrap_or(order.len());
        (finding.place.file.is_empty(), rank)
    };
    let first = report.findings.iter().filter(|finding| Some(finding.severity) == worst).min_by_key(rank);
    match first {
        Some(finding) => FirstLook {
            place: Some(finding.place.clone()).filter(|place| !place.file.is_empty()),
            sentence: finding.claim.clone(),
            command: command(report, finding),
        },
        None => FirstLook { place: None, sentence: report.reason.clone(), command: None },
    }
}

fn at_missing_proof(report: &ChangeReport) -> FirstLook {
    let failing = report.checks.iter().find(|check| check.verdict.is_failure());
    let command = failing.and_then(reproduction);
    let sentence = match failing {
        Some(check) => format!(
            "the check `{}` fails at the base too, so it proves nothing: {}",
            check.name, check.reason
        ),
        None => "no build and no test judges the change; add a command under `[checks]` in remand.toml"
            .to_string(),
    };
    FirstLook {
        place: None,
        sentence: sentence.trim_end_matches(": ").to_string(),
        command: command.or_else(|| Some("remand doctor".to_string())),
    }
}

/// The command that shows what a finding is about.
fn command(report: &ChangeReport, finding: &FindingSummary) -> Option<String> {
    match finding.rule.as_str() {
        "merge-conflict" => Some(finding.evidence.clone()),
        "test-weakened" | "settings-changed" | "old-test-fails" => {
            Some(difference(report, &finding.place.file))
        }
        _ => {
            let named = |check: &&CheckSummary| finding.claim.contains(&format!("`{}`", check.name));
            let failing = |check: &&CheckSummary| check.verdict.is_failure();
            let checks = || report.checks.iter();
            checks().find(named).or_else(|| checks().find(failing)).and_then(reproduction)
        }
    }
}

/// The command of a check, from the root of the repository.
fn reproduction(check: &CheckSummary) -> Option<String> {
    let command = check.command.as_ref()?;
    Some(if check.folder.is_empty() {
        command.clone()
    } else {
        format!("(cd {} && {command})", quoted(&check.folder))
    })
}

/// The command that shows what the change does to a file.
fn difference(report: &ChangeReport, file: &str) -> String {
    let change = &report.change;
    let short = |commit: &str| commit.get(..12).unwrap_or(commit).to_string();
    match change.source {
        ChangeSource::Staged => format!("git diff --cached -- {}", quoted(file)),
        _ => format!("git diff {} {} -- {}", short(&change.base), short(&change.head), quoted(file)),
    }
}

fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.to_string(), |quoted| quoted.into_owned())
}
