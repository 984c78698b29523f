//! Small functions on text.

/// Turns a title into the last part of an address.
pub fn slug(title: &str) -> String {
    title.to_lowercase().chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect()
}

/// Counts words.
pub fn words(text: &str) -> usize {
    text.split_whitespace().count()
}
