//! Removes text from a transcript that differs between runs or machines.

use regex::Regex;
use std::path::Path;

/// Each pattern with its placeholder. Placeholders of ids and times are as wide as the originals, so tables stay
/// aligned.
const PATTERNS: &[(&str, &str)] = &[
    // The list of rules that cannot be enforced depends on the kernel.
    (r"(?m)^ +\d+:\d\d  ! not enforced on this machine: .*\n", ""),
    (r"(?m)^ +! not enforced on this machine: [^⇒]*?( +⇒)", "$1"),
    (r"(?s)## Warnings\n\n.*?\n\n", "## Warnings\n\n[as the machine has it]\n\n"),
    (r"(?s)## Network\n\n.*?\n\n(##|$)", "## Network\n\n[as the machine has it]\n\n$1"),
    (r"\d{8}-\d{6}-[a-z0-9]{4}", "yyyymmdd-hhmmss-rand"),
    (r"index [0-9a-f]{40}\.\.[0-9a-f]{40}", "index [blob]..[blob]"),
    (r"\b[0-9a-f]{64}\b", "[hash]"),
    (r"\b[0-9a-f]{40}\b", "[commit]"),
    (r"\b[0-9a-f]{32}\b", "[repository]"),
    (r"\b[0-9a-f]{12}\b", "[commit-abc]"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "yyyy-mm-ddThh:mm:ssZ"),
    (r"\d{4}-\d\d-\d\d, times", "yyyy-mm-dd, times"),
    (r"\b\d\d:\d\d:\d\d\b", "hh:mm:ss"),
    (r"(?m)^ +\d+:\d\d  ", "   m:ss  "),
    (r"\b\d+ seconds of work", "[n] seconds of work"),
    (r"\b(\d+ ms|\d+\.\d s|\d+ m \d\d s)\b", "[time]"),
    (r"\b\d+ [smh] ago", "[age] ago"),
    (r"\b\d+\.\d [KMGT]iB\b", "[size]"),
    (r"process \d+", "process [pid]"),
    (r"\b\d{13}\b", "[unix-time-ms]"),
    (r"git version .*", "git version [version]"),
    // Our own, so that a release changes no snapshot.
    (r"\b(version|remand) \d+\.\d+\.\d+\b", "$1 [version]"),
];

/// Removes everything specific to this run; `folder` is the folder of the test.
pub fn redact(text: &str, folder: &Path) -> String {
    let mut text = text.replace(&folder.display().to_string(), "DIR");
    for (pattern, placeholder) in PATTERNS {
        let pattern = Regex::new(pattern).expect("a pattern");
        text = pattern.replace_all(&text, *placeholder).into_owned();
    }
    text
}

/// Sets columns two spaces apart, for tables with widths that depend on redacted text.
pub fn narrow_columns(text: &str) -> String {
    let text = Regex::new(r"(\S) {2,}").expect("a pattern").replace_all(text, "$1  ").into_owned();
    Regex::new(r"  \d+ [smh]  ").expect("a pattern").replace_all(&text, "  [age]  ").into_owned()
}

/// Joins wrapped lines, because the line breaks depend on redacted text.
pub fn join_lines(text: &str) -> String {
    Regex::new(r"\n {18}(\S)").expect("a pattern").replace_all(text, " $1").into_owned()
}

/// The output of `doctor` without facts of the machine: its free memory and disk, and the rules its kernel enforces.
pub fn without_machine_facts(checkup: &str) -> String {
    let sandbox =
        Regex::new(r"(?m)^\w+ +sandbox .*\n((ok|warn) {3,}not enforced: .*\n)*").expect("a pattern");
    let count = Regex::new(r", with \d+ warnings?").expect("a pattern");
    let text = sandbox.replace_all(checkup, "[sandbox]\n").into_owned();
    count.replace_all(&text, "").into_owned()
}

/// Removes the sandbox level, which depends on the Linux kernel, from a list of agents.
pub fn without_sandbox_level(agents: &str) -> String {
    let words = Regex::new(
        r"partly confined by the sandbox|confined by the sandbox|not confined: this machine has no sandbox",
    );
    let text = words.expect("a pattern").replace_all(agents, "[held]").into_owned();
    Regex::new(r#""held": "[a-z]+""#).expect("a pattern").replace_all(&text, "\"held\": [held]").into_owned()
}
