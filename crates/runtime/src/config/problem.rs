//! What is wrong with a configuration, where, and what to do about it.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("{} cannot be read", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("the configuration is refused\n{}", lines(.0))]
    Refused(Vec<Problem>),
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub origin: Origin,
    pub message: String,
    pub remedy: String,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    BuiltIn,
    User(At),
    Repository(At),
    Environment(String),
    Flag(String),
}

/// A place in a file; line and column count from 1, columns in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct At {
    pub file: String,
    pub line: usize,
    pub column: usize,
}

impl At {
    /// The place of a byte of a text.
    pub fn of(file: &str, text: &str, byte: usize) -> At {
        let head = text.get(..byte).unwrap_or(text);
        let start = head.rfind('\n').map_or(0, |end| end + 1);
        let line = head.matches('\n').count() + 1;
        At { file: file.to_string(), line, column: head[start..].chars().count() + 1 }
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::BuiltIn => f.write_str("built in"),
            Origin::User(at) | Origin::Repository(at) => at.fmt(f),
            Origin::Environment(name) => write!(f, "variable {name}"),
            Origin::Flag(name) => write!(f, "flag {name}"),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.origin, self.message, self.remedy)
    }
}

/// A remedy for an unknown name: the nearest known one, or all of them.
pub fn suggest(name: &str, known: &[&str]) -> String {
    let near = known
        .iter()
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), *candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len().min(name.len()) / 4)
        .min();
    match near {
        Some((_, near)) => format!("write `{near}`"),
        None => format!("use one of: {}", known.join(", ")),
    }
}

fn lines(problems: &[Problem]) -> String {
    problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n")
}
