//! Gaps that the user provides with a specification, in a file next to it.

use remand_contract::new_gaps;
use remand_contract::schema::gaps::{GapInventory, ReportedGap};
use remand_contract::schema::header::CommonPayload;
use remand_kernel::gaps::{GapId, NewGap};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The extension of the file with given gaps: `docs/login.gaps.yaml` belongs to `docs/login.md`.
pub const GAPS_FILE: &str = "gaps.yaml";

/// The content of the file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GivenGaps {
    pub gaps: Vec<ReportedGap>,
}

/// Why the file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GivenGapsError {
    #[error("{file} is not UTF-8 text: save it as UTF-8")]
    NotText { file: String },
    #[error("{file}: {why}")]
    Malformed { file: String, why: String },
    #[error("{file}: `{category}` is not a gap category: write one word in capitals, such as FLOW")]
    Category { file: String, category: String },
    #[error("{file} lists no gaps: remove the file to have the specification searched for gaps")]
    Empty { file: String },
}

impl GivenGaps {
    /// The path of the file for a specification, relative to the root of the repository.
    pub fn path_for(spec: &Path) -> PathBuf {
        spec.with_extension(GAPS_FILE)
    }

    pub fn parse(bytes: &[u8], file: &str) -> Result<Vec<NewGap>, GivenGapsError> {
        let file = file.to_string();
        let Ok(text) = std::str::from_utf8(bytes) else { return Err(GivenGapsError::NotText { file }) };
        let given: GivenGaps = match serde_saphyr::from_str(text) {
            Ok(given) => given,
            Err(error) => {
                let why = error.to_string().lines().next().unwrap_or_default().to_string();
                return Err(GivenGapsError::Malformed { file, why });
            }
        };
        if given.gaps.is_empty() {
            return Err(GivenGapsError::Empty { file });
        }
        let invalid = given.gaps.iter().find(|gap| GapId::new(&gap.category, 1).is_err());
        if let Some(gap) = invalid {
            return Err(GivenGapsError::Category { file, category: gap.category.clone() });
        }
        let inventory =
            GapInventory { gaps: given.gaps, checks: Vec::new(), common: CommonPayload::default() };
        new_gaps(&inventory).map_err(|problems| {
            let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
            GivenGapsError::Malformed { file, why: lines.join("; ") }
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    // SR-02
    #[test]
    fn gaps_are_read_from_a_file_next_to_the_specification() {
        assert_eq!(GivenGaps::path_for(Path::new("docs/login.md")), Path::new("docs/login.gaps.yaml"));
        let text = "gaps:\n  - {category: FLOW, severity: high, claim: What then?, sections: [Login]}\n";
        let gaps = GivenGaps::parse(text.as_bytes(), "login.gaps.yaml").unwrap();
        assert_eq!((gaps.len(), gaps[0].sections.as_slice()), (1, ["Login".to_string()].as_slice()));
    }

    // CORE-09
    #[test]
    fn an_error_in_given_gaps_names_the_file() {
        for (text, expected) in [
            ("gaps: []", "lists no gaps"),
            ("gaps:\n  - {category: flow, severity: high, claim: What?}", "`flow` is not a gap category"),
            ("gaps:\n  - {category: FLOW, claim: What?}", "severity"),
            ("gap: []", "gap"),
        ] {
            let error = GivenGaps::parse(text.as_bytes(), "login.gaps.yaml").unwrap_err().to_string();
            assert!(error.starts_with("login.gaps.yaml") && error.contains(expected), "{error}");
        }
    }
}
