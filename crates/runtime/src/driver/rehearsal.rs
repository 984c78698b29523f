//! The rehearsal driver: scripted agents, as real child processes of this same program.

use super::{Driver, Ear, Heard, Launch, Place, is_refusal, left_by_agent};
use crate::process::{Ended, Exit};
use crate::rehearsal::{DispatchInfo, NO_ENTRY, missing};
use crate::submission::Terms;
use remand_kernel::event::Usage;
use remand_kernel::signal::Failure;
use remand_ledger::fact::Tokens;
use serde::Deserialize;
use std::path::PathBuf;

/// The most that a script can have to say of its usage.
const USAGE: usize = 4096;

/// Plays a script.
#[derive(Clone, Debug)]
pub struct Rehearsal {
    /// The program that can `rehearse`.
    pub program: PathBuf,
    pub script: PathBuf,
    /// The file that the script was read from, as the user named it.
    pub named: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Said {
    /// Absent when the script tells none.
    tokens: Option<u64>,
    /// Where the script tells them apart.
    kinds: Option<Tokens>,
    /// Micro-units; absent when the script names no price.
    money: Option<u64>,
    model: Option<String>,
}

impl Driver for Rehearsal {
    fn name(&self) -> &str {
        "rehearsal"
    }

    fn launch(&self, place: &Place) -> Launch {
        let argv =
            [self.program.as_os_str(), "rehearse".as_ref(), "--script".as_ref(), self.script.as_os_str()];
        let environment = [("REMAND_DISPATCH".to_string(), place.about.as_os_str().to_owned())];
        Launch {
            argv: argv.iter().map(|part| part.to_os_string()).collect(),
            environment: environment.into_iter().collect(),
            stdin: place.prompt.as_bytes().to_vec(),
            reads: vec![self.script.clone()],
            ..Launch::default()
        }
    }

    fn hear(&self, place: &Place, ended: &Ended, _: &Ear) -> Heard {
        let said: Said = left_by_agent(&place.out.join("usage.json"), USAGE)
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default();
        let denied = denied(&ended.stderr.text());
        let failure = if ended.exit == Exit::Code(NO_ENTRY) {
            Some((Failure::Denied, self.lacks(place, ended)))
        } else {
            (!denied.is_empty()).then(|| (Failure::Violation, denied.join("; ")))
        };
        Heard {
            failure,
            denied,
            answer: String::from_utf8_lossy(&ended.stdout.bytes).into_owned(),
            usage: Usage { money: said.money, tokens: said.tokens, ..Usage::default() },
            tokens: said.kinds,
            model: said.model.or_else(|| place.model.clone()),
            ..Heard::default()
        }
    }
}

impl Rehearsal {
    /// Names the script first, and shows the entry that it lacks as it can be pasted: its result would be accepted.
    fn lacks(&self, place: &Place, ended: &Ended) -> String {
        let Ok(info) = DispatchInfo::read(&place.about) else { return ended.stderr.text().into_owned() };
        let payload = Terms::of(&place.about).ok().and_then(|terms| terms.expected.example_payload());
        let entry = missing(&info, payload.as_ref());
        let file = &self.named;
        format!("{file} has no entry for this dispatch; add this one to its `dispatches`:\n\n{entry}")
    }
}

/// What the sandbox denied, as those that were denied say it. Reaching for it costs the dispatch (CORE-05).
fn denied(errors: &str) -> Vec<String> {
    errors
        .lines()
        .filter(|line| is_refusal(line))
        .map(|line| crate::contract::clean(line.trim_start_matches("rehearsal: ")).into_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::denied;

    // CORE-15
    #[test]
    fn denials_are_heard_and_other_failures_are_not() {
        let errors = "rehearsal: write /etc/x: Permission denied (os error 13)\n\
                      sh: 1: cannot create /y: Read-only file system\n\
                      ln: failed to create hard link 'a' => '/b': Invalid cross-device link\nmount: /c: permission denied.\n\
                      rehearsal: read z: No such file (os error 2)\n";
        let heard = [
            "write /etc/x: Permission denied (os error 13)",
            "sh: 1: cannot create /y: Read-only file system",
            "ln: failed to create hard link 'a' => '/b': Invalid cross-device link",
            "mount: /c: permission denied.",
        ];
        assert_eq!(denied(errors), heard);
    }
}
