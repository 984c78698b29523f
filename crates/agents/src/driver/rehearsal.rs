//! Drives scripted agents. Each is a child process that runs this program.

use super::diagnosis::{Symptoms, match_common};
use super::{AgentReport, DispatchContext, Driver, Launch, read_agent_file};
use crate::output::{OutputReader, is_denial};
use crate::rehearsal::{DispatchInfo, NO_ENTRY, OUTAGE, missing_entry};
use crate::submission::Terms;
use remand_kernel::event::Usage;
use remand_kernel::signal::Failure;
use remand_ledger::fact::TokenCounts;
use remand_process::{Exit, JobEnd};
use serde::Deserialize;
use std::path::PathBuf;

/// The maximum size of `usage.json`.
const MAX_USAGE_BYTES: usize = 4096;

/// Plays a script.
#[derive(Clone, Debug)]
pub struct RehearsalDriver {
    /// The program with the command `rehearse`.
    pub program: PathBuf,
    pub script: PathBuf,
    /// The path of the script, as the user wrote it.
    pub shown_path: String,
}

/// The content of `usage.json`. A field is absent if the script does not state it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct UsageFile {
    tokens: Option<u64>,
    kinds: Option<TokenCounts>,
    /// Micro-units of the currency.
    money: Option<u64>,
    model: Option<String>,
}

impl Driver for RehearsalDriver {
    fn name(&self) -> &str {
        "rehearsal"
    }

    fn launch(&self, context: &DispatchContext) -> Launch {
        let argv =
            [self.program.as_os_str(), "rehearse".as_ref(), "--script".as_ref(), self.script.as_os_str()];
        let environment = [("REMAND_DISPATCH".to_string(), context.about.as_os_str().to_owned())];
        Launch {
            argv: argv.iter().map(|part| part.to_os_string()).collect(),
            environment: environment.into_iter().collect(),
            stdin: context.prompt.as_bytes().to_vec(),
            reads: vec![self.script.clone()],
            ..Launch::default()
        }
    }

    fn interpret(&self, context: &DispatchContext, ended: &JobEnd, _: &OutputReader) -> AgentReport {
        // If an agent corrupts the file, its usage is unknown.
        let stated: UsageFile = read_agent_file(&context.out.join("usage.json"), MAX_USAGE_BYTES)
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default();
        let denied = denials(&ended.stderr.text());
        let failure = if ended.exit == Exit::Code(NO_ENTRY) {
            Some((Failure::Denied, self.missing_entry(context, ended)))
        } else if ended.exit == Exit::Code(OUTAGE) {
            Some(outage(ended))
        } else {
            (!denied.is_empty()).then(|| (Failure::Violation, denied.join("; ")))
        };
        AgentReport {
            failure,
            denied,
            answer: String::from_utf8_lossy(&ended.stdout.bytes).into_owned(),
            usage: Usage { money: stated.money, tokens: stated.tokens, ..Usage::default() },
            tokens: stated.kinds,
            model: stated.model.or_else(|| context.model.clone()),
            ..AgentReport::default()
        }
    }
}

impl RehearsalDriver {
    /// The error message with the missing entry. The entry can be pasted, and its result would be accepted.
    fn missing_entry(&self, context: &DispatchContext, ended: &JobEnd) -> String {
        let Ok(info) = DispatchInfo::read(&context.about) else { return ended.stderr.text().into_owned() };
        // Without readable terms the entry gets an empty payload.
        let payload = Terms::read(&context.about).ok().and_then(|terms| terms.expected.example_payload());
        let entry = missing_entry(&info, payload.as_ref());
        let file = &self.shown_path;
        format!("{file} has no entry for this dispatch; add this one to its `dispatches`:\n\n{entry}")
    }
}

/// The failure of the scripted service, classified like that of a real one.
fn outage(ended: &JobEnd) -> (Failure, String) {
    let stderr = ended.stderr.text();
    let symptoms = Symptoms { errors: &[], stderr: &stderr, answer: "", exit: ended.exit };
    match match_common(symptoms) {
        Some(diagnosed) => (diagnosed.failure(), remand_notation::clean(&diagnosed.message).into_owned()),
        None => (Failure::Environment, "the scripted service failed".to_string()),
    }
}

/// The lines of the standard error in which programs report that the sandbox denied something.
fn denials(errors: &str) -> Vec<String> {
    errors
        .lines()
        .filter(|line| is_denial(line))
        .map(|line| remand_notation::clean(line.trim_start_matches("rehearsal: ")).into_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::denials;

    // CORE-15
    #[test]
    fn denials_are_distinguished_from_other_failures() {
        let errors = "rehearsal: write /etc/x: Permission denied (os error 13)\n\
                      sh: 1: cannot create /y: Read-only file system\n\
                      ln: failed to create hard link 'a' => '/b': Invalid cross-device link\nmount: /c: permission denied.\n\
                      rehearsal: read z: No such file (os error 2)\n";
        let expected = [
            "write /etc/x: Permission denied (os error 13)",
            "sh: 1: cannot create /y: Read-only file system",
            "ln: failed to create hard link 'a' => '/b': Invalid cross-device link",
            "mount: /c: permission denied.",
        ];
        assert_eq!(denials(errors), expected);
    }
}
