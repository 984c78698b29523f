//! The ticket of a run and its documents, as files on the run's branch.
//!
//! These files depend only on the run's base and journal, so they can be generated again at any time
//! (docs/decisions/0012). The branch is updated before each command and at each gate. Agents never write these files.

mod builder;
mod cause;
mod findings_page;
mod gate_report;
mod history;
mod inherited;
mod iteration_log;
mod page;
mod paths;
mod read;

pub use cause::{FindingsCause, cap, revision_budget};
pub use findings_page::{category, checklist, cited_sections, report, revision_count, trigger};
pub use history::{
    GateCheck, GateDecision, GateRun, ImplementationAttempt, InheritedRevision, RefusedDesign, Revision,
    TicketHistory,
};
pub use inherited::{Inherited, TicketError};
pub use paths::{DESIGNS, TicketPaths};

use crate::site::{Site, Trouble};
use page::RevisionEntry;
use remand_documents::TicketStatus;
use remand_git::{CommitMessage, FileContents, GitError, RunTrees};
use remand_ledger::Reader;
use std::path::{Path, PathBuf};

/// The documents on the branch of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TicketDocuments {
    pub files: FileContents,
    /// The subject line of the commit that updates them.
    subject: String,
}

/// A run on a ticket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TicketRun {
    pub paths: TicketPaths,
    pub history: TicketHistory,
    pub documents: TicketDocuments,
}

impl TicketRun {
    /// Reads the current state from the journal; `None` if the run's subject is not a ticket.
    pub fn of(site: &Site) -> Result<Option<TicketRun>, Trouble> {
        let Some(paths) = TicketPaths::of(&site.pinned.program, &site.opened) else { return Ok(None) };
        let folder = paths.folder().display().to_string();
        let paths = paths.with_existing(site.repository().names_in(&site.trees.base_tree()?, &folder)?);
        let reader = site.reader()?;
        let history = TicketHistory::read(&reader, &site.run, &site.pinned)?;
        let documents = generate(site, &paths, &history, &reader)?;
        Ok(Some(TicketRun { paths, history, documents }))
    }

    /// The run's version of its ticket.
    pub fn ticket(&self) -> String {
        self.text(&self.paths.ticket)
    }

    /// The log of all attempts; empty if there are none.
    pub fn attempts(&self) -> String {
        self.text(&self.paths.iterations())
    }

    fn text(&self, path: &Path) -> String {
        let bytes = self.documents.files.get(path).cloned().flatten().unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// The documents that the final commit of a run contains in addition to its work.
pub fn documents(site: &Site) -> Result<FileContents, Trouble> {
    Ok(TicketRun::of(site)?.map_or_else(FileContents::new, |ticket_run| ticket_run.documents.files))
}

/// Commits the current documents to the run's branch, unless the branch already has them.
///
/// A branch that is checked out stays unchanged; the next command updates it.
pub fn update_branch(site: &Site, trees: &RunTrees, command: &str) -> Result<(), Trouble> {
    match commit_documents(site, trees, command) {
        Err(UpdateError::Git(GitError::BranchInUse { .. })) => Ok(()),
        other => other.map_err(Trouble::from),
    }
}

/// Commits the final documents to the run's branch. No command follows, so a branch in use is an error.
pub fn finish_branch(site: &Site) -> Result<(), Trouble> {
    Ok(commit_documents(site, &site.trees, "finish")?)
}

/// Why the branch could not be updated.
enum UpdateError {
    Git(GitError),
    Other(Trouble),
}

impl From<GitError> for UpdateError {
    fn from(error: GitError) -> UpdateError {
        UpdateError::Git(error)
    }
}

impl From<Trouble> for UpdateError {
    fn from(trouble: Trouble) -> UpdateError {
        UpdateError::Other(trouble)
    }
}

impl From<UpdateError> for Trouble {
    fn from(error: UpdateError) -> Trouble {
        match error {
            UpdateError::Git(error) => error.into(),
            UpdateError::Other(trouble) => trouble,
        }
    }
}

fn commit_documents(site: &Site, trees: &RunTrees, command: &str) -> Result<(), UpdateError> {
    let Some(TicketRun { documents, .. }) = TicketRun::of(site)? else { return Ok(()) };
    let _main = site.hold_main();
    let tip = trees.tip()?;
    let tree = trees.with_files(&tip.tree, &documents.files)?;
    if tree == tip.tree {
        return Ok(());
    }
    let message = CommitMessage { subject: documents.subject, ..CommitMessage::default() };
    // A command that is executed again may write other documents, so the id contains the tree.
    trees.commit_on_branch(&tree, &message, &format!("{command}+papers-{tree}"))?;
    Ok(())
}

fn generate(
    site: &Site,
    paths: &TicketPaths,
    history: &TicketHistory,
    reader: &Reader,
) -> Result<TicketDocuments, Trouble> {
    let at_base = |path: &Path| -> Result<Option<String>, Trouble> {
        let bytes = site.repository().read(&site.trees.base_tree()?, path)?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    };
    let text = |blob| -> Result<String, Trouble> { Ok(crate::artifacts::content(reader, blob)?) };
    let mut files = FileContents::new();
    let mut put = |path: PathBuf, text: String| drop(files.insert(path, Some(text.into_bytes())));
    let base = at_base(&paths.ticket)?.unwrap_or_default();
    for (name, blob) in &history.documents {
        if let Some(markdown) = page::markdown_of(&text(*blob)?) {
            put(paths.document(name), markdown);
        }
    }
    for (number, refused) in (1..).zip(&history.refused) {
        if let Some(markdown) = page::markdown_of(&text(refused.design)?) {
            put(paths.refused_design(&refused.name, number), markdown);
        }
    }
    // The documents of an unmerged branch are not in the base, so they are generated here.
    let unmerged = history.inherited.iter().filter(|_| paths.existing_findings(history.count).is_none());
    let revisions: Vec<&Revision> =
        unmerged.map(|inherited| &inherited.revision).chain(&history.revisions).collect();
    let mut reports = Vec::new();
    for revision in &revisions {
        let report = report(&text(revision.findings)?);
        if let Some(report) = &report {
            put(paths.findings(revision.number), findings_page::page(report, revision, history, paths));
        }
        reports.push(report);
    }
    let earlier = history.inherited.as_ref().and_then(|inherited| inherited.earlier_run.as_ref());
    let earlier = earlier.map(|(run, attempts)| iteration_log::page(None, attempts, paths, run));
    let mut log = at_base(&paths.iterations())?.or(earlier);
    if !history.attempts.is_empty() {
        log = Some(iteration_log::page(log.as_deref(), &history.attempts, paths, &site.run));
    }
    if let Some(log) = log {
        put(paths.iterations(), log);
    }
    if !history.gates.is_empty() {
        let before = at_base(&paths.quality())?;
        put(paths.quality(), gate_report::page(before.as_deref(), history, paths, &site.run));
    }
    let changed = page::design_changes(&revisions, &text)?;
    let entries: Vec<RevisionEntry<'_>> = revisions
        .into_iter()
        .zip(&reports)
        .zip(&changed)
        .map(|((revision, report), changed)| RevisionEntry { revision, report: report.as_ref(), changed })
        .collect();
    put(paths.ticket.clone(), page::page(&base, history, paths, &entries));
    Ok(TicketDocuments { subject: subject(history, paths), files })
}

/// The subject line of the commit: `design:`, `impl:` or `review:`, and the latest change to the documents.
fn subject(history: &TicketHistory, paths: &TicketPaths) -> String {
    let name = &paths.name;
    let undecided = history.revisions.last().filter(|revision| revision.decision.is_none());
    if let Some(revision) = undecided {
        let (prefix, trigger) = (revision.cause.prefix(), revision.cause.description());
        return format!("{prefix}: {trigger}, implementation findings {} for {name}", revision.number);
    }
    let status = history.status().unwrap_or(TicketStatus::Draft);
    let prefix = match status {
        TicketStatus::Draft
        | TicketStatus::ReadyForDesign
        | TicketStatus::DesignComplete
        | TicketStatus::DesignApproved
        | TicketStatus::PrototypeComplete => "design",
        TicketStatus::ReadyForImplementation
        | TicketStatus::ImplementationBlocked
        | TicketStatus::ImplementationComplete
        | TicketStatus::TestWritingComplete => "impl",
        TicketStatus::QualityGatePassed
        | TicketStatus::Approved
        | TicketStatus::Merged
        | TicketStatus::Closed => "review",
    };
    let revised = history.current().map_or(0, |revision| revision.number);
    let what = match (status, revised) {
        (TicketStatus::ReadyForDesign, 1..) => {
            format!("revision {revised} from implementation findings for {name}")
        }
        (TicketStatus::DesignComplete, 1..) => format!("revision {revised} of the design of {name}"),
        _ => format!("{name} is {}", status.name()),
    };
    format!("{prefix}: {what}")
}
