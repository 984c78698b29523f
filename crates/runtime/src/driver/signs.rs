//! Tells by its signs why an agent's service or program did not do its work (CORE-10).

use super::row::{Kind, Row, Told};
use crate::contract;
use crate::process::Exit;
use regex::{Regex, RegexBuilder};
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

/// Tells the failure; none where nothing known fits. What was said as an error goes before what was muttered.
pub fn tell(row: &Row, signs: Signs<'_>) -> Option<Ailment> {
    let (aloud, muttered) = (Signs { stderr: "", ..signs }, Signs { errors: &[], ..signs });
    [aloud, muttered].into_iter().find_map(|signs| own(row, signs).or_else(|| common(signs)))
}

fn own(row: &Row, signs: Signs<'_>) -> Option<Ailment> {
    row.failures.iter().find_map(|told| by(told, signs).map(|words| Ailment { kind: told.kind, words }))
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
            Some(wait) => {
                format!("{what} ({words}); retry after {} s", wait.as_millis().div_ceil(1000).max(1))
            }
            None => format!("{what} ({words})"),
        }
    }
}

/// How long a service asks to wait, as its words say: numbers with units, such as `1m30s`, or one without.
pub fn retry_after(words: &str) -> Option<Duration> {
    let asks = r"(?i)(?:retry.{0,3}after(.?ms\b)?|retry.?delay|retry in|try again in)[^0-9]{0,12}([0-9])";
    let part = Regex::new(r"^[\s,]*(?:and\s+)?([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)").ok()?;
    let found = Regex::new(asks).ok()?.captures_iter(words).last()?;
    let in_millis = found.get(1).is_some();
    let mut rest = words.get(found.get(2)?.start()..)?;
    let mut total = None;
    while let Some(next) = part.captures(rest) {
        let count: f64 = next[1].parse().ok()?;
        match (seconds(&next[2]), total) {
            (Some(unit), _) => total = Some(total.unwrap_or(0.0) + count * unit),
            (None, None) => return wait(if in_millis { count / 1000.0 } else { count }),
            (None, Some(_)) => break,
        }
        rest = &rest[next[0].len()..];
    }
    wait(total?)
}

fn wait(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok()
}

/// How many seconds a unit has.
fn seconds(unit: &str) -> Option<f64> {
    Some(match unit.to_ascii_lowercase().as_str() {
        "ms" | "msec" | "msecs" | "millis" | "millisecond" | "milliseconds" => 0.001,
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3600.0,
        "d" | "day" | "days" => 86400.0,
        _ => return None,
    })
}

#[cfg(test)]
#[allow(clippy::expect_used)]
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

    // CORE-10
    #[test]
    fn what_is_said_as_an_error_goes_before_what_is_muttered() {
        let known = crate::driver::Known::with(&std::collections::BTreeMap::new());
        let row = known.and_then(|known| known.get("opencode")).expect("a row").row;
        let log = |error: &str| {
            format!(
                "level=ERROR message=\"stream error\" small=false error.error=\"AI_APICallError: {error}\""
            )
        };
        let kind = |errors: &[String], stderr: &str| {
            let signs = Signs { errors, stderr, answer: "", exit: Exit::Silent };
            tell(&row, signs).map(|ailment| ailment.kind)
        };
        assert_eq!(kind(&[], &log("out of order")), Some(Kind::Overload));
        assert_eq!(kind(&[], &log("Rate limit reached")), Some(Kind::RateLimit));
        let refused = ["{\"statusCode\":401}".to_string()];
        assert_eq!(kind(&refused, &log("who are you")), Some(Kind::Authentication));
        assert_eq!(kind(&[], &log("out of order").replace("small=false", "small=true")), None);
    }

    // CORE-10
    #[test]
    fn a_wish_to_wait_is_understood() {
        let cases = [
            ("429: retry-after: 17", 17_000),
            ("{\"retry_after\": 1.5}", 1_500),
            ("Please try again in 20s.", 20_000),
            ("Please try again in 7.66s. Visit https://example.org/429", 7_660),
            ("try again in 250ms", 250),
            ("try again in 6m0s", 360_000),
            ("Please try again in 1m30s.", 90_000),
            ("retry in 1h2m3.5s", 3_723_500),
            ("retry after 2 min", 120_000),
            ("Retry after 5 Minutes", 300_000),
            ("try again in 1 hour, 429 Too Many Requests", 3_600_000),
            ("try again in 2 hours and 5 minutes", 7_500_000),
            ("try again in 3 days 4 hours", 273_600_000),
            ("retry-after-ms: 1200", 1_200),
            ("\"retry_after_ms\":900,\"code\":429", 900),
            ("\"@type\":\"google.rpc.RetryInfo\",\"retryDelay\":\"34.07s\"", 34_070),
            ("retry after 3 s, or better: retry after 9 s", 9_000),
        ];
        for (words, millis) in cases {
            assert_eq!(retry_after(words), Some(Duration::from_millis(millis)), "{words}");
        }
        for words in ["too many requests", "retry after some time"] {
            assert_eq!(retry_after(words), None, "{words}");
        }
    }

    #[test]
    fn what_is_told_of_a_wait_is_no_shorter_than_the_wish() {
        let row = crate::driver::Known::with(&std::collections::BTreeMap::new())
            .and_then(|known| known.get("codex"));
        let row = row.expect("a row").row;
        let ailment = Ailment { kind: Kind::RateLimit, words: "retry-after-ms: 1200".to_string() };
        assert_eq!(retry_after(&ailment.detail(&row)), Some(Duration::from_secs(2)));
    }
}
