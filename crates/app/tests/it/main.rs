//! The binary as a user sees it: help, output and errors, word for word.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bombs;
mod briefs;
mod bundle;
mod cancel;
mod cascade;
mod checkouts;
mod commands;
mod crash;
mod dispatch;
mod drivers;
mod enforcement;
mod feature;
mod first_steps;
mod first_use;
mod forges;
mod gates;
mod gauntlet;
mod git;
mod golden;
mod issue;
mod knowledge;
mod land;
mod limits;
mod mcp;
mod money;
mod monorepo;
mod notified;
mod old_tests;
mod other_tools;
mod outcomes;
mod outputs;
mod own_workflow;
mod page;
mod parked;
mod permissions;
mod probed;
mod programs;
mod quick;
mod recorded;
mod red_baseline;
mod retry;
mod secrets;
mod simulated;
mod spec;
mod submission;
mod telemetry;
mod terminal;
mod ticket;
mod top;
mod trust;
mod tsp;
mod upgrading;
mod vet;
mod vet_recipes;
mod vet_stories;
mod walks;
mod workshop;

mod agents;
mod issue_script;
mod kills;
mod place;
mod receiver;
mod rehearsed;
mod test_first;
mod three_tasks;
mod tickets;

use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the repository; the binary runs there, so paths in its output are short.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs the binary and returns exit code, standard output and standard error.
fn run(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_remand"))
        .args(arguments)
        .current_dir(root())
        .env_clear()
        .env("NO_COLOR", "1")
        .env("COLUMNS", "100")
        .output()
        .expect("the binary runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("exit code"), text(output.stdout), text(output.stderr))
}

/// The exit code and all output in one string, for snapshots.
fn shown(arguments: &[&str]) -> String {
    let (code, out, err) = run(arguments);
    let mut text = format!("$ remand {}\n", arguments.join(" "));
    for (name, stream) in [("", out), ("stderr:\n", err)] {
        if !stream.is_empty() {
            text.push_str(&format!("{name}{stream}"));
        }
    }
    text.push_str(&format!("exit code {code}\n"));
    text
}
