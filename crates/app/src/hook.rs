//! Answers the Stop hook of a coding agent: says once what is missing, and lets the agent stop the second time.

use crate::workplace::Workplace;
use remand_reports::{ChangeReport, ChangeVerdict};
use remand_terminal::output::{print_json, tell};
use remand_terminal::{CommandFailure, ExitCode};
use serde::Deserialize;
use serde_json::json;
use std::io::{IsTerminal, Read};

/// The file that records which change the agent was told about.
const SAID: &str = "hook-said";

/// What the agent program passes to its hook. Programs without such a message pass nothing.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct HookCall {
    /// Whether the agent continues because of a hook.
    stop_hook_active: bool,
    /// Another session has not been told.
    session_id: String,
}

impl HookCall {
    /// Reads the call from standard input.
    pub fn read() -> Result<HookCall, CommandFailure> {
        let mut stdin = std::io::stdin().lock();
        if stdin.is_terminal() {
            return Ok(HookCall::default());
        }
        let mut text = String::new();
        stdin.read_to_string(&mut text).map_err(|error| {
            CommandFailure::user(
                "the hook's message cannot be read",
                "pass JSON, or nothing, on standard input",
            )
            .caused_by(error.to_string())
        })?;
        if text.trim().is_empty() {
            return Ok(HookCall::default());
        }
        serde_json::from_str(&text).map_err(|error| {
            CommandFailure::user("the hook's message is not JSON", "pass JSON, or nothing, on standard input")
                .caused_by(error.to_string())
        })
    }

    /// Whether the agent has already been told, and may stop.
    pub fn is_answered(&self) -> bool {
        self.stop_hook_active
    }
}

/// Keeps the agent from stopping if the change fails and it has not been told so yet. Only a failure is the agent's to fix;
/// anything else is told to the user.
pub fn answer(
    call: &HookCall,
    workplace: &Workplace,
    report: &ChangeReport,
) -> Result<ExitCode, CommandFailure> {
    match report.verdict {
        ChangeVerdict::Pass => return Ok(ExitCode::Done),
        ChangeVerdict::Unmeasured | ChangeVerdict::Blocked => {
            tell(&format!("remand: {}: {}", report.verdict.name(), report.reason));
            return Ok(ExitCode::Done);
        }
        ChangeVerdict::Fail => {}
    }
    let file = workplace.home.root().join(SAID);
    let said = std::fs::read_to_string(&file).unwrap_or_default();
    let identity = identity(call, report);
    if said.lines().any(|line| line == identity) {
        tell(&format!("remand: still failing, as said before: {}", report.reason));
        return Ok(ExitCode::Done);
    }
    // Only the latest matter: an agent that was told about a change makes another one.
    let kept: Vec<&str> = said.lines().rev().take(99).collect();
    let text: String =
        kept.into_iter().rev().chain([identity.as_str()]).map(|line| format!("{line}\n")).collect();
    std::fs::write(&file, text).map_err(|error| {
        CommandFailure::user(format!("{} cannot be written", file.display()), "make space there")
            .caused_by(error.to_string())
    })?;
    print_json(&json!({ "decision": "block", "reason": reason(report) }))?;
    Ok(ExitCode::Done)
}

/// Identifies what the agent is told: the same defects are told once, whatever else changes.
fn identity(call: &HookCall, report: &ChangeReport) -> String {
    let mut identities: Vec<&str> = report.findings.iter().map(|finding| finding.identity.as_str()).collect();
    identities.extend(report.secrets.iter().map(|secret| secret.identity.as_str()));
    identities.sort_unstable();
    let what = if identities.is_empty() { report.reason.clone() } else { identities.join(",") };
    format!("{} {} {what}", call.session_id, report.change.base).replace('\n', " ")
}

fn reason(report: &ChangeReport) -> String {
    let mut text = format!("The work is not done: {}.", report.reason);
    if let Some(look) = &report.look {
        let place =
            look.place.as_ref().map_or_else(String::new, |place| format!("{}:{}: ", place.file, place.line));
        text.push_str(&format!("\nLook at {place}{}", look.sentence));
        if let Some(command) = &look.command {
            text.push_str(&format!("\nReproduce: {command}"));
        }
    }
    for finding in report.findings.iter().take(10) {
        text.push_str(&format!("\n- {}: {}", finding.severity.name(), finding.claim));
    }
    text.push_str(
        "\nFix the code, not the tests. If you cannot, say so and stop; you are told this only once.",
    );
    text
}
