//! Filters and merge drivers: programs that the user's settings have git start on files. What they run is looked for among
//! these files, so that it may be an agent's; git starts them inside the sandbox, or not at all.
//!
//! Git itself stays outside: it writes objects and index as ever, and what it would start is wrapped by a setting.

use super::GitError;
use super::bounds::Bounds;
use super::call::{Answer, Call, Place, fields, git, words};
use super::identity::unguessable;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The settings that name programs; extensions of Git LFS are some that it starts itself.
const NAMING: &str = r"^(filter\..*\.(clean|smudge|process)|merge\..*\.driver|lfs\.extension\..*)$";

const EXTENSION: &str = "lfs.extension.";

/// The variables by which a wrapped program finds its sandbox.
const CONFINE: [&str; 2] = ["REMAND_CONFINE", "REMAND_CONFINE_POLICY"];

/// Merges as git does without a driver.
const PLAIN_MERGE: &str = "git merge-file --quiet --marker-size=%L %A %O %B";

/// How calls of git at the files of a run have programs started. Copies know the same settings.
#[derive(Clone, Debug, Default)]
pub(super) struct Programs {
    bounds: Option<Arc<Bounds>>,
    /// By the git folder, since settings can depend on it.
    known: Arc<Mutex<BTreeMap<PathBuf, Arc<Vec<Named>>>>>,
}

/// Where wrapped programs may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writes {
    Nothing,
    /// A merge driver writes its result beside the files.
    Tree,
}

/// The programs that a call may start.
pub(super) struct Started {
    named: Arc<Vec<Named>>,
    bounds: Option<Arc<Bounds>>,
    tree: Option<PathBuf>,
    writes: Writes,
}

/// A setting and the program that it names.
#[derive(Debug, PartialEq, Eq)]
struct Named {
    key: String,
    command: String,
}

impl Programs {
    /// The same settings, read again when they are needed, and started in these bounds.
    pub(super) fn bounded(bounds: Bounds) -> Programs {
        Programs { bounds: Some(Arc::new(bounds)), known: Arc::default() }
    }

    /// The same with other bounds, made from what they are now.
    pub(super) fn with(&self, change: impl FnOnce(&mut Bounds)) -> Programs {
        let bounds = self.bounds.as_deref().cloned().map(|mut bounds| {
            change(&mut bounds);
            Arc::new(bounds)
        });
        Programs { bounds, known: Arc::clone(&self.known) }
    }

    pub(super) fn bounds(&self) -> Option<&Bounds> {
        self.bounds.as_deref()
    }

    /// What a call may start that sees the settings of a git folder; none where nothing is named.
    pub(super) fn started(
        &self,
        git_dir: &Path,
        tree: Option<&Path>,
        writes: Writes,
    ) -> Result<Option<Started>, GitError> {
        let named = self.named(git_dir)?;
        let (bounds, tree) = (self.bounds.clone(), tree.map(Path::to_path_buf));
        Ok((!named.is_empty()).then_some(Started { named, bounds, tree, writes }))
    }

    fn named(&self, git_dir: &Path) -> Result<Arc<Vec<Named>>, GitError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(named) = known.get(git_dir) {
            return Ok(Arc::clone(named));
        }
        let place = Place::objects(git_dir).without_work_tree();
        let asked = ["config", "-z", "--get-regexp", NAMING];
        let answer = git(&place, asked).answer()?;
        let named = match answer.code {
            0 => Arc::new(named(&answer.stdout)?),
            // Nothing is named.
            1 => Arc::default(),
            code => return Err(GitError::of_call(words(&asked), code, &answer.stderr, git_dir)),
        };
        known.insert(git_dir.to_path_buf(), Arc::clone(&named));
        Ok(named)
    }
}

impl Started {
    /// Has a call start them in their bounds, or something harmless in their place where there are none.
    pub(super) fn run(&self, call: Call) -> Result<Answer, GitError> {
        let Some(bounds) = &self.bounds else {
            return self.settled(call, Named::harmless).answer_itself();
        };
        let end = unguessable::<16>()?;
        let wrap = |named: &Named| vec![(named.key.clone(), wrapped(&named.command, &end))];
        let call = self.settled(call, wrap);
        let (reads, writes) = match (self.writes, &self.tree) {
            (_, None) => (Vec::new(), Vec::new()),
            (Writes::Nothing, Some(tree)) => (vec![tree.clone()], Vec::new()),
            (Writes::Tree, Some(tree)) => (Vec::new(), vec![tree.as_path()]),
        };
        let answer = bounds.around(call, &writes, &reads, CONFINE)?;
        // Git quotes the program that failed, and nobody knows it by the wrapping.
        let mut stderr = String::from_utf8_lossy(&answer.stderr).into_owned();
        for named in self.named.iter() {
            stderr = stderr.replace(&wrapped(&named.command, &end), &named.command);
        }
        if answer.code == 0 {
            // More lines say the same of it in other words.
            let failed = stderr.lines().find(|line| line.contains("external filter"));
            failed.into_iter().for_each(|line| {
                bounds.remarks.add(format!("git took content in or out without its filter: {line}"));
            });
        }
        Ok(Answer { stderr: stderr.into_bytes(), ..answer })
    }

    /// A call with other settings in the place of those that name programs.
    fn settled(&self, call: Call, other: impl Fn(&Named) -> Vec<(String, String)>) -> Call {
        let first = configured();
        let settings: Vec<(String, String)> = self.named.iter().flat_map(other).collect();
        let count = first + settings.len();
        let call = call.with("GIT_CONFIG_COUNT", count.to_string());
        settings.into_iter().enumerate().fold(call, |call, (at, (key, value))| {
            let at = first + at;
            call.with(&format!("GIT_CONFIG_KEY_{at}"), key).with(&format!("GIT_CONFIG_VALUE_{at}"), value)
        })
    }
}

impl Named {
    /// The settings under which git starts nothing of this name: a filter changes nothing then, and a merge is that of
    /// texts.
    fn harmless(&self) -> Vec<(String, String)> {
        let setting = |key: String, value: &str| (key, value.to_string());
        if self.key.starts_with("merge.") {
            return vec![setting(self.key.clone(), PLAIN_MERGE)];
        }
        let driver = self.key.rsplit_once('.').map_or("", |(driver, _)| driver);
        vec![setting(self.key.clone(), ""), setting(format!("{driver}.required"), "false")]
    }

    /// Tells whether this is a program of Git LFS, as it is set up by `git lfs install`. It runs no code of the files that
    /// it is given, and has to write what it keeps in the repository.
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

/// Reads rows of settings, each a key and its value; what git does not have to be kept from is left out.
fn named(output: &[u8]) -> Result<Vec<Named>, GitError> {
    let text = |bytes: &[u8]| {
        String::from_utf8(bytes.to_vec()).map_err(|_| GitError::Unreadable {
            command: "git config".to_string(),
            detail: "a filter or merge driver that is not UTF-8".to_string(),
        })
    };
    // The last value of a key counts, and an empty one takes a program away.
    let mut all = BTreeMap::new();
    for row in fields(output) {
        let end = row.iter().position(|byte| *byte == b'\n').unwrap_or(row.len());
        all.insert(text(&row[..end])?, text(row.get(end + 1..).unwrap_or_default())?);
    }
    let extended = all.keys().any(|key| key.starts_with(EXTENSION));
    let all = all.into_iter().map(|(key, command)| Named { key, command });
    let is_program = |named: &Named| !named.key.starts_with(EXTENSION) && !named.command.trim().is_empty();
    Ok(all.filter(is_program).filter(|named| extended || !named.is_lfs()).collect())
}

/// A command that has the sandbox start this one. Git puts names of files into it, quoted, so that it is handed over as it
/// is, up to a line that no name can have in it.
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

/// How many settings the user gave by the environment.
fn configured() -> usize {
    std::env::var("GIT_CONFIG_COUNT").ok().and_then(|count| count.trim().parse().ok()).unwrap_or(0)
}
