//! The request of a run: words on the command line, standard input, or a file; and the workflow that suits it.

use crate::forge;
use crate::workplace::Workplace;
use remand_terminal::CommandFailure;
use std::io::Read;
use std::path::Path;

/// The maximum length of a request, in bytes.
const MAX_REQUEST: u64 = 256 * 1024;

/// The workflow for several lines or a file.
pub const THOROUGH: &str = "feature";

/// The workflow for one line.
const SHORT: &str = "quick";

/// A request that is not blank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestText {
    pub text: String,
    pub form: RequestForm,
}

/// How a request is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestForm {
    OneLine,
    Lines,
    /// The file, as the user named it.
    File(String),
    /// An issue, as the user named it.
    Issue(String),
}

impl RequestText {
    /// Reads a request: `-` means standard input, and the name of a file means its text.
    pub fn read(given: &str, here: &Path) -> Result<RequestText, CommandFailure> {
        let request = match given {
            "-" => in_words(read_all(std::io::stdin(), "standard input")?),
            file if here.join(file).is_file() => {
                let opened = std::fs::File::open(here.join(file)).map_err(|error| {
                    CommandFailure::user(
                        format!("the request {file} cannot be read"),
                        "name a file that you can read",
                    )
                    .caused_by(error.to_string())
                })?;
                RequestText { text: read_all(opened, file)?, form: RequestForm::File(file.to_string()) }
            }
            missing if is_file_name(missing) => {
                let hint = "name a file that exists, or say what you want in a sentence";
                return Err(CommandFailure::user(format!("the file {missing} does not exist"), hint));
            }
            words => in_words(words.to_string()),
        };
        if request.text.trim().is_empty() {
            let hint = "say what you want: `remand run \"what you want\"`";
            return Err(CommandFailure::user("the request is empty", hint));
        }
        Ok(request)
    }
}

impl RequestText {
    /// Reads an issue of a forge, or a file or standard input with the words of other people.
    pub fn from_elsewhere(name: &str, workplace: &Workplace) -> Result<RequestText, CommandFailure> {
        let text = if name == "-" || workplace.here.join(name).is_file() {
            let text = RequestText::read(name, &workplace.here)?.text;
            forge::quoted_request(if name == "-" { "this" } else { name }, &text)
        } else {
            forge::read_issue(&workplace.config, &workplace.repository, name, workplace.repository.root())?
        };
        Ok(RequestText { text, form: RequestForm::Issue(name.to_string()) })
    }
}

impl RequestForm {
    /// The workflow for a request of this form.
    pub fn workflow(&self) -> &'static str {
        match self {
            RequestForm::OneLine => SHORT,
            RequestForm::Lines | RequestForm::File(_) | RequestForm::Issue(_) => THOROUGH,
        }
    }

    /// Says which workflow is chosen, and why.
    pub fn notice(&self) -> String {
        let why = match self {
            RequestForm::OneLine => "the request is one line",
            RequestForm::Lines => "the request has several lines",
            RequestForm::File(_) => "the request is a file",
            RequestForm::Issue(_) => "the request is an issue",
        };
        let other = match self {
            RequestForm::OneLine => format!("`--workflow {THOROUGH}` also researches, designs and plans"),
            RequestForm::Lines | RequestForm::File(_) | RequestForm::Issue(_) => {
                format!("`--workflow {SHORT}` only implements and reviews")
            }
        };
        format!("workflow {}, because {why}; {other}", self.workflow())
    }
}

fn in_words(text: String) -> RequestText {
    let form = if text.trim().lines().count() > 1 { RequestForm::Lines } else { RequestForm::OneLine };
    RequestText { text, form }
}

/// Whether a word can only be meant as a file, so that a typing error does not become a request.
fn is_file_name(word: &str) -> bool {
    let extension = Path::new(word).extension().and_then(|extension| extension.to_str());
    !word.contains(char::is_whitespace) && matches!(extension, Some("md" | "markdown" | "txt"))
}

fn read_all(source: impl Read, name: &str) -> Result<String, CommandFailure> {
    let mut text = String::new();
    source.take(MAX_REQUEST + 1).read_to_string(&mut text).map_err(|error| {
        CommandFailure::user(format!("the request cannot be read from {name}"), "it must be UTF-8 text")
            .caused_by(error.to_string())
    })?;
    if text.len() as u64 > MAX_REQUEST {
        return Err(CommandFailure::user(
            "the request is too long",
            format!("keep it below {} KiB", MAX_REQUEST / 1024),
        ));
    }
    Ok(text)
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    #[test]
    fn one_line_is_for_quick_and_anything_longer_for_feature() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("wish list.txt"), "Add sub\n").expect("written");
        let workflow =
            |given: &str| RequestText::read(given, folder.path()).expect("a request").form.workflow();
        assert_eq!(workflow("Add sub"), "quick");
        assert_eq!(workflow("\n Add sub\n\n"), "quick");
        assert_eq!(workflow("Explain README.md"), "quick");
        assert_eq!(workflow("Add sub.\nAnd div."), "feature");
        assert_eq!(workflow("wish list.txt"), "feature");
    }

    #[test]
    fn a_blank_request_and_a_missing_file_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("blank.md"), " \n\n").expect("written");
        let refusal = |given: &str| RequestText::read(given, folder.path()).expect_err("refused").what;
        for blank in ["", " ", "\n\t\n", "blank.md"] {
            assert_eq!(refusal(blank), "the request is empty", "{blank:?}");
        }
        assert_eq!(refusal("wish.md"), "the file wish.md does not exist");
    }
}
