//! Commands that the user can run next, written so that they work where this one did.

use std::fmt::Display;
use std::path::Path;
use std::sync::OnceLock;

/// The options of this process that say where to work, as they are typed.
static PLACE: OnceLock<String> = OnceLock::new();

/// Records the folders that the command line names. The first call counts.
pub fn set_place(folders: &[(&str, Option<&Path>)]) {
    let _ = PLACE.set(place(folders));
}

/// A command for the user to run next, with the same folders as this one.
pub fn command(words: impl Display) -> String {
    format!("remand{} {words}", PLACE.get().map_or("", String::as_str))
}

fn place(folders: &[(&str, Option<&Path>)]) -> String {
    let given = folders.iter().filter_map(|(option, folder)| Some((option, (*folder)?)));
    given.map(|(option, folder)| format!(" {option} {}", quoted(&folder.display().to_string()))).collect()
}

/// A word as a shell reads it back.
pub fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.to_string(), |quoted| quoted.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    // CORE-09
    #[test]
    fn a_suggested_command_names_the_folders_that_this_one_names() {
        assert_eq!(place(&[("-C", None), ("--state", None)]), "");
        assert_eq!(place(&[("-C", None), ("--state", Some(Path::new("/a/b-c")))]), " --state /a/b-c");
        let both = [("-C", Some(Path::new("it's here"))), ("--state", Some(Path::new("s")))];
        assert_eq!(place(&both), r#" -C "it's here" --state s"#);
    }
}
