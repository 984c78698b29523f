//! Versions of the tools that checks use, asked once for each program and environment.

use super::job::finds_at;
use super::spec::{Action, CheckSpec, program};
use crate::process::{Cancel, Job, run};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(10);

/// Programs that say nothing of interest about themselves, or do something else with the question.
const UNASKED: [&str; 8] = ["sh", "bash", "test", "true", "false", "env", "exec", "!"];

/// What is known of tools by now.
#[derive(Debug, Default)]
pub struct Tools {
    known: Mutex<BTreeMap<String, String>>,
}

impl Tools {
    /// The version of the tool of a check: what it says of itself, with the file that it is. Programs of the work
    /// tree have none, since they are part of it.
    pub fn version(&self, spec: &CheckSpec, environment: &BTreeMap<OsString, OsString>) -> String {
        let name = match &spec.action {
            Action::Argv(argv) => argv.first().map_or("", String::as_str),
            Action::Shell(text) => program(text),
            Action::BuiltIn(_) => "",
        };
        let is_plain =
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.+!".contains(c));
        if !is_plain {
            return String::new();
        }
        let variables =
            environment.iter().map(|(name, value)| format!("{}={}\n", name.display(), value.display()));
        let known_as = format!("{name}\n{}", variables.collect::<String>());
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&known_as).cloned();
        if let Some(known) = known {
            return known;
        }
        let found = ask(name, environment);
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(known_as, found.clone());
        found
    }
}

fn ask(name: &str, environment: &BTreeMap<OsString, OsString>) -> String {
    let Some(path) = finds_at(environment, name) else { return String::new() };
    let stamp = path.metadata().ok().map(|data| (data.len(), data.modified().ok()));
    let file = format!("{} {stamp:?}", path.display());
    if UNASKED.contains(&name) {
        return file;
    }
    // Go alone takes the question without hyphens.
    let question = if name == "go" { "version" } else { "--version" };
    let mut job = Job::apart([name, question], "/", "version");
    job.environment = environment.clone();
    job.limits.time = PATIENCE;
    let said =
        run(&job, &Cancel::new()).map(|ended| ended.stdout.text().trim().to_string()).unwrap_or_default();
    format!("{said}\n{file}")
}
