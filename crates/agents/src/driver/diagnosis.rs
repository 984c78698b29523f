//! Diagnoses why an agent's service or program failed, from its output and exit status.

use super::row::{AgentRow, FailurePattern, ServiceFailure};
use regex::{Regex, RegexBuilder};
use remand_kernel::signal::Failure;
use remand_process::Exit;
use std::time::Duration;

/// Common error messages of services and programs. The first match counts.
const COMMON: &[(ServiceFailure, &str)] = &[
    (
        ServiceFailure::ContextTooLong,
        r"context.{0,3}(length|window)|maximum context|prompt is too long|too many (input )?tokens|input is too long",
    ),
    (ServiceFailure::Account, r"credit balance|billing|insufficient_quota|payment required|\b402\b"),
    (
        ServiceFailure::MissingVariable,
        r"missing environment variable|environment variable .{0,60}not (set|found|defined)",
    ),
    (
        ServiceFailure::Authentication,
        r"\b40[13]\b|unauthori[sz]ed|unauthenticated|authentication|api.?key (is )?(not|missing|invalid|required)|(invalid|missing|incorrect|no) .{0,12}(api.?key|credentials|auth method)|not logged in|/login|log ?in (first|again)|token (has )?expired",
    ),
    (
        ServiceFailure::RateLimit,
        r"\b429\b|rate.?limit|too many requests|resource.?exhausted|usage limit|quota",
    ),
    (
        ServiceFailure::Overload,
        r"\b5(00|02|03|04|20|29)\b|overloaded|high demand|internal server error|service unavailable|bad gateway|server_error|api_error",
    ),
    (
        ServiceFailure::Network,
        r"econn(refused|reset|aborted)|enotfound|eai_again|etimedout|ehostunreach|enetunreach|fetch failed|connection (refused|reset|error|closed)|could not resolve|cannot connect|unable to connect|network (error|is unreachable)|stream disconnected|error sending request|socket hang up|dns error",
    ),
    (
        ServiceFailure::Version,
        r"unknown (option|argument|command|flag)|unexpected argument|unrecogni[sz]ed (option|argument|subcommand)",
    ),
    (
        ServiceFailure::Refused,
        r"\b4(00|04|22)\b|invalid.?request|bad request|model.{0,40}not (found|exist|supported)",
    ),
];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiagnosedFailure {
    pub kind: ServiceFailure,
    /// The message that led to the diagnosis.
    pub message: String,
}

/// The evidence for a diagnosis.
#[derive(Clone, Copy, Debug)]
pub struct Symptoms<'s> {
    pub errors: &'s [String],
    pub stderr: &'s str,
    pub answer: &'s str,
    pub exit: Exit,
}

/// Diagnoses the failure. Reported errors take precedence over the standard error. `None` if no pattern matches.
pub fn diagnose(row: &AgentRow, symptoms: Symptoms<'_>) -> Option<DiagnosedFailure> {
    let (reported, logged) = (Symptoms { stderr: "", ..symptoms }, Symptoms { errors: &[], ..symptoms });
    [reported, logged]
        .into_iter()
        .find_map(|symptoms| match_row(row, symptoms).or_else(|| match_common(symptoms)))
}

fn match_row(row: &AgentRow, symptoms: Symptoms<'_>) -> Option<DiagnosedFailure> {
    row.failures.iter().find_map(|pattern| {
        match_pattern(pattern, symptoms).map(|message| DiagnosedFailure { kind: pattern.kind, message })
    })
}

/// Whether the agent printed an error message in place of an answer.
pub fn is_error_message(row: &AgentRow, answer: &str) -> bool {
    row.failures
        .iter()
        .filter_map(|failure| failure.answers.as_deref())
        .any(|pattern| has_match(pattern, answer))
}

fn match_pattern(failure: &FailurePattern, symptoms: Symptoms<'_>) -> Option<String> {
    if failure.exit.is_some_and(|code| symptoms.exit != Exit::Code(code)) {
        return None;
    }
    let mut message = None;
    if let Some(pattern) = &failure.says {
        message = Some(messages(symptoms).find(|line| has_match(pattern, line))?.to_string());
    }
    if let Some(pattern) = &failure.answers {
        message = Some(Some(symptoms.answer).filter(|answer| has_match(pattern, answer))?.to_string());
    }
    message.or_else(|| failure.exit.map(|code| format!("exit code {code}")))
}

/// Diagnoses the failure by the common error messages.
pub fn match_common(symptoms: Symptoms<'_>) -> Option<DiagnosedFailure> {
    messages(symptoms).find_map(|line| {
        let (kind, _) = COMMON.iter().find(|(_, pattern)| has_match(pattern, line))?;
        Some(DiagnosedFailure { kind: *kind, message: line.to_string() })
    })
}

/// The messages, newest first: reported errors, then the last lines of the standard error.
fn messages<'s>(symptoms: Symptoms<'s>) -> impl Iterator<Item = &'s str> {
    let errors = symptoms.errors.iter().rev().map(String::as_str);
    errors.chain(symptoms.stderr.lines().rev().take(40)).map(str::trim).filter(|line| !line.is_empty())
}

fn has_match(pattern: &str, text: &str) -> bool {
    RegexBuilder::new(pattern).case_insensitive(true).build().is_ok_and(|regex| regex.is_match(text))
}

impl DiagnosedFailure {
    pub fn failure(&self) -> Failure {
        match self.kind {
            ServiceFailure::Account
            | ServiceFailure::MissingVariable
            | ServiceFailure::Authentication
            | ServiceFailure::RateLimit
            | ServiceFailure::Overload
            | ServiceFailure::Network
            | ServiceFailure::Version => Failure::Environment,
            ServiceFailure::ContextTooLong | ServiceFailure::Refused => Failure::Denied,
        }
    }

    /// What happened and what the user can do about it.
    pub fn detail(&self, row: &AgentRow) -> String {
        let title = &row.title;
        let summary = match self.kind {
            ServiceFailure::Account => format!("the account of {title} cannot pay for this"),
            ServiceFailure::MissingVariable => format!(
                "{title} needs an environment variable that it does not have; set it, and list it in \
                 `sandbox.environment` if Remand does not pass it on"
            ),
            ServiceFailure::Authentication => match row.sign_in.as_str() {
                "" => format!("{title} is not signed in"),
                how => format!("{title} is not signed in: {how}"),
            },
            ServiceFailure::RateLimit => {
                format!("the service of {title} is rate limiting, or its quota is used up")
            }
            ServiceFailure::Overload => format!("the service of {title} is currently unavailable"),
            ServiceFailure::Network => {
                format!("{title} cannot reach its service; check the network and any proxy")
            }
            ServiceFailure::ContextTooLong => format!(
                "the prompt exceeds the context of {title}'s model; choose a model with a larger context or a smaller task"
            ),
            ServiceFailure::Version => match &row.tried {
                Some(version) => {
                    format!("{title} rejects its arguments; Remand was tested with version {version}")
                }
                None => format!("{title} rejects its arguments; adapt `[agents]` in the configuration"),
            },
            ServiceFailure::Refused => format!("the service of {title} rejects the request"),
        };
        let message: String = remand_notation::clean(&self.message).chars().take(300).collect();
        match retry_after(&self.message) {
            Some(wait) => {
                format!("{summary} ({message}); retry after {} s", wait.as_millis().div_ceil(1000).max(1))
            }
            None => format!("{summary} ({message})"),
        }
    }
}

/// How long a service asks the client to wait: numbers with units, such as `1m30s`, or a single number of seconds, or of
/// milliseconds after `retry-after-ms`. The last request in the message counts.
pub fn retry_after(message: &str) -> Option<Duration> {
    let request = r"(?i)(?:retry.{0,3}after(.?ms\b)?|retry.?delay|retry in|try again in)[^0-9]{0,12}([0-9])";
    let part = Regex::new(r"^[\s,]*(?:and\s+)?([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)").ok()?;
    let found = Regex::new(request).ok()?.captures_iter(message).last()?;
    let in_millis = found.get(1).is_some();
    let mut rest = message.get(found.get(2)?.start()..)?;
    let mut total = None;
    while let Some(next) = part.captures(rest) {
        let count: f64 = next[1].parse().ok()?;
        match (unit_seconds(&next[2]), total) {
            (Some(unit), _) => total = Some(total.unwrap_or(0.0) + count * unit),
            (None, None) => return duration(if in_millis { count / 1000.0 } else { count }),
            (None, Some(_)) => break,
        }
        rest = &rest[next[0].len()..];
    }
    duration(total?)
}

fn duration(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok()
}

fn unit_seconds(unit: &str) -> Option<f64> {
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
    fn failures_of_services_are_distinguished() {
        let cases = [
            ("API Error: 401 {\"type\":\"error\"}", ServiceFailure::Authentication),
            ("Invalid API key · Please run /login", ServiceFailure::Authentication),
            ("exceeded retry limit, last status: 429 Too Many Requests", ServiceFailure::RateLimit),
            ("unexpected status 503 Service Unavailable", ServiceFailure::Overload),
            ("API Error: 529 overloaded_error", ServiceFailure::Overload),
            ("We’re currently experiencing high demand", ServiceFailure::Overload),
            ("Credit balance is too low", ServiceFailure::Account),
            ("API Error: 400 Your credit balance is too low to access the API", ServiceFailure::Account),
            ("You exceeded your current quota, please check your plan and billing", ServiceFailure::Account),
            ("Missing environment variable: `OPENAI_API_KEY`.", ServiceFailure::MissingVariable),
            ("connect ECONNREFUSED 127.0.0.1:9", ServiceFailure::Network),
            ("TypeError: fetch failed", ServiceFailure::Network),
            ("Your input exceeds the context window of this model", ServiceFailure::ContextTooLong),
            ("error: unexpected argument '--json' found", ServiceFailure::Version),
            ("400 Bad Request", ServiceFailure::Refused),
        ];
        for (message, kind) in cases {
            let errors = [message.to_string()];
            let symptoms = Symptoms { errors: &errors, stderr: "", answer: "", exit: Exit::Code(1) };
            assert_eq!(match_common(symptoms).map(|failure| failure.kind), Some(kind), "{message}");
            let symptoms = Symptoms { errors: &[], stderr: message, answer: "", exit: Exit::Code(1) };
            assert_eq!(match_common(symptoms).map(|failure| failure.kind), Some(kind), "{message}");
        }
        let symptoms = Symptoms { errors: &[], stderr: "thread panicked", answer: "", exit: Exit::Code(101) };
        assert_eq!(match_common(symptoms), None);
    }

    // CORE-10
    #[test]
    fn reported_errors_take_precedence_over_the_standard_error() {
        let rows = crate::driver::AgentRows::from_config(&std::collections::BTreeMap::new());
        let row = rows.and_then(|rows| rows.get("opencode")).expect("a row").row;
        let log = |error: &str| {
            format!(
                "level=ERROR message=\"stream error\" small=false error.error=\"AI_APICallError: {error}\""
            )
        };
        let kind = |errors: &[String], stderr: &str| {
            let symptoms = Symptoms { errors, stderr, answer: "", exit: Exit::Silent };
            diagnose(&row, symptoms).map(|failure| failure.kind)
        };
        assert_eq!(kind(&[], &log("out of order")), Some(ServiceFailure::Overload));
        assert_eq!(kind(&[], &log("Rate limit reached")), Some(ServiceFailure::RateLimit));
        let refused = ["{\"statusCode\":401}".to_string()];
        assert_eq!(kind(&refused, &log("who are you")), Some(ServiceFailure::Authentication));
        assert_eq!(kind(&[], &log("out of order").replace("small=false", "small=true")), None);
    }

    // CORE-10
    #[test]
    fn requested_waits_are_parsed() {
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
        for (message, millis) in cases {
            assert_eq!(retry_after(message), Some(Duration::from_millis(millis)), "{message}");
        }
        for message in ["too many requests", "retry after some time"] {
            assert_eq!(retry_after(message), None, "{message}");
        }
    }

    #[test]
    fn the_reported_wait_is_never_shorter_than_the_requested_one() {
        let row = crate::driver::AgentRows::from_config(&std::collections::BTreeMap::new())
            .and_then(|rows| rows.get("codex"));
        let row = row.expect("a row").row;
        let failure =
            DiagnosedFailure { kind: ServiceFailure::RateLimit, message: "retry-after-ms: 1200".to_string() };
        assert_eq!(retry_after(&failure.detail(&row)), Some(Duration::from_secs(2)));
    }
}
