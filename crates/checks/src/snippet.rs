//! The most informative part of an output: from the first failure on, or the end.

use remand_notation::clean;

/// The maximum length of a snippet.
pub const MAX_CHARACTERS: usize = 500;

const FAILURE_MARKERS: [&str; 14] = [
    "error:",
    "error[",
    "Error:",
    "panicked at",
    "Traceback (most recent call last)",
    "FAIL:",
    "ERROR:",
    "FAILED ",
    "--- FAIL",
    "not ok ",
    "[ERROR]",
    "SyntaxError",
    "assertion",
    ": No such file",
];

/// The part of an output that interests a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    FirstFailure,
    End,
}

/// At most 500 characters of an output, in whole lines if possible.
pub fn snippet(text: &str, interest: Interest) -> String {
    let text = text.trim_end();
    if text.chars().count() <= MAX_CHARACTERS {
        return text.trim_start_matches(['\n', '\r']).to_string();
    }
    let failure = match interest {
        Interest::FirstFailure => first_failure(text),
        Interest::End => None,
    };
    match failure {
        Some(start) if text[start..].chars().count() > MAX_CHARACTERS => {
            text[start..].chars().take(MAX_CHARACTERS - 1).chain(['…']).collect()
        }
        Some(_) | None => tail(text),
    }
}

/// The most informative line of a snippet: the first that names a failure, or else the first with any words.
pub fn most_informative_line(snippet: &str) -> &str {
    let from = first_failure(snippet).unwrap_or(0);
    let has_words = |line: &&str| line.chars().any(char::is_alphanumeric);
    let line = snippet[from..].lines().find(has_words).unwrap_or_default();
    line.trim_start_matches('…').trim()
}

/// The start of the first line that reports a failure.
fn first_failure(text: &str) -> Option<usize> {
    let start = FAILURE_MARKERS.iter().filter_map(|marker| text.find(marker)).min()?;
    Some(text[..start].rfind('\n').map_or(0, |end| end + 1))
}

fn tail(text: &str) -> String {
    let skip = text.chars().count() - (MAX_CHARACTERS - 1);
    let rest: String = text.chars().skip(skip).collect();
    let whole = rest.find('\n').map(|end| &rest[end + 1..]).filter(|lines| !lines.is_empty());
    format!("…{}", whole.unwrap_or(&rest))
}

/// Text of an output without control sequences; a line that was overwritten becomes several lines.
pub fn plain(bytes: &[u8]) -> String {
    clean(&String::from_utf8_lossy(bytes)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    // EP-16
    #[test]
    fn the_most_informative_line_names_the_failure_and_is_never_only_an_ellipsis() {
        let verbose = "test_add (tests.Adds.test_add) ... ok\ntest_red (tests.Red.test_red) ... FAIL\n\n======\n\
                       FAIL: test_red (tests.Red.test_red)\n------\nTraceback (most recent call last):\n";
        assert_eq!(most_informative_line(verbose), "FAIL: test_red (tests.Red.test_red)");
        let long = format!("{}{verbose}", "test_add ... ok\n".repeat(60));
        assert_eq!(
            most_informative_line(&snippet(&long, Interest::FirstFailure)),
            "FAIL: test_red (tests.Red.test_red)"
        );
        assert_eq!(most_informative_line("…\n\n  3 of 4 went well\n"), "3 of 4 went well");
        assert_eq!(most_informative_line("…\n"), "");
    }
}
