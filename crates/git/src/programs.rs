//! Filters and merge drivers: programs that git starts on files because of the user's settings. They may run code from
//! these files, which an agent may have written, so git starts them inside the sandbox or not at all.
//!
//! Git itself stays outside the sandbox, since it writes objects and the index. Changed settings make git start the
//! programs through `confine`.

use super::GitError;
use super::invocation::{CallMode, CallOutput, GitPaths, Invocation, command_line, fields};
use super::program_limits::GitProgramLimits;
use super::random::random_hex;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The settings that name programs. Git LFS, not git, starts the programs of `lfs.extension`.
const PROGRAM_KEYS: &str = r"^(filter\..*\.(clean|smudge|process)|merge\..*\.driver|lfs\.extension\..*)$";

const LFS_EXTENSION: &str = "lfs.extension.";

/// The environment variables for a wrapped program: the program that confines it, and the sandbox policy.
const CONFINE_VARIABLES: [&str; 2] = ["REMAND_CONFINE", "REMAND_CONFINE_POLICY"];

/// A merge driver that merges as git does without a driver.
const PLAIN_MERGE: &str = "git merge-file --quiet --marker-size=%L %A %O %B";

/// How git starts programs for the files of a run. Clones share the settings that were read.
#[derive(Clone, Debug, Default)]
pub(super) struct Programs {
    limits: Option<Arc<GitProgramLimits>>,
    /// The settings by git folder, since they can depend on it.
    cache: Arc<Mutex<BTreeMap<PathBuf, Arc<Vec<ProgramSetting>>>>>,
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
    limits: Option<Arc<GitProgramLimits>>,
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
    /// Runs programs within these limits.
    pub(super) fn limited(limits: GitProgramLimits) -> Programs {
        Programs { limits: Some(Arc::new(limits)), cache: Arc::default() }
    }

    /// The same programs with changed limits.
    pub(super) fn with_changed_limits(&self, change: impl FnOnce(&mut GitProgramLimits)) -> Programs {
        let limits = self.limits.as_deref().cloned().map(|mut limits| {
            change(&mut limits);
            Arc::new(limits)
        });
        Programs { limits, cache: Arc::clone(&self.cache) }
    }

    pub(super) fn limits(&self) -> Option<&GitProgramLimits> {
        self.limits.as_deref()
    }

    /// The programs that a call with the settings of a git folder may start; `None` if there are none.
    pub(super) fn startable(
        &self,
        git_dir: &Path,
        tree: Option<&Path>,
        writes: Writes,
    ) -> Result<Option<StartablePrograms>, GitError> {
        let settings = self.settings(git_dir)?;
        let (limits, tree) = (self.limits.clone(), tree.map(Path::to_path_buf));
        Ok((!settings.is_empty()).then_some(StartablePrograms { settings, limits, tree, writes }))
    }

    fn settings(&self, git_dir: &Path) -> Result<Arc<Vec<ProgramSetting>>, GitError> {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(settings) = cache.get(git_dir) {
            return Ok(Arc::clone(settings));
        }
        let paths = GitPaths::objects(git_dir).without_work_tree();
        let words = ["config", "-z", "--get-regexp", PROGRAM_KEYS];
        let output = Invocation::new(&paths, CallMode::Internal, words).run_unchecked()?;
        let settings = match output.code {
            0 => Arc::new(parse_settings(&output.stdout)?),
            // No such setting exists.
            1 => Arc::default(),
            code => return Err(GitError::from_call(command_line(&words), code, &output.stderr, git_dir)),
        };
        cache.insert(git_dir.to_path_buf(), Arc::clone(&settings));
        Ok(settings)
    }
}

impl StartablePrograms {
    /// Runs git so that it starts these programs within their limits. Without limits, git starts none of them.
    pub(super) fn run(&self, invocation: Invocation) -> Result<CallOutput, GitError> {
        let Some(limits) = &self.limits else {
            return self.with_settings(invocation, ProgramSetting::disabled).run_unchecked();
        };
        let end = random_hex::<16>()?;
        let wrapped = |setting: &ProgramSetting| vec![(setting.key.clone(), wrap(&setting.command, &end))];
        let invocation = self.with_settings(invocation, wrapped);
        let (reads, writes) = match (self.writes, &self.tree) {
            (_, None) => (Vec::new(), Vec::new()),
            (Writes::Nothing, Some(tree)) => (vec![tree.clone()], Vec::new()),
            (Writes::Tree, Some(tree)) => (Vec::new(), vec![tree.as_path()]),
        };
        let output = limits.confine_started_programs(invocation, &writes, &reads, CONFINE_VARIABLES)?;
        // Git's messages quote the failed command. Users know it without the wrapper.
        let mut stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        for setting in self.settings.iter() {
            stderr = stderr.replace(&wrap(&setting.command, &end), &setting.command);
        }
        if output.code == 0 {
            // Further lines repeat the same failure.
            let failed = stderr.lines().find(|line| line.contains("external filter"));
            failed.into_iter().for_each(|line| {
                limits.warnings.add(format!("git added or checked out content without its filter: {line}"));
            });
        }
        Ok(CallOutput { stderr: stderr.into_bytes(), ..output })
    }

    /// Replaces the settings that name programs.
    fn with_settings(
        &self,
        invocation: Invocation,
        replace: impl Fn(&ProgramSetting) -> Vec<(String, String)>,
    ) -> Invocation {
        let first = configured_count();
        let settings: Vec<(String, String)> = self.settings.iter().flat_map(replace).collect();
        let count = first + settings.len();
        let invocation = invocation.env("GIT_CONFIG_COUNT", count.to_string());
        settings.into_iter().enumerate().fold(invocation, |invocation, (at, (key, value))| {
            let at = first + at;
            invocation.env(&format!("GIT_CONFIG_KEY_{at}"), key).env(&format!("GIT_CONFIG_VALUE_{at}"), value)
        })
    }
}

impl ProgramSetting {
    /// Settings that keep git from starting this program: a filter then changes nothing, and a merge driver merges as git
    /// does without one.
    fn disabled(&self) -> Vec<(String, String)> {
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

/// Parses rows of settings, each with a key and a value. Leaves out programs that need no sandbox.
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
    let has_extension = all.keys().any(|key| key.starts_with(LFS_EXTENSION));
    let all = all.into_iter().map(|(key, command)| ProgramSetting { key, command });
    let is_program = |setting: &ProgramSetting| {
        !setting.key.starts_with(LFS_EXTENSION) && !setting.command.trim().is_empty()
    };
    Ok(all.filter(is_program).filter(|setting| has_extension || !setting.is_lfs()).collect())
}

/// Returns a command that starts this command inside the sandbox. Git inserts quoted file names into the command, so a
/// here-document passes it on unchanged. `end` is the last line of the here-document; it is random, so no file name can
/// contain it.
fn wrap(command: &str, end: &str) -> String {
    let [program, policy] = CONFINE_VARIABLES;
    let count = match configured_count() {
        0 => "unset GIT_CONFIG_COUNT".to_string(),
        count => format!("GIT_CONFIG_COUNT={count}"),
    };
    format!(
        "{{ C=$(cat <&3); }} 3<<'{end}'\n{command}\n{end}\n{count}; unset GIT_INDEX_FILE\n\
         exec \"${program}\" confine --policy \"${policy}\" -- sh -c \"$C\""
    )
}

/// The number of settings that the user passed in the environment. Git itself rejects a value that is not a number.
fn configured_count() -> usize {
    std::env::var("GIT_CONFIG_COUNT").ok().and_then(|count| count.trim().parse().ok()).unwrap_or(0)
}
