//! The mark of an agent that began: it is on disk before the agent starts, so that one that dies together with the engine
//! is paid for by whoever takes the run over (CORE-11).

use super::folder::Folder;
use crate::clock;
use crate::host::Begun;
use crate::workshop::{Job, Trouble};
use remand_kernel::ids::CommandId;
use remand_ledger::{Millis, Reader};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// In the folder of the dispatch, where no agent writes. It changes last when the agent last said something.
const MARK: &str = "began.json";

/// How often it is changed at most.
const OFTEN: Duration = Duration::from_secs(1);

#[derive(Debug, Serialize, Deserialize)]
struct Told {
    command: CommandId,
    /// The how-manieth agent of the command, after those that the journal tells of.
    nth: u64,
    at: Millis,
}

/// The mark, while the agent works.
#[derive(Debug)]
pub(super) struct Mark {
    file: File,
    touched: Instant,
}

impl Mark {
    /// Leaves the mark; it stays when the agent is done, since a command that is over is asked about no more.
    pub(super) fn leave(job: &Job, folder: &Folder, reader: &Reader) -> Result<Mark, Trouble> {
        let nth = reader.interruptions(&job.site.run, &job.id.to_string())?.saturating_add(1);
        let told = Told { command: job.id, nth, at: clock::now() };
        let mut file = File::create(folder.root().join(MARK))?;
        file.write_all(&serde_json::to_vec(&told).unwrap_or_default())?;
        file.sync_all()?;
        for folder in folder.root().ancestors().take(FOLDERS) {
            File::open(folder)?.sync_all()?;
        }
        Ok(Mark { file, touched: Instant::now() })
    }

    /// The agent gave a sign of life.
    pub(super) fn touch(&mut self) {
        if self.touched.elapsed() >= OFTEN {
            self.touched = Instant::now();
            // The time that it tells is a lower bound anyway.
            let _ = self.file.set_modified(SystemTime::now());
        }
    }
}

/// Its own folder, that of all dispatches, and that of the run: what was just made may be in none of them after a power
/// failure.
const FOLDERS: usize = 3;

/// The agent that began last with a command of a run, by the mark that it left.
pub fn begun(run: &Path, command: &str) -> Option<Begun> {
    let path = Folder::of(run, command).join(MARK);
    let told: Told = serde_json::from_slice(&std::fs::read(&path).ok()?).ok()?;
    let changed = path.metadata().and_then(|meta| meta.modified()).ok()?;
    let seen = changed.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let seen = Millis(i64::try_from(seen).unwrap_or(i64::MAX)).max(told.at);
    Some(Begun { command: told.command, nth: told.nth, at: told.at, seen })
}
