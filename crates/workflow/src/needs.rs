//! What a role needs to be given, as its file states it.

use std::fmt;

/// One thing that a role needs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// One of these documents.
    Document(Vec<String>),
    /// This document, as soon as it exists.
    IfAny(String),
    /// The result of one of these roles; [`AUTHOR`] stands for each role that changed a tree under review.
    Report(Vec<String>),
    /// The engine's checks of the tree as it is now.
    Evidence,
    /// Its own last work or its own last review, when it runs again.
    OwnWork,
    /// The reports of the visits that led to it.
    Reason,
    /// Every artifact and every result of the run.
    Everything,
}

/// The form of a need, for messages and the reference.
pub const FORM: &str = "an artifact, `A or B`, `A if any`, `report of ROLE`, `report of ROLE or ROLE`, `report of author`, `evidence`, `own work`, `reason` or `everything`";

/// In `report of author`: the roles that changed a tree that the role reads.
pub const AUTHOR: &str = "author";

const REPORT_OF: &str = "report of ";
const OR: &str = " or ";
const IF_ANY: &str = " if any";

impl Need {
    /// Reads a need; `None` if it has another form.
    pub fn parse(text: &str) -> Option<Need> {
        let named = match text {
            "evidence" => return Some(Need::Evidence),
            "own work" => return Some(Need::OwnWork),
            "reason" => return Some(Need::Reason),
            "everything" => return Some(Need::Everything),
            _ => text.strip_prefix(REPORT_OF),
        };
        let is_name = |name: &String| {
            !name.is_empty()
                && name.chars().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || "-/".contains(it))
        };
        if let Some(name) = text.strip_suffix(IF_ANY) {
            return Some(name.to_string()).filter(is_name).map(Need::IfAny);
        }
        let names: Vec<String> =
            named.unwrap_or(text).split(OR).map(|name| name.trim().to_string()).collect();
        if !names.iter().all(is_name) {
            return None;
        }
        Some(if named.is_some() { Need::Report(names) } else { Need::Document(names) })
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Need::Document(names) => f.write_str(&names.join(OR)),
            Need::IfAny(name) => write!(f, "{name}{IF_ANY}"),
            Need::Report(roles) => write!(f, "{REPORT_OF}{}", roles.join(OR)),
            Need::Evidence => f.write_str("evidence"),
            Need::OwnWork => f.write_str("own work"),
            Need::Reason => f.write_str("reason"),
            Need::Everything => f.write_str("everything"),
        }
    }
}
