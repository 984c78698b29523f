//! The papers of a run: the ticket it is about and the documents that belong to it, as files on the run's branch.
//!
//! They are a function of the run's base and its journal, so they can be made again at any time (docs/decisions/0012):
//! whenever something is done or asked, the branch is brought to what they are then. Agents never write them.

mod failure;
mod history;
mod inherited;
mod iterations;
mod observer;
mod place;
mod quality;
mod taken_up;
mod ticket;
mod trigger;

pub use failure::{category, checklist, cited, of_cap, trigger, typed};
pub use history::{Answer, Attempt, GateRun, History, Revision};
pub use inherited::{Inherited, Unfit};
pub use place::{DESIGNS, Shelf};
pub use taken_up::TakenUp;
pub use trigger::{Led, cap, revision_budget};

use crate::git::{CommitMessage, Files, GitError, RunTrees};
use crate::workshop::{Site, Trouble};
use remand_documents::Status;
use remand_ledger::Reader;
use std::path::{Path, PathBuf};
use ticket::Told;

/// What the branch of a run holds besides its work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Papers {
    pub files: Files,
    /// What is to be said of the latest change.
    subject: String,
}

/// A run about a ticket: where its papers lie, what happened, and what they are now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    pub shelf: Shelf,
    pub history: History,
    pub papers: Papers,
}

impl Case {
    /// As the journal has it now; none for a run that is about no ticket.
    pub fn of(site: &Site) -> Result<Option<Case>, Trouble> {
        let Some(shelf) = Shelf::of(&site.pinned.program, &site.opened) else { return Ok(None) };
        let folder = shelf.folder().display().to_string();
        let shelf = shelf.keeping(site.repository().names_in(&site.trees.base_tree()?, &folder)?);
        let reader = site.reader()?;
        let history = History::read(&reader, &site.run, &site.pinned)?;
        let papers = make(site, &shelf, &history, &reader)?;
        Ok(Some(Case { shelf, history, papers }))
    }

    /// The run's copy of its ticket.
    pub fn ticket(&self) -> String {
        self.paper(&self.shelf.ticket)
    }

    /// All attempts so far; empty when there are none.
    pub fn attempts(&self) -> String {
        self.paper(&self.shelf.iterations())
    }

    fn paper(&self, path: &Path) -> String {
        let bytes = self.papers.files.get(path).cloned().flatten().unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// The documents that the final commit of a run brings besides its work.
pub fn documents(site: &Site) -> Result<Files, Trouble> {
    Ok(Case::of(site)?.map_or_else(Files::new, |case| case.papers.files))
}

/// Brings the run's branch to what its papers are now, in one commit; nothing happens if they are there already.
///
/// Whoever looks at the branch just now finds it as it was: the next command brings it along.
pub fn bring_along(site: &Site, trees: &RunTrees, command: &str) -> Result<(), Trouble> {
    match bring(site, trees, command) {
        Err(Unbrought::Git(GitError::BranchInUse { .. })) => Ok(()),
        other => other.map_err(Trouble::from),
    }
}

/// Brings the branch to what the papers are in the end. No command follows, so a branch that is held is trouble.
pub fn bring_home(site: &Site) -> Result<(), Trouble> {
    bring(site, &site.trees, "finish").map_err(Trouble::from)
}

/// Why the branch is not what the papers are.
enum Unbrought {
    Git(GitError),
    Other(Trouble),
}

impl From<GitError> for Unbrought {
    fn from(error: GitError) -> Unbrought {
        Unbrought::Git(error)
    }
}

impl From<Unbrought> for Trouble {
    fn from(unbrought: Unbrought) -> Trouble {
        match unbrought {
            Unbrought::Git(error) => error.into(),
            Unbrought::Other(trouble) => trouble,
        }
    }
}

fn bring(site: &Site, trees: &RunTrees, command: &str) -> Result<(), Unbrought> {
    let Some(Case { papers, .. }) = Case::of(site).map_err(Unbrought::Other)? else { return Ok(()) };
    let _main = site.hold_main();
    let tip = trees.tip()?;
    let tree = trees.with_files(&tip.tree, &papers.files)?;
    if tree == tip.tree {
        return Ok(());
    }
    let message = CommitMessage { subject: papers.subject, ..CommitMessage::default() };
    // The same command may find more to say when it is carried out again.
    trees.put_on_branch(&tree, &message, &format!("{command}+papers-{tree}"))?;
    Ok(())
}

fn make(site: &Site, shelf: &Shelf, history: &History, reader: &Reader) -> Result<Papers, Trouble> {
    let at_base = |path: &Path| -> Result<Option<String>, Trouble> {
        let bytes = site.repository().read(&site.trees.base_tree()?, path)?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    };
    let text =
        |blob| -> Result<String, Trouble> { Ok(String::from_utf8_lossy(&reader.blob(blob)?).into_owned()) };
    let mut files = Files::new();
    let mut put = |path: PathBuf, text: String| drop(files.insert(path, Some(text.into_bytes())));
    let base = at_base(&shelf.ticket)?.unwrap_or_default();
    for (name, blob) in &history.documents {
        if let Some(markdown) = markdown_of(&text(*blob)?) {
            put(shelf.document(name), markdown);
        }
    }
    // A branch that nobody merged has its papers for itself.
    let unmerged = history.taken_up.iter().filter(|_| shelf.kept_findings(history.count).is_none());
    let revisions: Vec<&Revision> = unmerged.map(|taken| &taken.revision).chain(&history.revisions).collect();
    let mut reports = Vec::new();
    for revision in &revisions {
        let report = typed(&text(revision.findings)?);
        if let Some(report) = &report {
            put(shelf.findings(revision.number), failure::page(report, revision, history, shelf));
        }
        reports.push(report);
    }
    let earlier = history.taken_up.as_ref().and_then(|taken| taken.tried.as_ref());
    let earlier = earlier.map(|(run, attempts)| iterations::page(None, attempts, shelf, run));
    let mut log = at_base(&shelf.iterations())?.or(earlier);
    if !history.attempts.is_empty() {
        log = Some(iterations::page(log.as_deref(), &history.attempts, shelf, &site.run));
    }
    if let Some(log) = log {
        put(shelf.iterations(), log);
    }
    if !history.gates.is_empty() {
        let before = at_base(&shelf.quality())?;
        put(shelf.quality(), quality::page(before.as_deref(), history, shelf, &site.run));
    }
    let changed = ticket::designs(&revisions, &text)?;
    let told: Vec<Told<'_>> = revisions
        .into_iter()
        .zip(&reports)
        .zip(&changed)
        .map(|((revision, report), changed)| Told { revision, report: report.as_ref(), changed })
        .collect();
    put(shelf.ticket.clone(), ticket::page(&base, history, shelf, &told));
    Ok(Papers { subject: subject(history, shelf), files })
}

/// The Markdown of a stored document.
fn markdown_of(stored: &str) -> Option<String> {
    let value = crate::dispatch::document(stored)?;
    let markdown = value.pointer("/payload/markdown")?.as_str()?.trim_end();
    Some(format!("{markdown}\n"))
}

/// What the commit says: `design:`, `impl:` or `review:`, and what came to the papers last.
fn subject(history: &History, shelf: &Shelf) -> String {
    let name = &shelf.name;
    let undecided = history.revisions.last().filter(|revision| revision.decision.is_none());
    if let Some(revision) = undecided {
        let (prefix, trigger) = (revision.led.prefix(), revision.led.words());
        return format!("{prefix}: {trigger}, implementation findings {} for {name}", revision.number);
    }
    let status = history.status().unwrap_or(Status::Draft);
    let prefix = match status {
        Status::Draft
        | Status::ReadyForDesign
        | Status::DesignComplete
        | Status::DesignApproved
        | Status::PrototypeComplete => "design",
        Status::ReadyForImplementation
        | Status::ImplementationBlocked
        | Status::ImplementationComplete
        | Status::TestWritingComplete => "impl",
        Status::QualityGatePassed | Status::Approved | Status::Merged | Status::Closed => "review",
    };
    let revised = history.current().map_or(0, |revision| revision.number);
    let what = match (status, revised) {
        (Status::ReadyForDesign, 1..) => {
            format!("revision {revised} from implementation findings for {name}")
        }
        (Status::DesignComplete, 1..) => format!("revision {revised} of the design of {name}"),
        _ => format!("{name} is {}", status.name()),
    };
    format!("{prefix}: {what}")
}
