//! The small English vocabulary of the detectors: stop words, negations, opposites, synonyms, stems.
//!
//! Tables that are compared with stems hold stems. Apart from the stop words, all tables are short enough for a linear
//! search.

use alloc::borrow::ToOwned;
use alloc::string::String;

/// Words that make no claim, including reviewers' phrases ("still an issue"); sorted.
#[rustfmt::skip]
const STOP: &[&str] = &[
    "a", "about", "after", "again", "all", "already", "also", "although", "an", "and", "any", "are", "as",
    "at", "be", "because", "been", "before", "being", "both", "but", "by", "can", "code", "could",
    "currently", "did", "do", "does", "done", "during", "each", "either", "else", "even", "every",
    "finding", "for", "from", "function", "get", "gets", "getting", "given", "gives", "got", "had", "has",
    "have", "having", "hence", "here", "how", "i", "if", "in", "into", "is", "issue", "it", "its", "itself",
    "just", "let", "lets", "line", "lines", "make", "makes", "making", "may", "method", "might", "much",
    "must", "need", "needs", "now", "of", "off", "on", "once", "one", "only", "onto", "or", "other",
    "ought", "our", "over", "own", "per", "previous", "problem", "remain", "remains", "round", "same",
    "shall", "should", "since", "so", "some", "still", "such", "than", "that", "the", "their", "them",
    "then", "there", "therefore", "these", "they", "this", "those", "through", "thus", "to", "too", "under",
    "unresolved", "until", "upon", "us", "use", "used", "uses", "using", "very", "via", "was", "we", "were",
    "what", "when", "where", "whether", "which", "while", "who", "whose", "why", "will", "with", "within",
    "would", "yet", "you", "your",
];

/// Words that deny the next word or, at the end of a clause, the previous one.
#[rustfmt::skip]
const DENIAL: &[&str] = &[
    "absent", "cannot", "lack", "lacking", "lacks", "missing", "neither", "never", "no", "nobody", "none",
    "nor", "not", "nothing", "nowhere", "without",
];

/// Words that imply a denial: if something "should" happen or is "skipped", it does not happen.
#[rustfmt::skip]
const FAINT_DENIAL: &[&str] = &[
    "avoid", "discard", "fail", "forget", "forgot", "ignor", "lose", "miss", "must", "need", "omit",
    "ought", "prevent", "should", "skip", "unabl",
];

/// Words that make the number after them a reference to a location or a round.
#[rustfmt::skip]
const REFERENCE: &[&str] = &[
    "attempt", "column", "finding", "issue", "iteration", "line", "lines", "round",
];

/// Stems that change the meaning of a claim when one replaces the other.
const OPPOSITES: &[(&str, &str)] = &[
    ("accept", "reject"),
    ("add", "remov"),
    ("allow", "deny"),
    ("ascend", "descend"),
    ("begin", "end"),
    ("client", "server"),
    ("clos", "open"),
    ("connect", "disconnect"),
    ("decod", "encod"),
    ("decreas", "increas"),
    ("decrypt", "encrypt"),
    ("delet", "insert"),
    ("disabl", "enabl"),
    ("early", "lat"),
    ("exclud", "includ"),
    ("export", "import"),
    ("fals", "tru"),
    ("fast", "slow"),
    ("few", "many"),
    ("first", "last"),
    ("fewer", "mor"),
    ("high", "low"),
    ("higher", "lower"),
    ("input", "output"),
    ("larg", "smal"),
    ("larger", "smaller"),
    ("less", "mor"),
    ("load", "stor"),
    ("lock", "unlock"),
    ("long", "short"),
    ("longer", "shorter"),
    ("maximum", "minimum"),
    ("optimist", "pessimist"),
    ("parent", "child"),
    ("pop", "push"),
    ("priv", "public"),
    ("read", "write"),
    ("receiv", "send"),
    ("request", "respons"),
    ("start", "stop"),
    ("fail", "success"),
];

/// Stems that mean the same in a defect report.
const SYNONYMS: &[(&str, &str)] = &[
    ("abort", "crash"),
    ("block", "hang"),
    ("built", "build"),
    ("catalog", "list"),
    ("cleartext", "plaintext"),
    ("clobber", "overwrit"),
    ("configur", "config"),
    ("division", "divid"),
    ("divis", "divid"),
    ("ear", "early"),
    ("eras", "delet"),
    ("exception", "error"),
    ("fail", "fail"),
    ("failur", "fail"),
    ("folder", "directory"),
    ("directory", "directory"),
    ("forev", "forever"),
    ("growth", "grow"),
    ("held", "hold"),
    ("huge", "larg"),
    ("big", "larg"),
    ("invok", "call"),
    ("kept", "keep"),
    ("lost", "lose"),
    ("los", "lose"),
    ("lose", "lose"),
    ("loss", "lose"),
    ("max", "maximum"),
    ("maximal", "maximum"),
    ("maximum", "maximum"),
    ("min", "minimum"),
    ("nil", "null"),
    ("parameter", "argument"),
    ("ran", "run"),
    ("sanit", "escap"),
    ("sent", "send"),
    ("simultan", "concurrent"),
    ("parallel", "concurrent"),
    ("succ", "success"),
    ("succes", "success"),
    ("successful", "success"),
    ("swallow", "discard"),
    ("ignor", "discard"),
    ("tak", "take"),
    ("taken", "take"),
    ("took", "take"),
    ("unlimit", "unbound"),
    ("valid", "check"),
    ("verif", "check"),
    ("written", "write"),
    ("wrot", "write"),
    ("writ", "write"),
];

/// Stems whose `un-` form is a denial of the plain form.
#[rustfmt::skip]
const DENIED_BY_UN: &[&str] = &[
    "authenticat", "bound", "check", "document", "escap", "guard", "handl", "initial", "limit", "protect",
    "quot", "sort", "stat", "test", "valid", "verif",
];

const NUMBER_WORDS: &[(&str, &str)] = &[
    ("two", "2"),
    ("twice", "2"),
    ("three", "3"),
    ("four", "4"),
    ("five", "5"),
    ("six", "6"),
    ("seven", "7"),
    ("eight", "8"),
    ("nine", "9"),
    ("ten", "10"),
];

/// Suffixes, each with the minimum length of the rest and the replacement; the first match applies.
const SUFFIXES: &[(&str, usize, &str)] = &[
    ("fication", 3, "f"),
    ("ational", 4, ""),
    ("ation", 4, ""),
    ("ition", 4, ""),
    ("ency", 4, "ent"),
    ("ancy", 4, "ant"),
    ("ence", 4, ""),
    ("ance", 4, ""),
    ("ness", 4, ""),
    ("able", 4, ""),
    ("ible", 4, ""),
    ("ment", 5, ""),
    ("ical", 4, "ic"),
    ("ity", 4, ""),
    ("ion", 4, ""),
    ("ic", 6, ""),
    ("al", 6, ""),
];

pub(super) fn is_stop(word: &str) -> bool {
    STOP.binary_search(&word).is_ok()
}

pub(super) fn is_denial(word: &str) -> bool {
    DENIAL.contains(&word) || word.ends_with("n't")
}

/// Whether the stem or word implies a denial without a negation.
pub(super) fn is_faint_denial(word: &str) -> bool {
    FAINT_DENIAL.contains(&word)
}

pub(super) fn is_reference(word: &str) -> bool {
    REFERENCE.contains(&word)
}

pub(super) fn number_word(word: &str) -> Option<&'static str> {
    NUMBER_WORDS.iter().find(|(name, _)| *name == word).map(|(_, digits)| *digits)
}

/// The stem that an `un-` word denies: `check` for `unchecked`.
pub(super) fn denied_by_prefix(word: &str) -> Option<String> {
    let rest = stem(word.strip_prefix("un")?);
    let is_known = DENIED_BY_UN.iter().any(|plain| synonym(plain) == rest);
    is_known.then_some(rest)
}

/// The opposites of a stem.
pub(super) fn opposites(stem: &str) -> impl Iterator<Item = &'static str> {
    OPPOSITES.iter().filter_map(move |(left, right)| match (*left == stem, *right == stem) {
        (true, _) => Some(*right),
        (false, true) => Some(*left),
        (false, false) => None,
    })
}

/// The stem of a folded word, with synonyms unified. Words in other scripts are unchanged.
pub(super) fn stem(word: &str) -> String {
    if !word.is_ascii() || word.len() < 4 {
        return synonym(word).to_owned();
    }
    let mut rest = without_inflection(&without_plural(word));
    if let Some(root) = SUFFIXES.iter().find_map(|rule| without_suffix(&rest, rule)) {
        rest = root;
    }
    synonym(&normalize_end(rest)).to_owned()
}

fn synonym(stem: &str) -> &str {
    SYNONYMS.iter().find(|(from, _)| *from == stem).map_or(stem, |(_, to)| to)
}

fn without_plural(word: &str) -> String {
    if let Some(rest) = word.strip_suffix("ies").filter(|rest| rest.len() > 1) {
        return [rest, "y"].concat();
    }
    if word.ends_with("sses") || word.ends_with("xes") || word.ends_with("ches") || word.ends_with("shes") {
        return word[..word.len() - 2].to_owned();
    }
    let keeps_s = ["ss", "us", "is"].iter().any(|end| word.ends_with(end));
    word.strip_suffix('s').filter(|_| !keeps_s).unwrap_or(word).to_owned()
}

fn without_inflection(word: &str) -> String {
    if let Some(rest) = word.strip_suffix("ied").filter(|rest| rest.len() > 1) {
        return [rest, "y"].concat();
    }
    let rest = ["ingly", "edly", "ing", "ed", "ly"]
        .iter()
        .find_map(|end| word.strip_suffix(end).filter(|rest| rest.len() > 2 && rest.contains(is_vowel)));
    rest.unwrap_or(word).to_owned()
}

fn is_vowel(letter: char) -> bool {
    "aeiouy".contains(letter)
}

fn without_suffix(word: &str, (suffix, min_length, replacement): &(&str, usize, &str)) -> Option<String> {
    let rest = word.strip_suffix(suffix).filter(|rest| rest.len() >= *min_length)?;
    Some([rest, replacement].concat())
}

/// Unifies the ends of stems: silent vowels, doubled consonants, `-at`, British and American `-is/-iz`.
fn normalize_end(mut rest: String) -> String {
    if (rest.len() > 3 && rest.ends_with('e')) || (rest.len() > 4 && rest.ends_with('y')) {
        rest.pop();
    }
    let mut from_end = rest.chars().rev();
    let is_doubled = from_end.next().is_some_and(|last| !is_vowel(last) && from_end.next() == Some(last));
    if is_doubled && rest.len() > 4 {
        rest.pop();
    }
    if rest.len() > 5 && rest.ends_with("at") {
        rest.truncate(rest.len() - 2);
    }
    if rest.ends_with("iz") {
        rest.pop();
        rest.push('s');
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn assert_same_stem(words: &[&str]) {
        for word in words {
            assert_eq!(stem(word), stem(words[0]), "{word} and {}", words[0]);
        }
    }

    #[test]
    fn forms_of_one_word_share_a_stem() {
        assert_same_stem(&["check", "checks", "checked", "checking", "validated", "validation", "verifies"]);
        assert_same_stem(&["expiry", "expired", "expires", "expiring"]);
        assert_same_stem(&["retry", "retries", "retried", "retrying"]);
        assert_same_stem(&["concatenate", "concatenated", "concatenating", "concatenation"]);
        assert_same_stem(&["drop", "drops", "dropped", "dropping"]);
        assert_same_stem(&["cancel", "cancelled", "cancelling", "canceled"]);
        assert_same_stem(&["initialise", "initialized", "initialisation", "initializing"]);
        assert_same_stem(&["write", "writes", "writing", "written", "wrote"]);
        assert_same_stem(&["create", "created", "creation", "creating", "creates"]);
    }

    #[test]
    fn words_in_other_scripts_and_very_short_words_are_unchanged() {
        assert_eq!(stem("größe"), "größe");
        assert_eq!(stem("検証"), "検証");
        assert_eq!(stem(""), "");
        assert_eq!(stem("s"), "s");
        assert_eq!(stem("sses"), "ss");
    }

    #[test]
    fn common_words_have_their_opposites() {
        let pairs = "accept reject, adds removed, allowed denied, ascending descending, begins ends, \
            client server, closes opened, connected disconnected, decoding encoded, decreases increased, \
            decrypts encryption, deletes insertion, disabled enables, early late, excluded including, \
            exports imported, false true, fast slow, few many, first last, fewer more, high low, \
            higher lower, input outputs, large small, larger smaller, less more, loads stored, \
            locked unlocks, long short, longer shorter, maximum minimum, max min, optimistic pessimistic, \
            parent child, pops pushed, private public, reads written, received sent, requests response, \
            started stops, fails succeeds, failure success";
        let are_not_opposites = |pair: &&str| {
            let (left, right) = pair.split_once(' ').unwrap();
            opposites(&stem(left)).all(|other| other != stem(right))
        };
        assert_eq!(pairs.split(", ").filter(are_not_opposites).collect::<Vec<_>>(), Vec::<&str>::new());
    }

    #[test]
    fn stop_words_are_sorted_for_the_search() {
        assert!(STOP.is_sorted());
    }

    #[test]
    fn opposites_and_the_targets_of_synonyms_have_no_further_synonym() {
        for (left, right) in OPPOSITES {
            assert_eq!((synonym(left), synonym(right)), (*left, *right));
        }
        for (_, to) in SYNONYMS {
            assert_eq!(synonym(to), *to);
        }
    }
}
