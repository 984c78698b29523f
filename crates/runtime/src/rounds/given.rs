//! Gaps that come with a specification: a file beside it, so that the document itself stays what it is.

use crate::contract::new_gaps;
use crate::contract::schema::gaps::{GapInventory, ReportedGap};
use crate::contract::schema::header::Said;
use remand_kernel::gaps::{GapId, NewGap};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// What the file beside `docs/login.md` is called behind its stem: `docs/login.gaps.yaml`.
pub const GAPS_FILE: &str = "gaps.yaml";

/// The gaps in such a file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Given {
    pub gaps: Vec<ReportedGap>,
}

/// Why the gaps that were given cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GivenError {
    #[error("{file} is not UTF-8 text: save it as UTF-8")]
    NotText { file: String },
    #[error("{file}: {why}")]
    Malformed { file: String, why: String },
    #[error("{file}: `{category}` is no category of gaps: write one word of capitals, as in FLOW")]
    Category { file: String, category: String },
    #[error("{file} lists no gap: take the file away, and the specification is searched for gaps")]
    Empty { file: String },
}

impl Given {
    /// Where the gaps of a specification are, from the root of the repository.
    pub fn beside(spec: &Path) -> PathBuf {
        spec.with_extension(GAPS_FILE)
    }

    pub fn parse(bytes: &[u8], file: &str) -> Result<Vec<NewGap>, GivenError> {
        let file = file.to_string();
        let Ok(text) = std::str::from_utf8(bytes) else { return Err(GivenError::NotText { file }) };
        let given: Given = match serde_saphyr::from_str(text) {
            Ok(given) => given,
            Err(error) => {
                let why = error.to_string().lines().next().unwrap_or_default().to_string();
                return Err(GivenError::Malformed { file, why });
            }
        };
        if given.gaps.is_empty() {
            return Err(GivenError::Empty { file });
        }
        let wrong = given.gaps.iter().find(|gap| GapId::new(&gap.category, 1).is_err());
        if let Some(gap) = wrong {
            return Err(GivenError::Category { file, category: gap.category.clone() });
        }
        let inventory = GapInventory { gaps: given.gaps, checks: Vec::new(), said: Said::default() };
        new_gaps(&inventory).map_err(|problems| {
            let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
            GivenError::Malformed { file, why: told.join("; ") }
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    // SR-02
    #[test]
    fn gaps_are_given_in_a_file_beside_the_specification() {
        assert_eq!(Given::beside(Path::new("docs/login.md")), Path::new("docs/login.gaps.yaml"));
        let text = "gaps:\n  - {category: FLOW, severity: high, claim: What then?, sections: [Login]}\n";
        let gaps = Given::parse(text.as_bytes(), "login.gaps.yaml").unwrap();
        assert_eq!((gaps.len(), gaps[0].sections.as_slice()), (1, ["Login".to_string()].as_slice()));
    }

    // CORE-09
    #[test]
    fn what_is_wrong_with_given_gaps_is_told_with_the_file() {
        for (text, wanted) in [
            ("gaps: []", "lists no gap"),
            ("gaps:\n  - {category: flow, severity: high, claim: What?}", "`flow` is no category"),
            ("gaps:\n  - {category: FLOW, claim: What?}", "severity"),
            ("gap: []", "gap"),
        ] {
            let error = Given::parse(text.as_bytes(), "login.gaps.yaml").unwrap_err().to_string();
            assert!(error.starts_with("login.gaps.yaml") && error.contains(wanted), "{error}");
        }
    }
}
