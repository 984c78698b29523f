//! Small functions on text.

/// Turns a title into the last part of an address.
pub fn slug(title: &str) -> String {
    let lower = title.to_lowercase();
    let parts = lower.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("-")
}

/// Counts words.
pub fn words(text: &str) -> usize {
    text.split_whitespace().count()
}
