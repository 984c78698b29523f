//! Appending: many entries in one commit, their order and times, several writers, rows that cannot be changed.

use crate::support::{TestLedger, TestRun, happy_path, pinned, program, rough_path};
use remand_kernel::event::{Event, Start};
use remand_ledger::fact::Telemetry;
use remand_ledger::{Blob, Facts, Ledger, LedgerError, Millis};
use std::path::Path;

/// The content of a write-ahead log.
#[derive(Clone, Copy)]
struct LogContent {
    /// The number of commits, each with one sync.
    commits: usize,
    pages: usize,
}

fn read_log(path: &Path) -> LogContent {
    let wal = std::fs::read(path.with_extension("db-wal")).expect("a write-ahead log");
    let u32_at = |offset: usize| u32::from_be_bytes(wal[offset..offset + 4].try_into().expect("four bytes"));
    let page_size = usize::try_from(u32_at(8)).expect("a page size");
    let (frames, salt) = (wal[32..].chunks_exact(24 + page_size), &wal[16..24]);
    let current = frames.filter(|frame| frame[8..16] == *salt);
    let is_commit: Vec<bool> = current.map(|frame| frame[4..8] != [0; 4]).collect();
    LogContent { commits: is_commit.iter().filter(|is_commit| **is_commit).count(), pages: is_commit.len() }
}

fn commits(path: &Path) -> usize {
    read_log(path).commits
}

// CORE-04
#[test]
fn appended_entries_are_read_back_unchanged() {
    let mut test = TestLedger::new();
    let events = rough_path();
    let test_run = test.append_run("r1", program("feature"), &events);
    let journal = test.reader().journal(&test_run.run, 0).unwrap();
    let read: Vec<Event> = journal.iter().map(|row| row.event.clone()).collect();
    assert_eq!(read, events);
    let seqs: Vec<u64> = journal.iter().map(|row| row.seq).collect();
    assert_eq!(seqs, (1..=events.len() as u64).collect::<Vec<u64>>());
    assert_eq!(journal[0].facts.opened.as_ref().unwrap().slug, "csv-export");
    assert!(journal.iter().any(|row| !row.rulings.is_empty() && !row.commands.is_empty()));
    assert_eq!(test.reader().journal(&test_run.run, 3).unwrap()[0].seq, 4);
}

#[test]
fn a_batch_of_many_runs_is_one_commit() {
    let mut test = TestLedger::new();
    let events = happy_path("quick", 1);
    let before = commits(&test.path());
    let mut prepared = Vec::new();
    for name in ["r1", "r2", "r3"] {
        let mut test_run = TestRun::new(name, program("quick"));
        prepared.extend(events.iter().map(|event| test_run.prepare(event.clone(), Facts::default())));
    }
    let entries: Vec<_> = prepared.iter().map(|prepared| prepared.entry()).collect();
    let seqs = test.ledger.append(&entries).unwrap();
    assert_eq!(seqs.len(), 3 * events.len());
    assert_eq!(commits(&test.path()) - before, 1);
    let single = &prepared[0];
    assert!(matches!(test.ledger.append(&[single.entry()]), Err(LedgerError::Overtaken { .. })));
    assert_eq!(commits(&test.path()) - before, 1, "a refused entry commits nothing");
}

/// A page costs two writes and a share of the sync, so rows of concurrent runs should share pages.
#[test]
fn steps_of_many_runs_share_pages() {
    let mut test = TestLedger::new();
    let events = happy_path("feature", 6);
    let runs: usize = 40;
    let mut test_runs: Vec<TestRun> =
        (0..runs).map(|index| TestRun::new(&format!("run-{index:03}"), program("feature"))).collect();
    let (mut pages, mut before) = (Vec::new(), 0);
    for event in &events {
        let prepared: Vec<_> =
            test_runs.iter_mut().map(|test_run| test_run.prepare(event.clone(), Facts::default())).collect();
        let entries: Vec<_> = prepared.iter().map(|prepared| prepared.entry()).collect();
        test.ledger.append(&entries).expect("appended");
        let now = read_log(&test.path()).pages;
        // The log restarts after a checkpoint.
        pages.push(now.checked_sub(before).unwrap_or(now));
        before = now;
    }
    pages.sort_unstable();
    let median = pages[pages.len() / 2];
    assert!(median < runs, "{median} pages for {runs} steps in one commit: {pages:?}");
}

#[test]
fn one_bad_entry_rejects_its_whole_batch() {
    let mut test = TestLedger::new();
    let (mut good, mut bad) = (TestRun::new("good", program("quick")), TestRun::new("bad", program("quick")));
    let good = good.prepare(Event::Started(Start::default()), Facts::default());
    let mut bad = bad.prepare(Event::Started(Start::default()), Facts::default());
    bad.facts = Facts::default();
    let refused = test.ledger.append(&[good.entry(), bad.entry()]);
    assert!(matches!(refused, Err(LedgerError::NotOpened { run }) if run.0 == "bad"));
    assert_eq!(test.reader().head().unwrap().count, 0);
    assert!(test.reader().runs().unwrap().is_empty());
    assert_eq!(test.ledger.append(&[good.entry()]).unwrap(), [1]);
}

#[test]
fn a_blob_is_stored_once_and_a_missing_one_is_refused() {
    let mut test = TestLedger::new();
    let mut first = TestRun::new("r1", program("quick"));
    first.start(&mut test.ledger, Start::default());
    let mut second = TestRun::new("r2", program("quick"));
    let mut prepared = second.prepare(Event::Started(Start::default()), Facts::default());
    prepared.blobs.clear();
    test.ledger.append(&[prepared.entry()]).expect("the blob is stored already");
    let reader = test.reader();
    let pinned = pinned(program("quick"));
    assert_eq!(reader.blob(pinned.id).unwrap(), pinned.bytes);
    let count: i64 = test.raw().query_row("SELECT count(*) FROM blobs", [], |row| row.get(0)).unwrap();
    assert_eq!(count, 1);

    let mut third = TestRun::new("r3", program("quick"));
    let mut prepared = third.prepare(Event::Started(Start::default()), Facts::default());
    let absent = Blob::of(b"absent".to_vec());
    prepared.facts.opened.as_mut().unwrap().pinned = absent.id;
    let refused = test.ledger.append(&[prepared.entry()]);
    assert!(matches!(refused, Err(LedgerError::BlobMissing { id, .. }) if id == absent.id));
    let telemetry = Telemetry { result: Some(absent.id), ..Telemetry::default() };
    let event = first.end_event("ready");
    let prepared = first.prepare(event, Facts { telemetry: Some(telemetry), ..Facts::default() });
    let refused = test.ledger.append(&[prepared.entry()]);
    assert!(matches!(refused, Err(LedgerError::BlobMissing { id, .. }) if id == absent.id));
    assert!(matches!(reader.blob(absent.id), Err(LedgerError::NoSuchBlob { .. })));
    assert!(!reader.has_blob(absent.id).unwrap());
}

#[test]
fn timestamps_never_go_back_when_the_clock_does() {
    let mut test = TestLedger::new();
    let mut test_run = TestRun::new("r1", program("quick"));
    test_run.start(&mut test.ledger, Start::default());
    let started = test_run.at;
    test_run.at -= 3_600_000;
    let event = test_run.end_event("ready");
    let mut prepared = test_run.prepare(event, Facts::default());
    prepared.at.0 = started - 3_600_000;
    test.ledger.append(&[prepared.entry()]).unwrap();
    let journal = test.reader().journal(&test_run.run, 0).unwrap();
    assert_eq!(journal[1].at, journal[0].at);
    assert_eq!(test.reader().run("r1").unwrap().updated_at, journal[0].at);
}

// CORE-08
#[test]
fn events_and_blobs_can_neither_be_changed_nor_removed() {
    let mut test = TestLedger::new();
    test.append_run("r1", program("quick"), &happy_path("quick", 1));
    let raw = test.raw();
    for (sql, message) in [
        ("UPDATE events SET body = '{}' WHERE id = 1", "events are never changed"),
        ("DELETE FROM events", "events are never removed"),
        ("UPDATE blobs SET size = 0", "blobs are never changed"),
        ("DELETE FROM blobs", "blobs are never removed"),
        ("INSERT OR REPLACE INTO events SELECT * FROM events WHERE id = 1", "events are never replaced"),
        (
            "INSERT OR REPLACE INTO events
            SELECT 99, run, seq, at, kind, '{}', facts, rulings, commands, hash FROM events WHERE id = 1",
            "events are never replaced",
        ),
        ("INSERT OR REPLACE INTO blobs SELECT id, 0, x'00' FROM blobs", "blobs are never replaced"),
    ] {
        let refused = raw.execute(sql, []).expect_err("refused").to_string();
        assert!(refused.contains(message), "{refused}");
    }
}

#[test]
fn two_writers_on_different_runs_make_one_chain() {
    let mut test = TestLedger::new();
    let events = happy_path("feature", 2);
    let path = test.path();
    let write = |name: &'static str| {
        let (path, events) = (path.clone(), events.clone());
        std::thread::spawn(move || {
            let mut ledger = Ledger::open(&path).expect("a ledger");
            let mut test_run = TestRun::new(name, program("feature"));
            for event in events {
                test_run.feed(&mut ledger, event, Facts::default()).expect("appended");
            }
        })
    };
    let writers = [write("r1"), write("r2"), write("r3")];
    for writer in writers {
        writer.join().expect("written");
    }
    let reader = test.reader();
    assert_eq!(reader.head().unwrap().count, 3 * events.len() as u64);
    let report = remand_ledger::audit(&reader, None, |_| {}).unwrap();
    assert!(report.is_sound(), "{:#?}", report.problems);
    assert_eq!(test.ledger.rebuild().unwrap(), 3 * events.len() as u64);
}

// CORE-04
#[test]
fn an_append_fails_if_another_process_has_continued_the_run() {
    let mut test = TestLedger::new();
    let mut test_run = TestRun::new("r1", program("quick"));
    test_run.start(&mut test.ledger, Start::default());
    let mut other = Ledger::open(&test.path()).unwrap();
    let event = test_run.end_event("ready");
    let prepared = test_run.prepare(event, Facts::default());
    assert_eq!(other.append(&[prepared.entry()]).unwrap(), [2]);
    let overtaken = test.ledger.append(&[prepared.entry()]);
    assert!(matches!(overtaken, Err(LedgerError::Overtaken { run }) if run.0 == "r1"));

    test.ledger.continue_from(&test_run.run, 2, Millis(0));
    let event = test_run.end_event("recorded");
    assert_eq!(test_run.feed(&mut test.ledger, event, Facts::default()).unwrap(), 3);
}

/// The used bytes of a log, and the length of its file.
fn log_size(path: &Path) -> (usize, usize) {
    let len = std::fs::metadata(path.with_extension("db-wal")).expect("a write-ahead log").len();
    (32 + read_log(path).pages * (24 + 4096), usize::try_from(len).expect("a length"))
}

// CORE-04
#[test]
fn the_log_is_extended_ahead_and_the_extra_bytes_are_ignored() {
    let mut test = TestLedger::new();
    let events = rough_path();
    let mut test_run = TestRun::new("r1", program("feature"));
    let mut lengths = std::collections::BTreeSet::new();
    for event in &events {
        let prepared = test_run.prepare(event.clone(), Facts::default());
        test.ledger.append(&[prepared.entry()]).unwrap();
        lengths.insert(log_size(&test.path()).1);
    }
    let (used, len) = log_size(&test.path());
    assert!(len > used, "{used} of {len} bytes");
    assert!(lengths.len() * 4 < events.len(), "{} lengths in {} commits", lengths.len(), events.len());

    // After a power failure only the files are left, without the index of the log.
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("ledger.db");
    for (from, to) in
        [(test.path(), copy.clone()), (test.path().with_extension("db-wal"), copy.with_extension("db-wal"))]
    {
        std::fs::copy(from, to).unwrap();
    }
    let reader = Ledger::open(&copy).unwrap().reader().unwrap();
    let read: Vec<Event> =
        reader.journal(&test_run.run, 0).unwrap().into_iter().map(|row| row.event).collect();
    assert_eq!(read, events);
}

// CORE-04
#[test]
fn after_the_writer_closes_the_database_file_is_complete() {
    let mut test = TestLedger::new();
    let events = happy_path("feature", 3);
    let run = test.append_run("r1", program("feature"), &events).run;
    // This reader closes last, and cannot checkpoint.
    let reader = test.reader();
    let copy = test.sibling("alone.db");
    let spare = Ledger::open(&test.sibling("spare.db")).unwrap();
    drop(std::mem::replace(&mut test.ledger, spare));
    std::fs::copy(reader.path(), &copy).unwrap();
    let read = Ledger::open(&copy).unwrap().reader().unwrap().journal(&run, 0).unwrap();
    assert_eq!(read.len(), events.len());
}

// CORE-04
#[test]
fn two_writers_that_both_extend_the_log_lose_nothing() {
    let mut test = TestLedger::new();
    let mut other = Ledger::open(&test.path()).unwrap();
    let events = happy_path("feature", 3);
    let (mut mine, mut theirs) =
        (TestRun::new("r1", program("feature")), TestRun::new("r2", program("feature")));
    for event in &events {
        mine.feed(&mut test.ledger, event.clone(), Facts::default()).unwrap();
        theirs.feed(&mut other, event.clone(), Facts::default()).unwrap();
    }
    let reader = test.reader();
    for test_run in [&mine, &theirs] {
        assert_eq!(reader.journal(&test_run.run, 0).unwrap().len(), events.len());
    }
    let report = remand_ledger::audit(&reader, None, |_| {}).unwrap();
    assert!(report.is_sound(), "{:#?}", report.problems);
}
