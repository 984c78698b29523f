//! Whether a request explicitly asks to remove or change a test.

/// Verbs that ask to remove or change a test.
const CHANGE_VERBS: [&str; 12] = [
    "remove",
    "removed",
    "delete",
    "deleted",
    "drop",
    "dropped",
    "skip",
    "skipped",
    "rewrite",
    "rewritten",
    "rename",
    "renamed",
];

/// Verbs that ask to remove something.
const REMOVE_VERBS: [&str; 6] = ["remove", "removed", "delete", "deleted", "drop", "dropped"];

/// Words that make what follows the place of what is asked: "remove `a` from b".
const PLACES: [&str; 14] =
    ["from", "in", "of", "to", "into", "inside", "within", "by", "with", "at", "on", "for", "not", "don't"];

/// Verbs that ask for other content of a file.
const UPDATE_VERBS: [&str; 16] = [
    "update",
    "updated",
    "regenerate",
    "regenerated",
    "refresh",
    "refreshed",
    "replace",
    "replaced",
    "change",
    "changed",
    "extend",
    "extended",
    "rewrite",
    "rewritten",
    "record",
    "recorded",
];

/// Words that start a new clause.
const CLAUSE_STARTS: [&str; 10] =
    ["but", "so", "because", "since", "which", "then", "while", "when", "until", "if"];

/// Words that join names or clauses.
const JOINING: [&str; 2] = ["and", "or"];

/// Words that may appear between the names of a list.
const LISTING: [&str; 10] = ["the", "a", "both", "also", "old", "test", "tests", "case", "cases", "as"];

/// Placeholder for the test's name while the text is split into clauses, because a test title may contain any word.
const NAME: &str = "\u{1}";

/// Whether a request asks to remove or change this test: one clause must contain both the name of the test and one of the
/// verbs. A request that names a test without such a verb asks to make the test pass.
pub fn asks_to_change(request: &str, test: &str) -> bool {
    asks_to(request, test, &CHANGE_VERBS)
}

/// Whether a request asks to remove this whole file. It must give the full path: other files may have the same name.
pub fn asks_to_remove_file(request: &str, path: &str) -> bool {
    let is_whole = |at: &usize| {
        let before = request[..*at].trim_end_matches("./").chars().next_back();
        let mut after = request[*at + path.len()..].chars();
        let goes_on = match after.next() {
            Some('/' | '-') => true,
            Some('.' | ':') => after.next().is_some_and(|c| c.is_alphanumeric() || c == ':'),
            _ => false,
        };
        !before.is_some_and(|c| "/-.".contains(c)) && !goes_on
    };
    let places: Vec<usize> = occurrences(request, path).filter(is_whole).collect();
    asks_at(request, &places, path.len(), |clause| {
        let words: Vec<String> = clause.iter().map(|word| bare(word).to_lowercase()).collect();
        let file = clause.iter().position(|word| word.contains(NAME)).unwrap_or(0);
        words.iter().any(|word| REMOVE_VERBS.contains(&word.as_str()))
            && !words[..file].iter().any(|word| PLACES.contains(&word.as_str()))
    })
}

/// Whether a request explicitly asks to change the content of this file, by its name or path.
pub fn asks_to_update(request: &str, file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    [file, name].iter().any(|name| asks_to(request, name, &UPDATE_VERBS))
}

fn asks_to(request: &str, name: &str, verbs: &[&str]) -> bool {
    let places: Vec<usize> = occurrences(request, name).collect();
    asks_at(request, &places, name.len(), |clause| {
        clause.iter().any(|word| verbs.contains(&bare(word).to_lowercase().as_str()))
    })
}

/// Whether a clause with one of the names at these places asks for something.
fn asks_at(request: &str, places: &[usize], length: usize, is_request: impl Fn(&[&str]) -> bool) -> bool {
    let mut masked = String::new();
    let mut copied = 0;
    for at in places {
        masked.push_str(&request[copied..*at]);
        masked.push_str(NAME);
        copied = at + length;
    }
    masked.push_str(&request[copied..]);
    let asks = |clause: &Vec<&str>| clause.iter().any(|word| word.contains(NAME)) && is_request(clause);
    copied > 0 && sentences(&masked).into_iter().any(|sentence| clauses(&sentence).iter().any(asks))
}

/// Whether a request contains a name as a whole word.
pub fn contains_word(request: &str, name: &str) -> bool {
    occurrences(request, name).next().is_some()
}

/// Words for the arguments of a program; a function has arguments too.
const ARGUMENTS: &[&str] = &["command line", "program takes", "script takes", "tool takes", "command takes"];

/// Words for what lists the content of a folder.
const FOLDERS: &[&str] = &["folder", "folders", "directory", "directories"];

/// Words for what code reads around it, next to the names that programs have for it.
const SURROUNDINGS: [(&str, &[&str]); 13] = [
    ("argv", ARGUMENTS),
    ("Args", ARGUMENTS),
    ("args", ARGUMENTS),
    ("listdir", FOLDERS),
    ("scandir", FOLDERS),
    ("readdirSync", FOLDERS),
    ("readdir", FOLDERS),
    ("read_dir", FOLDERS),
    ("ReadDir", FOLDERS),
    ("isTTY", &["terminal", "TTY", "tty"]),
    ("isatty", &["terminal", "TTY", "tty"]),
    ("is_terminal", &["terminal", "TTY", "tty"]),
    (
        "clock",
        &[
            "today",
            "tomorrow",
            "clock",
            "weekday",
            "weekend",
            "midnight",
            "noon",
            "expire",
            "expires",
            "expired",
            "deadline",
            "current time",
            "current date",
        ],
    ),
];

/// Words that say what a name is the name of.
const KINDS_OF_NAMES: [&str; 15] = [
    "feature",
    "variable",
    "flag",
    "option",
    "argument",
    "setting",
    "switch",
    "cfg",
    "environment",
    "file",
    "command",
    "module",
    "key",
    "parameter",
    "plugin",
];

/// Whether a request names something around a program: a variable, a feature, a file. A plain word may mean anything, unless
/// it is quoted or the request says what it is the name of.
pub fn names_surroundings(request: &str, name: &str) -> bool {
    let synonyms = SURROUNDINGS.iter().find(|(known, _)| *known == name).map_or(&[][..], |(_, words)| *words);
    if synonyms.iter().any(|word| contains_word(request, word)) {
        return true;
    }
    let is_plain = name.chars().all(|c| c.is_lowercase());
    if !is_plain {
        return contains_word(request, name);
    }
    let is_quoted = ['`', '"', '\''].iter().any(|quote| request.contains(&format!("{quote}{name}{quote}")));
    let words: Vec<String> = request.split_whitespace().map(|word| bare(word).to_string()).collect();
    let is_kind = |word: Option<&String>| {
        word.is_some_and(|word| KINDS_OF_NAMES.contains(&word.trim_end_matches('s').to_lowercase().as_str()))
    };
    let is_named = |at: usize| {
        words[at] == name
            && (is_kind(words.get(at + 1)) || at.checked_sub(1).is_some_and(|at| is_kind(words.get(at))))
    };
    is_quoted || (0..words.len()).any(is_named)
}

fn occurrences<'r>(request: &'r str, name: &'r str) -> impl Iterator<Item = usize> + 'r {
    request.match_indices(name).filter(|(_, name)| !name.is_empty()).map(|(at, _)| at).filter(move |at| {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let before = request[..*at].chars().next_back();
        let after = request[*at + name.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

/// The sentences of a text as words; an empty line and a list item also start a sentence.
fn sentences(text: &str) -> Vec<Vec<&str>> {
    let mut sentences = vec![Vec::new()];
    for line in text.lines() {
        let is_list_item = line.trim_start().starts_with(['-', '*', '+', '#'])
            || line
                .trim_start()
                .split_once(['.', ')'])
                .is_some_and(|(number, _)| number.parse::<u32>().is_ok());
        if is_list_item || line.trim().is_empty() {
            sentences.push(Vec::new());
        }
        for word in line.split_whitespace() {
            if let Some(sentence) = sentences.last_mut() {
                sentence.push(word);
            }
            if word.ends_with(['.', '!', '?', ';', ':']) {
                sentences.push(Vec::new());
            }
        }
    }
    sentences
}

/// The clauses of a sentence. A comma or a joining word starts a new clause, unless a list of names continues.
fn clauses<'t>(sentence: &[&'t str]) -> Vec<Vec<&'t str>> {
    let mut clauses: Vec<Vec<&str>> = vec![Vec::new()];
    let mut is_joined = false;
    for word in sentence {
        let plain = bare(word).to_lowercase();
        let is_in = |words: &[&str]| words.contains(&plain.as_str());
        let is_name = word.contains(NAME) || bare(word).contains(['_', '/', '.', ':']) || word.contains('`');
        if is_in(&CLAUSE_STARTS) || (is_joined && !is_name && !is_in(&JOINING) && !is_in(&LISTING)) {
            clauses.push(Vec::new());
            is_joined = false;
        }
        if let Some(clause) = clauses.last_mut() {
            clause.push(word);
        }
        is_joined = (is_joined && !is_name) || is_in(&JOINING) || word.ends_with(',');
    }
    clauses
}

fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| c.is_ascii_punctuation())
}

#[cfg(test)]
mod tests {
    use super::*;

    // TE-06
    #[test]
    fn a_plain_word_names_surroundings_only_if_the_request_says_what_it_is() {
        for (request, name) in [
            ("Add the feature free", "free"),
            ("Only with `free`", "free"),
            ("Read COLUMNS", "COLUMNS"),
            ("If ~/.spans.json is missing", ".spans.json"),
            ("No colours without a terminal", "isTTY"),
            ("The program takes a second argument", "argv"),
            ("Load all plugins in the plugins folder", "read_dir"),
        ] {
            assert!(names_surroundings(request, name), "{request}");
        }
        for (request, name) in [
            ("The first three days are free", "free"),
            ("test_a fails", "test"),
            ("Read COLUMN", "COLUMNS"),
            ("slug takes a second argument", "argv"),
            ("Load all plugins", "read_dir"),
        ] {
            assert!(!names_surroundings(request, name), "{request}");
        }
    }

    // TE-01
    #[test]
    fn a_request_for_a_file_asks_to_update_it_only_in_the_clause_that_says_so() {
        for request in ["Update tests/golden/report.txt", "Say EUR, and regenerate `report.txt` for it"] {
            assert!(asks_to_update(request, "tests/golden/report.txt"), "{request}");
        }
        for request in
            ["Make the output match report.txt", "report.txt is right. Change the code", "Update report"]
        {
            assert!(!asks_to_update(request, "tests/golden/report.txt"), "{request}");
        }
    }

    // TE-01
    #[test]
    fn a_request_asks_to_remove_a_file_only_by_its_full_path() {
        let path = "src/core/utils.py";
        for request in [
            "Remove src/core/utils.py, which nobody uses.",
            "Nobody needs it: delete `./src/core/utils.py`.",
            "The files src/old.py and src/core/utils.py are to be removed",
        ] {
            assert!(asks_to_remove_file(request, path), "{request}");
        }
        for request in [
            "Remove utils.py",
            "Remove src/legacy/utils.py",
            "Remove lib/src/core/utils.py",
            "Remove src/core/utils.py.bak",
            "Remove src/core/utils.py::test_x",
            "Rename `slug` in src/core/utils.py to `slugify`",
            "Rewrite src/core/utils.py without regular expressions",
            "Remove the cache from src/core/utils.py",
            "Do not remove src/core/utils.py",
        ] {
            assert!(!asks_to_remove_file(request, path), "{request}");
        }
    }

    // CORE-21
    #[test]
    fn a_request_asks_to_change_a_test_only_if_one_clause_has_the_name_and_the_verb() {
        let asked = [
            "Remove test_x.",
            "Drop the test test_x, it is obsolete",
            "The tests test_a, test_b and test_x are to be removed.",
            "Delete tests/test_a.py::test_x and the code behind it",
            "Fix the parser. Then rename test_x to test_y.",
            "Todo:\n- Fix the parser\n- Remove `test_a`, `test_x`\n",
            "Skip both test_a and test_x for now",
        ];
        for request in asked {
            assert!(asks_to_change(request, "test_x"), "{request}");
        }
        assert!(asks_to_change("Remove the test \"adds and subtracts\"", "adds and subtracts"));
        let other = [
            "Make test_x pass.",
            "Remove the cache so that test_x passes",
            "Make test_x pass and drop the old parser",
            "test_x fails. Remove the debug output.",
            "Todo:\n- make test_x pass\n- remove the debug output\n",
            "Fix test_x, and rename Lru to Cache",
            "Fix the dropdown in test_x",
            "Remove test_x_more",
        ];
        for request in other {
            assert!(!asks_to_change(request, "test_x"), "{request}");
        }
    }
}
