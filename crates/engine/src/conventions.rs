//! The conventions of a repository: what files such as AGENTS.md say about how code is written there.
//!
//! They come from the base commit, so no agent can change the conventions of a later one. They change no permission, check, gate
//! or budget.

use remand_git::{GitError, Repository, TreeId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// The names of the files, in any folder.
pub const NAMES: [&str; 6] =
    ["AGENTS.md", "CLAUDE.md", "GEMINI.md", "QWEN.md", "CONTEXT.md", "copilot-instructions.md"];

/// The folder whose `copilot-instructions.md` applies to the whole repository.
const FORGE_FOLDER: &str = ".github";

/// Maximum size of all conventions together, in bytes.
const MAX_BYTES: usize = 64_000;

/// How deep imports are followed.
const MAX_DEPTH: usize = 5;

/// The conventions that a run pins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conventions {
    /// Outer folders first; an imported file comes after the file that imports it.
    pub files: Vec<ConventionFile>,
    /// Files that would exceed the size limit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// One text with conventions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConventionFile {
    /// The paths of the files with this text.
    pub paths: Vec<String>,
    /// The folder that it applies to; empty for the whole repository.
    pub folder: String,
    pub text: String,
}

impl Conventions {
    /// Reads the conventions of a tree. A name without a slash matches in every folder.
    pub fn read(repository: &Repository, tree: &TreeId, names: &[String]) -> Result<Conventions, GitError> {
        if names.is_empty() {
            return Ok(Conventions::default());
        }
        let files: BTreeSet<PathBuf> = repository.files(tree)?.into_iter().collect();
        let mut named: Vec<&PathBuf> = files.iter().filter(|path| is_named(path, names)).collect();
        named.sort_by_key(|path| (folder_of(path).components().count(), position(path, names)));
        let mut reading = Reading { files: &files, repository, tree, texts: BTreeMap::new() };
        let mut conventions = Conventions::default();
        for path in named {
            reading.add(path, &folder_of(path), 0, &mut conventions)?;
        }
        conventions.enforce_size();
        Ok(conventions)
    }

    /// The conventions for some files: those of the whole repository and of the folders that contain one of the files. If no
    /// file is known yet, those of every folder.
    pub fn for_files<'c>(&'c self, files: &'c [String]) -> impl Iterator<Item = &'c ConventionFile> {
        let applies = |file: &&ConventionFile| {
            files.is_empty() || files.iter().any(|path| Path::new(path).starts_with(&file.folder))
        };
        self.files.iter().filter(move |file| file.folder.is_empty() || applies(file))
    }

    fn enforce_size(&mut self) {
        let mut total = 0;
        let left_out = &mut self.left_out;
        self.files.retain(|file| {
            let fits = total + file.text.len() <= MAX_BYTES;
            if fits {
                total += file.text.len();
            } else {
                left_out.extend(file.paths.iter().cloned());
            }
            fits
        });
    }

    /// Why some files are not given to agents.
    pub fn notice(&self) -> Option<String> {
        let left_out = self.left_out.join(", ");
        let limit = MAX_BYTES / 1000;
        (!left_out.is_empty()).then(|| {
            format!("agents do not get {left_out}: together, the conventions are larger than {limit} kB; shorten them")
        })
    }
}

impl ConventionFile {
    /// The path of the first file with this text.
    pub fn path(&self) -> &str {
        self.paths.first().map_or("", String::as_str)
    }

    /// The scope of the text, as the end of a sentence.
    pub fn scope(&self) -> String {
        if self.folder.is_empty() {
            "the whole repository".to_string()
        } else {
            format!("`{}/`", self.folder)
        }
    }
}

/// The files of a tree, read one by one.
struct Reading<'r> {
    files: &'r BTreeSet<PathBuf>,
    repository: &'r Repository,
    tree: &'r TreeId,
    /// The position of each text, by folder and text.
    texts: BTreeMap<(PathBuf, String), usize>,
}

impl Reading<'_> {
    /// Adds a file and its imports, unless they have been added.
    fn add(
        &mut self,
        path: &Path,
        folder: &Path,
        depth: usize,
        conventions: &mut Conventions,
    ) -> Result<(), GitError> {
        let name = path.to_string_lossy().into_owned();
        if depth > MAX_DEPTH || conventions.files.iter().any(|file| file.paths.contains(&name)) {
            return Ok(());
        }
        let Some(bytes) = self.repository.read(self.tree, path)? else { return Ok(()) };
        let text = String::from_utf8_lossy(&bytes).trim().to_string();
        // A symbolic link is stored as its target.
        if let Some(target) = self.target(path, &text) {
            self.add(&target, folder, depth + 1, conventions)?;
            if let Some(file) = conventions
                .files
                .iter_mut()
                .find(|file| file.paths.iter().any(|path| Path::new(path) == target))
            {
                file.paths.push(name);
            }
            return Ok(());
        }
        let imported: Vec<PathBuf> =
            imports(&text).into_iter().filter_map(|import| self.target(path, import)).collect();
        let is_only_imports =
            text.split_whitespace().all(|word| word.starts_with('@')) && !imported.is_empty();
        if !text.is_empty() && !is_only_imports {
            let key = (folder.to_path_buf(), text);
            match self.texts.get(&key) {
                Some(at) => conventions.files[*at].paths.push(name),
                None => {
                    self.texts.insert(key.clone(), conventions.files.len());
                    let folder = key.0.to_string_lossy().into_owned();
                    conventions.files.push(ConventionFile { paths: vec![name], folder, text: key.1 });
                }
            }
        }
        for target in imported {
            self.add(&target, folder, depth + 1, conventions)?;
        }
        Ok(())
    }

    /// The file of the tree that a relative path in another file names.
    fn target(&self, from: &Path, relative: &str) -> Option<PathBuf> {
        if relative.is_empty() || relative.contains('\n') {
            return None;
        }
        let mut target = from.parent().map(Path::to_path_buf).unwrap_or_default();
        for part in Path::new(relative).components() {
            match part {
                Component::Normal(name) => target.push(name),
                Component::CurDir => {}
                Component::ParentDir => {
                    if !target.pop() {
                        return None;
                    }
                }
                Component::RootDir | Component::Prefix(_) => return None,
            }
        }
        self.files.contains(&target).then_some(target)
    }
}

/// The paths that a text imports with `@`, outside of code.
fn imports(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut is_fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
            continue;
        }
        let outside_code = line.split('`').step_by(2).filter(|_| !is_fenced);
        let words = outside_code.flat_map(str::split_whitespace);
        let paths = words.filter_map(|word| word.strip_prefix('@'));
        found.extend(paths.map(|path| path.trim_end_matches(['.', ',', ';', ':', ')', '!', '?'])));
    }
    found
}

fn is_named(path: &Path, names: &[String]) -> bool {
    position(path, names) < names.len()
}

/// The position of the first name that matches.
fn position(path: &Path, names: &[String]) -> usize {
    let matches = |name: &String| {
        if name.contains('/') {
            Path::new(name) == path
        } else {
            path.file_name().is_some_and(|file| file == name.as_str())
        }
    };
    names.iter().position(matches).unwrap_or(names.len())
}

/// The folder that a file with conventions applies to.
fn folder_of(path: &Path) -> PathBuf {
    let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
    if folder == Path::new(FORGE_FOLDER) { PathBuf::new() } else { folder }
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    fn conventions(files: &[(&str, &str)]) -> Conventions {
        let temp = tempfile::tempdir().expect("a folder");
        for (path, text) in files {
            let path = temp.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            match text.strip_prefix("-> ") {
                Some(target) => std::os::unix::fs::symlink(target, path).expect("a link"),
                None => std::fs::write(path, text).expect("a file"),
            }
        }
        let repository = Repository::create(temp.path(), "work", "A repository").expect("a repository");
        let tree = repository.tree_of(&repository.head().expect("a commit").commit).expect("a tree");
        Conventions::read(&repository, &tree, &NAMES.map(str::to_string)).expect("read")
    }

    fn listed(conventions: &Conventions) -> Vec<String> {
        let line =
            |file: &ConventionFile| format!("{} for {}: {}", file.paths.join(" "), file.scope(), file.text);
        conventions.files.iter().map(line).collect()
    }

    // UP-01
    #[test]
    fn equal_files_and_links_are_given_once_and_nested_files_belong_to_their_folder() {
        let found = conventions(&[
            ("AGENTS.md", "Use tabs.\n"),
            ("CLAUDE.md", "-> AGENTS.md"),
            ("GEMINI.md", "Use tabs.\n"),
            (".github/copilot-instructions.md", "Write tests.\n"),
            ("web/AGENTS.md", "Use spaces.\n"),
            ("docs/readme.md", "Not conventions.\n"),
        ]);
        assert_eq!(
            listed(&found),
            [
                "AGENTS.md CLAUDE.md GEMINI.md for the whole repository: Use tabs.",
                ".github/copilot-instructions.md for the whole repository: Write tests.",
                "web/AGENTS.md for `web/`: Use spaces."
            ]
        );
        let given = |files: &[&str]| {
            let files: Vec<String> = files.iter().map(ToString::to_string).collect();
            found.for_files(&files).count()
        };
        assert_eq!(
            (given(&["src/main.rs"]), given(&["web/src/app.ts"]), given(&["website/a"]), given(&[])),
            (2, 3, 2, 3)
        );
    }

    // UP-01
    #[test]
    fn imports_are_followed_inside_the_repository_and_outside_of_code() {
        let found = conventions(&[
            (
                "CLAUDE.md",
                "See @docs/style.md, and `@docs/not.md`.\n\n```\n@docs/not.md\n```\nMail a@docs/not.md\n",
            ),
            ("AGENTS.md", "@CLAUDE.md\n"),
            ("docs/style.md", "Short names. @../CLAUDE.md @more.md @../../secret @/etc/passwd @~/own.md\n"),
            ("docs/more.md", "No abbreviations.\n"),
            ("docs/not.md", "never\n"),
        ]);
        let paths: Vec<&str> = found.files.iter().map(|file| file.paths[0].as_str()).collect();
        assert_eq!(paths, ["CLAUDE.md", "docs/style.md", "docs/more.md"]);
        assert!(found.files.iter().all(|file| file.folder.is_empty()), "{found:?}");
    }

    // UP-01
    #[test]
    fn files_beyond_the_size_limit_are_named_instead_of_given() {
        let long = "x".repeat(MAX_BYTES);
        let found = conventions(&[("AGENTS.md", "Use tabs.\n"), ("CLAUDE.md", &long)]);
        assert_eq!(listed(&found), ["AGENTS.md for the whole repository: Use tabs."]);
        assert_eq!(found.left_out, ["CLAUDE.md"]);
        assert!(found.notice().expect("a notice").contains("CLAUDE.md"));
    }

    // UP-01
    #[test]
    fn without_names_nothing_is_read() {
        let temp = tempfile::tempdir().expect("a folder");
        std::fs::write(temp.path().join("AGENTS.md"), "Use tabs.\n").expect("a file");
        let repository = Repository::create(temp.path(), "work", "A repository").expect("a repository");
        let tree = repository.tree_of(&repository.head().expect("a commit").commit).expect("a tree");
        assert_eq!(Conventions::read(&repository, &tree, &[]).expect("read"), Conventions::default());
    }
}
