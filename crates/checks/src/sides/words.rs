//! Words of a path and of a text.

/// Whether a text contains a name that is not a part of a longer one.
pub fn has_word(text: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            let (before, after) = (&text[..at], &text[at + name.len()..]);
            !before.ends_with(is_word) && !after.starts_with(is_word)
        })
}

/// The file name of a path.
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The file name of a path without its extension.
pub fn stem(path: &str) -> &str {
    let name = file_name(path);
    name.split_once('.').map_or(name, |(stem, _)| stem)
}

/// The folder of a path; empty for the root.
pub fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The words of the parts of a path in lower case, split at everything that is not a letter.
pub fn words(path: &str) -> impl Iterator<Item = String> + '_ {
    path.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}
