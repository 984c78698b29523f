//! Tier 4: the readiness of a large change: no secrets, visible errors, limits on external calls.
//!
//! Secrets are found by their shape and can fail the gate. The other two results are guesses from words in the
//! added lines: their reasons say so, and they cannot fail the gate.

use super::result::{CheckEnd, CheckResult};
use remand_kernel::change::Change;
use remand_kernel::evidence::Tier;
use std::path::Path;

/// Text that handles an error, and text that makes it visible.
const ERROR_HANDLING: [&str; 6] = ["catch (", "catch(", "except ", "if err != nil", "Err(", ".catch("];
const ERROR_REPORTING: [&str; 12] = [
    "log",
    "trace",
    "tracing",
    "warn",
    "metric",
    "counter",
    "span",
    "sentry",
    "raise",
    "throw",
    "return Err",
    "?;",
];

/// Text that calls something outside the program, and text that limits the call.
const EXTERNAL_CALLS: [&str; 12] = [
    "http.",
    "https.",
    "fetch(",
    "requests.",
    "axios",
    "reqwest",
    "urlopen",
    ".connect(",
    "TcpStream",
    "subprocess",
    "Command::new",
    "exec(",
];
const CALL_LIMITS: [&str; 9] = [
    "timeout",
    "Timeout",
    "deadline",
    "retry",
    "Retry",
    "fallback",
    "backoff",
    "AbortSignal",
    "context.With",
];

/// A line with a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leak {
    pub file: String,
    /// The added line without the secret.
    pub line: String,
}

/// The three results for a change; `redact` removes secrets from a string.
pub fn readiness(change: &Change, redact: &dyn Fn(&str) -> String) -> (Vec<CheckResult>, Vec<Leak>) {
    let leaks = leaks(change, redact);
    let lines: Vec<String> = leaks.iter().map(|leak| format!("{}: {}", leak.file, leak.line)).collect();
    let secrets = if leaks.is_empty() {
        result("readiness-secrets", CheckEnd::Passed, "no added line looks like a secret".to_string())
    } else {
        result("readiness-secrets", CheckEnd::Failed, lines.join("\n"))
    };
    let errors = guess(
        change,
        "readiness-observability",
        (&ERROR_HANDLING, "handle errors"),
        (&ERROR_REPORTING, "log, count or pass on anything"),
    );
    let calls = guess(
        change,
        "readiness-degradation",
        (&EXTERNAL_CALLS, "call something outside the program"),
        (&CALL_LIMITS, "set a time limit, retry or fall back"),
    );
    (vec![secrets, errors, calls], leaks)
}

fn leaks(change: &Change, redact: &dyn Fn(&str) -> String) -> Vec<Leak> {
    let mut found = Vec::new();
    for file in &change.files {
        for hunk in &file.hunks {
            // A key of several lines is recognizable only as a whole.
            let added = hunk.added.join("\n");
            let clean = redact(&added);
            if clean != added {
                let lines = clean.lines().filter(|line| !hunk.added.iter().any(|kept| kept == line));
                found.extend(
                    lines.map(|line| Leak { file: file.path.clone(), line: line.trim().to_string() }),
                );
            }
        }
    }
    found
}

/// Fails if added lines of source contain risky words and none contains a safe one.
fn guess(
    change: &Change,
    name: &str,
    (risky, does): (&[&str], &str),
    (safe, limits): (&[&str], &str),
) -> CheckResult {
    let has = |line: &str, words: &[&str]| words.iter().any(|word| line.contains(word));
    let mut risky_files: Vec<&str> = Vec::new();
    let mut safe_lines = 0;
    for file in change.files.iter().filter(|file| is_source(&file.path) && !file.generated) {
        for line in file.hunks.iter().flat_map(|hunk| &hunk.added) {
            if has(line, risky) && risky_files.last() != Some(&file.path.as_str()) {
                risky_files.push(&file.path);
            }
            safe_lines += u32::from(has(line, safe));
        }
    }
    let how = "guessed from words in the added lines, for information only";
    if risky_files.is_empty() {
        result(name, CheckEnd::Passed, format!("no added line seems to {does} ({how})"))
    } else if safe_lines > 0 {
        result(name, CheckEnd::Passed, format!("{safe_lines} added lines seem to {limits} ({how})"))
    } else {
        let files = risky_files.join(", ");
        result(
            name,
            CheckEnd::Failed,
            format!("added lines of {files} seem to {does}, but none seem to {limits} ({how})"),
        )
    }
}

fn is_source(path: &str) -> bool {
    remand_source::Language::of(Path::new(path)).is_some_and(remand_source::Language::is_code)
}

fn result(name: &str, end: CheckEnd, text: String) -> CheckResult {
    let output = text.clone().into_bytes();
    CheckResult { output, ..CheckResult::of_engine(name, Some(Tier::Four), end, text) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use remand_kernel::change::{FileChange, Hunk};

    fn change(path: &str, added: &[&str]) -> Change {
        let added = added.iter().map(|line| line.to_string()).collect();
        let hunk = Hunk { removed: Vec::new(), added };
        let file = FileChange { path: path.to_string(), hunks: vec![hunk], generated: false };
        Change { files: vec![file], ..Change::default() }
    }

    /// Replaces the real redactor, which has separate tests.
    fn redacted(text: &str) -> String {
        match text.find("ghp_") {
            Some(at) => format!("{}[secret: GitHub token]\"", &text[..at]),
            None => text.to_string(),
        }
    }

    fn ends(change: &Change) -> [CheckEnd; 3] {
        let (rows, _) = readiness(change, &redacted);
        [rows[0].end, rows[1].end, rows[2].end]
    }

    // EP-15
    #[test]
    fn a_secret_in_an_added_line_fails_and_is_never_shown() {
        let key = format!("ghp_{}", "a1B2".repeat(9));
        let leaking = change("src/a.py", &["x = 1", &format!("TOKEN = \"{key}\"")]);
        let (rows, leaks) = readiness(&leaking, &redacted);
        assert_eq!(
            (rows[0].name.as_str(), rows[0].end, rows[0].tier),
            ("readiness-secrets", CheckEnd::Failed, Some(Tier::Four))
        );
        assert_eq!(
            leaks,
            [Leak { file: "src/a.py".to_string(), line: "TOKEN = \"[secret: GitHub token]\"".to_string() }]
        );
        assert!(!format!("{rows:?}{leaks:?}").contains(&key));
        assert_eq!(ends(&change("src/a.py", &["TOKEN = os.environ['TOKEN']"]))[0], CheckEnd::Passed);
    }

    // EP-15
    #[test]
    fn hidden_errors_and_calls_without_a_limit_are_noted_as_guesses() {
        let silent = change("a.py", &["try:", "    r = requests.get(url)", "except ValueError:", "    pass"]);
        assert_eq!(ends(&silent), [CheckEnd::Passed, CheckEnd::Failed, CheckEnd::Failed]);
        let handled = change(
            "a.py",
            &["    r = requests.get(url, timeout=3)", "except ValueError:", "    logger.warn('x')"],
        );
        assert_eq!(ends(&handled), [CheckEnd::Passed; 3]);
        assert_eq!(ends(&change("notes.md", &["requests. except "])), [CheckEnd::Passed; 3]);
        let (rows, _) = readiness(&silent, &|text| text.to_string());
        assert!(rows[1].reason.contains("guessed from words in the added lines"), "{}", rows[1].reason);
    }
}
