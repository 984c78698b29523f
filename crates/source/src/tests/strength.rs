//! The strength of an assertion, from its tokens.

use super::item::{Assertion, Strength};
use super::tokens::{bracketed, split};

const COMPARISONS: [&str; 7] = ["!=", "!==", "<", ">", "<=", ">=", "in"];
const EQUALITIES: [&str; 3] = ["==", "===", "is"];
const PRESENCE_WORDS: [&str; 14] = [
    "isnotnone",
    "notnull",
    "isnotnull",
    "notnil",
    "noerror",
    "tobetruthy",
    "tobedefined",
    "tobenull",
    "truthy",
    "exist",
    "exists",
    "ispresent",
    "nothrow",
    "doesnotthrow",
];
const PARTIAL_WORDS: [&str; 13] = [
    "not", "contain", "match", "greater", "less", "throw", "raise", "panic", "almost", "close", "near",
    "regex", "include",
];

/// Rates an assertion: a macro, a call, or a statement with a condition.
pub fn assess(tokens: &[String]) -> Assertion {
    let strength = if tokens.first().is_some_and(|token| token == "assert") && !is_call(tokens) {
        condition_strength(split(&tokens[1..], ",")[0])
    } else {
        call_strength(tokens)
    };
    Assertion { text: tokens.concat(), strength, tolerance: tolerance(tokens) }
}

/// Rates the condition under which a test fails.
pub fn assess_failure(condition: &[String]) -> Assertion {
    let has_any = |operators: &[&str]| operators.iter().any(|operator| split(condition, operator).len() > 1);
    let strength = if is_false(condition) {
        Strength::Void
    } else if let [left, right] = split(condition, "!=")[..] {
        if left == right { Strength::Void } else { Strength::Exact }
    } else if has_any(&["==", "<", ">", "<=", ">="]) || condition.iter().any(|token| token == "(") {
        Strength::Loose
    } else {
        Strength::Presence
    };
    Assertion { text: format!("if{}", condition.concat()), strength, tolerance: tolerance(condition) }
}

/// Whether the tokens are a call of a function or macro, not a statement with a condition.
fn is_call(tokens: &[String]) -> bool {
    let second = tokens.get(1).map(String::as_str);
    match second {
        Some("!" | ".") => true,
        // In Python, parentheses around the whole condition are not a call.
        Some("(") => {
            bracketed(tokens, 1)
                .is_some_and(|(inside, end)| end + 1 == tokens.len() && split(inside, ",").len() > 1)
                || tokens.last().is_some_and(|token| token == ";")
        }
        _ => false,
    }
}

fn call_strength(tokens: &[String]) -> Strength {
    let Some((arguments, end)) = bracketed(tokens, 0) else { return Strength::Loose };
    let open = end - arguments.len() - 1;
    let first = name_before(tokens, open);
    // A chain states its expectation at its end: `expect(a).to.equal(b)`.
    let rest = &tokens[end + 1..];
    if rest.first().is_some_and(|token| token == ".") && ["expect", "assertthat"].contains(&first.as_str()) {
        return chain_strength(arguments, rest);
    }
    let mut arguments: Vec<&[String]> =
        split(arguments, ",").into_iter().filter(|part| !part.is_empty()).collect();
    // Assertion packages for Go take the test as the first argument.
    if arguments.first().is_some_and(|part| part.len() == 1 && ["t", "b", "tb"].contains(&part[0].as_str())) {
        arguments.remove(0);
    }
    let pair = (arguments.first(), arguments.get(1));
    let is_negative = first.contains("not") || first.ends_with("_ne") || first.contains("notequal");
    if takes_condition(&first) {
        return match pair.0 {
            Some(condition) if first.contains("false") => {
                if is_false(condition) {
                    Strength::Void
                } else {
                    condition_strength(condition)
                }
            }
            Some(condition) => condition_strength(condition),
            None => Strength::Presence,
        };
    }
    if PRESENCE_WORDS.iter().any(|word| first.replace('_', "").ends_with(word)) {
        return if pair.0.is_some_and(|value| is_literal(value)) {
            Strength::Void
        } else {
            Strength::Presence
        };
    }
    let is_equality =
        ["eq", "equal", "same", "is", "identical", "snapshot"].iter().any(|word| first.contains(word));
    match pair {
        (Some(left), Some(right)) if is_equality && !is_negative => {
            if left == right {
                Strength::Void
            } else {
                Strength::Exact
            }
        }
        (_, _) if is_equality && !is_negative => Strength::Exact,
        (_, _) => Strength::Loose,
    }
}

fn chain_strength(subject: &[String], rest: &[String]) -> Strength {
    let open = rest.iter().rposition(|token| token == "(");
    let matcher = match open {
        Some(open) => name_before(rest, open),
        None => rest.last().map(|word| word.to_lowercase()).unwrap_or_default(),
    };
    let expected = open.and_then(|open| bracketed(rest, open)).map(|(inside, _)| inside).unwrap_or_default();
    let is_negative = rest.iter().any(|token| token == "not" || token.starts_with("isNot"));
    if !is_negative && expected == subject && !expected.is_empty() {
        return Strength::Void;
    }
    if PRESENCE_WORDS.contains(&matcher.as_str())
        || ["true", "ok", "istrue", "isfalse", "false"].contains(&matcher.as_str())
    {
        return if is_literal(subject) {
            Strength::Void
        } else {
            condition_strength(subject).min(Strength::Exact)
        };
    }
    if is_negative || PARTIAL_WORDS.iter().any(|word| matcher.contains(word)) {
        Strength::Loose
    } else {
        Strength::Exact
    }
}

/// Whether an assertion with this name takes one condition.
fn takes_condition(name: &str) -> bool {
    let last = name.trim_start_matches("prop_").trim_start_matches("debug_");
    [
        "assert",
        "true",
        "false",
        "ok",
        "asserttrue",
        "assertfalse",
        "assert_true",
        "assert_false",
        "require",
        "truthy",
    ]
    .contains(&last)
}

fn condition_strength(condition: &[String]) -> Strength {
    let condition = without_parentheses(condition);
    if is_literal(condition) && !is_false(condition) {
        return Strength::Void;
    }
    for operator in ["or", "||"] {
        let choices = split(condition, operator);
        if choices.len() > 1 {
            let is_void = |choice: &&[String]| condition_strength(choice) == Strength::Void;
            return if choices.iter().any(is_void) { Strength::Void } else { Strength::Loose };
        }
    }
    for operator in ["and", "&&"] {
        let all = split(condition, operator);
        if all.len() > 1 {
            return all.into_iter().map(condition_strength).max().unwrap_or(Strength::Presence);
        }
    }
    for operator in EQUALITIES {
        if let [left, right] = split(condition, operator)[..] {
            let is_none = right.len() == 1 && ["None", "null", "undefined"].contains(&right[0].as_str());
            return if left == right {
                Strength::Void
            } else if is_none || right.first().is_some_and(|word| word == "not") {
                Strength::Presence
            } else {
                Strength::Exact
            };
        }
    }
    for operator in COMPARISONS {
        if let [left, right] = split(condition, operator)[..] {
            let is_always_true =
                left == right && operator.ends_with('=') && operator.len() == 2 && operator != "!=";
            return if is_always_true { Strength::Void } else { Strength::Loose };
        }
    }
    let words =
        ["matches", "contains", "starts_with", "ends_with", "includes", "startswith", "endswith", "equals"];
    if condition.iter().any(|token| words.contains(&token.as_str())) {
        Strength::Loose
    } else {
        Strength::Presence
    }
}

/// Strips enclosing parentheses.
fn without_parentheses(mut tokens: &[String]) -> &[String] {
    loop {
        match tokens.first().map(String::as_str) {
            Some("(") if bracketed(tokens, 0).is_some_and(|(_, end)| end + 1 == tokens.len()) => {
                tokens = &tokens[1..tokens.len() - 1];
            }
            _ => return tokens,
        }
    }
}

fn is_literal(tokens: &[String]) -> bool {
    match tokens {
        [one] => {
            let is_number = parse_number(one).is_some();
            is_number
                || ["true", "True", "false", "False"].contains(&one.as_str())
                || one.starts_with(['"', '\'', '`'])
        }
        [operator, one] if operator == "!" || operator == "not" => {
            ["false", "False", "0"].contains(&one.as_str())
        }
        _ => false,
    }
}

fn is_false(tokens: &[String]) -> bool {
    matches!(without_parentheses(tokens), [one] if ["false", "False", "0", "None", "null"].contains(&one.as_str()))
}

/// The name right before an opening parenthesis, in lower case.
fn name_before(tokens: &[String], open: usize) -> String {
    let names = tokens[..open.min(tokens.len())].iter().rev();
    names
        .into_iter()
        .find(|token| token.starts_with(|c: char| c.is_alphabetic() || c == '_'))
        .map_or_else(String::new, |name| name.to_lowercase())
}

fn parse_number(text: &str) -> Option<f64> {
    let plain: String = text.chars().filter(|c| *c != '_').collect();
    let plain = plain.trim_end_matches("f32").trim_end_matches("f64").trim_end_matches(['f', 'd', 'F', 'D']);
    if !plain.starts_with(|c: char| c.is_ascii_digit() || c == '.') { None } else { plain.parse().ok() }
}

/// The tolerance of an assertion in billionths, if it states one.
fn tolerance(tokens: &[String]) -> Option<u64> {
    let text = tokens.concat().to_lowercase();
    let named_argument = |names: &[&str]| {
        tokens.windows(3).find_map(|window| {
            let is_match = names.contains(&window[0].to_lowercase().as_str())
                && ["=", ":"].contains(&window[1].as_str());
            is_match.then(|| parse_number(&window[2])).flatten()
        })
    };
    let last_argument = || {
        let close = tokens.iter().rposition(|token| token == ")")?;
        let open = tokens[..close].iter().rposition(|token| token == "(")?;
        let arguments = split(&tokens[open + 1..close], ",");
        let last = arguments.last().filter(|_| arguments.len() > 1)?;
        parse_number(last.first()?)
    };
    let from_digits = |digits: f64| 10_f64.powf(-digits);
    let tolerance = named_argument(&[
        "abs",
        "rel",
        "delta",
        "epsilon",
        "tolerance",
        "atol",
        "rtol",
        "max_relative",
        "abs_tol",
        "rel_tol",
    ])
    .or_else(|| named_argument(&["places", "decimal", "digits"]).map(from_digits))
    .or_else(|| {
        if text.contains("tobecloseto") || text.contains("almostequal") {
            last_argument().map(from_digits)
        } else if ["indelta", "inepsilon", ".closeto", "within("].iter().any(|word| text.contains(word)) {
            last_argument()
        } else if text.contains("abs") {
            let at = tokens.iter().position(|token| ["<", "<=", ">", ">="].contains(&token.as_str()))?;
            parse_number(tokens.get(at + 1)?)
        } else {
            None
        }
    })?;
    // A number that is too large becomes the maximum.
    Some((tolerance * 1e9).clamp(0.0, 1e18) as u64)
}
