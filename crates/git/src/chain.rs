//! The main line of a run: a chain of internal commits. The trailers of each commit name the command that made it.

use super::call::{Call, git};
use super::invocation::{CallMode, fields, nul_terminated};
use super::names::main_reference;
use super::remove::remove;
use super::{CommitId, CommitState, GitError, Repository, RunTrees, TreeId};
use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The kind of a link in the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkKind {
    Record,
    Merge,
    Undo,
}

/// One commit of the chain.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) state: CommitState,
    pub(super) parent: CommitId,
    pub(super) kind: String,
    pub(super) command: String,
    pub(super) task: String,
    /// The merge commits that this link undid.
    pub(super) undid: Vec<String>,
    /// The files in which this link overwrote the changes of others.
    pub(super) overwrote: BTreeSet<PathBuf>,
}

/// A link to add.
pub(super) struct NewLink<'l> {
    pub(super) kind: LinkKind,
    pub(super) message: &'l str,
    pub(super) command: &'l str,
    pub(super) trailers: Vec<(&'l str, String)>,
}

impl LinkKind {
    pub(super) fn name(self) -> &'static str {
        match self {
            LinkKind::Record => "record",
            LinkKind::Merge => "merge",
            LinkKind::Undo => "take-back",
        }
    }
}

impl RunTrees {
    /// Makes a tree the state of the main line.
    pub fn record(&self, tree: &TreeId, message: &str, command: &str) -> Result<CommitState, GitError> {
        let _main = self.main_guard();
        let state = match self.link_made_by(command)? {
            Some(link) => link.state,
            None => self.append(
                tree.tree(),
                &NewLink { kind: LinkKind::Record, message, command, trailers: Vec::new() },
            )?,
        };
        // If the main work tree has this state, its bytes stay as they are, even those that filters would change.
        let main = self.main_tree();
        if main.snapshot()?.tree() == state.tree.tree() {
            main.publish_index()?
        } else {
            self.restore_main_tree(&state)?
        }
        Ok(state)
    }

    /// Returns whether a command has added a link to the main line.
    pub fn has_recorded(&self, command: &str) -> Result<bool, GitError> {
        Ok(self.link_made_by(command)?.is_some())
    }

    /// Restores the main work tree to a state of the main line.
    pub(super) fn restore_main_tree(&self, state: &CommitState) -> Result<(), GitError> {
        self.main_tree().restore(&state.tree)
    }

    /// The link that a command has made, if it has made one.
    pub(super) fn link_made_by(&self, command: &str) -> Result<Option<Link>, GitError> {
        let command = one_line(command);
        Ok(self.links()?.into_iter().find(|link| link.command == command))
    }

    /// The chain, latest first.
    pub(super) fn links(&self) -> Result<Vec<Link>, GitError> {
        let trailer = |name: &str| format!("%(trailers:key=Remand-{name},valueonly,separator=%x20)");
        let format: Vec<String> = ["%H", "%T", "%P"]
            .map(str::to_string)
            .into_iter()
            .chain(["Kind", "Command", "Task", "Undid", "Overwrote"].map(trailer))
            .collect();
        let format = format!("--format={}", format.join("%n"));
        let range = format!("{}..{}", self.base(), main_reference(&self.run));
        let words = ["log", "-z", "--no-show-signature", "--no-decorate", "--no-notes", &format, &range];
        let output = git(&self.repository.objects(), words).run()?;
        fields(&output).map(|record| parse_link(&String::from_utf8_lossy(record))).collect()
    }

    /// Adds a link to the chain. Fails if the chain was extended in the meantime.
    pub(super) fn append(&self, tree: &str, link: &NewLink<'_>) -> Result<CommitState, GitError> {
        let last = self.main_state()?.commit;
        let trailers = [
            ("Remand-Run", self.run.clone()),
            ("Remand-Command", one_line(link.command)),
            ("Remand-Kind", link.kind.name().to_string()),
        ];
        let mut text = format!("{}\n\n", one_line(link.message));
        for (name, value) in trailers.iter().chain(&link.trailers) {
            text.push_str(&format!("{name}: {}\n", one_line(value)));
        }
        let commit = self.repository.commit_tree(tree, Some(&last), &text)?;
        self.repository.move_reference(&main_reference(&self.run), Some(&last), &commit)?;
        Ok(CommitState { commit, tree: TreeId::plain(tree)? })
    }
}

impl Repository {
    /// Writes an internal commit: no hooks, no signature, and an identity that is clearly not a person.
    pub(super) fn commit_tree(
        &self,
        tree: &str,
        parent: Option<&CommitId>,
        message: &str,
    ) -> Result<CommitId, GitError> {
        let parent = parent.iter().flat_map(|parent| ["-p", parent.as_str()]).collect::<Vec<_>>();
        let words = ["commit-tree", tree].into_iter().chain(parent).chain(["-F", "-"]);
        git(&self.objects(), words).input(message.as_bytes().to_vec()).line()?.parse()
    }

    /// Commits in the user's name, without hooks or signature.
    pub(super) fn commit_as_user(
        &self,
        tree: &str,
        parent: &CommitId,
        text: &str,
    ) -> Result<CommitId, GitError> {
        let words = ["commit-tree", tree, "-p", parent.as_str(), "-F", "-"];
        Call::new(&self.objects(), CallMode::AsUser, words).input(text.as_bytes().to_vec()).line()?.parse()
    }

    /// Returns a tree in which some paths are as in another tree. A path that the other tree lacks is removed.
    pub(super) fn with_paths_of(
        &self,
        tree: &str,
        other: &str,
        paths: &BTreeSet<PathBuf>,
        index: &Path,
    ) -> Result<String, GitError> {
        let context = self.objects().with_index(index);
        remove(index)?;
        git(&context, ["read-tree", tree]).run()?;
        let zeros = "0".repeat(tree.len());
        let output = git(&self.objects(), ["ls-tree", "-r", "-z", other]).run()?;
        let names: BTreeSet<&[u8]> = paths.iter().map(|path| path.as_os_str().as_bytes()).collect();
        let mut rows: Vec<u8> = Vec::new();
        for path in paths {
            rows.extend_from_slice(format!("0 {zeros}\t").as_bytes());
            rows.extend(nul_terminated([path.as_path()]));
        }
        for row in fields(&output) {
            if row.iter().position(|byte| *byte == b'\t').is_some_and(|tab| names.contains(&row[tab + 1..])) {
                rows.extend_from_slice(row);
                rows.push(0);
            }
        }
        git(&context, ["update-index", "-z", "--index-info"]).input(rows).run()?;
        let tree = git(&context, ["write-tree"]).line()?;
        remove(index)?;
        Ok(tree)
    }
}

fn parse_link(record: &str) -> Result<Link, GitError> {
    let lines: Vec<&str> = record.split('\n').collect();
    let [commit, tree, parent, kind, command, task, undid, overwrote] = lines[..] else {
        return Err(GitError::Unreadable { command: "git log".to_string(), detail: record.to_string() });
    };
    let overwrote = overwrote
        .split(' ')
        .filter(|word| !word.is_empty())
        .map(|word| super::invocation::path(&unhex(word)));
    Ok(Link {
        state: CommitState { commit: commit.parse()?, tree: TreeId::plain(tree)? },
        parent: parent.parse()?,
        kind: kind.to_string(),
        command: command.to_string(),
        task: task.to_string(),
        undid: undid.split(' ').filter(|word| !word.is_empty()).map(str::to_string).collect(),
        overwrote: overwrote.collect(),
    })
}

/// Puts a value on one line, as trailers require.
pub(super) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>().trim().to_string()
}

/// Encodes a path for a trailer.
pub(super) fn hex(path: &Path) -> String {
    remand_notation::hex::hex(path.as_os_str().as_bytes())
}

/// Decodes a path that `hex` encoded. Only `hex` writes these trailers, so invalid digits are skipped.
fn unhex(text: &str) -> Vec<u8> {
    let pairs = text.as_bytes().chunks_exact(2).filter_map(|pair| std::str::from_utf8(pair).ok());
    pairs.filter_map(|pair| u8::from_str_radix(pair, 16).ok()).collect()
}
