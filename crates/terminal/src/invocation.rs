//! Commands for the user to run next, with the same folders as this command.

use std::fmt::Display;
use std::path::Path;
use std::sync::OnceLock;

/// The command-line options that name folders, as the user typed them.
static FOLDER_OPTIONS: OnceLock<String> = OnceLock::new();

/// Records the folders that the command line names. Only the first call has an effect.
pub fn set_folders(folders: &[(&str, Option<&Path>)]) {
    let _ = FOLDER_OPTIONS.set(folder_options(folders));
}

/// A command for the user to run next, with the same folders as this command.
pub fn command(words: impl Display) -> String {
    format!("remand{} {words}", FOLDER_OPTIONS.get().map_or("", String::as_str))
}

fn folder_options(folders: &[(&str, Option<&Path>)]) -> String {
    let given = folders.iter().filter_map(|(option, folder)| Some((option, (*folder)?)));
    given.map(|(option, folder)| format!(" {option} {}", quoted(&folder.display().to_string()))).collect()
}

/// Quotes a word for a shell.
pub fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.to_string(), |quoted| quoted.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    // CORE-09
    #[test]
    fn a_suggested_command_names_the_same_folders_as_this_command() {
        assert_eq!(folder_options(&[("-C", None), ("--state", None)]), "");
        assert_eq!(
            folder_options(&[("-C", None), ("--state", Some(Path::new("/a/b-c")))]),
            " --state /a/b-c"
        );
        let both = [("-C", Some(Path::new("it's here"))), ("--state", Some(Path::new("s")))];
        assert_eq!(folder_options(&both), r#" -C "it's here" --state s"#);
    }
}
