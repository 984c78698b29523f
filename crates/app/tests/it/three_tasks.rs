//! A run of three tasks through the whole `feature` workflow, and the outcome that all such runs share.

use super::place::{Place, Shown};
use remand_kernel::evidence::RowPhase;
use remand_ledger::query::{CheckFilter, DispatchRow};
use remand_ledger::{ReplayFrom, RunId, audit, replay};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::{Duration, Instant};

/// The actions of the agents. An added entry takes precedence if it has more keys.
pub const REHEARSAL: &str = include_str!("three_tasks.yaml");

pub const REQUEST: &str = "More sums";

/// Real checks that take almost no time: the first is a quick check, and refuses unfinished work.
const SETTINGS: &str = r#"
[checks]
detect = false

[checks.finished]
command = "! grep -rq FIXME sums"
tier = 1

[checks.whole]
command = "test -f sums/add.py"
tier = 2
"#;

/// How long a test waits for an expected event.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A project with checks that take almost no time.
pub fn place() -> Place {
    let place = Place::new();
    place.write("remand.toml", SETTINGS);
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "Checks"]);
    place
}

/// The arguments that start a run with this rehearsal.
pub fn arguments(place: &Place, rehearsal: &str) -> Vec<String> {
    let script = place.write_outside("rehearsal.yaml", rehearsal);
    let words = ["run", REQUEST, "--workflow", "feature", "--autonomous", "--agent"];
    words.iter().map(ToString::to_string).chain([format!("rehearsal:{script}")]).collect()
}

/// Runs the request to its end.
pub fn run(place: &Place, rehearsal: &str, more: &[&str]) -> Shown {
    place.run(REQUEST, rehearsal, &[&["--workflow", "feature", "--autonomous"], more].concat())
}

/// The result of a finished run, without times, ids, and the order in which parallel tasks ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    outcome: String,
    confidence: String,
    tree: String,
    commits: String,
    /// The rulings of each task, as JSON.
    rulings: BTreeMap<String, Vec<String>>,
    /// The remaining budgets of the run.
    left: Vec<u16>,
    dispatches: BTreeSet<String>,
    operations: BTreeSet<String>,
    checks: Vec<String>,
    findings: BTreeSet<String>,
    /// The number of versions of each part of each artifact.
    artifacts: BTreeMap<String, usize>,
    /// Dispatches, money, unpriced dispatches, tokens.
    used: [u64; 4],
}

impl Outcome {
    /// The same with the dispatches that were interrupted when the engine stopped, and their usage.
    pub fn with_interrupted(mut self, place: &Place) -> Outcome {
        let rows = place.reader().dispatches(&place.latest().run).expect("dispatches");
        for row in rows.iter().filter(|row| row.command.contains('~')) {
            assert_eq!(
                (row.failure.as_deref(), row.detail.as_deref()),
                (Some("cancelled"), Some("interrupted"))
            );
            self.dispatches.insert(describe(row));
            // A dispatch that was killed before it reported its usage has an unknown cost.
            let [dispatches, money, unpriced, tokens] = self.used;
            self.used = [
                dispatches + 1,
                money + row.money.unwrap_or(0),
                unpriced + u64::from(row.money.is_none()),
                tokens + row.tokens.unwrap_or(0),
            ];
        }
        self
    }
}

fn describe(row: &DispatchRow) -> String {
    let result = (&row.says, &row.failure, row.status, row.tokens, row.money);
    format!("{} {} {:?} {:?} {result:?}", row.command, row.role, row.item, row.task)
}

/// The outcome of the newest run. Also asserts everything that must hold after any run.
pub fn outcome(place: &Place) -> Outcome {
    let reader = place.reader();
    let row = place.latest();
    let run = &row.run;
    assert_sound(place);
    assert_untouched(place);
    assert_eq!(marked_processes(run), Vec::<String>::new(), "processes are left");
    let state = replay(&reader, run, ReplayFrom::Start).expect("the run replays").state;
    let tip = format!("refs/heads/{}", row.branch);
    let mut rulings: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for ruled in reader.rulings(run, 0).expect("rulings") {
        let text = serde_json::to_string(&ruled.ruling).expect("JSON");
        rulings.entry(ruled.ruling.task.unwrap_or_default()).or_default().push(text);
    }
    let mut artifacts = BTreeMap::new();
    let names: BTreeSet<String> =
        reader.artifacts(run).expect("artifacts").into_iter().map(|row| row.name).collect();
    for row in names.iter().flat_map(|name| reader.artifact_versions(run, name).expect("versions")) {
        *artifacts.entry(format!("{} {}", row.name, row.part)).or_default() += 1;
    }
    let mut checks: Vec<String> = reader
        .checks(run, CheckFilter::default())
        .expect("checks")
        .iter()
        // The tree that a task starts from depends on which other task was faster.
        .filter(|row| row.phase != RowPhase::Baseline || row.task.is_none())
        .map(|row| format!("{:?} {:?} {} {} {}", row.task, row.phase, row.name, row.iteration, row.passed))
        .collect();
    checks.sort();
    Outcome {
        outcome: row.outcome(),
        confidence: row.confidence.clone(),
        tree: place.git(&["rev-parse", &format!("{tip}^{{tree}}")]),
        commits: place.git(&["rev-list", "--count", &format!("{}..{tip}", row.base)]),
        rulings,
        left: state.left,
        dispatches: reader.dispatches(run).expect("dispatches").iter().map(describe).collect(),
        operations: reader
            .operations(run)
            .expect("operations")
            .iter()
            .map(|row| format!("{} {:?} {:?}", row.command, row.task, row.result))
            .collect(),
        checks,
        findings: reader.findings(run).expect("findings").iter().map(|row| row.claim.clone()).collect(),
        artifacts,
        used: [row.used.dispatches, row.used.money, row.used.unpriced, row.used.tokens],
    }
}

/// Asserts that the ledger passes its audit.
pub fn assert_sound(place: &Place) {
    let report = audit(&place.reader(), None, |_| {}).expect("an audit");
    assert!(report.is_sound(), "{:?}", report.problems);
}

/// Asserts that the user's checkout is unchanged.
pub fn assert_untouched(place: &Place) {
    assert_eq!(place.git(&["status", "--porcelain", "--ignored"]), "");
    assert_eq!(place.git(&["symbolic-ref", "HEAD"]), "refs/heads/work\n");
    assert_eq!(place.git(&["rev-list", "--count", "HEAD"]), "2\n");
    assert_eq!(place.git(&["stash", "list"]), "");
}

/// The processes that have the marker of a run: id and command line.
pub fn marked_processes(run: &RunId) -> Vec<String> {
    let mark = format!("REMAND_MARK={run}");
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").expect("/proc").flatten() {
        let Ok(environment) = fs::read(entry.path().join("environ")) else { continue };
        let fits = |variable: &[u8]| {
            variable.strip_prefix(mark.as_bytes()).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
        };
        if environment.split(|byte| *byte == 0).any(fits) {
            let words = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let words = String::from_utf8_lossy(&words).replace('\0', " ");
            found.push(format!("{} {words}", entry.file_name().display()));
        }
    }
    found
}

/// Waits until `look` finds something.
pub fn await_some<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    await_within(TIMEOUT, what, look)
}

/// The same with another timeout.
pub fn await_within<T>(timeout: Duration, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let give_up = Instant::now() + timeout;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < give_up, "{what} did not come within {timeout:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
