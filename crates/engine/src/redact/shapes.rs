//! The shapes of known keys and passwords. A shape must not match hashes, identifiers or images in ordinary code.

use regex::Regex;
use std::sync::LazyLock;

/// One shape of a secret.
#[derive(Clone, Debug)]
pub(super) struct SecretShape {
    pub(super) marker: String,
    regex: Regex,
    condition: Condition,
}

/// The condition on a match, in addition to its pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    Any,
    /// Upper case, lower case and digits mixed, as in a generated key.
    Random,
    /// A real value instead of a placeholder.
    Literal,
}

/// Name, pattern, condition. If the pattern has a group, the first group is the secret.
const SHAPES: &[(&str, &str, Condition)] = &[
    ("private key", PRIVATE_KEY, Condition::Any),
    ("Anthropic key", r"\bsk-ant-[A-Za-z0-9_-]{20,}", Condition::Any),
    ("OpenAI key", r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}", Condition::Random),
    ("AWS access key", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b", Condition::Any),
    (
        "AWS secret key",
        r#"(?i)\baws[a-z_ -]{0,24}(?:secret|key)[a-z_ -]{0,24}["']?\s*[:=]\s*["']?([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)"#,
        Condition::Random,
    ),
    ("GitHub token", r"\bgh[pousr]_[A-Za-z0-9]{36,255}\b", Condition::Any),
    ("GitHub token", r"\bgithub_pat_[A-Za-z0-9_]{22,255}\b", Condition::Any),
    ("GitLab token", r"\bglpat-[A-Za-z0-9_-]{20,}", Condition::Any),
    ("Slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}", Condition::Random),
    ("Slack token", r"\bxapp-[0-9]-[A-Za-z0-9-]{20,}", Condition::Any),
    ("Slack webhook", r"https://hooks\.slack\.com/services/([A-Za-z0-9/_-]{20,})", Condition::Any),
    ("Google key", r"\bAIza[0-9A-Za-z_-]{35}", Condition::Any),
    ("Google token", r"\bya29\.[0-9A-Za-z_-]{20,}", Condition::Any),
    ("Google secret", r"\bGOCSPX-[0-9A-Za-z_-]{20,}", Condition::Any),
    ("Stripe key", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}\b", Condition::Any),
    ("SendGrid key", r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}", Condition::Random),
    ("Hugging Face token", r"\bhf_[A-Za-z0-9]{30,}\b", Condition::Any),
    ("npm token", r"\bnpm_[A-Za-z0-9]{36}\b", Condition::Any),
    ("npm token", r#"_authToken\s*=\s*["']?([^\s"']{8,})"#, Condition::Literal),
    ("PyPI token", r"\bpypi-[A-Za-z0-9_-]{50,}", Condition::Any),
    ("DigitalOcean token", r"\bdo[opr]_v1_[a-f0-9]{64}\b", Condition::Any),
    ("Azure key", r"(?i)\bAccountKey=([A-Za-z0-9+/=]{40,})", Condition::Any),
    ("JSON web token", r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}", Condition::Any),
    (
        "password in an address",
        r#"\b[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@'"`<>]*:([^\s/@'"`<>]{3,})@"#,
        Condition::Literal,
    ),
    (
        "authorization",
        r#"(?i)\bauthorization["']?\s*[:=]\s*["']?(?:bearer|basic|token)\s+([A-Za-z0-9._~+/=-]{16,})"#,
        Condition::Any,
    ),
    ("bearer token", r"\b[Bb]earer\s+([A-Za-z0-9._~+/-]{20,}=*)", Condition::Random),
    ("password", QUOTED, Condition::Literal),
    ("password", DOTENV, Condition::Literal),
];

const PRIVATE_KEY: &str = r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?:\\[nr]|(?:Proc-Type|DEK-Info|Version|Comment): ?[^\n\\]*|[A-Za-z0-9+/=\s]){40,}(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----)?";

/// `password = "..."`, also as a JSON or YAML key. It matches only quoted literals, because code assigns expressions.
const QUOTED: &str = r#"(?i)(?:password|passwd|passphrase|secret|secret[_-]?key|api[_-]?key|access[_-]?key|access[_-]?token|auth[_-]?token|private[_-]?key|client[_-]?secret)["']?\s*(?::=|=>|=|:)\s*["']([^"'\s]{8,})["']"#;

/// A line of an environment file.
const DOTENV: &str = r"(?m)^\s*(?:export\s+)?[A-Z0-9_]*(?:PASSWORD|PASSWD|SECRET|TOKEN|API_?KEY|ACCESS_?KEY)[A-Z0-9_]*=([^\s\x22'$<{(\[]{8,})\s*$";

/// The built-in shapes.
pub(super) fn known_shapes() -> &'static [SecretShape] {
    static KNOWN: LazyLock<Vec<SecretShape>> = LazyLock::new(|| {
        // A test checks that every pattern compiles.
        let compiled = SHAPES.iter().filter_map(|(name, pattern, condition)| {
            Some(SecretShape {
                marker: marker(name),
                regex: Regex::new(pattern).ok()?,
                condition: *condition,
            })
        });
        compiled.collect()
    });
    &KNOWN
}

/// The number of built-in shapes, for the test that all of them compile.
#[cfg(test)]
pub(super) const COUNT: usize = SHAPES.len();

impl SecretShape {
    /// A shape that the user configured.
    pub(super) fn configured(name: &str, regex: Regex) -> SecretShape {
        SecretShape { marker: marker(name), regex, condition: Condition::Any }
    }

    /// The ranges of the secrets in a string.
    pub(super) fn find<'s, 't: 's>(&'s self, text: &'t str) -> impl Iterator<Item = (usize, usize)> + 's {
        self.regex.captures_iter(text).filter_map(|found| {
            let secret = found.get(1).or_else(|| found.get(0))?;
            let is_secret = match self.condition {
                Condition::Any => true,
                Condition::Random => is_random(secret.as_str()),
                Condition::Literal => is_literal(secret.as_str()),
            };
            (is_secret && !secret.as_str().starts_with("[secret") && !secret.is_empty())
                .then_some((secret.start(), secret.end()))
        })
    }
}

fn marker(name: &str) -> String {
    format!("[secret: {name}]")
}

fn is_random(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_digit())
        && text.contains(|c: char| c.is_ascii_uppercase())
        && text.contains(|c: char| c.is_ascii_lowercase())
}

/// Whether a string is neither a placeholder, a reference nor a plain word.
fn is_literal(text: &str) -> bool {
    let lower = text.to_lowercase();
    let placeholders = [
        "example",
        "placeholder",
        "changeme",
        "change-me",
        "change_me",
        "your",
        "xxxx",
        "****",
        "....",
        "redacted",
        "dummy",
        "password",
        "secret",
        "process.env",
        "os.environ",
        "env.",
        "env(",
    ];
    let is_reference =
        text.contains(['$', '<', '>', '{', '}', '%', '(']) && !text.contains(|c: char| c.is_ascii_digit());
    let is_plain_word =
        !text.contains(|c: char| c.is_ascii_digit()) && !text.contains(|c: char| "!@#^&*+/=?".contains(c));
    !is_reference
        && !is_plain_word
        && !text.starts_with(['$', '<', '{', '%'])
        && !placeholders.iter().any(|word| lower.contains(word))
}
