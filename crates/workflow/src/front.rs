//! Front matter: the part of a Markdown file between the first two `---` lines.

use crate::source::SourceText;

/// The text between the first two `---` lines, and the offset of the body.
///
/// The first line is replaced by blanks, so that positions in the front matter are positions in the file.
pub(crate) fn front_matter(source: &SourceText) -> Option<(SourceText, usize)> {
    const FENCE: &str = "---\n";
    let rest = source.text.strip_prefix(FENCE)?;
    // In empty front matter, the second fence follows immediately.
    let end = if rest.starts_with("---") { 0 } else { rest.find("\n---")? + 1 };
    let closing = FENCE.len() + end;
    let body = source.text[closing..].find('\n').map_or(source.text.len(), |newline| closing + newline + 1);
    Some((
        SourceText::new(source.name.clone(), format!("   \n{}\n", rest[..end].trim_end_matches('\n'))),
        body,
    ))
}
