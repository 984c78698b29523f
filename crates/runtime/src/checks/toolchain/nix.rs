//! The development shell of a flake, around the other toolchains.

use crate::checks::detect::Probe;
use crate::checks::members::Members;
use crate::checks::spec::{Action, CheckSpec};
use std::path::Path;

const SHELL: [&str; 4] = ["nix", "develop", "--no-write-lock-file", "-c"];

/// Whether the root has a development shell and Nix is there to enter it.
pub fn has_shell(root: &Path, probe: &Probe<'_>) -> bool {
    let text = std::fs::read_to_string(root.join("flake.nix")).unwrap_or_default();
    text.contains("devShell") && probe.finds("nix")
}

/// The same check inside the shell; the evidence still names the tool itself.
pub fn wrapped(spec: CheckSpec) -> CheckSpec {
    let inner = match &spec.action {
        Action::Argv(argv) => argv.clone(),
        Action::Shell(text) => ["sh", "-c", text].map(str::to_string).to_vec(),
        Action::BuiltIn(_) => return spec,
    };
    let inside =
        |words: Vec<String>| SHELL.iter().map(|word| word.to_string()).chain(words).collect::<Vec<_>>();
    let members = spec.members.map(|members| Members { command: inside(members.command), ..members });
    CheckSpec { action: Action::Argv(inside(inner)), members, ..spec }
}
