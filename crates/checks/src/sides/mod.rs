//! Which files, and which parts of files, are on the side of the tests.
//!
//! The side of a file decides in which version it takes part when the tests of one version run on the production code of
//! another. The base decides: its settings, its sources and its checks. A change cannot move its own files to another side.

mod composition;
mod data;
mod helper;
mod manifest;
mod settings;
mod words;

#[cfg(test)]
mod sides_tests;

use super::deciding::decided_by;
use super::red::BaseFile;
use super::spec::{CheckSpec, Parser};
use remand_source::{Language, has_test_parts, is_for_tests_only, is_test_file, test_modules};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

pub use composition::{Composition, Half};
use manifest::TestManifest;
use settings::RunnerSettings;

/// One file that differs between base and head. Content that is not text is neither code nor settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    pub path: String,
    pub base: FileVersion,
    pub head: FileVersion,
}

/// One version of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileVersion {
    Absent,
    Text(String),
    /// Not text, or too large to be written by hand.
    Other,
}

/// The base, as far as it decides about sides.
pub trait BaseSources {
    /// The text of a file; `None` if it does not exist or is not text.
    fn text(&self, path: &str) -> Option<String>;

    /// All source files.
    fn code(&self) -> Vec<BaseFile>;
}

/// The side that a file is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Side {
    Production,
    Tests(Reason),
    /// Production code with parts for tests: test modules, documentation examples, settings of a runner.
    Both,
}

/// Why a file is on the side of the tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Its name or folder.
    Place,
    /// The settings or the command of a runner name it.
    Named,
    /// It decides whether and how tests run.
    Settings,
    /// It is compiled for tests only.
    Syntax,
    /// Tests import it, and production code does not.
    Helper,
    /// Data that production code does not name, so only tests can read it.
    Data,
}

/// The changed files with their sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sides {
    files: BTreeMap<String, (Side, ChangedFile)>,
    /// Texts that stand for files of the base, by path.
    adapted: BTreeMap<String, String>,
    /// Files on the side of the tests whose new version is accepted.
    accepted: BTreeSet<String>,
}

impl Sides {
    /// Finds the side of each changed file.
    pub fn find(changed: Vec<ChangedFile>, specs: &[CheckSpec], base: &dyn BaseSources) -> Sides {
        let mut finder = Finder { settings: RunnerSettings::read(specs, base), specs, base, code: None };
        let with_side = |file: ChangedFile| (file.path.clone(), (finder.side(&file), file));
        Sides {
            files: changed.into_iter().map(with_side).collect(),
            adapted: BTreeMap::new(),
            accepted: BTreeSet::new(),
        }
    }

    /// The same sides, with other texts for source files with tests of the base.
    #[must_use]
    pub fn adapted(mut self, adapt: impl Fn(Language, &str) -> String) -> Sides {
        let of_tests = self.files.values().filter(|(side, _)| *side != Side::Production);
        for (_, file) in of_tests {
            let language = Language::of(Path::new(&file.path)).filter(|language| language.is_code());
            let current = self.adapted.get(&file.path).map(String::as_str).or(file.base.text());
            let (Some(language), Some(current)) = (language, current) else { continue };
            let text = adapt(language, current);
            if text != current {
                self.adapted.insert(file.path.clone(), text);
            }
        }
        self
    }

    /// The same sides, with the new version of these files on both sides.
    #[must_use]
    pub fn accepting(mut self, paths: impl IntoIterator<Item = String>) -> Sides {
        self.accepted.extend(paths);
        self
    }

    /// Whether the change adds files with tests, each of which runs in a process of its own, and does nothing else to the
    /// side of the tests: then the other tests are as they were.
    pub fn adds_only_isolated_tests(&self, specs: &[CheckSpec]) -> bool {
        let is_isolated = |(path, (side, file)): (&str, &(Side, ChangedFile))| {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            let has_process = specs.iter().all(|spec| match spec.parser {
                Parser::Cargo | Parser::Nextest => {
                    name.ends_with(".rs") && (folder == "tests" || folder.ends_with("/tests"))
                }
                Parser::Node => [".test.js", ".test.mjs", ".test.cjs"].iter().any(|end| name.ends_with(end)),
                _ => false,
            });
            file.base == FileVersion::Absent && *side == Side::Tests(Reason::Place) && has_process
        };
        let Composition { whole, mixed, unplaced } = self.with_tests_of(Half::Base);
        let known = |path: &PathBuf| {
            let (path, file) = path.to_str().and_then(|path| self.files.get_key_value(path))?;
            Some((path.as_str(), file))
        };
        mixed.is_empty()
            && unplaced.is_empty()
            && whole.iter().all(|path| known(path).is_some_and(is_isolated))
    }

    /// The text of a file of the base, as its tests are used.
    fn tests_of_base<'s>(&'s self, file: &'s ChangedFile) -> Option<&'s str> {
        self.adapted.get(&file.path).map(String::as_str).or(file.base.text())
    }

    /// The side of a changed file.
    pub fn side(&self, path: &str) -> Option<&Side> {
        self.files.get(path).map(|(side, _)| side)
    }

    /// The changed files on the side of the tests, or with parts that are, each with its side.
    pub fn of_tests(&self) -> impl Iterator<Item = (&ChangedFile, &Side)> {
        self.files.values().filter(|(side, _)| *side != Side::Production).map(|(side, file)| (file, side))
    }

    /// The changed files with production code.
    pub fn of_production(&self) -> impl Iterator<Item = &ChangedFile> {
        self.files.values().filter(|(side, _)| !matches!(side, Side::Tests(_))).map(|(_, file)| file)
    }
}

struct Finder<'f> {
    settings: RunnerSettings,
    specs: &'f [CheckSpec],
    base: &'f dyn BaseSources,
    /// The code of the base, read when it is first needed, divided into tests and production.
    code: Option<DividedCode>,
}

/// The source files of the base on each side.
struct DividedCode {
    tests: Vec<BaseFile>,
    production: Vec<BaseFile>,
}

impl Finder<'_> {
    fn side(&mut self, file: &ChangedFile) -> Side {
        let path = file.path.as_str();
        let folders: BTreeSet<String> = self.specs.iter().map(|spec| spec.folder.clone()).collect();
        let (before, after) = (file.base.text(), file.head.text());
        if TestManifest::of(path).is_some() && file.base != FileVersion::Absent {
            return Side::Both;
        }
        if decided_by(path, before, after, &folders).is_some() {
            return Side::Tests(Reason::Settings);
        }
        if let Some(reason) = self.by_itself(path, before.or(after)) {
            return Side::Tests(reason);
        }
        match Language::of(Path::new(path)) {
            Some(language) if language.is_code() => self.side_of_code(file, language),
            Some(_) | None if file.base != FileVersion::Absent && data::may_be_expected(path) => {
                let code = self.divided_code();
                let is_of_tests = data::is_of_tests(path, &code.tests, &code.production);
                if is_of_tests { Side::Tests(Reason::Data) } else { Side::Production }
            }
            Some(_) | None => Side::Production,
        }
    }

    fn side_of_code(&mut self, file: &ChangedFile, language: Language) -> Side {
        let has_parts = |text: Option<&str>| text.is_some_and(|text| has_test_parts(language, text));
        if file.base != FileVersion::Absent && helper::may_be_one(&file.path) {
            let path = file.path.clone();
            let code = self.divided_code();
            if helper::is_one(&path, file.base.text().unwrap_or_default(), &code.tests, &code.production) {
                return Side::Tests(Reason::Helper);
            }
        }
        if has_parts(file.base.text()) || has_parts(file.head.text()) { Side::Both } else { Side::Production }
    }

    /// The reason that a file has without a look at other sources, except those that declare it.
    fn by_itself(&self, path: &str, text: Option<&str>) -> Option<Reason> {
        if is_test_file(Path::new(path)) || self.settings.finds(path) {
            return Some(Reason::Place);
        }
        if self.settings.names(path) {
            return Some(Reason::Named);
        }
        let language = Language::of(Path::new(path))?;
        let is_for_tests = text.is_some_and(|text| is_for_tests_only(language, text));
        let is_declared = || language == Language::Rust && self.is_declared_for_tests(path);
        (is_for_tests || is_declared()).then_some(Reason::Syntax)
    }

    /// Whether a module of Rust, or one around it, is declared under `#[cfg(test)]`.
    fn is_declared_for_tests(&self, path: &str) -> bool {
        let mut module = path.to_string();
        while let Some((name, parents)) = declaring_files(&module) {
            let Some((parent, text)) =
                parents.into_iter().find_map(|parent| Some((parent.clone(), self.base.text(&parent)?)))
            else {
                return false;
            };
            if test_modules(&text).contains(&name) {
                return true;
            }
            module = parent;
        }
        false
    }

    fn divided_code(&mut self) -> &DividedCode {
        let (settings, base) = (&self.settings, self.base);
        self.code.get_or_insert_with(|| {
            let is_test = |file: &BaseFile| {
                is_test_file(Path::new(&file.path))
                    || settings.finds(&file.path)
                    || settings.names(&file.path)
            };
            let (tests, production) = base.code().into_iter().partition(is_test);
            DividedCode { tests, production }
        })
    }
}

impl FileVersion {
    pub fn text(&self) -> Option<&str> {
        match self {
            FileVersion::Text(text) => Some(text),
            FileVersion::Absent | FileVersion::Other => None,
        }
    }
}

/// The name of a Rust module, and the files that may declare it. `None` for the root of a crate.
fn declaring_files(path: &str) -> Option<(String, Vec<String>)> {
    let stem = path.strip_suffix(".rs")?;
    let stem = stem.strip_suffix("/mod").unwrap_or(stem);
    let (folder, name) = stem.rsplit_once('/')?;
    if matches!(name, "lib" | "main") && folder.ends_with("src") {
        return None;
    }
    let roots = ["lib.rs", "main.rs", "mod.rs"].map(|root| format!("{folder}/{root}"));
    let parents = [format!("{folder}.rs")].into_iter().chain(roots).filter(|parent| parent != path);
    Some((name.to_string(), parents.collect()))
}
