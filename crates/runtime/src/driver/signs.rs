//! Tells by its signs why an agent's service or program did not do its work (CORE-10).

use super::row::{Kind, Row, Told};
use crate::contract;
use crate::process::Exit;
use regex::RegexBuilder;
use remand_kernel::signal::Failure;
use std::time::Duration;

/// How services and programs say what is wrong, whoever they are; the first that fits counts.
const COMMON: &[(Kind, &str)] = &[
    (
        Kind::ContextTooLong,
        r"context.{0,3}(length|window)|maximum context|prompt is too long|too many (input )?tokens|input is too long",
    ),
    (
        Kind::Authentication,
        r"\b40[13]\b|unauthori[sz]ed|unauthenticated|authentication|api.?key (is )?(not|missing|invalid|required)|(invalid|missing|incorrect|no) .{0,12}(api.?key|credentials|auth method)|not logged in|/login|log ?in (first|again)|token (has )?expired|credit balance|billing",
    ),
    (
        Kind::RateLimit,
        r"\b429\b|rate.?limit|too many requests|resource.?exhausted|usage limit|quota|insufficient_quota",
    ),
    (
        Kind::Overload,
        r"\b5(00|02|03|04|20|29)\b|overloaded|high demand|internal server error|service unavailable|bad gateway|server_error|api_error",
    ),
    (
        Kind::Network,
        r"econn(refused|reset|aborted)|enotfound|eai_again|etimedout|ehostunreach|enetunreach|fetch failed|connection (refused|reset|error|closed)|could not resolve|cannot connect|unable to connect|network (error|is unreachable)|stream disconnected|error sending request|socket hang up|dns error",
    ),
    (
        Kind::Version,
        r"unknown (option|argument|command|flag)|unexpected argument|unrecogni[sz]ed (option|argument|subcommand)",
    ),
    (Kind::Refused, r"\b4(00|04|22)\b|invalid.?request|bad request|model.{0,40}not (found|exist|supported)"),
];

/// A failure, told by its signs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ailment {
    pub kind: Kind,
    /// The words that tell it.
    pub words: String,
}

/// What an agent's process left to judge by.
#[derive(Clone, Copy, Debug)]
pub struct Signs<'s> {
    pub errors: &'s [String],
    pub stderr: &'s str,
    pub answer: &'s str,
    pub exit: Exit,
}

/// Tells the failure; none where nothing known fits.
pub fn tell(row: &Row, signs: Signs<'_>) -> Option<Ailment> {
    let own =
        row.failures.iter().find_map(|told| by(told, signs).map(|words| Ailment { kind: told.kind, words }));
    own.or_else(|| common(signs))
}

/// Tells whether the answer is no answer but an error.
pub fn is_error(row: &Row, answer: &str) -> bool {
    row.failures.iter().filter_map(|told| told.answers.as_deref()).any(|pattern| fits(pattern, answer))
}

fn by(told: &Told, signs: Signs<'_>) -> Option<String> {
    if told.exit.is_some_and(|code| signs.exit != Exit::Code(code)) {
        return None;
    }
    let mut words = None;
    if let Some(pattern) = &told.says {
        words = Some(saying(signs).find(|line| fits(pattern, line))?.to_string());
    }
    if let Some(pattern) = &told.answers {
        words = Some(Some(signs.answer).filter(|answer| fits(pattern, answer))?.to_string());
    }
    words.or_else(|| told.exit.map(|code| format!("exit code {code}")))
}

fn common(signs: Signs<'_>) -> Option<Ailment> {
    saying(signs).find_map(|line| {
        let (kind, _) = COMMON.iter().find(|(_, pattern)| fits(pattern, line))?;
        Some(Ailment { kind: *kind, words: line.to_string() })
    })
}

/// Everything that may tell: errors first, then the standard error, each from its end.
fn saying<'s>(signs: Signs<'s>) -> impl Iterator<Item = &'s str> {
    let errors = signs.errors.iter().rev().map(String::as_str);
    errors.chain(signs.stderr.lines().rev().take(40)).map(str::trim).filter(|line| !line.is_empty())
}

fn fits(pattern: &str, text: &str) -> bool {
    RegexBuilder::new(pattern).case_insensitive(true).build().is_ok_and(|regex| regex.is_match(text))
}

impl Ailment {
    pub fn failure(&self) -> Failure {
        match self.kind {
            Kind::Authentication | Kind::RateLimit | Kind::Overload | Kind::Network | Kind::Version => {
                Failure::Environment
            }
            Kind::ContextTooLong | Kind::Refused => Failure::Denied,
        }
    }

    /// What happened and what to do about it, for a person.
    pub fn detail(&self, row: &Row) -> String {
        let title = &row.title;
        let what = match self.kind {
            Kind::Authentication => match row.sign_in.as_str() {
                "" => format!("{title} is not signed in"),
                how => format!("{title} is not signed in: {how}"),
            },
            Kind::RateLimit => format!("the service of {title} asks to wait, or its allowance is used up"),
            Kind::Overload => format!("the service of {title} cannot answer at the moment"),
            Kind::Network => {
                format!("{title} cannot reach its service; see that the network and any proxy work")
            }
            Kind::ContextTooLong => {
                format!(
                    "this is more than the model of {title} can take in; choose a larger one or cut the task"
                )
            }
            Kind::Version => match &row.tried {
                Some(version) => {
                    format!("{title} does not know its arguments; it was tried with version {version}")
                }
                None => format!("{title} does not know its arguments; see `[agents]` in the configuration"),
            },
            Kind::Refused => format!("the service of {title} refuses the request"),
        };
        let words: String = contract::clean(&self.words).chars().take(300).collect();
        match retry_after(&self.words) {
            Some(wait) => format!("{what} ({words}); retry after {} s", wait.as_secs().max(1)),
            None => format!("{what} ({words})"),
        }
    }
}

/// How long a service asks to wait, as its words say.
pub fn retry_after(words: &str) -> Option<Duration> {
    let pattern =
        r"(?i)(?:retry.{0,3}after|retry in|try again in)[^0-9]{0,12}([0-9]+)(?:\.[0-9]+)?\s*(ms|m\b|min)?";
    let regex = regex::Regex::new(pattern).ok()?;
    let found = regex.captures_iter(words).last()?;
    let count: u64 = found.get(1)?.as_str().parse().ok()?;
    Some(match found.get(2).map(|unit| unit.as_str()) {
        Some("ms") => Duration::from_millis(count),
        Some(_) => Duration::from_secs(count.saturating_mul(60)),
        None => Duration::from_secs(count),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // CORE-10
    #[test]
    fn failures_of_services_are_told_apart() {
        let cases = [
            ("API Error: 401 {\"type\":\"error\"}", Kind::Authentication),
            ("Invalid API key · Please run /login", Kind::Authentication),
            ("exceeded retry limit, last status: 429 Too Many Requests", Kind::RateLimit),
            ("unexpected status 503 Service Unavailable", Kind::Overload),
            ("API Error: 529 overloaded_error", Kind::Overload),
            ("We’re currently experiencing high demand", Kind::Overload),
            ("connect ECONNREFUSED 127.0.0.1:9", Kind::Network),
            ("TypeError: fetch failed", Kind::Network),
            ("Your input exceeds the context window of this model", Kind::ContextTooLong),
            ("error: unexpected argument '--json' found", Kind::Version),
            ("400 Bad Request", Kind::Refused),
        ];
        for (words, kind) in cases {
            let errors = [words.to_string()];
            let signs = Signs { errors: &errors, stderr: "", answer: "", exit: Exit::Code(1) };
            assert_eq!(common(signs).map(|ailment| ailment.kind), Some(kind), "{words}");
            let signs = Signs { errors: &[], stderr: words, answer: "", exit: Exit::Code(1) };
            assert_eq!(common(signs).map(|ailment| ailment.kind), Some(kind), "{words}");
        }
        let signs = Signs { errors: &[], stderr: "thread panicked", answer: "", exit: Exit::Code(101) };
        assert_eq!(common(signs), None);
    }

    #[test]
    fn a_wish_to_wait_is_understood() {
        let seconds = |words| retry_after(words).map(|wait| wait.as_secs());
        assert_eq!(seconds("429: retry-after: 17"), Some(17));
        assert_eq!(seconds("Please try again in 20s."), Some(20));
        assert_eq!(seconds("retry after 2 min"), Some(120));
        assert_eq!(retry_after("try again in 250ms"), Some(Duration::from_millis(250)));
        assert_eq!(seconds("too many requests"), None);
    }
}
