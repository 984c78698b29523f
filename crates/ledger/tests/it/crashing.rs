//! A process killed while it writes.

use crate::support::{TestRun, happy_path, program};
use remand_ledger::{Facts, Ledger, Reader, ReplayFrom, RunId, audit, replay};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// The environment variable with the path of the child's ledger. Only the parent sets it.
const LEDGER_PATH: &str = "REMAND_TEST_LEDGER";

/// Runs in the child: appends runs and prints each committed event, until it is killed.
#[test]
fn writer_of_the_crash_tests() {
    let Some(path) = std::env::var_os(LEDGER_PATH) else {
        return;
    };
    let mut ledger = Ledger::open(Path::new(&path)).expect("a ledger");
    let events = happy_path("feature", 1);
    for number in 0.. {
        let mut test_run = TestRun::new(&format!("r{number}"), program("feature"));
        for event in &events {
            let seq = test_run.feed(&mut ledger, event.clone(), Facts::default()).expect("appended");
            let mut out = std::io::stdout().lock();
            writeln!(out, "acknowledged r{number} {seq}").and_then(|()| out.flush()).expect("printed");
        }
    }
}

// CORE-04
#[test]
fn no_committed_event_is_lost_when_the_writer_is_killed() {
    for events_before_kill in [1, 40, 170] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ledger.db");
        let mut child = Command::new(std::env::current_exe().expect("a program"))
            .args(["--exact", "crashing::writer_of_the_crash_tests", "--nocapture"])
            .env(LEDGER_PATH, &path)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a child");
        let mut lines = BufReader::new(child.stdout.take().expect("an output")).lines();
        let mut acknowledged: Vec<(String, u64)> = Vec::new();
        let mut record = |line: String| {
            let words: Vec<&str> = line.split(' ').collect();
            if let ["acknowledged", run, seq] = words[..] {
                acknowledged.push((run.to_string(), seq.parse().expect("a number")));
            }
            acknowledged.len()
        };
        while let Some(Ok(line)) = lines.next() {
            if record(line) >= events_before_kill {
                break;
            }
        }
        child.kill().expect("killed");
        while let Some(Ok(line)) = lines.next() {
            record(line);
        }
        child.wait().expect("waited");

        let reader = Reader::open(&path).expect("a ledger");
        let (run, seq) = acknowledged.last().expect("at least one");
        let journal = reader.journal(&RunId(run.clone()), 0).unwrap();
        let last = journal.last().expect("events").seq;
        assert!(
            last == *seq || last == seq + 1,
            "{last} events are in the journal, and {seq} were acknowledged"
        );
        let written: u64 = reader.runs().unwrap().iter().map(|row| row.seq).sum();
        assert_eq!(reader.head().unwrap().count, written);
        let report = audit(&reader, None, |_| {}).unwrap();
        assert!(report.is_sound(), "{:#?}", report.problems);

        // The run continues after its last committed event.
        let mut ledger = Ledger::open(&path).expect("a ledger");
        let replayed = replay(&reader, &RunId(run.clone()), ReplayFrom::Snapshot).unwrap();
        ledger.continue_from(&RunId(run.clone()), replayed.seq, replayed.at);
        let mut test_run = TestRun::new(run, program("feature"));
        test_run.state = replayed.state;
        for event in happy_path("feature", 1).into_iter().skip(usize::try_from(replayed.seq).unwrap()) {
            test_run.feed(&mut ledger, event, Facts::default()).expect("appended");
        }
        assert!(reader.run(run).unwrap().stage.is_finished());
    }
}
