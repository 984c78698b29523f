//! Ledgers in temporary folders, and runs of shipped workflows that are written into them.

use remand_kernel::command::Command;
use remand_kernel::event::{Event, Grants, Item, Mode, Outcome, Report, Start, Usage};
use remand_kernel::evidence::{RowPhase, Tier};
use remand_kernel::finding::{Category, Finding, Place, Severity};
use remand_kernel::signal::Failure;
use remand_kernel::{Program, State, Step, step};
use remand_ledger::fact::{Check, Opened};
use remand_ledger::{Blob, Entry, Facts, Ledger, LedgerError, Millis, Reader, RunId};
use remand_workflow::walk::{Happening, Walker};
use std::path::PathBuf;
use std::sync::LazyLock;

/// The shipped workflows.
pub const SHIPPED: [&str; 6] = ["feature", "quick", "issue", "ticket", "spec", "tsp"];

/// A compiled workflow, which must be accepted.
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

/// A ledger in a folder of its own.
pub struct Book {
    pub ledger: Ledger,
    folder: tempfile::TempDir,
}

impl Book {
    pub fn new() -> Book {
        let folder = tempfile::tempdir().expect("a folder");
        let ledger = Ledger::open(&folder.path().join("ledger.db")).expect("a ledger");
        Book { ledger, folder }
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("ledger.db")
    }

    pub fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn reader(&self) -> Reader {
        self.ledger.reader().expect("a reader")
    }

    /// A connection that obeys nobody, on tables that show everything.
    pub fn raw(&self) -> rusqlite::Connection {
        drop(Ledger::open(&self.path()).expect("a ledger"));
        rusqlite::Connection::open(self.path()).expect("a connection")
    }

    /// A ledger with the content of another one.
    pub fn copy(bytes: &[u8]) -> Book {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ledger.db");
        std::fs::write(&path, bytes).expect("written");
        Book { ledger: Ledger::open(&path).expect("a ledger"), folder }
    }

    /// All that was written, in one file.
    pub fn bytes(&self) -> Vec<u8> {
        self.raw().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).expect("checkpointed");
        std::fs::read(self.path()).expect("read")
    }

    /// Lives these events and writes them in one commit.
    pub fn live(&mut self, name: &str, program: &'static Program, events: &[Event]) -> Life {
        let mut life = Life::new(name, program);
        let ready: Vec<Ready> =
            events.iter().map(|event| life.ready(event.clone(), Facts::default())).collect();
        let entries: Vec<Entry<'_>> = ready.iter().map(Ready::entry).collect();
        self.ledger.append(&entries).and_then(|_| self.ledger.follow()).expect("appended");
        life
    }
}

/// A run under way.
pub struct Life {
    pub run: RunId,
    pub program: &'static Program,
    pub state: State,
    pub at: i64,
    pub open: Vec<Command>,
}

/// One entry with all that it borrows.
pub struct Ready {
    pub run: RunId,
    pub at: Millis,
    pub event: Event,
    pub facts: Facts,
    pub step: Step,
    pub blobs: Vec<Blob>,
    pub request: Option<i64>,
}

impl Ready {
    pub fn entry(&self) -> Entry<'_> {
        Entry {
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

impl Life {
    pub fn new(name: &str, program: &'static Program) -> Life {
        let run = RunId(name.to_string());
        Life { run, program, state: State::new(program), at: 1_750_000_000_000, open: Vec::new() }
    }

    /// Steps an event; the first one of a run brings what the run was opened with.
    pub fn ready(&mut self, event: Event, mut facts: Facts) -> Ready {
        let mut blobs = Vec::new();
        if matches!(event, Event::Started(_)) {
            let pinned = pinned(self.program);
            facts.opened = Some(opened(&pinned));
            blobs.push(pinned);
        }
        self.at += 1000;
        let step = step(self.program, &mut self.state, &event).expect("taken");
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
        Ready { run: self.run.clone(), at: Millis(self.at), event, facts, step, blobs, request: None }
    }

    pub fn feed(&mut self, ledger: &mut Ledger, event: Event, facts: Facts) -> Result<u64, LedgerError> {
        let ready = self.ready(event, facts);
        let seqs = ledger.append(&[ready.entry()])?;
        ledger.follow()?;
        Ok(seqs[0])
    }

    /// Starts the run.
    pub fn start(&mut self, ledger: &mut Ledger, start: Start) {
        self.feed(ledger, Event::Started(start), Facts::default()).expect("started");
    }

    /// The first open command ends with this report.
    pub fn says(&self, says: &str) -> Event {
        let id = self.open[0].id().expect("an id");
        let usage = Usage { money: Some(1200), tokens: Some(900), time: 5000, ..Usage::default() };
        Event::Ended { id, outcome: Outcome::Said(Box::new(Report::saying(says))), usage }
    }

    /// The first open command fails.
    pub fn fails(&self, failure: Failure, in_a_row: u16) -> Event {
        let id = self.open[0].id().expect("an id");
        let outcome = Outcome::Failed { failure, detail: "no network".to_string(), in_a_row };
        Event::Ended { id, outcome, usage: Usage::default() }
    }

    /// The first open gate is answered.
    pub fn answers(&self, option: &str) -> Event {
        let asked = self.open.iter().find(|command| matches!(command, Command::Ask(_))).expect("a gate");
        Event::Answered {
            id: asked.id().expect("an id"),
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

pub fn opened(pinned: &Blob) -> Opened {
    Opened {
        request: "Export invoices as CSV.".to_string(),
        file: None,
        slug: "csv-export".to_string(),
        base: "0123abcd".to_string(),
        branch: "remand/csv-export".to_string(),
        pinned: pinned.id,
        version: "0.1.0".to_string(),
    }
}

pub fn interactive() -> Start {
    Start { mode: Mode::Interactive, ..Start::default() }
}

/// Tasks with their files; each needs the one before.
pub fn tasks(count: usize) -> Vec<Item> {
    let task = |at: usize| Item {
        id: format!("t{at}"),
        needs: (at > 1).then(|| format!("t{}", at - 1)).into_iter().collect(),
        files: vec![format!("src/t{at}.rs")],
        ..Item::default()
    };
    (1..=count).map(task).collect()
}

/// The events of a walk.
pub fn walk(
    program: &'static Program,
    start: Start,
    count: usize,
    go: impl FnOnce(&mut Walker<'static>),
) -> Vec<Event> {
    let lists = vec![
        ("tasks".to_string(), tasks(count)),
        ("gaps".to_string(), tasks(2)),
        ("batches".to_string(), tasks(1)),
    ];
    let mut walker = Walker::start(program, start, lists).expect("starts");
    go(&mut walker);
    walker.taken.into_iter().map(|taken| taken.event).collect()
}

/// The events of a run in which everything goes well.
pub fn happy(name: &str, count: usize) -> Vec<Event> {
    walk(program(name), Start::default(), count, |walker| walker.finish().expect("finishes"))
}

/// The events of a feature with work sent back twice, tasks that fail first, a pause and open ends.
pub fn stormy() -> Vec<Event> {
    walk(program("feature"), Start::default(), 3, |walker| {
        walker.until("design-review").expect("reached");
        let findings = vec![finding("F1", "the export loses digits"), finding("F2", "no owner is checked")];
        let review = Happening::new("design-review", "needs-revision");
        walker.happen(&Happening { findings, ..review }).expect("reviewed");
        walker.until("verify").expect("reached");
        let findings =
            vec![Finding { task: Some("t1".to_string()), ..finding("F3", "the header is missing") }];
        walker.happen(&Happening { findings, ..Happening::new("verify", "unmet") }).expect("verified");
        walker.feed(Event::Paused { by: "ada".to_string() }, String::new()).expect("paused");
        walker.feed(Event::Resumed { by: "ada".to_string() }, String::new()).expect("resumed");
        walker.until("code-review").expect("reached");
        let findings = vec![finding("F4", "dates are local"), minor(finding("F5", "a typo"))];
        let review = Happening::new("code-review", "needs-revision");
        walker.happen(&Happening { findings, ..review }).expect("reviewed");
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
        place: Place { file: "src/export.rs".to_string(), symbol: "write".to_string(), line: 12 },
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
        snippet: format!("{name} said so"),
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
