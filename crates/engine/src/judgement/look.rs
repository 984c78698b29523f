//! What to look at first when a change does not pass.

use crate::given_change::GivenChange;
use remand_reports::{ChangeReport, ChangeSource, ChangeVerdict, CheckSummary, FindingSummary, FirstLook};

/// The one thing to look at first; `None` if the change passes.
pub fn first_look(report: &ChangeReport, given: &GivenChange) -> Option<FirstLook> {
    let judged = Judged { report, given };
    match report.verdict {
        ChangeVerdict::Pass => None,
        ChangeVerdict::Fail => Some(judged.at_failure()),
        ChangeVerdict::Unmeasured => Some(judged.at_missing_proof()),
        ChangeVerdict::Blocked => Some(FirstLook {
            place: None,
            sentence: format!("the engine could not judge: {}", report.reason),
            command: Some("remand doctor".to_string()),
        }),
    }
}

/// A report, and the change as it was given.
struct Judged<'j> {
    report: &'j ChangeReport,
    given: &'j GivenChange,
}

impl Judged<'_> {
    fn at_failure(&self) -> FirstLook {
        let report = self.report;
        if let Some(secret) = report.secrets.first() {
            return FirstLook {
                sentence: format!(
                    "an added line of {} contains a secret: {}",
                    secret.place.file, secret.shape
                ),
                command: Some(self.difference(&secret.place.file)),
                place: Some(secret.place.clone()),
            };
        }
        let worst = report.findings.iter().map(|finding| finding.severity).max();
        let first = report.findings.iter().filter(|finding| Some(finding.severity) == worst).min_by_key(rank);
        match first {
            Some(finding) => FirstLook {
                place: Some(finding.place.clone()).filter(|place| !place.file.is_empty()),
                sentence: finding.claim.clone(),
                command: self.command(finding),
            },
            None => FirstLook { place: None, sentence: report.reason.clone(), command: None },
        }
    }

    fn at_missing_proof(&self) -> FirstLook {
        let failing = self.report.checks.iter().find(|check| check.verdict.is_failure());
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
            command: failing
                .and_then(|check| self.reproduction(check))
                .or_else(|| Some("remand doctor".to_string())),
        }
    }

    /// The command that shows what a finding is about.
    fn command(&self, finding: &FindingSummary) -> Option<String> {
        match finding.rule.as_str() {
            "merge-conflict" => Some(finding.evidence.clone()),
            "test-weakened" | "settings-changed" | "old-test-fails" | "syntax-error" | "review"
                if !finding.place.file.is_empty() =>
            {
                Some(self.difference(&finding.place.file))
            }
            _ => {
                let named = |check: &&CheckSummary| finding.claim.contains(&format!("`{}`", check.name));
                let failing = |check: &&CheckSummary| check.verdict.is_failure();
                let checks = || self.report.checks.iter();
                checks()
                    .find(named)
                    .or_else(|| checks().find(failing))
                    .and_then(|check| self.reproduction(check))
            }
        }
    }

    /// The command of a check, from the root of the repository. What is not checked out is checked out first.
    fn reproduction(&self, check: &CheckSummary) -> Option<String> {
        let command = check.command.as_ref()?;
        let command = if check.folder.is_empty() {
            command.clone()
        } else {
            format!("(cd {} && {command})", quoted(&check.folder))
        };
        let change = &self.report.change;
        let is_here = match change.source {
            ChangeSource::Staged | ChangeSource::Uncommitted => true,
            ChangeSource::Range { .. }
            | ChangeSource::Branch { .. }
            | ChangeSource::Patch { .. }
            | ChangeSource::Merge { .. } => {
                self.given.checked_out.as_ref().is_some_and(|commit| commit.as_str() == change.head)
            }
        };
        Some(if is_here {
            command
        } else {
            format!("git checkout --detach {} && {command}", short(&change.head))
        })
    }

    /// The command that shows what the change does to a file.
    fn difference(&self, file: &str) -> String {
        let change = &self.report.change;
        match change.source {
            ChangeSource::Staged => format!("git diff --cached -- {}", quoted(file)),
            ChangeSource::Uncommitted
            | ChangeSource::Range { .. }
            | ChangeSource::Branch { .. }
            | ChangeSource::Patch { .. }
            | ChangeSource::Merge { .. } => {
                format!("git diff {} {} -- {}", short(&change.base), short(&change.head), quoted(file))
            }
        }
    }
}

/// A defect with a place is easier to look at than a check that fails because of it.
fn rank(finding: &&FindingSummary) -> (bool, usize) {
    let order = [
        "merge-conflict",
        "syntax-error",
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
}

fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}

fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.to_string(), |quoted| quoted.into_owned())
}
