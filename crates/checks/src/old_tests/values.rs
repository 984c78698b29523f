//! Whether the request names the values that a change puts in place of those that a test expected.

use crate::asked::contains_word;

/// Texts with more tokens are not compared.
const MAX_TOKENS: usize = 3_000;

/// Words that are values.
const VALUE_WORDS: [&str; 9] = ["true", "false", "True", "False", "None", "null", "undefined", "nil", "NaN"];

/// Names of punctuation that a request may use.
const PUNCTUATION: [(&str, &[&str]); 12] = [
    ("_", &["underscore", "underscores"]),
    ("-", &["hyphen", "hyphens", "dash", "dashes", "minus"]),
    (".", &["dot", "dots", "period", "periods", "point"]),
    (",", &["comma", "commas"]),
    (";", &["semicolon", "semicolons"]),
    (":", &["colon", "colons"]),
    ("/", &["slash", "slashes"]),
    ("\\", &["backslash", "backslashes"]),
    ("|", &["pipe", "pipes"]),
    ("+", &["plus"]),
    ("\t", &["tab", "tabs"]),
    (" ", &["space", "spaces", "blank", "blanks"]),
];

/// Tokens that one version has in place of others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValueChange {
    pub old: Vec<String>,
    pub new: Vec<String>,
}

/// The differences between two token sequences; `None` if they are too long to compare.
pub fn replacements(old: &[String], new: &[String]) -> Option<Vec<ValueChange>> {
    let start = old.iter().zip(new).take_while(|(one, other)| one == other).count();
    let end = old[start..]
        .iter()
        .rev()
        .zip(new[start..].iter().rev())
        .take_while(|(one, other)| one == other)
        .count();
    let (old, new) = (&old[start..old.len() - end], &new[start..new.len() - end]);
    if old.len().max(new.len()) > MAX_TOKENS {
        return None;
    }
    // The length of the longest common sequence of the rest, from each pair of places.
    let mut longest = vec![vec![0_u32; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            longest[i][j] = if old[i] == new[j] {
                longest[i + 1][j + 1] + 1
            } else {
                longest[i + 1][j].max(longest[i][j + 1])
            };
        }
    }
    let (mut i, mut j, mut found, mut open) = (0, 0, Vec::new(), ValueChange::default());
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            if open != ValueChange::default() {
                found.push(std::mem::take(&mut open));
            }
            (i, j) = (i + 1, j + 1);
        } else if j >= new.len() || i < old.len() && longest[i + 1][j] >= longest[i][j + 1] {
            open.old.push(old[i].clone());
            i += 1;
        } else {
            open.new.push(new[j].clone());
            j += 1;
        }
    }
    if open != ValueChange::default() {
        found.push(open);
    }
    Some(found)
}

impl ValueChange {
    /// Whether nothing but values and punctuation differs.
    pub fn is_of_values(&self) -> bool {
        let is_harmless = |token: &String| is_value(token) || !token.chars().any(char::is_alphanumeric);
        self.old.iter().chain(&self.new).all(is_harmless)
            && self.old.iter().chain(&self.new).any(|token| is_value(token))
    }

    /// The new values, if the words name all of them. If values are only removed, they must be named.
    pub fn named_in(&self, words: &str) -> Option<Vec<String>> {
        let values =
            |tokens: &[String]| tokens.iter().filter(|token| is_value(token)).cloned().collect::<Vec<_>>();
        let (old, new) = (values(&self.old), values(&self.new));
        let new = if new.is_empty() { values(&self.old) } else { new };
        let is_named = |(at, value): (usize, &String)| {
            let partner = old.get(at).filter(|_| old.len() == new.len());
            names_value(words, value) || partner.is_some_and(|old| names_difference(words, old, value))
        };
        new.iter().enumerate().all(is_named).then_some(new)
    }

    /// Whether the words name a value that is replaced.
    pub fn old_is_named_in(&self, words: &str) -> bool {
        let partner = |at: usize| self.new.get(at).filter(|_| self.old.len() == self.new.len());
        self.old.iter().enumerate().filter(|(_, token)| is_value(token)).any(|(at, old)| {
            names_value(words, old) || partner(at).is_some_and(|new| names_difference(words, new, old))
        })
    }
}

/// Whether a token is a literal.
pub fn is_value(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_digit())
        || VALUE_WORDS.contains(&token)
        || token.find(['"', '\'', '`']).is_some_and(|at| at <= 3)
}

/// Whether words contain a value, without its quotes.
pub fn names_value(words: &str, value: &str) -> bool {
    let content = content(value);
    match content {
        "" => ["\"\"", "''", "empty", "nothing", "blank"].iter().any(|word| words.contains(word)),
        text if text.chars().any(char::is_alphanumeric) => {
            contains_word(words, text)
                || VALUE_WORDS.contains(&text) && contains_word(&words.to_lowercase(), &text.to_lowercase())
        }
        text => names_punctuation(words, text),
    }
}

/// Whether words name what a value has in place of another one: only the part that differs.
fn names_difference(words: &str, from: &str, to: &str) -> bool {
    let (from, to) = (content(from), content(to));
    let is_word = char::is_alphanumeric;
    let mut start = from
        .chars()
        .zip(to.chars())
        .take_while(|(one, other)| one == other)
        .map(|(c, _)| c.len_utf8())
        .sum::<usize>();
    let rest = (&from[start..], &to[start..]);
    let mut end = rest
        .0
        .chars()
        .rev()
        .zip(rest.1.chars().rev())
        .take_while(|(one, other)| one == other)
        .map(|(c, _)| c.len_utf8())
        .sum::<usize>();
    let differs = |start: usize, end: usize| to.get(start..to.len() - end).unwrap_or_default();
    if differs(start, end).is_empty() {
        return false;
    }
    if !differs(start, end).contains(is_word) {
        return names_punctuation(words, differs(start, end));
    }
    // A part of a word or a number is not a value.
    while start > 0 && to[..start].ends_with(is_word) {
        start -= to[..start].chars().next_back().map_or(1, char::len_utf8);
    }
    while end > 0 && to[to.len() - end..].starts_with(is_word) {
        end -= to[to.len() - end..].chars().next().map_or(1, char::len_utf8);
    }
    contains_word(words, differs(start, end))
}

fn names_punctuation(words: &str, text: &str) -> bool {
    let is_quoted = ['`', '"', '\''].iter().any(|quote| words.contains(&format!("{quote}{text}{quote}")));
    let lower = words.to_lowercase();
    let names =
        PUNCTUATION.iter().find(|(mark, _)| *mark == text).map(|(_, names)| *names).unwrap_or_default();
    is_quoted || names.iter().any(|name| contains_word(&lower, name))
}

/// The content of a literal.
fn content(value: &str) -> &str {
    let start = value.find(['"', '\'', '`']).filter(|at| *at <= 3);
    let Some(start) = start else { return value };
    value[start..].trim_matches(['"', '\'', '`'])
}

/// The words and marks of a text that is not code.
pub fn plain_tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut was_word = false;
    for c in text.chars() {
        let is_word = c.is_alphanumeric();
        match tokens.last_mut().filter(|_| is_word && was_word) {
            Some(last) => last.push(c),
            None if !c.is_whitespace() => tokens.push(c.to_string()),
            None => {}
        }
        was_word = is_word;
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_string).collect()
    }

    fn named(words: &str, old: &str, new: &str) -> bool {
        let found = replacements(&tokens(old), &tokens(new)).unwrap_or_default();
        !found.is_empty() && found.iter().all(|one| one.is_of_values() && one.named_in(words).is_some())
    }

    // TE-01
    #[test]
    fn a_new_value_is_named_as_it_is_or_by_what_differs() {
        let cases = [
            ("The timeout is 30 seconds", "equal ( timeout , 10 )", "equal ( timeout , 30 )", true),
            ("The timeout is longer", "equal ( timeout , 10 )", "equal ( timeout , 30 )", false),
            ("The timeout is 300 seconds", "equal ( timeout , 10 )", "equal ( timeout , 30 )", false),
            ("Join words with underscores", "\"a-b\"", "\"a_b\"", true),
            ("Join words with `_` instead of `-`", "'a-b'", "'a_b'", true),
            ("Join words better", "\"a-b\"", "\"a_b\"", false),
            ("Say Total (EUR)", "\"Sum\"", "\"Total\"", true),
            ("Return None for nothing", "0", "None", true),
            ("The limit is 5", "is_true ( limit )", "limit ( 5 )", false),
        ];
        for (words, old, new, expected) in cases {
            assert_eq!(named(words, old, new), expected, "{words}: {old} -> {new}");
        }
    }

    #[test]
    fn differences_are_found_in_order() {
        let found = replacements(&tokens("a 1 b 2 c"), &tokens("a 3 b c 4")).unwrap_or_default();
        let sides: Vec<(String, String)> =
            found.into_iter().map(|one| (one.old.join(" "), one.new.join(" "))).collect();
        let expected =
            [("1", "3"), ("2", ""), ("", "4")].map(|(old, new)| (old.to_string(), new.to_string()));
        assert_eq!(sides, expected);
        assert_eq!(plain_tokens("Total: 5 EUR\n"), ["Total", ":", "5", "EUR"]);
    }
}
