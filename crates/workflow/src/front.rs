//! Front matter: the part of a Markdown file between the first two `---` lines.

use crate::source::Source;

/// The text between the first two `---` lines, and where the body begins.
///
/// The first line is blanked out, not cut off, so that places in the front matter are places in the file.
pub(crate) fn front_matter(source: &Source) -> Option<(Source, usize)> {
    const FENCE: &str = "---\n";
    let rest = source.text.strip_prefix(FENCE)?;
    // Front matter that is empty has its second fence at once.
    let end = if rest.starts_with("---") { 0 } else { rest.find("\n---")? + 1 };
    let closing = FENCE.len() + end;
    let body = source.text[closing..].find('\n').map_or(source.text.len(), |at| closing + at + 1);
    Some((Source::new(source.name.clone(), format!("   \n{}\n", rest[..end].trim_end_matches('\n'))), body))
}
