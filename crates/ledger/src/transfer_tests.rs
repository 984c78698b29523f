use super::*;
use crate::audit;
use crate::fact::RunOpening;
use remand_kernel::event::Start;
use remand_kernel::{Program, State, step};
use std::path::Path;
use tempfile::TempDir;

/// The events of one run, to be appended one after the other.
struct Run {
    id: RunId,
    program: Program,
    state: State,
    pinned: Blob,
    file: Option<String>,
    hash: ChainHash,
}

impl Run {
    fn new(id: &str) -> Run {
        let program = remand_workflow::check_shipped("quick").unwrap().compiled.unwrap().program;
        let pinned =
            Blob::of(serde_json::to_vec(&serde_json::json!({"program": program, "for": id})).unwrap());
        let state = State::new(&program);
        Run { id: RunId(id.to_string()), program, state, pinned, file: None, hash: START_OF_RUN }
    }

    /// Previews and appends one event. Returns the previewed row.
    fn add(&mut self, ledger: &mut Ledger, event: &Event, at: i64) -> RunRow {
        let row = self.entry(event, at, |entry, hash| {
            let row = ledger.preview(&entry).unwrap().chained(entry.run, hash);
            ledger.append(&[entry]).unwrap();
            row
        });
        ledger.catch_up().unwrap();
        self.hash = row.hash;
        row
    }

    fn entry<T>(&mut self, event: &Event, at: i64, act: impl FnOnce(JournalEntry<'_>, ChainHash) -> T) -> T {
        let is_first = matches!(event, Event::Started(_));
        let step = step(&self.program, &mut self.state, event).unwrap();
        let opened = RunOpening {
            request: "a request".to_string(),
            file: self.file.clone(),
            slug: "request".to_string(),
            base: "0123".to_string(),
            branch: "remand/request".to_string(),
            pinned: self.pinned.id,
            version: "0.1.0".to_string(),
            by: None,
            checkout: None,
        };
        let facts = Facts { opened: is_first.then_some(opened), ..Facts::default() };
        let blobs = if is_first { vec![self.pinned.clone()] } else { Vec::new() };
        let entry = JournalEntry {
            run: &self.id,
            at: Millis(at),
            event,
            facts: &facts,
            step: &step,
            blobs: &blobs,
            request: None,
        };
        act(entry, self.hash)
    }

    fn copy(&self, rows: &[RunRow]) -> RunCopy {
        RunCopy { rows: rows.to_vec(), blobs: vec![self.pinned.clone()], ..RunCopy::default() }
    }
}

fn started() -> Event {
    Event::Started(Start::default())
}

fn paused(by: &str) -> Event {
    Event::Paused { by: by.to_string() }
}

fn ledger(folder: &TempDir, name: &str) -> Ledger {
    Ledger::open(&folder.path().join(name)).unwrap()
}

fn assert_sound(path: &Path) {
    let reader = crate::Reader::open(path).unwrap();
    let report = audit(&reader, None, |_| {}).unwrap();
    assert!(report.is_sound(), "{:?}", report.problems);
}

// BY-13
#[test]
fn a_run_is_the_same_in_another_ledger_and_continues_there() {
    let folder = tempfile::tempdir().unwrap();
    let (mut one, mut two) = (ledger(&folder, "one"), ledger(&folder, "two"));
    Run::new("earlier").add(&mut two, &started(), 1);
    let mut run = Run::new("r1");
    let rows = [run.add(&mut one, &started(), 5), run.add(&mut one, &paused("ann"), 3)];
    assert_eq!(rows.iter().map(|row| (row.seq, row.at.0)).collect::<Vec<_>>(), [(1, 5), (2, 5)]);
    assert_eq!(two.import(&run.id, &run.copy(&rows[..1])).unwrap(), 1);
    assert_eq!(two.import(&run.id, &run.copy(&rows)).unwrap(), 1);
    assert_eq!(two.import(&run.id, &run.copy(&rows)).unwrap(), 0);
    let journal = |ledger: &Ledger| {
        let reader = crate::Reader::open(ledger.path()).unwrap();
        let rows = reader.journal(&run.id, 0).unwrap();
        rows.into_iter().map(|row| (row.seq, row.at, row.event, row.commands)).collect::<Vec<_>>()
    };
    assert_eq!(journal(&one), journal(&two));
    let third = run.add(&mut two, &Event::Resumed { by: "ann".to_string() }, 9);
    assert_eq!(third.seq, 3);
    assert_sound(two.path());
    assert_eq!(one.import(&run.id, &run.copy(&[rows.to_vec(), vec![third]].concat())).unwrap(), 1);
    assert_sound(one.path());
}

#[test]
fn a_damaged_copy_adds_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (mut one, mut two) = (ledger(&folder, "one"), ledger(&folder, "two"));
    let mut run = Run::new("r1");
    let rows = [run.add(&mut one, &started(), 5), run.add(&mut one, &paused("ann"), 6)];
    let forged = RunRow { body: rows[1].body.replace("ann", "eve"), ..rows[1].clone() };
    let copies = [
        run.copy(&[rows[0].clone(), forged]),
        run.copy(&rows[1..]),
        RunCopy { blobs: Vec::new(), ..run.copy(&rows) },
        RunCopy { blobs: vec![Blob { id: run.pinned.id, bytes: b"x".to_vec() }], ..run.copy(&rows) },
    ];
    for copy in &copies {
        assert!(two.import(&run.id, copy).is_err(), "{copy:?}");
        assert_eq!(two.rows_of(&run.id).unwrap(), 0);
    }
    assert!(
        two.import(&RunId("r2".to_string()), &run.copy(&rows)).is_err(),
        "the rows are those of another run"
    );
}

#[test]
fn a_run_that_was_continued_here_is_not_mixed_with_a_copy() {
    let folder = tempfile::tempdir().unwrap();
    let (mut one, mut two) = (ledger(&folder, "one"), ledger(&folder, "two"));
    let mut run = Run::new("r1");
    let first = run.add(&mut one, &started(), 5);
    two.import(&run.id, &run.copy(std::slice::from_ref(&first))).unwrap();
    let (state, hash) = (run.state.clone(), run.hash);
    let second = run.add(&mut one, &paused("ann"), 6);
    (run.state, run.hash) = (state, hash);
    run.add(&mut two, &paused("bob"), 6);
    for rows in [vec![first.clone(), second], vec![first]] {
        let error = two.import(&run.id, &run.copy(&rows)).unwrap_err();
        assert!(matches!(error, LedgerError::OtherHistory { seq: 2, .. }), "{error:?}");
    }
    assert_sound(two.path());
}

#[test]
fn a_preview_changes_nothing_and_fails_where_the_append_would() {
    let folder = tempfile::tempdir().unwrap();
    let mut one = ledger(&folder, "one");
    let mut run = Run::new("r1");
    run.file = Some("TODO/ABC-1.md".to_string());
    run.add(&mut one, &started(), 5);
    let before = one.reader().unwrap().head().unwrap();
    let previewed = run.entry(&paused("ann"), 6, |entry, _| one.preview(&entry).unwrap());
    assert_eq!(previewed.seq, 2);
    assert_eq!(one.reader().unwrap().head().unwrap(), before);
    let mut second = Run::new("r2");
    second.file.clone_from(&run.file);
    let refused = second.entry(&started(), 7, |entry, _| one.preview(&entry));
    assert!(matches!(refused, Err(LedgerError::UnderWay { .. })), "{refused:?}");
    let mut second = Run::new("r2");
    second.file.clone_from(&run.file);
    let copied = second.entry(&started(), 7, |entry, hash| {
        ledger(&folder, "two").preview(&entry).unwrap().chained(entry.run, hash)
    });
    let refused = one.import(&second.id, &second.copy(&[copied]));
    assert!(matches!(refused, Err(LedgerError::UnderWay { .. })), "{refused:?}");
    assert_sound(one.path());
}

#[test]
fn the_numbers_of_a_run_go_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let (mut one, mut two) = (ledger(&folder, "one"), ledger(&folder, "two"));
    let mut run = Run::new("r1");
    let row = run.add(&mut one, &started(), 5);
    let request = |holder| crate::Reserve { prefix: "ABC", holder, count: 1, above: 41, at: Millis(1) };
    assert_eq!(one.reserve(request("r1/c1")).unwrap(), [42]);
    one.reserve(request("r12/c1")).unwrap();
    let numbers = one.numbers_of(&run.id).unwrap();
    assert_eq!(
        numbers.iter().map(|held| (held.holder.as_str(), held.number)).collect::<Vec<_>>(),
        [("r1/c1", 42)]
    );
    two.import(&run.id, &RunCopy { numbers, ..run.copy(&[row]) }).unwrap();
    assert_eq!(two.reserve(request("other")).unwrap(), [43]);
    assert_eq!(two.reserve(request("r1/c1")).unwrap(), [42]);
}
