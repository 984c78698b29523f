//! Ledgers in temporary folders, with runs of shipped workflows.

use remand_kernel::command::Command;
use remand_kernel::event::{Event, Grants, Item, Mode, Outcome, Report, Start, Usage};
use remand_kernel::evidence::{RowPhase, Tier};
use remand_kernel::finding::{Category, Finding, Location, Severity};
use remand_kernel::signal::Failure;
use remand_kernel::{Program, State, Step, step};
use remand_ledger::fact::{Check, RunOpening};
use remand_ledger::{Blob, Facts, JournalEntry, Ledger, LedgerError, Millis, Reader, RunId};
use remand_workflow::walk::{WalkStep, Walker};
use std::path::PathBuf;
use std::sync::LazyLock;

/// The shipped workflows.
pub const SHIPPED: [&str; 6] = ["feature", "quick", "issue", "ticket", "spec", "tsp"];

/// Removes what formats 12 to 15 added.
pub const TO_FORMAT_11: &str =
    "ALTER TABLE runs RENAME COLUMN reason TO ended;
    UPDATE runs SET stage = 'done', ended = 'done' WHERE stage IN ('committed', 'left-to-you');
    DROP TABLE mutants; DROP TABLE test_proofs; DROP INDEX checks_passed_earlier; ALTER TABLE notes DROP COLUMN decision; DROP TABLE deliveries; DROP TABLE run_details; ALTER TABLE gates DROP COLUMN limit_kind;
    ALTER TABLE rulings DROP COLUMN kind; ALTER TABLE checks DROP COLUMN tree;
    ALTER TABLE commands DROP COLUMN malformed; PRAGMA user_version = 11;";

/// A compiled workflow, by the name of a shipped one.
pub fn program(name: &str) -> &'static Program {
    static PROGRAMS: LazyLock<Vec<Program>> = LazyLock::new(|| {
        SHIPPED
            .iter()
            .map(|name| {
                let checked = remand_workflow::check_shipped(name).expect("shipped");
                checked.compiled.expect("compiled").program
            })
            .collect()
    });
    &PROGRAMS[SHIPPED.iter().position(|shipped| *shipped == name).expect("a shipped workflow")]
}

/// A ledger in a temporary folder.
pub struct TestLedger {
    pub ledger: Ledger,
    folder: tempfile::TempDir,
}

impl TestLedger {
    pub fn new() -> TestLedger {
        let folder = tempfile::tempdir().expect("a folder");
        let ledger = Ledger::open(&folder.path().join("ledger.db")).expect("a ledger");
        TestLedger { ledger, folder }
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("ledger.db")
    }

    pub fn sibling(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn reader(&self) -> Reader {
        self.ledger.reader().expect("a reader")
    }

    /// A plain SQLite connection to the file, with all tables up to date.
    pub fn raw(&self) -> rusqlite::Connection {
        drop(Ledger::open(&self.path()).expect("a ledger"));
        rusqlite::Connection::open(self.path()).expect("a connection")
    }

    /// A ledger with the content of another one.
    pub fn copy(bytes: &[u8]) -> TestLedger {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ledger.db");
        std::fs::write(&path, bytes).expect("written");
        TestLedger { ledger: Ledger::open(&path).expect("a ledger"), folder }
    }

    /// The complete database file.
    pub fn bytes(&self) -> Vec<u8> {
        self.raw().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).expect("checkpointed");
        std::fs::read(self.path()).expect("read")
    }

    /// The complete database file of an older format. It is not opened as a ledger, which would upgrade it.
    pub fn bytes_without_upgrade(&self) -> Vec<u8> {
        let raw = rusqlite::Connection::open(self.path()).expect("a connection");
        raw.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).expect("checkpointed");
        std::fs::read(self.path()).expect("read")
    }

    /// Steps these events as a new run, and appends them in one commit.
    pub fn append_run(&mut self, name: &str, program: &'static Program, events: &[Event]) -> TestRun {
        let mut test_run = TestRun::new(name, program);
        let prepared: Vec<OwnedEntry> =
            events.iter().map(|event| test_run.prepare(event.clone(), Facts::default())).collect();
        let entries: Vec<JournalEntry<'_>> = prepared.iter().map(OwnedEntry::entry).collect();
        self.ledger.append(&entries).and_then(|_| self.ledger.catch_up()).expect("appended");
        test_run
    }
}

/// A run with its state and open commands.
pub struct TestRun {
    pub run: RunId,
    pub program: &'static Program,
    pub state: State,
    pub at: i64,
    pub open: Vec<Command>,
}

/// An entry with everything that it borrows.
pub struct OwnedEntry {
    pub run: RunId,
    pub at: Millis,
    pub event: Event,
    pub facts: Facts,
    pub step: Step,
    pub blobs: Vec<Blob>,
    pub request: Option<i64>,
}

impl OwnedEntry {
    pub fn entry(&self) -> JournalEntry<'_> {
        JournalEntry {
            run: &self.run,
            at: self.at,
            event: &self.event,
            facts: &self.facts,
            step: &self.step,
            blobs: &self.blobs,
            request: self.request,
        }
    }
}

impl TestRun {
    pub fn new(name: &str, program: &'static Program) -> TestRun {
        let run = RunId(name.to_string());
        TestRun { run, program, state: State::new(program), at: 1_750_000_000_000, open: Vec::new() }
    }

    /// Steps an event, and makes an entry of it. The first one gets the facts that open a run.
    pub fn prepare(&mut self, event: Event, mut facts: Facts) -> OwnedEntry {
        let mut blobs = Vec::new();
        if matches!(event, Event::Started(_)) {
            let pinned = pinned(self.program);
            facts.opened = Some(opened(&pinned));
            blobs.push(pinned);
        }
        self.at += 1000;
        let step = step(self.program, &mut self.state, &event).expect("accepted");
        if let Event::Ended { id, .. } | Event::Answered { id, .. } = &event {
            self.open.retain(|command| command.id() != Some(*id));
        }
        for command in &step.commands {
            match command {
                Command::Cancel { id } => self.open.retain(|open| open.id() != Some(*id)),
                Command::Dispatch(_) | Command::Operate { .. } | Command::Ask(_) => {
                    self.open.push(command.clone());
                }
                Command::Discard { .. } | Command::Restore { .. } | Command::Finish { .. } => {}
            }
        }
        OwnedEntry { run: self.run.clone(), at: Millis(self.at), event, facts, step, blobs, request: None }
    }

    pub fn feed(&mut self, ledger: &mut Ledger, event: Event, facts: Facts) -> Result<u64, LedgerError> {
        let prepared = self.prepare(event, facts);
        let seqs = ledger.append(&[prepared.entry()])?;
        ledger.catch_up()?;
        Ok(seqs[0])
    }

    /// Starts the run.
    pub fn start(&mut self, ledger: &mut Ledger, start: Start) {
        self.feed(ledger, Event::Started(start), Facts::default()).expect("started");
    }

    /// The event that ends the first open command with this verdict.
    pub fn end_event(&self, verdict: &str) -> Event {
        let id = self.open[0].id().expect("an id");
        let usage = Usage { money: Some(1200), tokens: Some(900), time: 5000, ..Usage::default() };
        Event::Ended { id, outcome: Outcome::Said(Box::new(Report::saying(verdict))), usage }
    }

    /// The event that fails the first open command.
    pub fn fail_event(&self, failure: Failure, in_a_row: u16) -> Event {
        let id = self.open[0].id().expect("an id");
        let outcome = Outcome::Failed { failure, detail: "no network".to_string(), in_a_row };
        Event::Ended { id, outcome, usage: Usage::default() }
    }

    /// The event that answers the first open gate.
    pub fn answer_event(&self, option: &str) -> Event {
        let question = self.open.iter().find(|command| matches!(command, Command::Ask(_))).expect("a gate");
        Event::Answered {
            id: question.id().expect("an id"),
            option: option.to_string(),
            by: "ada".to_string(),
            note: "looks right".to_string(),
            flags: Vec::new(),
            grants: Grants::AskedFor,
        }
    }
}

pub fn pinned(program: &Program) -> Blob {
    let json = serde_json::json!({"program": program, "roles": {}});
    Blob::of(serde_json::to_vec(&json).expect("JSON"))
}

pub fn opened(pinned: &Blob) -> RunOpening {
    RunOpening {
        request: "Export invoices as CSV.".to_string(),
        file: None,
        slug: "csv-export".to_string(),
        base: "0123abcd".to_string(),
        branch: "remand/csv-export".to_string(),
        pinned: pinned.id,
        version: "0.1.0".to_string(),
        by: None,
        checkout: None,
    }
}

pub fn interactive() -> Start {
    Start { mode: Mode::Interactive, ..Start::default() }
}

/// Tasks with one file each. Each task needs the previous one.
pub fn tasks(count: usize) -> Vec<Item> {
    let task = |number: usize| Item {
        id: format!("t{number}"),
        needs: (number > 1).then(|| format!("t{}", number - 1)).into_iter().collect(),
        files: vec![format!("src/t{number}.rs")],
        ..Item::default()
    };
    (1..=count).map(task).collect()
}

/// The events of a walk through a program, with `count` tasks.
pub fn walk(
    program: &'static Program,
    start: Start,
    count: usize,
    drive: impl FnOnce(&mut Walker<'static>),
) -> Vec<Event> {
    let lists = vec![
        ("tasks".to_string(), tasks(count)),
        ("gaps".to_string(), tasks(2)),
        ("batches".to_string(), tasks(1)),
    ];
    let mut walker = Walker::start(program, start, lists).expect("starts");
    drive(&mut walker);
    walker.records.into_iter().map(|record| record.event).collect()
}

/// The events of a run in which every verdict accepts.
pub fn happy_path(name: &str, count: usize) -> Vec<Event> {
    walk(program(name), Start::default(), count, |walker| walker.finish().expect("finishes"))
}

/// The events of a feature run with work sent back twice, a task that is not accepted at first, and a pause.
pub fn rough_path() -> Vec<Event> {
    walk(program("feature"), Start::default(), 3, |walker| {
        walker.until("design-review").expect("reached");
        let findings = vec![finding("F1", "the export loses digits"), finding("F2", "no owner is checked")];
        let review = WalkStep::new("design-review", "needs-revision");
        walker.happen(&WalkStep { findings, ..review }).expect("reviewed");
        walker.until("verify").expect("reached");
        let findings =
            vec![Finding { task: Some("t1".to_string()), ..finding("F3", "the header is missing") }];
        walker.happen(&WalkStep { findings, ..WalkStep::new("verify", "unmet") }).expect("verified");
        walker.feed(Event::Paused { by: "ada".to_string() }, String::new()).expect("paused");
        walker.feed(Event::Resumed { by: "ada".to_string() }, String::new()).expect("resumed");
        walker.until("code-review").expect("reached");
        let findings = vec![finding("F4", "dates are local"), minor(finding("F5", "a typo"))];
        let review = WalkStep::new("code-review", "needs-revision");
        walker.happen(&WalkStep { findings, ..review }).expect("reviewed");
        walker.finish().expect("finishes");
    })
}

pub fn finding(id: &str, claim: &str) -> Finding {
    Finding {
        id: id.to_string(),
        severity: Severity::Major,
        category: Category::Correctness,
        kind: None,
        injected_by: Vec::new(),
        task: None,
        place: Location { file: "src/export.rs".to_string(), symbol: "write".to_string(), line: 12 },
        claim: claim.to_string(),
        evidence: "seen in the diff".to_string(),
        impact: "wrong sums".to_string(),
        recommendation: "keep the decimals".to_string(),
        patch: None,
        repeats: None,
    }
}

pub fn minor(finding: Finding) -> Finding {
    Finding { severity: Severity::Minor, ..finding }
}

/// A check of a task, or of the whole run.
pub fn check(task: Option<&str>, phase: RowPhase, name: &str, passed: bool) -> Check {
    Check {
        task: task.map(str::to_string),
        phase,
        name: name.to_string(),
        tool: "cargo".to_string(),
        command: Some(format!("cargo {name}")),
        exit_code: Some(i32::from(!passed)),
        snippet: format!("output of {name}"),
        output: None,
        passed,
        verdict: None,
        severity: None,
        round: 1,
        tier: Some(Tier::Two),
        iteration: u32::from(phase == RowPhase::After),
        collected: None,
        duration_ms: 40,
        reason: String::new(),
        tests: None,
        reuse: None,
    }
}

/// The verdict of a reviewer.
pub fn review(scope: &str, focus: &str, round: u32, verdict: &str, severity: Option<Severity>) -> Check {
    Check {
        command: Some("adversarial-review".to_string()),
        exit_code: None,
        tool: "reviewer".to_string(),
        verdict: Some(verdict.to_string()),
        severity,
        round,
        tier: None,
        ..check(
            Some(&format!("csv-export-{scope}-review")),
            RowPhase::Review,
            &format!("review-{scope}-{focus}"),
            verdict == "approve",
        )
    }
}

pub fn with_checks(checks: Vec<Check>) -> Facts {
    Facts { checks, ..Facts::default() }
}
