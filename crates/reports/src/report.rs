//! A judged change: the verdict, and everything that it rests on.

use crate::checked::{CheckSummary, CheckVerdict, TestChange};
use crate::proofs::ProofSummary;
use remand_kernel::finding::{Location, Severity};
use serde::{Deserialize, Serialize};

/// The judgement of one change. Its JSON form is public: fields are only added, and `format` is increased if an
/// existing field changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeReport {
    pub format: u32,
    /// The run whose evidence this report summarizes.
    pub run: String,
    /// The workflow that judged.
    pub workflow: String,
    pub engine_version: String,
    /// As `2026-01-31T23:59:59Z`.
    pub started: String,
    /// As `2026-01-31T23:59:59Z`.
    pub ended: String,
    pub duration_ms: u64,
    pub change: JudgedChange,
    pub verdict: ChangeVerdict,
    /// The reason for the verdict, in one sentence.
    pub reason: String,
    /// What to look at first; every verdict except a pass has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub look: Option<FirstLook>,
    #[serde(default)]
    pub checks: Vec<CheckSummary>,
    /// Worst first.
    #[serde(default)]
    pub findings: Vec<FindingSummary>,
    #[serde(default)]
    pub releases: Vec<TestRelease>,
    /// The tests of the base on the changed code, for each check that ran them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub old_tests: Vec<OldTestsSummary>,
    /// `None` if no proof was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proofs: Option<ProofSummary>,
    #[serde(default)]
    pub secrets: Vec<SecretSummary>,
    /// What only a reader can judge, such as a changed assertion, and what a program tried that the sandbox refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What this verdict does not cover.
    #[serde(default)]
    pub unmeasured: Vec<Unmeasured>,
}

impl ChangeReport {
    /// The current value of `format`.
    pub const FORMAT: u32 = 1;

    /// Number of tests of all checks with this change.
    pub fn count(&self, change: TestChange) -> usize {
        self.checks.iter().map(|check| check.count(change)).sum()
    }

    /// The checks that could not judge, because the environment lacks something or the engine ended them.
    pub fn broken_checks(&self) -> impl Iterator<Item = &CheckSummary> {
        self.checks.iter().filter(|check| check.verdict == CheckVerdict::CouldNotRun)
    }
}

/// What was judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgedChange {
    pub source: ChangeSource,
    /// The commit whose settings, checks and tests were used for the judgement.
    pub base: String,
    /// The commit that was judged; for staged work and patches, the engine's own commit of it.
    pub head: String,
    /// Changed files, relative to the repository.
    pub paths: Vec<String>,
    /// The commits that were merged onto the base, in this order.
    #[serde(default)]
    pub parts: Vec<JudgedPart>,
}

/// One commit of a judged change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgedPart {
    pub name: String,
    pub commit: String,
    /// The commit after the merge; equal to `commit` if nothing had to be merged.
    pub after: String,
}

/// Where a change came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ChangeSource {
    /// As the user wrote it, for example `main..feature`.
    Range {
        text: String,
    },
    Branch {
        name: String,
    },
    Staged,
    /// Everything in the checkout that is not ignored.
    Uncommitted,
    Patch {
        file: String,
    },
    /// The merge of several branches.
    Merge {
        branches: Vec<String>,
    },
}

impl ChangeSource {
    /// The change in a few words.
    pub fn describe(&self) -> String {
        match self {
            ChangeSource::Range { text } => text.clone(),
            ChangeSource::Branch { name } => name.clone(),
            ChangeSource::Staged => "the staged changes".to_string(),
            ChangeSource::Uncommitted => "the uncommitted changes".to_string(),
            ChangeSource::Patch { file } if file == "-" => "the patch on standard input".to_string(),
            ChangeSource::Patch { file } => format!("the patch {file}"),
            ChangeSource::Merge { branches } => format!("the merge of {}", branches.join(", ")),
        }
    }
}

/// The verdict about a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeVerdict {
    Pass,
    /// The change is worse than its base.
    Fail,
    /// Nothing proves the change, and nothing speaks against it.
    Unmeasured,
    /// The engine could not judge; this says nothing about the change.
    Blocked,
}

impl ChangeVerdict {
    pub const ALL: [ChangeVerdict; 4] =
        [ChangeVerdict::Pass, ChangeVerdict::Fail, ChangeVerdict::Unmeasured, ChangeVerdict::Blocked];

    pub fn name(self) -> &'static str {
        match self {
            ChangeVerdict::Pass => "pass",
            ChangeVerdict::Fail => "fail",
            ChangeVerdict::Unmeasured => "unmeasured",
            ChangeVerdict::Blocked => "blocked",
        }
    }
}

/// The one thing to look at first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstLook {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Location>,
    pub sentence: String,
    /// A command that reproduces it, from the root of the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// One defect of the change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingSummary {
    /// Equal for the same defect in every report, also after the code moved.
    pub identity: String,
    /// What kind of defect it is, in kebab case: `test-weakened`, `test-regressed`, `review`.
    pub rule: String,
    pub severity: Severity,
    #[serde(default)]
    pub place: Location,
    pub claim: String,
    #[serde(default)]
    pub evidence: String,
    /// What to do about it.
    #[serde(default)]
    pub remedy: String,
}

/// The tests of a check as they were at the base, on the changed code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OldTestsSummary {
    pub check: String,
    pub passed: bool,
    /// How many pass, which are released and why, and which are not released.
    pub reason: String,
}

/// A permission to change or remove a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestRelease {
    /// The name of the test, or a file that stands for all of its tests.
    pub test: String,
    pub by: String,
    pub why: String,
}

/// A secret that the change adds. The value itself is never part of a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretSummary {
    /// Equal for the same secret in every report; does not reveal it.
    pub identity: String,
    /// What it looks like, for example `GitHub token`.
    pub shape: String,
    pub place: Location,
}

/// Something that the verdict does not cover.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unmeasured {
    pub kind: UnmeasuredKind,
    pub what: String,
    pub why: String,
}

/// Why something is not covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnmeasuredKind {
    /// No check looked at it.
    NotChecked,
    /// The sandbox cannot enforce this property on this machine.
    NotHeld,
    /// The time or the budget for it was spent.
    OutOfBudget,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checked::{CheckOrigin, TestSummary};
    use crate::proofs::{MutantSummary, ReportedFate, ReportedProof, ReportedTest};
    use remand_kernel::evidence::Tier;

    fn report() -> ChangeReport {
        let place = |file: &str, line| Location { file: file.into(), symbol: String::new(), line };
        ChangeReport {
            format: ChangeReport::FORMAT,
            run: "20261119-010203-abcd".into(),
            workflow: "vet".into(),
            engine_version: "0.1.0".into(),
            started: "2026-11-19T01:02:03Z".into(),
            ended: "2026-11-19T01:02:05Z".into(),
            duration_ms: 2_000,
            change: JudgedChange {
                source: ChangeSource::Range { text: "main..feature".into() },
                base: "1".repeat(40),
                head: "2".repeat(40),
                paths: vec!["src/lib.rs".into()],
                parts: Vec::new(),
            },
            verdict: ChangeVerdict::Fail,
            reason: "one test regressed".into(),
            look: Some(FirstLook {
                place: Some(place("src/lib.rs", 3)),
                sentence: "`adds` passed before and now fails".into(),
                command: Some("cargo test adds".into()),
            }),
            checks: vec![CheckSummary {
                name: "cargo-test".into(),
                tier: Some(Tier::Two),
                command: Some("cargo test".into()),
                folder: String::new(),
                exit_code: Some(101),
                duration_ms: 1_500,
                verdict: CheckVerdict::Failed,
                verdict_at_base: Some(CheckVerdict::Passed),
                origin: CheckOrigin::Reused { run: "20261118-010203-abcd".into() },
                reason: String::new(),
                snippet: "assertion failed".into(),
                tests: vec![TestSummary {
                    name: "adds".into(),
                    change: TestChange::Regressed,
                    place: None,
                    message: String::new(),
                }],
            }],
            findings: Vec::new(),
            releases: Vec::new(),
            old_tests: vec![OldTestsSummary { check: "unit".into(), passed: true, reason: "2 of 2".into() }],
            proofs: Some(ProofSummary {
                tests: vec![ReportedTest { test: "adds".into(), proof: ReportedProof::RedAtBase }],
                mutants: vec![MutantSummary {
                    identity: "m1".into(),
                    place: place("src/lib.rs", 3),
                    change: "`<` became `<=`".into(),
                    fate: ReportedFate::Killed { test: "adds".into() },
                }],
                spent_ms: 10,
                summary: String::new(),
            }),
            secrets: Vec::new(),
            warnings: vec!["an assertion is changed; a reader must judge".into()],
            unmeasured: vec![Unmeasured {
                kind: UnmeasuredKind::NotHeld,
                what: "no network".into(),
                why: "the kernel has no Landlock".into(),
            }],
        }
    }

    // BY-02
    #[test]
    fn a_report_survives_json_and_counts_its_tests() {
        let report = report();
        let text = serde_json::to_string(&report).expect("JSON");
        assert_eq!(serde_json::from_str::<ChangeReport>(&text).expect("report"), report);
        assert!(text.contains(r#""verdict":"fail""#) && text.contains(r#""change":"regressed""#), "{text}");
        assert_eq!((report.count(TestChange::Regressed), report.count(TestChange::Passed)), (1, 0));
    }
}
