//! The development shell of a Nix flake, in which the checks of other toolchains run.

use crate::action::CheckAction;
use crate::members::Members;
use crate::probe::ToolProbe;
use crate::spec::CheckSpec;
use std::path::Path;

const SHELL: [&str; 4] = ["nix", "develop", "--no-write-lock-file", "-c"];

/// Whether the root has a development shell that Nix can enter.
pub fn has_shell(root: &Path, probe: &ToolProbe<'_>) -> bool {
    let text = std::fs::read_to_string(root.join("flake.nix")).unwrap_or_default();
    text.contains("devShell") && probe.has_program("nix")
}

/// Makes a check run inside the shell; the evidence still names the tool itself.
pub fn run_in_shell(spec: CheckSpec) -> CheckSpec {
    let command = match &spec.action {
        CheckAction::Argv(argv) => argv.clone(),
        CheckAction::Shell(text) => ["sh", "-c", text].map(str::to_string).to_vec(),
        CheckAction::BuiltIn(_) => return spec,
    };
    let in_shell =
        |words: Vec<String>| SHELL.iter().map(|word| word.to_string()).chain(words).collect::<Vec<_>>();
    let members = spec.members.map(|members| Members { command: in_shell(members.command), ..members });
    CheckSpec { action: CheckAction::Argv(in_shell(command)), members, ..spec }
}
