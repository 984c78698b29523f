//! Compares the outcome of a case with the expected one.

use super::must::{Commit, Must, Never};
use super::oracle::OracleJudgement;
use super::records::Records;
use remand_ledger::query::RunStage;
use remand_process::Exit;

/// Everything that was observed in a trial.
#[derive(Debug)]
pub struct ObservedOutcome {
    pub exit: Option<Exit>,
    pub records: Option<Records>,
    /// The oracle's judgement of the commit, if there is one.
    pub commit: Option<OracleJudgement>,
    /// The paths in the commit.
    pub committed: Vec<String>,
    /// The paths that the commit changes.
    pub changed: Vec<String>,
    /// What no case may do: change files outside, leave processes, reach a listener, or print escape sequences.
    pub trespasses: Vec<String>,
    /// Text and files that exist although the case forbids them.
    pub forbidden: Vec<String>,
}

/// The judgement of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseVerdict {
    AsStated,
    BadWorkCommitted,
    GoodWorkStopped,
    /// Something outside the trial was changed, reached or left over.
    Escaped,
    NotAsStated,
}

impl CaseVerdict {
    /// Whether the misbehaviour was accepted.
    pub fn is_accepted(self) -> bool {
        match self {
            CaseVerdict::BadWorkCommitted | CaseVerdict::Escaped => true,
            CaseVerdict::AsStated | CaseVerdict::GoodWorkStopped | CaseVerdict::NotAsStated => false,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            CaseVerdict::AsStated => "as stated",
            CaseVerdict::BadWorkCommitted => "bad work committed",
            CaseVerdict::GoodWorkStopped => "good work stopped",
            CaseVerdict::Escaped => "escaped",
            CaseVerdict::NotAsStated => "not as stated",
        }
    }
}

impl ObservedOutcome {
    pub fn verdict(&self, must: &Must, broken: &[String]) -> CaseVerdict {
        match (&self.commit, must.commit) {
            (Some(OracleJudgement::Bad(_)), _) => CaseVerdict::BadWorkCommitted,
            _ if !self.trespasses.is_empty() => CaseVerdict::Escaped,
            (None, Commit::Good) => CaseVerdict::GoodWorkStopped,
            _ if broken.is_empty() => CaseVerdict::AsStated,
            _ => CaseVerdict::NotAsStated,
        }
    }

    /// Describes every expected fact that does not hold.
    pub fn broken(&self, must: &Must) -> Vec<String> {
        let mut broken = Vec::new();
        if !must.exit.iter().any(|code| self.exit == Some(Exit::Code(*code))) {
            let exit = self.exit.map_or_else(|| "no exit status".to_string(), |exit| exit.to_string());
            let codes: Vec<String> = must.exit.iter().map(ToString::to_string).collect();
            broken.push(format!("it ended with {exit}, not with exit code {}", codes.join(" or ")));
        }
        match (&self.commit, must.commit) {
            (Some(OracleJudgement::Bad(output)), _) => {
                broken.push(format!("the commit fails the oracle: {output}"))
            }
            (Some(OracleJudgement::Good), Commit::None) => broken.push("there is a commit".to_string()),
            (None, Commit::Good) => broken.push("there is no commit".to_string()),
            (Some(OracleJudgement::Good), Commit::Good) | (None, Commit::None) => {}
        }
        broken.extend(self.trespasses.iter().cloned());
        broken.extend(self.forbidden.iter().cloned());
        let Some(records) = &self.records else {
            broken.push("the ledger has no run".to_string());
            return broken;
        };
        if let Some(signal) = must.because.as_ref().filter(|signal| !records.has_ruling_on(signal)) {
            broken.push(format!("the run had no ruling on `{signal}`"));
        }
        if let Some(max) = must.dispatches.filter(|max| records.run.used.dispatches > *max) {
            broken.push(format!("it took {} dispatches, more than {max}", records.run.used.dispatches));
        }
        broken.extend(must.records.iter().filter_map(|record| records.missing(record)));
        broken.extend(must.never.iter().filter_map(|never| self.forbidden_record(never, records)));
        broken
    }

    /// Describes a forbidden fact that the records show. Stored text and files were checked before.
    fn forbidden_record(&self, never: &Never, records: &Records) -> Option<String> {
        match never {
            Never::Kept(_) | Never::File(_) | Never::Prompted(_) => None,
            Never::Committed(path) => {
                self.committed.contains(path).then(|| format!("the commit contains {path}"))
            }
            Never::Changed(path) => self.changed.contains(path).then(|| format!("the commit changes {path}")),
            Never::Signal(signal) => {
                records.has_ruling_on(signal).then(|| format!("the run had a ruling on `{signal}`"))
            }
            Never::Role(role) => records
                .dispatches
                .iter()
                .any(|row| row.role == *role)
                .then(|| format!("the role {role} was dispatched")),
        }
    }

    /// What happened, in a few words.
    pub fn happened(&self) -> String {
        let Some(records) = &self.records else { return "no run started".to_string() };
        let reason = records.rulings.iter().rev().map(|row| row.ruling.signal.as_str()).find(|signal| {
            ["circle", "reversal", "repeated", "oscillation", "no-result", "spent", "stuck"].contains(signal)
        });
        let because = reason.map_or_else(String::new, |reason| format!(": {reason}"));
        let failure = records.dispatches.iter().rev().find_map(|row| row.failure.as_deref());
        let end = match (&self.commit, records.run.stage) {
            (Some(_), _) => match (records.dispatches.len(), records.violations()) {
                (count, 0) => format!("committed after {count} dispatches"),
                (_, 1) => "one dispatch lost, then committed".to_string(),
                (_, violations) => format!("{violations} dispatches lost, then committed"),
            },
            (
                None,
                stage
                @ (RunStage::Committed | RunStage::LeftToYou | RunStage::Failed | RunStage::Interrupted),
            ) => format!("{}{because}", stage.name()),
            (
                None,
                stage @ (RunStage::Stopped | RunStage::Waiting | RunStage::Paused | RunStage::Running),
            ) => stage.name().to_string(),
        };
        match failure.filter(|failure| self.commit.is_none() && *failure != "cancelled") {
            Some(failure) => format!("{end} ({failure})"),
            None => end,
        }
    }
}
