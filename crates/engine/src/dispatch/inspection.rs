//! The inspection of the tree after an agent's process ended, and the failure that follows from it.

use super::{Prepared, out_of_time};
use crate::site::Trouble;
use remand_agents::driver::AgentReport;
use remand_git::{ChangedPath, Leftover, TreeId};
use remand_kernel::signal::Failure;
use remand_ledger::Blob;
use remand_ledger::fact::Note;
use remand_process::{Exit, JobEnd};

/// The state of the tree after a process ended.
pub struct Inspection {
    pub after: TreeId,
    pub violations: Vec<ChangedPath>,
    /// All leftovers; they are always undone.
    pub leftovers: Vec<Leftover>,
    /// The leftovers that fail the dispatch.
    pub forbidden: Vec<Leftover>,
    pub notes: Vec<Note>,
    pub blobs: Vec<Blob>,
}

impl Inspection {
    pub fn is_violation(&self) -> bool {
        !self.violations.is_empty() || !self.forbidden.is_empty()
    }

    pub fn violation_text(&self, prepared: &Prepared<'_>) -> String {
        let changes = self.violations.iter().map(|change| change.path.display().to_string());
        let all: Vec<String> = changes.chain(self.forbidden.iter().map(Leftover::to_string)).collect();
        let (listed, more) = all.split_at(all.len().min(5));
        let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
        let (title, permitted) = (&prepared.title, prepared.permit.description());
        format!("{title} changed {}{more}; it may change {permitted}", listed.join(", "))
    }

    pub fn files(&self) -> Vec<String> {
        let changes = self.violations.iter().map(|change| &change.path);
        changes
            .chain(self.forbidden.iter().map(|leftover| &leftover.path))
            .map(|path| path.display().to_string())
            .collect()
    }
}

/// The failure that the process or the changes of the dispatch show; `None` if the result decides.
pub fn failure(
    prepared: &Prepared<'_>,
    ended: &JobEnd,
    agent_report: &AgentReport,
    inspection: &Inspection,
) -> Option<Trouble> {
    if ended.exit != Exit::Cancelled && inspection.is_violation() {
        return Some(Trouble::new(Failure::Violation, inspection.violation_text(prepared)));
    }
    if let Some(exceeded) = &ended.exceeded {
        return Some(Trouble::new(Failure::Crashed, exceeded.explain()));
    }
    let reported = agent_report.failure.clone().map(|(failure, detail)| Trouble::new(failure, detail));
    // Some programs retry a failing service until they time out: then the service is the cause.
    let service_failure = reported.clone().filter(|reported| reported.failure == Failure::Environment);
    let crashed = |how: String| Trouble::new(Failure::Crashed, format!("{how}{}", stderr_tail(ended)));
    match ended.exit {
        Exit::TimedOut if out_of_time(prepared.job).is_some() => out_of_time(prepared.job),
        Exit::TimedOut => {
            let detail = format!("timed out after {} seconds", prepared.choice.seconds);
            Some(service_failure.unwrap_or_else(|| Trouble::new(Failure::Timeout, detail)))
        }
        Exit::Silent => Some(service_failure.unwrap_or_else(|| {
            Trouble::new(
                Failure::Timeout,
                "no output and no running tool for too long (`silence` of the agent)",
            )
        })),
        Exit::Signal(signal) => Some(crashed(format!("killed by signal {signal}"))),
        Exit::Cancelled => Some(Trouble::cancelled()),
        Exit::Code(0) | Exit::Lingered => reported,
        Exit::Code(code) => Some(reported.unwrap_or_else(|| crashed(format!("exit code {code}")))),
    }
}

/// The last line of standard error.
fn stderr_tail(ended: &JobEnd) -> String {
    let text = ended.stderr.text();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    match lines.as_slice() {
        [] => String::new(),
        [.., last] => format!(": {}", remand_notation::clean(last.trim())),
    }
}
