//! Tier 4: what a large change should bring beside its function (EP-15).
//!
//! Secrets are found by their shapes and can fail the gate. The other two are guesses from words in the added lines:
//! they say so in their rows, and are read by people only.

use super::outcome::{CheckOutcome, End, Known, Listed, Steadiness};
use remand_kernel::change::Change;
use remand_kernel::evidence::Tier;
use std::path::Path;
use std::time::Duration;

/// Words that handle an error, and words that let somebody see it.
const HANDLING: [&str; 6] = ["catch (", "catch(", "except ", "if err != nil", "Err(", ".catch("];
const SEEN: [&str; 12] = [
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

/// Words that reach outside of the program, and words that bound it.
const OUTSIDE: [&str; 12] = [
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
const BOUNDED: [&str; 9] = [
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

/// One line that holds a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leak {
    pub file: String,
    /// The added line, with the secret taken out.
    pub line: String,
}

/// The three rows of a change; `redact` takes secrets out of a text.
pub fn readiness(change: &Change, redact: &dyn Fn(&str) -> String) -> (Vec<CheckOutcome>, Vec<Leak>) {
    let leaks = leaks(change, redact);
    let told: Vec<String> = leaks.iter().map(|leak| format!("{}: {}", leak.file, leak.line)).collect();
    let secrets = if leaks.is_empty() {
        outcome("readiness-secrets", End::Passed, "no added line holds what looks like a secret".to_string())
    } else {
        outcome("readiness-secrets", End::Failed, told.join("\n"))
    };
    let seen = guess(
        change,
        "readiness-observability",
        (&HANDLING, "handle errors"),
        (&SEEN, "log, count or pass on anything"),
    );
    let bounded = guess(
        change,
        "readiness-degradation",
        (&OUTSIDE, "reach outside of the program"),
        (&BOUNDED, "set a time limit, try again or fall back"),
    );
    (vec![secrets, seen, bounded], leaks)
}

fn leaks(change: &Change, redact: &dyn Fn(&str) -> String) -> Vec<Leak> {
    let mut found = Vec::new();
    for file in &change.files {
        for hunk in &file.hunks {
            // A key of many lines has its shape only as a whole.
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

/// Counts lines of source by the words in them.
fn guess(
    change: &Change,
    name: &str,
    (asking, does): (&[&str], &str),
    (answering, answers): (&[&str], &str),
) -> CheckOutcome {
    let has = |line: &str, words: &[&str]| words.iter().any(|word| line.contains(word));
    let mut asked: Vec<&str> = Vec::new();
    let mut answered = 0;
    for file in change.files.iter().filter(|file| is_source(&file.path) && !file.generated) {
        for line in file.hunks.iter().flat_map(|hunk| &hunk.added) {
            if has(line, asking) && asked.last() != Some(&file.path.as_str()) {
                asked.push(&file.path);
            }
            answered += u32::from(has(line, answering));
        }
    }
    let how = "guessed from words in the added lines, for people to read";
    if asked.is_empty() {
        outcome(name, End::Passed, format!("no added line seems to {does} ({how})"))
    } else if answered > 0 {
        outcome(name, End::Passed, format!("{answered} added lines seem to {answers} ({how})"))
    } else {
        let places = asked.join(", ");
        outcome(name, End::Failed, format!("lines of {places} seem to {does}, and none to {answers} ({how})"))
    }
}

fn is_source(path: &str) -> bool {
    remand_source::Language::of(Path::new(path)).is_some_and(remand_source::Language::is_code)
}

fn outcome(name: &str, end: End, text: String) -> CheckOutcome {
    CheckOutcome {
        name: name.to_string(),
        tool: "remand".to_string(),
        tier: Tier::Four,
        command: None,
        end,
        exit_code: None,
        snippet: text.chars().take(super::snippet::LONGEST).collect(),
        output: text.clone().into_bytes(),
        collected: None,
        duration: Duration::ZERO,
        tests: Vec::new(),
        listed: Listed::All,
        reason: text,
        steadiness: Steadiness::Steady,
        known: Known::Unkept,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::redact::{Redactor, Rules};
    use remand_kernel::change::{FileChange, Hunk};

    fn change(path: &str, added: &[&str]) -> Change {
        let added = added.iter().map(|line| line.to_string()).collect();
        let hunk = Hunk { removed: Vec::new(), added };
        let file = FileChange { path: path.to_string(), hunks: vec![hunk], generated: false };
        Change { files: vec![file], ..Change::default() }
    }

    fn ends(change: &Change) -> [End; 3] {
        let redactor = Redactor::new([], &Rules::default()).unwrap();
        let (rows, _) = readiness(change, &|text| redactor.redact(text).into_owned());
        [rows[0].end, rows[1].end, rows[2].end]
    }

    // EP-15
    #[test]
    fn a_secret_in_an_added_line_fails_and_is_never_shown() {
        let key = format!("ghp_{}", "a1B2".repeat(9));
        let leaking = change("src/a.py", &["x = 1", &format!("TOKEN = \"{key}\"")]);
        let redactor = Redactor::new([], &Rules::default()).unwrap();
        let (rows, leaks) = readiness(&leaking, &|text| redactor.redact(text).into_owned());
        assert_eq!(
            (rows[0].name.as_str(), rows[0].end, rows[0].tier),
            ("readiness-secrets", End::Failed, Tier::Four)
        );
        assert_eq!(
            leaks,
            [Leak { file: "src/a.py".to_string(), line: "TOKEN = \"[secret: GitHub token]\"".to_string() }]
        );
        assert!(!format!("{rows:?}{leaks:?}").contains(&key));
        assert_eq!(ends(&change("src/a.py", &["TOKEN = os.environ['TOKEN']"]))[0], End::Passed);
    }

    // EP-15
    #[test]
    fn errors_that_nobody_sees_and_calls_without_a_limit_are_noted_as_guesses() {
        let silent = change("a.py", &["try:", "    r = requests.get(url)", "except ValueError:", "    pass"]);
        assert_eq!(ends(&silent), [End::Passed, End::Failed, End::Failed]);
        let told = change(
            "a.py",
            &["    r = requests.get(url, timeout=3)", "except ValueError:", "    logger.warn('x')"],
        );
        assert_eq!(ends(&told), [End::Passed; 3]);
        assert_eq!(ends(&change("notes.md", &["requests. except "])), [End::Passed; 3]);
        let (rows, _) = readiness(&silent, &|text| text.to_string());
        assert!(rows[1].reason.contains("guessed from words in the added lines"), "{}", rows[1].reason);
    }
}
