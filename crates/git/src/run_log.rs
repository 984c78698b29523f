//! The log of a run: a chain of commits, from which another machine can continue the run.
//!
//! The first parent of an entry is the entry before it. Its other parents are the commits that the references of the run
//! have moved to since then, and its tree contains the new snapshots, so one reference keeps everything that belongs to the
//! run. The other files of an entry are chosen by the caller.

use super::call::git;
use super::names::{branch_of, tag_of};
use super::open::{break_locks, check_run_id};
use super::repository::next_blob;
use super::{CommitId, GitError, Repository};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of bytes that a search reads into memory at a time, unless one object is larger.
const CHUNK: u64 = 64 * 1024 * 1024;

/// The references of a run, by name.
pub type References = BTreeMap<String, CommitId>;

/// An entry to add to the log of a run.
#[derive(Clone, Debug)]
pub struct NewLogEntry<'l> {
    /// The newest entry; `None` for the first one.
    pub after: Option<&'l CommitId>,
    /// The references that changed since that entry.
    pub moved: &'l References,
    /// One line for people, and a text that no other entry has.
    pub message: &'l str,
    pub files: &'l [(String, Vec<u8>)],
}

/// A text in the objects that a push would send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundText {
    /// The path of the file, or the id of the commit with the text in its message.
    pub location: String,
    /// What the search reported.
    pub what: String,
}

/// The newest entry that this machine has made or accepted.
fn log_reference(run: &str) -> String {
    format!("refs/remand/{run}/hub/log")
}

/// The newest entry that was fetched.
pub(super) fn fetched_reference(run: &str) -> String {
    format!("refs/remand/{run}/hub/fetched")
}

/// Values that references had here before they followed another machine.
fn replaced_reference(run: &str, commit: &CommitId) -> String {
    format!("refs/remand/{run}/replaced/{commit}")
}

/// Whether a reference of a run protects a snapshot. It points to a tree; all others point to commits.
pub fn is_snapshot(reference: &str) -> bool {
    reference.split('/').nth(3) == Some("snapshots") && reference.starts_with("refs/remand/")
}

/// References that are about this machine only.
fn is_local(run: &str, name: &str) -> bool {
    let name = name.strip_prefix(&format!("refs/remand/{run}/")).unwrap_or_default();
    name.starts_with("hub/") || name.starts_with("replaced/")
}

impl Repository {
    /// Removes the locks that a killed git left on the references of a run. No other process may use the run.
    pub fn unlock_run(&self, run: &str) -> Result<(), GitError> {
        check_run_id(run)?;
        break_locks(&self.common_dir().join("refs/remand").join(run))
    }

    /// The newest entry in the log of a run that this machine has made or accepted.
    pub fn run_log(&self, run: &str) -> Result<Option<CommitId>, GitError> {
        check_run_id(run)?;
        self.reference(&log_reference(run))
    }

    /// The references of a run: those below `refs/remand/<run>/`, its tag and its branch.
    pub fn references_of_run(&self, run: &str) -> Result<References, GitError> {
        check_run_id(run)?;
        let patterns = patterns(run);
        let words = ["for-each-ref", "--format=%(objectname) %(refname)"];
        let words = words.into_iter().chain(patterns.iter().map(String::as_str));
        let output = git(&self.objects(), words).run()?;
        let text = String::from_utf8_lossy(&output).into_owned();
        let rows = text.lines().filter_map(|line| line.split_once(' '));
        rows.filter(|(_, name)| is_of_run(name, run))
            .map(|(commit, name)| Ok((name.to_string(), commit.parse()?)))
            .collect()
    }

    /// Adds an entry to the log of a run on this machine. Everything in it is on disk before this returns.
    pub fn add_log_entry(&self, run: &str, entry: &NewLogEntry<'_>) -> Result<CommitId, GitError> {
        check_run_id(run)?;
        let reference = log_reference(run);
        let mut stream = Vec::new();
        let (first, message) = (format!("{}\n", entry.message), format!("{}\n", entry.message));
        let after = match entry.after {
            Some(after) => after.to_string(),
            None => {
                // The chain of first parents ends here, not in the history of the work.
                commit_command(&mut stream, &reference, ":1", &first);
                stream.extend_from_slice(b"\n");
                ":1".to_string()
            }
        };
        commit_command(&mut stream, &reference, ":2", &message);
        stream.extend_from_slice(format!("from {after}\n").as_bytes());
        let (trees, commits): (BTreeSet<_>, BTreeSet<_>) =
            entry.moved.iter().partition(|(name, _)| is_snapshot(name));
        let commits: BTreeSet<&CommitId> = commits.into_iter().map(|(_, commit)| commit).collect();
        for commit in commits {
            stream.extend_from_slice(format!("merge {commit}\n").as_bytes());
        }
        stream.extend_from_slice(b"deleteall\n");
        for (_, tree) in trees {
            stream.extend_from_slice(format!("M 040000 {tree} snapshots/{tree}\n").as_bytes());
        }
        for (path, content) in entry.files {
            stream.extend_from_slice(format!("M 100644 inline {path}\n").as_bytes());
            data(&mut stream, content);
        }
        stream.extend_from_slice(b"\nget-mark :2\ndone\n");
        let words = ["fast-import", "--quiet", "--done", "--force", "--cat-blob-fd=1", "--date-format=now"];
        git(&self.objects(), words).input(stream).line()?.parse()
    }

    /// Makes commits that a run needs part of what it owns. Commits that are missing here are an error.
    pub fn keep_commits(&self, run: &str, commits: &BTreeSet<CommitId>) -> Result<(), GitError> {
        check_run_id(run)?;
        let rows: String = commits
            .iter()
            .map(|commit| format!("update refs/remand/{run}/given/{commit} {commit}\n"))
            .collect();
        git(&self.objects(), ["update-ref", "--stdin"]).input(rows.into_bytes()).run().map(drop)
    }

    /// The entries of a log after one of them, oldest first.
    pub fn log_entries(
        &self,
        newest: &CommitId,
        after: Option<&CommitId>,
    ) -> Result<Vec<CommitId>, GitError> {
        let mut words = vec!["rev-list".to_string(), "--first-parent".into(), "--reverse".into()];
        words.push(newest.to_string());
        words.extend(after.map(|after| format!("^{after}")));
        let output = git(&self.objects(), &words).run()?;
        String::from_utf8_lossy(&output).lines().map(str::parse).collect()
    }

    /// Whether a log continues another one: its newest entry is the other's, or comes after it.
    pub fn log_continues(&self, newest: &CommitId, other: &CommitId) -> Result<bool, GitError> {
        if newest == other {
            return Ok(true);
        }
        // An entry that was never here cannot be part of a log that is here.
        let exists =
            git(&self.objects(), ["cat-file", "-e", &format!("{other}^{{commit}}")]).run_unchecked()?;
        Ok(exists.code == 0 && self.contains(newest, other)?)
    }

    /// Files of log entries, each named by entry and path; `None` for a missing one.
    pub fn log_files(&self, files: &[(CommitId, String)]) -> Result<Vec<Option<Vec<u8>>>, GitError> {
        if files.is_empty() {
            return Ok(Vec::new());
        }
        let names: String = files.iter().map(|(entry, path)| format!("{entry}:{path}\n")).collect();
        let output = git(&self.objects(), ["cat-file", "--batch"]).input(names.into_bytes()).run()?;
        let mut rest = output.as_slice();
        Ok(files.iter().map(|_| next_blob(&mut rest)).collect())
    }

    /// Makes the references of a run here those of a log entry, all or none, and the entry the newest of its log. Other
    /// values that references had here are kept below `refs/remand/<run>/replaced/`.
    pub fn follow_log(&self, run: &str, entry: &CommitId, references: &References) -> Result<(), GitError> {
        check_run_id(run)?;
        let own = self.references_of_run(run)?;
        let branch = format!("refs/heads/{}", branch_of(run));
        let mut rows = String::new();
        let mut replaced = BTreeSet::new();
        if let Some(name) = references.keys().find(|name| !is_of_run(name, run)) {
            let detail = format!("`{name}` does not belong to run {run}");
            return Err(GitError::Unreadable { command: "the log of the run".to_string(), detail });
        }
        for (name, old) in own.iter().filter(|(name, old)| references.get(*name) != Some(old)) {
            if *name == branch
                && let Some(path) = self.checkout_of(&branch_of(run))?
            {
                return Err(GitError::BranchInUse { branch: branch_of(run), path });
            }
            replaced.insert(old.clone());
            match references.get(name) {
                Some(new) => rows.push_str(&format!("update {name} {new} {old}\n")),
                None => rows.push_str(&format!("delete {name} {old}\n")),
            }
        }
        for (name, new) in references.iter().filter(|(name, _)| !own.contains_key(*name)) {
            rows.push_str(&format!("create {name} {new}\n"));
        }
        let log = log_reference(run);
        if let Some(old) = self.reference(&log)?
            && !self.log_continues(entry, &old)?
        {
            replaced.insert(old);
        }
        for old in &replaced {
            rows.push_str(&format!("update {} {old}\n", replaced_reference(run, old)));
        }
        rows.push_str(&format!("update {log} {entry}\n"));
        git(&self.objects(), ["update-ref", "--stdin"]).input(rows.into_bytes()).run().map(drop)
    }

    /// Searches the texts of everything that commits or trees contain and that neither a remote of the repository nor the log of
    /// any run does: the content of files and the messages of commits.
    pub fn search_new_objects(
        &self,
        objects: &BTreeSet<CommitId>,
        mut search: impl FnMut(&str, &[u8]) -> Option<String>,
    ) -> Result<Option<FoundText>, GitError> {
        if objects.is_empty() {
            return Ok(None);
        }
        let revisions: String = objects.iter().map(|commit| format!("{commit}\n")).collect();
        let words =
            ["rev-list", "--objects", "--stdin", "--not", "--remotes", "--glob=refs/remand/*/hub/log"];
        let output = git(&self.objects(), words).input(revisions.into_bytes()).run()?;
        let text = String::from_utf8_lossy(&output).into_owned();
        let named: Vec<(&str, &str)> =
            text.lines().map(|line| line.split_once(' ').unwrap_or((line, ""))).collect();
        let names: String = named.iter().map(|(id, _)| format!("{id}\n")).collect();
        let check = ["cat-file", "--batch-check=%(objecttype) %(objectsize)"];
        let output = git(&self.objects(), check).input(names.into_bytes()).run()?;
        let types = String::from_utf8_lossy(&output).into_owned();
        let texts = named.iter().zip(types.lines()).filter_map(|((id, path), line)| {
            let (kind, size) = line.split_once(' ')?;
            let size: u64 = size.parse().ok()?;
            match kind {
                "blob" => Some((*id, (*path).to_string(), size)),
                "commit" | "tag" => Some((*id, format!("the commit {id}"), size)),
                _ => None,
            }
        });
        let mut chunk: Vec<(&str, String)> = Vec::new();
        let mut chunk_size = 0;
        for (id, location, size) in texts {
            if chunk_size + size > CHUNK && !chunk.is_empty() {
                if let Some(found) = self.search_chunk(&chunk, &mut search)? {
                    return Ok(Some(found));
                }
                chunk.clear();
                chunk_size = 0;
            }
            chunk.push((id, location));
            chunk_size += size;
        }
        self.search_chunk(&chunk, &mut search)
    }

    fn search_chunk(
        &self,
        chunk: &[(&str, String)],
        search: &mut impl FnMut(&str, &[u8]) -> Option<String>,
    ) -> Result<Option<FoundText>, GitError> {
        if chunk.is_empty() {
            return Ok(None);
        }
        let names: String = chunk.iter().map(|(id, _)| format!("{id}\n")).collect();
        let output = git(&self.objects(), ["cat-file", "--batch"]).input(names.into_bytes()).run()?;
        let mut rest = output.as_slice();
        for (id, location) in chunk {
            let unreadable = || GitError::Unreadable {
                command: "git cat-file --batch".to_string(),
                detail: format!("object {id} is missing"),
            };
            let content = next_object(&mut rest).ok_or_else(unreadable)?;
            if let Some(what) = search(location, content) {
                return Ok(Some(FoundText { location: location.clone(), what }));
            }
        }
        Ok(None)
    }

    /// Removes the references of a run that has not started.
    pub fn forget_run(&self, run: &str) -> Result<(), GitError> {
        for reference in self.references_of_run(run)?.into_keys() {
            self.drop_reference(&reference)?;
        }
        self.forget_log(run)
    }

    /// Removes everything that this machine keeps about the log of a run. The references of the run stay.
    pub fn forget_log(&self, run: &str) -> Result<(), GitError> {
        for reference in [log_reference(run), fetched_reference(run)] {
            self.drop_reference(&reference)?;
        }
        Ok(())
    }
}

/// What a run owns: everything below the first prefix, and the tag and branch with exactly the other names.
fn patterns(run: &str) -> [String; 3] {
    [
        format!("refs/remand/{run}/"),
        format!("refs/tags/{}", tag_of(run)),
        format!("refs/heads/{}", branch_of(run)),
    ]
}

fn is_of_run(name: &str, run: &str) -> bool {
    let [below, tag, branch] = patterns(run);
    (name.starts_with(&below) && !is_local(run, name)) || name == tag || name == branch
}

/// The start of a commit in the language of `git fast-import`.
fn commit_command(stream: &mut Vec<u8>, reference: &str, mark: &str, message: &str) {
    let head = format!("commit {reference}\nmark {mark}\ncommitter Remand <remand@localhost> now\n");
    stream.extend_from_slice(head.as_bytes());
    data(stream, message.as_bytes());
}

fn data(stream: &mut Vec<u8>, content: &[u8]) {
    stream.extend_from_slice(format!("data {}\n", content.len()).as_bytes());
    stream.extend_from_slice(content);
    stream.push(b'\n');
}

/// The content of the next object in the output of `cat-file --batch`.
fn next_object<'o>(rest: &mut &'o [u8]) -> Option<&'o [u8]> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let size: usize = std::str::from_utf8(&rest[..end]).ok()?.rsplit(' ').next()?.parse().ok()?;
    let content = rest.get(end + 1..end + 1 + size)?;
    *rest = rest.get(end + 2 + size..).unwrap_or_default();
    Some(content)
}
