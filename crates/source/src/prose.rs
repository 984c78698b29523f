//! Recognizes files that contain only prose.

use std::path::Path;

/// Extensions of prose files. `.txt` is missing because build tools read some `.txt` files.
const PROSE: [&str; 4] = ["md", "markdown", "rst", "adoc"];

/// Whether a file contains only prose, by its extension.
pub fn is_prose(path: &Path) -> bool {
    path.extension().is_some_and(|extension| PROSE.iter().any(|prose| extension == *prose))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_prose_and_text_files_of_build_tools_are_not() {
        for name in ["README.md", "docs/guide.markdown", "docs/index.rst", "manual.adoc"] {
            assert!(is_prose(Path::new(name)), "{name}");
        }
        for name in ["requirements.txt", "CMakeLists.txt", "src/lib.rs", "LICENSE", "md"] {
            assert!(!is_prose(Path::new(name)), "{name}");
        }
    }
}
