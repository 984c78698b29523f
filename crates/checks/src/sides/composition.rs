//! What must be exchanged in one version so that it has the production code of that version and the tests of the other.

use super::manifest::TestManifest;
use super::{ChangedFile, FileVersion, Side, Sides};
use remand_source::{ComposedFile, Language, with_test_parts};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A version of the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    Base,
    Head,
}

/// The changes to a version of the content that put the tests of the other version in place of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Composition {
    /// Files taken whole from the version of the tests; a file that this version does not have is removed.
    pub whole: BTreeSet<PathBuf>,
    /// Files with production code of one version and tests of the other.
    pub mixed: BTreeMap<PathBuf, String>,
    /// Tests without a place in the production code: their file, and their name in it.
    pub unplaced: Vec<(String, String)>,
}

impl Composition {
    /// Whether nothing is exchanged: the version has the tests of the other one already.
    pub fn is_empty(&self) -> bool {
        self.whole.is_empty() && self.mixed.is_empty()
    }
}

impl Sides {
    /// Puts the tests of one version in place of those of the other version, which provides the production code.
    pub fn with_tests_of(&self, tests: Half) -> Composition {
        let mut composition = Composition::default();
        for (file, side) in self.of_tests() {
            match side {
                Side::Production => {}
                _ if tests == Half::Base && self.accepted.contains(&file.path) => {}
                Side::Tests(_) => match self.adapted.get(&file.path).filter(|_| tests == Half::Base) {
                    Some(text) => {
                        composition.mixed.insert(PathBuf::from(&file.path), text.clone());
                    }
                    None => {
                        composition.whole.insert(PathBuf::from(&file.path));
                    }
                },
                Side::Both => match tests {
                    Half::Base => composition.mix(file, &file.head, self.tests_of_base(file)),
                    Half::Head => composition.mix(file, &file.base, file.head.text()),
                },
            }
        }
        composition
    }
}

impl Sides {
    /// A file with tests of the base without them: its changed production code; `None` if it has none.
    pub fn without_tests(&self, path: &str) -> Option<String> {
        let (file, _) = self.of_tests().find(|(file, side)| file.path == path && **side == Side::Both)?;
        Some(mixed(path, file.head.text()?, "")?.text)
    }
}

impl Composition {
    fn mix(&mut self, file: &ChangedFile, code: &FileVersion, tests: Option<&str>) {
        let Some(code) = code.text() else {
            // Without production code of this version, the tests of the other one have no place.
            if let (FileVersion::Absent, Some(tests)) = (code, tests) {
                let all = mixed(&file.path, "", tests).map(|composed| composed.text);
                let names = all.map(|text| test_names(&file.path, &text)).unwrap_or_default();
                self.unplaced.extend(names.into_iter().map(|name| (file.path.clone(), name)));
            }
            return;
        };
        let Some(composed) = mixed(&file.path, code, tests.unwrap_or_default()) else { return };
        self.unplaced.extend(composed.unplaced.into_iter().map(|name| (file.path.clone(), name)));
        if composed.text != code {
            self.mixed.insert(PathBuf::from(&file.path), composed.text);
        }
    }
}

fn mixed(path: &str, code: &str, tests: &str) -> Option<ComposedFile> {
    if let Some(manifest) = TestManifest::of(path) {
        return Some(ComposedFile { text: manifest.with_test_settings(code, tests), unplaced: Vec::new() });
    }
    Some(with_test_parts(Language::of(Path::new(path))?, code, tests))
}

fn test_names(path: &str, text: &str) -> Vec<String> {
    let language = Language::of(Path::new(path));
    let source = language.and_then(|language| remand_source::ParsedSource::parse(language, text));
    let tests = source.map(|source| source.tests()).unwrap_or_default();
    tests.iter().map(|test| test.path.join("::")).collect()
}
