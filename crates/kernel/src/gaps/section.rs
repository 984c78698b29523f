//! Section names, and which of them mean the same section of the document.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The separator in a path of section names.
pub const WITHIN: &str = " > ";

/// The paths of section names in a document. A name without a recorded path is read as a path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SectionPaths(BTreeMap<String, Vec<String>>);

impl SectionPaths {
    /// Records the path of a name: all sections down to the one that the name means, in comparable form.
    pub fn learn(&mut self, name: &str, path: Vec<String>) {
        self.0.insert(name.into(), path);
    }

    /// Whether two names mean one section. The shorter of two paths may omit the outer sections.
    pub(super) fn is_same(&self, one: &str, other: &str) -> bool {
        let (one, other) = (self.path(one), self.path(other));
        one.ends_with(&other) || other.ends_with(&one)
    }

    fn path(&self, name: &str) -> Vec<String> {
        self.0.get(name).cloned().unwrap_or_else(|| section_path(name))
    }
}

/// The names of a path in comparable form, outermost section first.
pub fn section_path(path: &str) -> Vec<String> {
    path.split(WITHIN).map(section_name).collect()
}

/// A section name in comparable form: without markup, case and repeated blanks.
pub fn section_name(name: &str) -> String {
    let plain = name.trim_start_matches(['#', ' ', '\t']).replace(['`', '*', '_'], "");
    plain.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    // SR-13
    #[test]
    fn a_name_and_a_path_can_mean_the_same_section() {
        let mut paths = SectionPaths::default();
        assert!(paths.is_same("Auth > Login", "## `login`") && !paths.is_same("A > Login", "B > Login"));
        paths.learn("Login", vec!["sessions".into(), "login".into()]);
        assert!(paths.is_same("Login", "Sessions > Login") && !paths.is_same("Login", "Auth > Login"));
    }
}
