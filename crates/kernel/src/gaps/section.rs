//! Names of sections, and which of them mean the same place of the document (SR-13, SR-17).

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// What stands between the names of a path of sections.
pub const WITHIN: &str = " > ";

/// The places that a document has for the names of sections. A name that it does not know stands for itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Places(BTreeMap<String, Vec<String>>);

impl Places {
    /// Keeps where a name leads: all sections down to the one that it means, as they are compared.
    pub fn learn(&mut self, name: &str, path: Vec<String>) {
        self.0.insert(name.into(), path);
    }

    /// Tells whether two names mean one section. Of two paths, the shorter may leave out what stands above.
    pub(super) fn is_same(&self, one: &str, other: &str) -> bool {
        let (one, other) = (self.path(one), self.path(other));
        one.ends_with(&other) || other.ends_with(&one)
    }

    fn path(&self, name: &str) -> Vec<String> {
        self.0.get(name).cloned().unwrap_or_else(|| section_path(name))
    }
}

/// The names of a path as they are compared, from the outermost section in.
pub fn section_path(path: &str) -> Vec<String> {
    path.split(WITHIN).map(section_name).collect()
}

/// A section's name as it is compared: without marks, case and doubled blanks.
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
    fn a_section_is_the_same_by_its_name_and_by_its_path() {
        let mut places = Places::default();
        assert!(places.is_same("Auth > Login", "## `login`") && !places.is_same("A > Login", "B > Login"));
        places.learn("Login", vec!["sessions".into(), "login".into()]);
        assert!(places.is_same("Login", "Sessions > Login") && !places.is_same("Login", "Auth > Login"));
    }
}
