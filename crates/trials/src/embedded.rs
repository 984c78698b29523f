//! All files of the folders `demo/` and `gauntlet/`, embedded by the build and sorted.

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// Stands for the leading dot of a file name, so that tools do not mistake a sample's file for one of this repository.
const DOT: &str = "dot_";

/// One embedded file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmbeddedFile {
    /// The path relative to the embedded folder, with `/` as separator.
    pub path: &'static str,
    pub text: &'static str,
}

/// The text of the file with this path.
pub fn text(files: &'static [EmbeddedFile], path: &str) -> Option<&'static str> {
    files.iter().find(|file| file.path == path).map(|file| file.text)
}

/// The files below a folder, with their paths relative to it.
pub fn files_below(files: &'static [EmbeddedFile], folder: &str) -> Vec<EmbeddedFile> {
    let relative = |file: &EmbeddedFile| {
        let path = file.path.strip_prefix(folder)?.strip_prefix('/')?;
        Some(EmbeddedFile { path, text: file.text })
    };
    files.iter().filter_map(relative).collect()
}

impl EmbeddedFile {
    /// The path of the file in its sample project: `dot_gitignore` is `.gitignore`.
    pub fn real_path(&self) -> String {
        let part = |part: &'static str| match part.strip_prefix(DOT) {
            Some(rest) => format!(".{rest}"),
            None => part.to_string(),
        };
        self.path.split('/').map(part).collect::<Vec<_>>().join("/")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_folder_have_their_real_names() {
        let files: Vec<String> =
            files_below(DEMO, "feature/project").iter().map(EmbeddedFile::real_path).collect();
        assert!(files.contains(&".gitignore".to_string()), "{files:?}");
        assert!(files.contains(&"shop/cart.py".to_string()), "{files:?}");
        assert_eq!(files_below(DEMO, "featur"), []);
        assert!(text(DEMO, "feature/rehearsal.yaml").is_some());
    }
}
