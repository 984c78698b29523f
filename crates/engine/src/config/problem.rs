//! Problems of a configuration: where they are, and how to fix them.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why the configuration cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("{} cannot be read", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("the configuration has errors\n{}", lines(.0))]
    Refused(Vec<ConfigProblem>),
}

/// One problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigProblem {
    pub origin: ValueOrigin,
    pub message: String,
    pub remedy: String,
}

/// The source of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueOrigin {
    BuiltIn,
    User(FilePosition),
    Repository(FilePosition),
    Environment(String),
    Flag(String),
}

/// A position in a file; line and column start at 1, columns count characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePosition {
    pub file: String,
    pub line: usize,
    pub column: usize,
}

impl FilePosition {
    /// The position of a byte in a string.
    pub fn of(file: &str, text: &str, byte: usize) -> FilePosition {
        let head = text.get(..byte).unwrap_or(text);
        let start = head.rfind('\n').map_or(0, |end| end + 1);
        let line = head.matches('\n').count() + 1;
        FilePosition { file: file.to_string(), line, column: head[start..].chars().count() + 1 }
    }
}

impl fmt::Display for FilePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl fmt::Display for ValueOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueOrigin::BuiltIn => f.write_str("built in"),
            ValueOrigin::User(at) | ValueOrigin::Repository(at) => at.fmt(f),
            ValueOrigin::Environment(name) => write!(f, "variable {name}"),
            ValueOrigin::Flag(name) => write!(f, "flag {name}"),
        }
    }
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.origin, self.message, self.remedy)
    }
}

/// A remedy for an unknown name: the most similar known name, or else all of them.
pub fn suggest(name: &str, known: &[&str]) -> String {
    let nearest = known
        .iter()
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), *candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len().min(name.len()) / 4)
        .min();
    match nearest {
        Some((_, nearest)) => format!("write `{nearest}`"),
        None => format!("use one of: {}", known.join(", ")),
    }
}

fn lines(problems: &[ConfigProblem]) -> String {
    problems.iter().map(ConfigProblem::to_string).collect::<Vec<_>>().join("\n")
}
