//! The store of a machine whose runs are also kept in a hub.
//!
//! An entry is appended to the log of its run in the hub first, and to the ledger of this machine second. The hub accepts
//! an entry only after the entry that this machine knows, so a machine that was overtaken records nothing more.

mod entry;
mod error;
mod record;
mod take;

use super::{EmbeddedStore, SignsOfLife, StateOf, Store};
use crate::clock;
use crate::given_change::GivenChange;
use crate::home::Home;
use crate::host::faults::{FaultPoint, reached};
use crate::redact::Redactor;
use crate::turn::AgentStart;
use entry::{EntryAction, EntryContent, EntryHead, RunLog};
use record::HubRecord;
use remand_git::{CommitId, GitError, Hub, NewLogEntry, References, Repository, is_snapshot};
use remand_kernel::Event;
use remand_ledger::query::{JournalRow, RequestRow};
use remand_ledger::transfer::START_OF_RUN;
use remand_ledger::{
    Blob, BlobId, ChainHash, JournalEntry, LedgerError, Millis, Reader, Reserve, ReservedNumber, RunId,
};
use remand_process::Cancel;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tracing::{info, warn};

pub use error::{HubError, StoreError};

/// The wait after the first failed push; each further one takes twice as long, up to the maximum.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// How many times a busy ledger is tried. Each try waits several seconds.
const MAX_TRIES: u32 = 5;

/// What a store needs to exchange runs with a hub.
#[derive(Clone, Debug)]
pub struct HubSettings {
    /// `None` if the user has set none. Runs that are kept in a hub are then refused.
    pub hub: Option<Hub>,
    /// Paths whose content may leave this machine although it looks like a secret. A trailing `/` means a folder.
    pub allowed: Vec<String>,
    pub repository: Repository,
    pub redactor: Redactor,
}

/// The embedded store, with the exchange of runs that are kept in a hub.
#[derive(Debug)]
pub struct HubStore {
    embedded: EmbeddedStore,
    settings: HubSettings,
    /// The folders of all runs.
    runs: PathBuf,
    machine: String,
    /// Distinguishes this process from all others.
    process: String,
    /// The runs of this process; `None` for a run that is only on this machine.
    kept: Mutex<BTreeMap<RunId, Option<Arc<Mutex<KeptRun>>>>>,
    stop: Cancel,
    /// Why a push waits.
    trouble: Mutex<Option<String>>,
}

/// A run that is kept in a hub, as this process knows it.
#[derive(Debug)]
struct KeptRun {
    /// The newest entry here; `None` before the first one.
    newest: Option<CommitId>,
    /// The newest entry that the hub has confirmed.
    confirmed: Option<CommitId>,
    /// The last row of the log, and the hash of the row before it.
    seq: u64,
    hash: ChainHash,
    hash_before: ChainHash,
    /// The references of the newest entry.
    references: References,
    blobs: BTreeSet<BlobId>,
    numbers: Vec<ReservedNumber>,
    /// Snapshots that contain what looks like a secret. No other machine needs them.
    withheld: BTreeSet<String>,
}

/// The part of the pinned data that names commits.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PinnedInputs {
    change: Option<GivenChange>,
}

/// How long a push is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Patience {
    Once,
    UntilStopped,
}

impl HubStore {
    pub fn open(home: &Home, settings: HubSettings) -> Result<HubStore, LedgerError> {
        let process = blake3::hash(
            format!("{} {} {:?}", std::process::id(), clock::now().0, std::time::Instant::now()).as_bytes(),
        );
        Ok(HubStore {
            embedded: EmbeddedStore::open(home)?,
            settings,
            runs: home.runs(),
            machine: machine(),
            process: process.to_hex()[..12].to_string(),
            kept: Mutex::default(),
            stop: Cancel::new(),
            trouble: Mutex::default(),
        })
    }

    fn hub(&self, run: &RunId) -> Result<&Hub, HubError> {
        self.settings.hub.as_ref().ok_or_else(|| HubError::NotConfigured { run: run.clone() })
    }

    fn repository(&self) -> &Repository {
        &self.settings.repository
    }

    fn folder(&self, run: &RunId) -> PathBuf {
        self.runs.join(&run.0)
    }

    /// The run, if it is kept in a hub. A run that starts while a hub is set is kept there.
    fn kept_run(&self, run: &RunId, starts: bool) -> Result<Option<Arc<Mutex<KeptRun>>>, HubError> {
        if let Some(known) = lock(&self.kept).get(run) {
            return Ok(known.clone());
        }
        let kept = if starts && self.settings.hub.is_some() {
            HubRecord::default().write(&self.folder(run), run)?;
            Some(KeptRun::new())
        } else if HubRecord::exists(&self.folder(run)) {
            Some(self.confirmed_run(run)?)
        } else {
            None
        };
        let kept = kept.map(|kept| Arc::new(Mutex::new(kept)));
        lock(&self.kept).insert(run.clone(), kept.clone());
        Ok(kept)
    }

    /// Makes sure that this machine has the newest entry of a run, that the hub has it too, and that the ledger has all
    /// its rows.
    fn confirmed_run(&self, run: &RunId) -> Result<KeptRun, HubError> {
        let (hub, repository) = (self.hub(run)?, self.repository());
        repository.unlock_run(&run.0)?;
        let record = HubRecord::read(&self.folder(run), run)?.unwrap_or_default();
        let newest = repository.run_log(&run.0)?.ok_or_else(|| HubError::Incomplete { run: run.clone() })?;
        let there = hub.newest(repository, &run.0, &self.stop).map_err(away)?;
        let address = hub.shown_address();
        match &there {
            Some(there) if repository.log_continues(&newest, there)? => {}
            Some(there) => return Err(self.overtaken(run, there)),
            None if record.seen.contains_key(&address) => {
                return Err(HubError::Lost { run: run.clone(), address });
            }
            None if !record.seen.is_empty() => {
                let known = record.seen.into_keys().collect::<Vec<_>>().join(", ");
                return Err(HubError::Elsewhere { run: run.clone(), address, known });
            }
            None => {}
        }
        let log = RunLog::read(repository, run, &newest)?;
        let mut kept = KeptRun::from_log(&log, newest);
        kept.confirmed = there;
        let is_known = record.seen.contains_key(&address);
        self.push(run, &mut kept, Patience::Once)?;
        if !is_known {
            self.record(run, &kept)?;
        }
        self.import(run, &log)?;
        Ok(kept)
    }

    /// Adds the rows of a log that the ledger lacks. All others must be the same.
    fn import(&self, run: &RunId, log: &RunLog) -> Result<(), HubError> {
        let rows = self.embedded.with_ledger(|ledger| ledger.rows_of(run))?;
        let copy = log.copy(self.repository(), rows)?;
        let added = self.embedded.with_ledger(|ledger| ledger.import(run, &copy))?;
        info!(%run, added, "rows added from the log of the run");
        Ok(())
    }

    /// Appends a journal entry to the log of its run in the hub.
    fn keep(&self, entry: &JournalEntry<'_>) -> Result<(), HubError> {
        let run = entry.run;
        let Some(kept) = self.kept_run(run, matches!(entry.event, Event::Started(_)))? else { return Ok(()) };
        let mut kept = lock(&kept);
        let row = self.embedded.with_ledger(|ledger| ledger.preview(entry))?;
        if row.seq == kept.seq {
            // The hub has the row, and the ledger could not be written.
            let row = row.chained(run, kept.hash_before);
            return match row.hash == kept.hash {
                true => self.push(run, &mut kept, Patience::UntilStopped),
                false => Err(LedgerError::OtherHistory { run: run.clone(), seq: row.seq }.into()),
            };
        }
        if row.seq != kept.seq + 1 {
            return Err(LedgerError::OtherHistory { run: run.clone(), seq: row.seq }.into());
        }
        if row.seq == 1 {
            self.keep_inputs(entry)?;
        }
        let row = row.chained(run, kept.hash);
        let mut blobs: BTreeMap<BlobId, Blob> =
            entry.blobs.iter().map(|blob| (blob.id, blob.clone())).collect();
        for id in entry.facts.blobs().filter(|id| !kept.blobs.contains(id)) {
            if let std::collections::btree_map::Entry::Vacant(slot) = blobs.entry(id) {
                slot.insert(Blob { id, bytes: self.embedded.blob(id)? });
            }
        }
        blobs.retain(|id, _| !kept.blobs.contains(id));
        // A run that cannot be pushed does not start.
        let patience = if row.seq == 1 { Patience::Once } else { Patience::UntilStopped };
        let content =
            EntryContent { row: Some(row), blobs: blobs.into_values().collect(), ..EntryContent::default() };
        let pushed = self.add(run, &mut kept, EntryAction::Row, content).and_then(|()| {
            reached(FaultPoint::BeforePush);
            self.push(run, &mut kept, patience)
        });
        if pushed.is_err() && patience == Patience::Once {
            HubRecord::remove(&self.folder(run), run)?;
            self.repository().forget_run(&run.0)?;
        }
        pushed?;
        reached(FaultPoint::AfterPush);
        Ok(())
    }

    /// Appends entries of different runs.
    fn append_all(&self, entries: &[JournalEntry<'_>]) -> Result<Vec<u64>, StoreError> {
        for entry in entries {
            self.keep(entry)?;
        }
        Ok(self.embedded.with_ledger(|ledger| ledger.append(entries))?)
    }

    /// Appends one entry of several, which the caller cannot repeat alone.
    fn append_patiently(&self, entry: &JournalEntry<'_>) -> Result<Vec<u64>, StoreError> {
        for _ in 0..MAX_TRIES {
            match self.append_all(std::slice::from_ref(entry)) {
                Err(StoreError::Ledger(LedgerError::Busy { .. }))
                | Err(StoreError::Hub(HubError::Ledger(LedgerError::Busy { .. }))) => {}
                done => return done,
            }
        }
        let reason = "another process keeps the ledger busy".to_string();
        Err(HubError::Away { reason }.into())
    }

    /// Makes the commits that a run starts from part of its log. Other machines may not have them.
    fn keep_inputs(&self, entry: &JournalEntry<'_>) -> Result<(), HubError> {
        let Some(opened) = &entry.facts.opened else { return Ok(()) };
        let pinned = entry.blobs.iter().find(|blob| blob.id == opened.pinned);
        let inputs: PinnedInputs =
            pinned.and_then(|blob| serde_json::from_slice(&blob.bytes).ok()).unwrap_or_default();
        let mut commits: BTreeSet<CommitId> = opened.base.parse().into_iter().collect();
        if let Some(change) = inputs.change {
            commits.extend(change.checked_out);
            commits.extend(change.parts.into_iter().map(|part| part.commit));
        }
        Ok(self.repository().keep_commits(&entry.run.0, &commits)?)
    }

    /// Adds an entry to the log of a run on this machine. Afterwards it is on disk, and only the push is missing.
    fn add(
        &self,
        run: &RunId,
        kept: &mut KeptRun,
        action: EntryAction,
        mut content: EntryContent,
    ) -> Result<(), HubError> {
        let numbers = self.embedded.with_ledger(|ledger| ledger.numbers_of(run))?;
        content.numbers = (numbers != kept.numbers).then(|| numbers.clone());
        let (references, moved) = match action {
            // A claim changes nothing: the references here may still be those of an earlier process.
            EntryAction::Claim => (kept.references.clone(), References::new()),
            EntryAction::Row | EntryAction::Start | EntryAction::Work => self.moved_references(run, kept)?,
        };
        let mut head = EntryHead::new(run, action, &self.machine, &self.process, clock::now());
        (head.seq, head.hash) = content.row.as_ref().map_or((kept.seq, kept.hash), |row| (row.seq, row.hash));
        head.blobs = content.blobs.iter().map(|blob| blob.id).collect();
        let unwritable =
            |error: serde_json::Error| HubError::Damaged { run: run.clone(), detail: error.to_string() };
        let files = entry::files(&head, &content, &references).map_err(unwritable)?;
        for (name, bytes) in &files {
            if let Some(what) = self.settings.redactor.first_in_bytes(bytes) {
                let location = format!("the journal ({name})");
                return Err(HubError::Secret { run: run.clone(), location, what });
            }
        }
        let entry = NewLogEntry {
            after: kept.newest.as_ref(),
            moved: &moved,
            message: &head.message(),
            files: &files,
        };
        kept.newest = Some(self.repository().add_log_entry(&run.0, &entry)?);
        if head.seq != kept.seq {
            (kept.seq, kept.hash_before, kept.hash) = (head.seq, kept.hash, head.hash);
        }
        kept.references = references;
        kept.blobs.extend(head.blobs);
        kept.numbers = numbers;
        Ok(())
    }

    /// The references of a run that may leave this machine, and those that are new or moved since the newest entry.
    fn moved_references(
        &self,
        run: &RunId,
        kept: &mut KeptRun,
    ) -> Result<(References, References), HubError> {
        let mut now = self.repository().references_of_run(&run.0)?;
        now.retain(|name, _| !kept.withheld.contains(name));
        let mut moved = now.clone();
        moved.retain(|name, object| kept.references.get(name) != Some(object));
        if self.secret_in(moved.values())?.is_some() {
            for (name, object) in moved.iter().filter(|(name, _)| !is_snapshot(name)) {
                if let Some((location, what)) = self.secret_in([object])? {
                    info!(%run, name, location, "not pushed: it looks like a secret");
                    return Err(HubError::Secret { run: run.clone(), location, what });
                }
            }
            for (name, object) in moved.iter().filter(|(name, _)| is_snapshot(name)) {
                if let Some((location, _)) = self.secret_in([object])? {
                    warn!(%run, name, location, "a snapshot is not pushed: it contains what looks like a secret");
                    kept.withheld.insert(name.clone());
                }
            }
            now.retain(|name, _| !kept.withheld.contains(name));
            moved.retain(|name, _| !kept.withheld.contains(name));
        }
        Ok((now, moved))
    }

    /// The first secret in what a push of these objects would send: its location, and what it is.
    fn secret_in<'o>(
        &self,
        objects: impl IntoIterator<Item = &'o CommitId>,
    ) -> Result<Option<(String, String)>, HubError> {
        let objects: BTreeSet<CommitId> = objects.into_iter().cloned().collect();
        let found = self
            .repository()
            .search_new_objects(&objects, |location, bytes| self.secret_of_file(location, bytes))?;
        Ok(found.map(|found| (found.location, found.what)))
    }

    /// What looks like a secret in a file, unless the user allows it there.
    fn secret_of_file(&self, file: &str, text: &[u8]) -> Option<String> {
        let is_allowed = |path: &String| match path.strip_suffix('/') {
            Some(folder) => file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')),
            None => file == path,
        };
        match self.settings.allowed.iter().any(is_allowed) {
            true => None,
            false => self.settings.redactor.first_in_bytes(text),
        }
    }

    /// Pushes the newest entry of a run, unless the hub has it.
    fn push(&self, run: &RunId, kept: &mut KeptRun, patience: Patience) -> Result<(), HubError> {
        let mut wait = FIRST_WAIT;
        loop {
            match self.push_once(run, kept) {
                Err(HubError::Away { reason }) => {
                    warn!(%run, reason, "the run waits for the hub");
                    *lock(&self.trouble) = Some(reason.clone());
                    if patience == Patience::Once || self.stop.wait(wait) {
                        return Err(HubError::Away { reason });
                    }
                }
                done => {
                    *lock(&self.trouble) = None;
                    return done;
                }
            }
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }

    fn push_once(&self, run: &RunId, kept: &mut KeptRun) -> Result<(), HubError> {
        let Some(newest) = kept.newest.clone() else { return Ok(()) };
        let (hub, repository) = (self.hub(run)?, self.repository());
        if kept.confirmed.as_ref() == Some(&newest) {
            return Ok(());
        }
        let pushed = hub.push(repository, &run.0, &newest, kept.confirmed.as_ref(), &self.stop);
        let Err(error) = pushed else { return self.confirm(run, kept, newest) };
        // The push may have arrived although it failed here, so the hub decides.
        let there = hub.newest(repository, &run.0, &self.stop).map_err(away)?;
        match there {
            Some(there) if there == newest => self.confirm(run, kept, newest),
            there if there == kept.confirmed => Err(away(error)),
            None => Err(HubError::Lost { run: run.clone(), address: hub.shown_address() }),
            // The hub has an older entry of this log: it was restored from a backup, or this machine has more.
            Some(there) if repository.log_continues(&newest, &there)? => {
                kept.confirmed = Some(there);
                Err(away(error))
            }
            Some(there) => Err(self.overtaken(run, &there)),
        }
    }

    fn confirm(&self, run: &RunId, kept: &mut KeptRun, newest: CommitId) -> Result<(), HubError> {
        let is_first = kept.confirmed.is_none();
        kept.confirmed = Some(newest);
        // The record only says that the hub has the run, so it is written once.
        if is_first { self.record(run, kept) } else { Ok(()) }
    }

    /// Records that the hub has the run.
    fn record(&self, run: &RunId, kept: &KeptRun) -> Result<(), HubError> {
        let folder = self.folder(run);
        let mut record = HubRecord::read(&folder, run)?.unwrap_or_default();
        record.seen.extend(kept.confirmed.clone().map(|entry| (self.shown_address(), entry)));
        record.write(&folder, run)
    }

    fn shown_address(&self) -> String {
        self.settings.hub.as_ref().map(Hub::shown_address).unwrap_or_default()
    }

    /// The error that another machine continued a run with this entry.
    fn overtaken(&self, run: &RunId, there: &CommitId) -> HubError {
        let head = self.hub(run).and_then(|hub| {
            hub.fetch(self.repository(), &run.0, there, &self.stop)?;
            entry::head(self.repository(), run, there)
        });
        let by = match head {
            Ok(head) => format!("{} at {}", head.machine, clock::iso(head.at)),
            // The entry only improves the message.
            Err(_) => "another machine".to_string(),
        };
        HubError::Overtaken { run: run.clone(), by }
    }
}

impl KeptRun {
    /// A run without entries.
    fn new() -> KeptRun {
        KeptRun {
            newest: None,
            confirmed: None,
            seq: 0,
            hash: START_OF_RUN,
            hash_before: START_OF_RUN,
            references: References::new(),
            blobs: BTreeSet::new(),
            numbers: Vec::new(),
            withheld: BTreeSet::new(),
        }
    }

    fn from_log(log: &RunLog, newest: CommitId) -> KeptRun {
        let before = log.rows.len().checked_sub(2).and_then(|index| log.rows.get(index));
        KeptRun {
            newest: Some(newest),
            confirmed: None,
            seq: log.head.seq,
            hash: log.head.hash,
            hash_before: before.map_or(START_OF_RUN, |row| row.hash),
            references: log.references.clone(),
            blobs: log.blobs.keys().copied().collect(),
            numbers: log.numbers.clone(),
            withheld: BTreeSet::new(),
        }
    }
}

impl Store for HubStore {
    fn append(&self, entries: &[JournalEntry<'_>]) -> Result<Vec<u64>, StoreError> {
        let runs: BTreeSet<&RunId> = entries.iter().map(|entry| entry.run).collect();
        if runs.len() == entries.len() {
            return self.append_all(entries);
        }
        // A row can be made only after the earlier rows of its run.
        let mut numbers = Vec::new();
        for entry in entries {
            numbers.extend(self.append_patiently(entry)?);
        }
        Ok(numbers)
    }

    fn claim(&self, run: &RunId) -> Result<(), StoreError> {
        self.kept_run(run, false)?;
        Ok(())
    }

    fn publish(&self, run: &RunId) -> Result<(), StoreError> {
        let Some(kept) = self.kept_run(run, false)? else { return Ok(()) };
        let mut kept = lock(&kept);
        let (_, moved) = self.moved_references(run, &mut kept)?;
        if !moved.is_empty() {
            self.add(run, &mut kept, EntryAction::Work, EntryContent::default())?;
        }
        Ok(self.push(run, &mut kept, Patience::Once)?)
    }

    fn may_wait(&self) -> bool {
        self.settings.hub.is_some()
    }

    fn waits_because(&self) -> Option<String> {
        lock(&self.trouble).clone()
    }

    fn interrupt(&self) {
        self.stop.cancel();
    }

    fn secret_to_keep(&self, run: &RunId, file: &str, text: &[u8]) -> Option<String> {
        // A run that cannot be claimed is not driven.
        let is_kept = self.kept_run(run, false).is_ok_and(|kept| kept.is_some());
        if is_kept { self.secret_of_file(file, text) } else { None }
    }

    fn continue_from(&self, run: &RunId, seq: u64, at: Millis) -> Result<(), LedgerError> {
        self.embedded.continue_from(run, seq, at)
    }

    fn lag(&self) -> usize {
        self.embedded.lag()
    }

    fn catch_up(&self) -> Result<(), LedgerError> {
        self.embedded.catch_up()
    }

    fn catch_up_with(&self, entries: &[JournalEntry<'_>], state_of: &StateOf<'_>) -> Result<(), LedgerError> {
        self.embedded.catch_up_with(entries, state_of)
    }

    fn rows_after(&self, run: &RunId, seq: u64) -> Result<Vec<JournalRow>, LedgerError> {
        self.embedded.rows_after(run, seq)
    }

    fn blob(&self, id: BlobId) -> Result<Vec<u8>, LedgerError> {
        self.embedded.blob(id)
    }

    fn reader(&self) -> Result<Reader, LedgerError> {
        self.embedded.reader()
    }

    fn reserve(&self, request: Reserve<'_>) -> Result<Vec<u32>, LedgerError> {
        self.embedded.reserve(request)
    }

    fn request(&self, run: &RunId, at: Millis, event: &Event) -> Result<i64, LedgerError> {
        self.embedded.request(run, at, event)
    }

    fn requests(&self, run: &RunId) -> Result<Vec<RequestRow>, LedgerError> {
        self.embedded.requests(run)
    }

    fn refuse(&self, request: i64, reason: &str) -> Result<(), LedgerError> {
        self.embedded.refuse(request, reason)
    }

    fn record_start(&self, run: &RunId, start: &AgentStart) -> io::Result<Box<dyn SignsOfLife>> {
        let unrecorded = |error: HubError| io::Error::other(format!("{error}; {}", error.hint()));
        if let Some(kept) = self.kept_run(run, false).map_err(unrecorded)? {
            let mut kept = lock(&kept);
            let content = EntryContent { start: Some(*start), ..EntryContent::default() };
            self.add(run, &mut kept, EntryAction::Start, content)
                .and_then(|()| self.push(run, &mut kept, Patience::Once))
                .map_err(unrecorded)?;
        }
        self.embedded.record_start(run, start)
    }

    fn last_start(&self, run: &RunId, command: &str) -> Option<(AgentStart, Millis)> {
        self.embedded.last_start(run, command)
    }

    fn close(&self) {
        self.embedded.close();
    }
}

fn lock<T>(slot: &Mutex<T>) -> MutexGuard<'_, T> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An exchange that can be tried again later.
fn away(error: GitError) -> HubError {
    match error {
        GitError::Cancelled => HubError::Away { reason: "the exchange with the hub was stopped".to_string() },
        error @ (GitError::HubFailed { .. } | GitError::TimedOut { .. }) => {
            HubError::Away { reason: format!("{error}; {}", error.hint()) }
        }
        error => HubError::Git(error),
    }
}

/// The name of this machine, for people.
fn machine() -> String {
    let name = ["/proc/sys/kernel/hostname", "/etc/hostname"].into_iter().find_map(|file| {
        let name = std::fs::read_to_string(file).ok()?;
        let name: String = name.trim().chars().filter(|c| !c.is_control()).take(100).collect();
        (!name.is_empty()).then_some(name)
    });
    name.unwrap_or_else(|| "another machine".to_string())
}
