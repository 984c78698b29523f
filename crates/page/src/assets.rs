//! The files of the page. They are part of the binary.

pub const STYLE: &str = include_str!("../assets/page.css");
const SCRIPT: &[u8] = include_bytes!("../assets/page.js");
/// idiomorph 0.8.0, from npm, under the Zero-Clause BSD licence: changes a document to what a new text says.
const MORPH: &[u8] = include_bytes!("../assets/idiomorph.min.js");
const ICON: &[u8] = include_bytes!("../assets/icon.svg");

/// The content of a file, and its type.
pub fn asset(name: &str) -> Option<(&'static [u8], &'static str)> {
    const TEXT: &str = "text/javascript; charset=utf-8";
    match name {
        "page.css" => Some((STYLE.as_bytes(), "text/css; charset=utf-8")),
        "page.js" => Some((SCRIPT, TEXT)),
        "idiomorph.min.js" => Some((MORPH, TEXT)),
        "icon.svg" => Some((ICON, "image/svg+xml")),
        _ => None,
    }
}
