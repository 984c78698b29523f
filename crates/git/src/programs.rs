//! Filters and merge drivers: programs that git starts on files because of the user's settings. They may run code from
//! these files, which an agent may have written, so git starts them inside the sandbox or not at all.
//!
//! Git itself stays outside the sandbox, since it writes objects and the index. Settings wrap the programs that it starts.

use super::GitError;
use super::bounds::ProgramBounds;
use super::invocation::{CallMode, CallOutput, GitPaths, Invocation, fields, words};
use super::random::random_hex;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The settings that name programs. Git LFS starts its extensions itself.
const PROGRAM_KEYS: &str = r"^(filter\..*\.(clean|smudge|process)|merge\..*\.driver|lfs\.extension\..*)$";

const EXTENSION: &str = "lfs.extension.";

/// The variables that tell a wrapped program its sandbox.
const CONFINE: [&str; 2] = ["REMAND_CONFINE", "REMAND_CONFINE_POLICY"];

/// Merges like git without a driver.
const PLAIN_MERGE: &str = "git merge-file --quiet --marker-size=%L %A %O %B";

/// How git starts programs for the files of a run. Clones share the settings that were read.
#[derive(Clone, Debug, Default)]
pub(super) struct Programs {
    bounds: Option<Arc<ProgramBounds>>,
    /// The settings by git folder, since they can depend on it.
    known: Arc<Mutex<BTreeMap<PathBuf, Arc<Vec<ProgramSetting>>>>>,
}

/// Where wrapped programs may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writes {
    Nothing,
    /// The work tree: a merge driver writes its result next to the files.
    Tree,
}

/// The programs that a call may start.
pub(super) struct StartablePrograms {
    settings: Arc<Vec<ProgramSetting>>,
    bounds: Option<Arc<ProgramBounds>>,
    tree: Option<PathBuf>,
    writes: Writes,
}

/// A setting and the program that it names.
#[derive(Debug, PartialEq, Eq)]
struct ProgramSetting {
    key: String,
    command: String,
}

impl Programs {
    /// Runs programs within these bounds.
    pub(super) fn bounded(bounds: ProgramBounds) -> Programs {
        Programs { bounds: Some(Arc::new(bounds)), known: Arc::default() }
    }

    /// The same programs with changed bounds.
    pub(super) fn with(&self, change: impl FnOnce(&mut ProgramBounds)) -> Programs {
        let bounds = self.bounds.as_deref().cloned().map(|mut bounds| {
            change(&mut bounds);
            Arc::new(bounds)
        });
        Programs { bounds, known: Arc::clone(&self.known) }
    }

    pub(super) fn bounds(&self) -> Option<&ProgramBounds> {
        self.bounds.as_deref()
    }

    /// The programs that a call with the settings of a git folder may start; `None` if there are none.
    pub(super) fn startable(
        &self,
        git_dir: &Path,
        tree: Option<&Path>,
        writes: Writes,
    ) -> Result<Option<StartablePrograms>, GitError> {
        let settings = self.settings(git_dir)?;
        let (bounds, tree) = (self.bounds.clone(), tree.map(Path::to_path_buf));
        Ok((!settings.is_empty()).then_some(StartablePrograms { settings, bounds, tree, writes }))
    }

    fn settings(&self, git_dir: &Path) -> Result<Arc<Vec<ProgramSetting>>, GitError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(named) = known.get(git_dir) {
            return Ok(Arc::clone(named));
        }
        let paths = GitPaths::objects(git_dir).without_work_tree();
        let asked = ["config", "-z", "--get-regexp", PROGRAM_KEYS];
        let answer = Invocation::new(&paths, CallMode::Internal, asked).answer()?;
        let named = match answer.code {
            0 => Arc::new(parse_settings(&answer.stdout)?),
            // No such setting exists.
            1 => Arc::default(),
            code => return Err(GitError::from_call(words(&asked), code, &answer.stderr, git_dir)),
        };
        known.insert(git_dir.to_path_buf(), Arc::clone(&named));
        Ok(named)
    }
}

impl StartablePrograms {
    /// Runs git so that it starts these programs within their bounds or, without bounds, something harmless instead.
    pub(super) fn run(&self, invocation: Invocation) -> Result<CallOutput, GitError> {
        let Some(bounds) = &self.bounds else {
            return self.with_settings(invocation, ProgramSetting::harmless).answer();
        };
        let end = random_hex::<16>()?;
        let wrap = |named: &ProgramSetting| vec![(named.key.clone(), wrapped(&named.command, &end))];
        let invocation = self.with_settings(invocation, wrap);
        let (reads, writes) = match (self.writes, &self.tree) {
            (_, None) => (Vec::new(), Vec::new()),
            (Writes::Nothing, Some(tree)) => (vec![tree.clone()], Vec::new()),
            (Writes::Tree, Some(tree)) => (Vec::new(), vec![tree.as_path()]),
        };
        let answer = bounds.around(invocation, &writes, &reads, CONFINE)?;
        // Git's messages quote the failed program, which users know without the wrapper.
        let mut stderr = String::from_utf8_lossy(&answer.stderr).into_owned();
        for named in self.settings.iter() {
            stderr = stderr.replace(&wrapped(&named.command, &end), &named.command);
        }
        if answer.code == 0 {
            // Further lines repeat the same failure.
            let failed = stderr.lines().find(|line| line.contains("external filter"));
            failed.into_iter().for_each(|line| {
                bounds.remarks.add(format!("git added or checked out content without its filter: {line}"));
            });
        }
        Ok(CallOutput { stderr: stderr.into_bytes(), ..answer })
    }

    /// Replaces the settings that name programs.
    fn with_settings(
        &self,
        invocation: Invocation,
        other: impl Fn(&ProgramSetting) -> Vec<(String, String)>,
    ) -> Invocation {
        let first = configured();
        let settings: Vec<(String, String)> = self.settings.iter().flat_map(other).collect();
        let count = first + settings.len();
        let invocation = invocation.with("GIT_CONFIG_COUNT", count.to_string());
        settings.into_iter().enumerate().fold(invocation, |invocation, (at, (key, value))| {
            let at = first + at;
            invocation
                .with(&format!("GIT_CONFIG_KEY_{at}"), key)
                .with(&format!("GIT_CONFIG_VALUE_{at}"), value)
        })
    }
}

impl ProgramSetting {
    /// Settings that make git start nothing instead of this program: a filter then changes nothing, and a merge is a plain
    /// text merge.
    fn harmless(&self) -> Vec<(String, String)> {
        let setting = |key: String, value: &str| (key, value.to_string());
        if self.key.starts_with("merge.") {
            return vec![setting(self.key.clone(), PLAIN_MERGE)];
        }
        let driver = self.key.rsplit_once('.').map_or("", |(driver, _)| driver);
        vec![setting(self.key.clone(), ""), setting(format!("{driver}.required"), "false")]
    }

    /// Returns whether this is Git LFS as set up by `git lfs install`. It runs no code from the files that it processes, and
    /// has to write to the repository.
    fn is_lfs(&self) -> bool {
        let mut words = self.command.split_ascii_whitespace();
        let is_program = match words.next() {
            Some("git-lfs") => true,
            Some("git") => words.next() == Some("lfs"),
            Some(_) | None => false,
        };
        is_program
            && matches!(words.next(), Some("clean" | "smudge" | "filter-process"))
            && words.all(|word| matches!(word, "--skip" | "--" | "%f"))
    }
}

/// Parses rows of settings, each a key and its value; leaves out programs that need no sandbox.
fn parse_settings(output: &[u8]) -> Result<Vec<ProgramSetting>, GitError> {
    let text = |bytes: &[u8]| {
        String::from_utf8(bytes.to_vec()).map_err(|_| GitError::Unreadable {
            command: "git config".to_string(),
            detail: "the name of a filter or merge driver is not UTF-8".to_string(),
        })
    };
    // The last value of a key counts, and an empty one removes the program.
    let mut all = BTreeMap::new();
    for row in fields(output) {
        let end = row.iter().position(|byte| *byte == b'\n').unwrap_or(row.len());
        all.insert(text(&row[..end])?, text(row.get(end + 1..).unwrap_or_default())?);
    }
    let extended = all.keys().any(|key| key.starts_with(EXTENSION));
    let all = all.into_iter().map(|(key, command)| ProgramSetting { key, command });
    let is_program =
        |named: &ProgramSetting| !named.key.starts_with(EXTENSION) && !named.command.trim().is_empty();
    Ok(all.filter(is_program).filter(|named| extended || !named.is_lfs()).collect())
}

/// Returns a command that starts this one inside the sandbox. Git inserts quoted file names into it, so it is passed on
/// unchanged in a here-document, whose end line is random so that no file name can contain it.
fn wrapped(command: &str, end: &str) -> String {
    let [program, policy] = CONFINE;
    let count = match configured() {
        0 => "unset GIT_CONFIG_COUNT".to_string(),
        count => format!("GIT_CONFIG_COUNT={count}"),
    };
    format!(
        "{{ C=$(cat <&3); }} 3<<'{end}'\n{command}\n{end}\n{count}; unset GIT_INDEX_FILE\n\
         exec \"${program}\" confine --policy \"${policy}\" -- sh -c \"$C\""
    )
}

/// The number of settings that the user passed in the environment. Git itself rejects a value that is not a number.
fn configured() -> usize {
    std::env::var("GIT_CONFIG_COUNT").ok().and_then(|count| count.trim().parse().ok()).unwrap_or(0)
}
