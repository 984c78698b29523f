//! The notices of a run on disk: what was told, through which channels, and what failed.
//!
//! The name of a file is the id of its notice, so each gate has one notice, whichever process finds it.

use remand_ledger::Millis;
use remand_notices::RunNotice;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The folder in the folder of a run.
const FOLDER: &str = "notices";

/// A notice and the channels that were tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredNotice {
    pub notice: RunNotice,
    /// What happened, by the name of the channel.
    #[serde(default)]
    pub channels: BTreeMap<String, ChannelOutcome>,
}

/// What happened to a notice in one channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChannelOutcome {
    Delivered { at: Millis },
    Failed { at: Millis, why: String },
}

/// The outbox of one run.
#[derive(Clone, Debug)]
pub struct Outbox {
    folder: PathBuf,
}

impl Outbox {
    /// The outbox in the folder of a run.
    pub fn of(run: &Path) -> Outbox {
        Outbox { folder: run.join(FOLDER) }
    }

    /// Stores a notice. Returns false if it was stored before.
    pub fn put(&self, notice: &RunNotice) -> io::Result<bool> {
        let path = self.path(notice);
        if path.exists() {
            return Ok(false);
        }
        remand_git::private_folder(&self.folder)?;
        let draft =
            self.draft(notice, &StoredNotice { notice: notice.clone(), channels: BTreeMap::new() })?;
        // Unlike a rename, a link fails if another process was faster.
        let linked = fs::hard_link(&draft, &path);
        fs::remove_file(&draft)?;
        match linked {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// All notices, oldest first. Files that cannot be read are left out.
    pub fn all(&self) -> Vec<StoredNotice> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        let read = |path: PathBuf| serde_json::from_slice(&fs::read(path).ok()?).ok();
        let mut all: Vec<StoredNotice> =
            paths.filter(|path| path.extension().is_some_and(|it| it == "json")).filter_map(read).collect();
        all.sort_by(|a, b| (a.notice.at, &a.notice.id).cmp(&(b.notice.at, &b.notice.id)));
        all
    }

    /// Records what happened to a notice.
    pub fn record(&self, stored: &StoredNotice) -> io::Result<()> {
        let draft = self.draft(&stored.notice, stored)?;
        fs::rename(draft, self.path(&stored.notice))
    }

    /// Waits until no other process delivers notices of the run.
    pub fn lock(&self) -> io::Result<File> {
        remand_git::private_folder(&self.folder)?;
        let file =
            OpenOptions::new().create(true).truncate(false).write(true).open(self.folder.join("lock"))?;
        file.lock()?;
        Ok(file)
    }

    fn path(&self, notice: &RunNotice) -> PathBuf {
        self.folder.join(format!("{}.json", notice.key()))
    }

    fn draft(&self, notice: &RunNotice, stored: &StoredNotice) -> io::Result<PathBuf> {
        let path = self.folder.join(format!("{}.{}.draft", notice.key(), std::process::id()));
        let mut file = OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&path)?;
        file.write_all(&serde_json::to_vec_pretty(stored)?)?;
        // After a power cut, an empty file with the name of the notice would suppress it for good.
        file.sync_all()?;
        Ok(path)
    }
}

impl StoredNotice {
    /// Whether a channel has the notice.
    pub fn is_delivered(&self, channel: &str) -> bool {
        matches!(self.channels.get(channel), Some(ChannelOutcome::Delivered { .. }))
    }

    /// The channels that failed, and why.
    pub fn failures(&self) -> impl Iterator<Item = (&str, &str)> {
        self.channels.iter().filter_map(|(name, outcome)| match outcome {
            ChannelOutcome::Failed { why, .. } => Some((name.as_str(), why.as_str())),
            ChannelOutcome::Delivered { .. } => None,
        })
    }
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;
    use remand_ledger::RunId;
    use remand_notices::NoticeKind;

    // BY-12
    #[test]
    fn a_notice_is_stored_once_and_keeps_what_happened_to_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let outbox = Outbox::of(folder.path());
        let notice = RunNotice {
            id: "r1/gate-p1".to_string(),
            kind: NoticeKind::Gate,
            run: RunId("r1".to_string()),
            workflow: "quick".to_string(),
            repository: "sums".to_string(),
            at: Millis(1),
            title: "quick waits".to_string(),
            next: String::new(),
            gate: None,
            limit: None,
            stage: None,
            agent: None,
            texts: None,
        };
        assert!(outbox.put(&notice).expect("stored"));
        let again = RunNotice { at: Millis(2), ..notice.clone() };
        assert!(!outbox.put(&again).expect("known"));
        let mut stored = outbox.all().remove(0);
        assert_eq!(stored.notice, notice);
        let failed = ChannelOutcome::Failed { at: Millis(3), why: "gone".to_string() };
        stored.channels.insert("webhook".to_string(), failed);
        outbox.record(&stored).expect("recorded");
        let read = outbox.all();
        assert_eq!(read[0].failures().collect::<Vec<_>>(), [("webhook", "gone")]);
        assert!(read.len() == 1 && !read[0].is_delivered("webhook"));
    }
}
