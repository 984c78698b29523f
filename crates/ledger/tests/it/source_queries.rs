//! The gate queries that users of `anvil_checks` and `pipeline_telemetry` run, unchanged, on the views and on an export.

use crate::support::{TestLedger, TestRun, check, happy_path, program, review, with_checks};
use remand_kernel::evidence::RowPhase;
use remand_kernel::finding::Severity;
use remand_ledger::fact::{Check, Telemetry};
use remand_ledger::{Facts, Millis};
use rusqlite::Connection;
use std::sync::LazyLock;

/// The gate queries, each with a name.
pub const GATE_QUERIES: &[(&str, &str)] = &[
    (
        "baseline",
        "SELECT COUNT(*) FROM anvil_checks
  WHERE run_id = '{run_id}' AND task_id = '{task_id}' AND phase = 'baseline';",
    ),
    (
        "after",
        "SELECT COUNT(*) FROM anvil_checks
  WHERE run_id = '{run_id}' AND task_id = '{task_id}' AND phase = 'after' AND passed = 1;",
    ),
    (
        "design approvals",
        "SELECT COUNT(*) FROM anvil_checks
  WHERE run_id = '{run_id}' AND task_id = '{task_id}' AND phase = 'review'
    AND check_name LIKE 'review-design-%' AND round = {current_round} AND verdict = 'approve';",
    ),
    (
        "design blockers",
        "SELECT COUNT(*) FROM anvil_checks
  WHERE run_id = '{run_id}' AND task_id = '{task_id}' AND phase = 'review'
    AND check_name LIKE 'review-design-%' AND round = {current_round} AND verdict = 'blocker';",
    ),
    (
        "code approvals",
        "SELECT COUNT(*) FROM anvil_checks
  WHERE run_id = '{run_id}' AND task_id = '{task_id}' AND phase = 'review'
    AND check_name LIKE 'review-code-%' AND round = {current_round} AND verdict = 'approve';",
    ),
    (
        "code blockers",
        "SELECT COUNT(*) FROM anvil_checks
  WHERE run_id = '{run_id}' AND task_id = '{task_id}' AND phase = 'review'
    AND check_name LIKE 'review-code-%' AND round = {current_round} AND verdict = 'blocker';",
    ),
    (
        "submitted",
        "SELECT COUNT(*) FROM anvil_checks
  WHERE run_id = '{run_id}' AND task_id = '{task_id}' AND phase = 'review'
    AND check_name LIKE 'review-{scope}-%' AND round = {current_round} AND verdict IS NOT NULL;",
    ),
    (
        "baseline, later",
        "SELECT COUNT(*) FROM anvil_checks WHERE task_id = '{task_id}' AND run_id = '{run_id}' AND phase = 'baseline';",
    ),
    (
        "after, later",
        "SELECT COUNT(*) FROM anvil_checks WHERE task_id = '{task_id}' AND run_id = '{run_id}' AND phase = 'after' AND passed = 1;",
    ),
    (
        "submitted, later",
        "SELECT COUNT(*) FROM anvil_checks WHERE task_id = '{task_id}' AND run_id = '{run_id}' AND phase = 'review' AND round = {round} AND verdict IS NOT NULL;",
    ),
    (
        "blockers, later",
        "SELECT COUNT(*) FROM anvil_checks WHERE task_id = '{task_id}' AND run_id = '{run_id}' AND phase = 'review' AND round = {round} AND verdict = 'blocker';",
    ),
    (
        "approvals, later",
        "SELECT COUNT(*) FROM anvil_checks WHERE task_id = '{task_id}' AND run_id = '{run_id}' AND phase = 'review' AND round = {round} AND verdict = 'approve';",
    ),
    (
        "after, summary",
        "SELECT COUNT(*) FROM anvil_checks WHERE task_id='{task_id}' AND run_id='{run_id}' AND phase='after' AND passed=1;",
    ),
    (
        "baseline, table",
        "SELECT COUNT(*) FROM anvil_checks WHERE run_id='{run_id}' AND task_id='{task_id}' AND phase='baseline';",
    ),
];

/// Queries without a run, for files that hold one run only.
const UNFILTERED: &str =
    "SELECT COUNT(*) FROM anvil_checks WHERE task_id='{task_id}' AND phase='after' AND passed=1;";
const BUNDLE: &str =
    "SELECT phase, check_name, tool, command, exit_code, passed, verdict, severity, round, output_snippet
FROM anvil_checks WHERE task_id = '{task_id}' AND run_id = '{run_id}' ORDER BY phase DESC, id;";
const TOTAL: &str = "SELECT COUNT(*) FROM pipeline_telemetry;";
const AVERAGE: &str = "SELECT step, AVG(JULIANDAY(completed_at) - JULIANDAY(started_at)) * 86400 AS avg_seconds FROM pipeline_telemetry GROUP BY step;";
const FAILED: &str = "SELECT step, agent, status, notes FROM pipeline_telemetry WHERE status = 'ERROR';";

/// Fills in the placeholders of a query.
pub fn fill_in(sql: &str, run: &str, task: &str, round: u32) -> String {
    let scope = if task.contains("-code-") { "code" } else { "design" };
    sql.replace("{run_id}", run)
        .replace("{task_id}", task)
        .replace("{current_round}", &round.to_string())
        .replace("{round}", &round.to_string())
        .replace("{scope}", scope)
}

fn after(task: &str, name: &str, passed: bool, iteration: u32) -> Check {
    Check { iteration, ..check(Some(task), RowPhase::After, name, passed) }
}

/// The checks of each run, one list for each event after the plan.
fn checks_by_event() -> Vec<Vec<Check>> {
    vec![
        vec![
            review("design", "security", 1, "approve", None),
            review("design", "architecture", 1, "needs-revision", Some(Severity::Major)),
            review("design", "correctness", 1, "approve", None),
        ],
        vec![
            review("design", "security", 2, "approve", None),
            review("design", "architecture", 2, "approve", Some(Severity::Minor)),
            review("design", "correctness", 2, "approve", None),
        ],
        vec![check(None, RowPhase::Baseline, "build", true), check(None, RowPhase::Baseline, "test", false)],
        vec![after("t1", "build", true, 1), after("t1", "test", false, 1), after("t1", "lint", true, 1)],
        vec![after("t1", "build", true, 2), after("t1", "test", true, 2), after("t2", "build", true, 1)],
        vec![
            review("code", "security", 1, "blocker", Some(Severity::Blocker)),
            review("code", "architecture", 1, "approve", None),
            review("code", "correctness", 1, "approve", None),
        ],
    ]
}

/// Two runs with the same tasks, so that a query without its run would count twice.
pub fn two_runs() -> TestLedger {
    static BYTES: LazyLock<Vec<u8>> = LazyLock::new(|| append_two_runs().bytes());
    TestLedger::copy(&BYTES)
}

fn append_two_runs() -> TestLedger {
    let mut test = TestLedger::new();
    for run in ["r1", "r2"] {
        let mut facts = checks_by_event().into_iter().map(with_checks);
        let mut test_run = TestRun::new(run, program("feature"));
        for event in happy_path("feature", 2) {
            let planned = test_run.state.lists.iter().any(|list| !list.is_empty());
            let mut facts = if planned { facts.next().unwrap_or_default() } else { Facts::default() };
            if matches!(event, remand_kernel::Event::Ended { .. }) {
                facts.telemetry = Some(Telemetry {
                    started_at: Millis(test_run.at),
                    ended_at: Millis(test_run.at + 2500),
                    summary: "went well".to_string(),
                    ..Telemetry::default()
                });
            }
            test_run.feed(&mut test.ledger, event, facts).unwrap();
        }
        assert!(facts.next().is_none());
    }
    test
}

fn count(conn: &Connection, sql: &str) -> i64 {
    conn.query_row(sql, [], |row| row.get(0)).unwrap_or_else(|error| panic!("{error}\n{sql}"))
}

/// The expected result of each query for a task and a round.
fn expected(query: &str, task: &str, round: u32) -> i64 {
    let is_design = task == "csv-export-design-review";
    let is_code = task == "csv-export-code-review" && round == 1;
    let reviewed = i64::from((is_design && round <= 2) || is_code) * 3;
    let approved = match round {
        1 if is_design || is_code => 2,
        2 if is_design => 3,
        _ => 0,
    };
    let query = query.split(',').next().unwrap_or_default();
    match query {
        "baseline" => i64::from(task == "t1" || task == "t2") * 2,
        "after" if task == "t1" => 2,
        "after" if task == "t2" => 1,
        "after" => 0,
        "design approvals" if is_design => approved,
        "code approvals" if is_code => approved,
        "approvals" => approved,
        "code blockers" | "blockers" => i64::from(is_code),
        "design approvals" | "code approvals" | "design blockers" => 0,
        "submitted" => reviewed,
        other => panic!("{other}"),
    }
}

fn assert_counts(conn: &Connection, run: &str) {
    for (query, sql) in GATE_QUERIES {
        for task in ["t1", "t2", "t9", "csv-export-design-review", "csv-export-code-review", "csv-export"] {
            for round in [1, 2, 3] {
                let sql = fill_in(sql, run, task, round);
                assert_eq!(count(conn, &sql), expected(query, task, round), "{query} of {task}: {sql}");
            }
        }
    }
}

// EP-17
#[test]
fn every_gate_query_gives_the_expected_count_on_the_views() {
    let test = two_runs();
    for run in ["r1", "r2"] {
        assert_counts(&test.raw(), run);
    }
    let sql = fill_in(GATE_QUERIES[1].1, "r3", "t1", 1);
    assert_eq!(count(&test.raw(), &sql), 0, "another run");
}

// EP-17
#[test]
fn an_exported_run_answers_the_unfiltered_queries_too() {
    let test = two_runs();
    let to = test.sibling("evidence.db");
    let run = remand_ledger::RunId("r1".to_string());
    remand_ledger::export(&test.reader(), &run, &to).unwrap();
    let export = Connection::open(&to).unwrap();
    assert_counts(&export, "r1");
    assert_eq!(count(&export, &fill_in(UNFILTERED, "", "t1", 1)), 2);
    assert_eq!(count(&test.raw(), &fill_in(UNFILTERED, "", "t1", 1)), 4, "two runs are in the ledger");
    let dispatches = test.reader().totals(&run).unwrap().dispatches.cast_signed();
    assert_eq!(count(&export, TOTAL), dispatches);
    assert_eq!(count(&export, "SELECT SUM(dispatch_count) FROM pipeline_telemetry"), dispatches);
    assert_eq!(
        count(&export, "SELECT COUNT(*) FROM (SELECT 1 FROM pipeline_telemetry WHERE run_id <> 'r1')"),
        0
    );
}

// EP-17
#[test]
fn the_bundle_query_gives_rows_in_the_original_spelling() {
    let test = two_runs();
    let raw = test.raw();
    let mut statement = raw.prepare(&fill_in(BUNDLE, "r1", "csv-export-design-review", 1)).unwrap();
    let rows: Vec<String> = statement
        .query_map([], |row| {
            let values: Vec<rusqlite::types::Value> =
                [0, 1, 4, 6, 7, 8].into_iter().map(|column| row.get(column)).collect::<Result<_, _>>()?;
            Ok(format!("{values:?}"))
        })
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let second = r#"[Text("review"), Text("review-design-architecture"), Null, Text("needs_revision"), Text("Major"), Integer(1)]"#;
    assert_eq!(rows[1], second);
    assert_eq!(rows.len(), 6);
    let mut statement = raw.prepare(&fill_in(BUNDLE, "r1", "t1", 1)).unwrap();
    let phases: Vec<String> =
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert_eq!(phases, ["baseline", "baseline", "after", "after", "after"]);
}

// EP-16, EP-17
#[test]
fn every_round_is_kept_and_only_the_latest_counts() {
    let test = two_runs();
    let to = test.sibling("rounds.db");
    remand_ledger::export(&test.reader(), &remand_ledger::RunId("r1".to_string()), &to).unwrap();
    for conn in [test.raw(), Connection::open(&to).unwrap()] {
        let rows = "SELECT group_concat(task_id || ' ' || check_name || ' ' || passed, ', ') FROM (SELECT * FROM anvil_checks
            WHERE run_id = 'r1' AND phase = 'after' AND task_id LIKE 't1%' ORDER BY id)";
        let rows: String = conn.query_row(rows, [], |row| row.get(0)).unwrap();
        assert_eq!(rows, "t1@1 build 1, t1 test 0, t1@1 lint 1, t1 build 1, t1 test 1");
        assert_counts(&conn, "r1");
    }
    let raw = test.raw();
    let plan = "EXPLAIN QUERY PLAN SELECT COUNT(*) FROM anvil_checks
        WHERE run_id = 'r1' AND task_id = 't1' AND phase = 'after' AND passed = 1";
    let mut statement = raw.prepare(plan).unwrap();
    let steps: Vec<String> = statement.query_map([], |row| row.get(3)).unwrap().map(Result::unwrap).collect();
    assert!(
        steps.iter().any(|step| step.contains("checks_passed_earlier (run=? AND <expr>=?")),
        "{steps:#?}"
    );
}

// EP-17, EP-33
#[test]
fn the_judgement_of_a_criterion_has_a_verdict_and_is_not_a_review() {
    let mut test = TestLedger::new();
    let mut test_run = TestRun::new("r1", program("feature"));
    let judged = |name: &str, passed| Check { round: 1, ..check(Some("t1"), RowPhase::Review, name, passed) };
    let facts = with_checks(vec![judged("criterion-AC-1", true), judged("criterion-AC-2", false)]);
    test_run.start(&mut test.ledger, Default::default());
    let event = test_run.end_event("ready");
    test_run.feed(&mut test.ledger, event, facts).unwrap();
    let raw = test.raw();
    let verdicts =
        "SELECT group_concat(check_name || ' ' || verdict, ', ') FROM anvil_checks WHERE phase = 'review'";
    let verdicts: String = raw.query_row(verdicts, [], |row| row.get(0)).unwrap();
    assert_eq!(verdicts, "criterion-AC-1 approve, criterion-AC-2 needs_revision");
    for (query, sql) in GATE_QUERIES.iter().filter(|(query, _)| query.contains("approvals")) {
        assert_eq!(count(&raw, &fill_in(sql, "r1", "csv-export-code-review", 1)), 0, "{query}");
    }
}

// EP-17, EP-26
#[test]
fn the_telemetry_queries_give_seconds_and_errors() {
    let mut test = two_runs();
    let mut test_run = TestRun::new("r3", program("feature"));
    test_run.start(&mut test.ledger, Default::default());
    let event = test_run.end_event("ready");
    test_run.feed(&mut test.ledger, event, Facts::default()).unwrap();
    let event = test_run.fail_event(remand_kernel::signal::Failure::Denied, 0);
    test_run.feed(&mut test.ledger, event, Facts::default()).unwrap();
    let raw = test.raw();
    let mut statement = raw.prepare(AVERAGE).unwrap();
    let mut averages = statement.query([]).unwrap();
    let mut steps = 0;
    while let Some(row) = averages.next().unwrap() {
        let seconds: f64 = row.get(1).unwrap();
        let step: String = row.get(0).unwrap();
        assert!((seconds - 2.5).abs() < 0.01 || step == "research", "{step} took {seconds} s");
        steps += 1;
    }
    assert!(steps >= 9, "{steps}");
    let failed: (String, String, String, String) =
        raw.query_row(FAILED, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))).unwrap();
    assert_eq!(
        failed,
        (
            "research".to_string(),
            "researcher".to_string(),
            "ERROR".to_string(),
            "denied: no network".to_string()
        )
    );
    let running = count(&raw, "SELECT COUNT(*) FROM pipeline_telemetry WHERE status = 'running'");
    assert_eq!(running, 3);
}

// EP-17
#[test]
fn the_views_have_the_original_columns_and_time_format() {
    let test = two_runs();
    let raw = test.raw();
    let columns = |view: &str| -> Vec<String> {
        let statement = raw.prepare(&format!("SELECT * FROM {view}")).unwrap();
        statement.column_names().map(str::to_string).collect()
    };
    assert_eq!(
        columns("anvil_checks"),
        [
            "id",
            "run_id",
            "task_id",
            "phase",
            "check_name",
            "tool",
            "command",
            "exit_code",
            "output_snippet",
            "passed",
            "verdict",
            "severity",
            "round",
            "ts",
        ]
    );
    assert_eq!(
        columns("pipeline_telemetry"),
        [
            "id",
            "run_id",
            "step",
            "agent",
            "instance",
            "started_at",
            "completed_at",
            "status",
            "dispatch_count",
            "retry_count",
            "notes",
            "ts",
        ]
    );
    let times = "SELECT ts FROM anvil_checks UNION ALL SELECT started_at FROM pipeline_telemetry
        UNION ALL SELECT completed_at FROM pipeline_telemetry UNION ALL SELECT ts FROM pipeline_telemetry";
    let mut statement = raw.prepare(times).unwrap();
    for time in statement.query_map([], |row| row.get::<_, String>(0)).unwrap() {
        let time = time.unwrap();
        let shape: String = time.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
        assert_eq!(shape, "0000-00-00T00:00:00.000Z", "{time}");
    }
}

// EP-17
#[test]
fn a_long_snippet_is_cut_in_the_view() {
    let mut test = TestLedger::new();
    let mut test_run = TestRun::new("r1", program("quick"));
    test_run.start(&mut test.ledger, Default::default());
    let row = Check { snippet: "ä".repeat(900), ..check(Some("t1"), RowPhase::After, "build", true) };
    let event = test_run.end_event("ready");
    test_run.feed(&mut test.ledger, event, with_checks(vec![row])).unwrap();
    assert_eq!(count(&test.raw(), "SELECT length(output_snippet) FROM anvil_checks"), 500);
    let to = test.sibling("evidence.db");
    remand_ledger::export(&test.reader(), &test_run.run, &to)
        .expect("short enough for the constraint on the length");
}

// EP-18
#[test]
fn every_gate_query_is_answered_from_an_index_alone() {
    let test = two_runs();
    let raw = test.raw();
    let root = |name: &str| -> i64 {
        raw.query_row("SELECT rootpage FROM sqlite_schema WHERE name = ?1", [name], |row| row.get(0)).unwrap()
    };
    let (table, index) = (root("checks"), root("checks_standing"));
    for (query, sql) in GATE_QUERIES {
        let sql = fill_in(sql, "r1", "t1", 1);
        let mut statement = raw.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let plan: Vec<String> =
            statement.query_map([], |row| row.get::<_, String>(3)).unwrap().map(Result::unwrap).collect();
        let searched = "SEARCH checks USING INDEX checks_standing (run=? AND task_id=? AND phase=?";
        assert_eq!(plan.iter().filter(|line| line.starts_with(searched)).count(), 3, "{query}: {plan:#?}");
        assert!(!plan.iter().any(|line| line.starts_with("SCAN checks")), "{query}: {plan:#?}");

        // The plan of a view does not say "covering", but the bytecode reads no column from the table.
        let mut statement = raw.prepare(&format!("EXPLAIN {sql}")).unwrap();
        let program: Vec<(String, i64, i64)> = statement
            .query_map([], |row| Ok((row.get(1)?, row.get(2)?, row.get(3)?)))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        let cursors = |page: i64| -> Vec<i64> {
            let opened = program.iter().filter(|(op, _, root)| op == "OpenRead" && *root == page);
            opened.map(|(_, cursor, _)| *cursor).collect()
        };
        let reads = |page: i64| {
            let cursors = cursors(page);
            program.iter().filter(|(op, cursor, _)| op == "Column" && cursors.contains(cursor)).count()
        };
        assert_eq!(reads(table), 0, "{query} reads rows of the table");
        assert!(reads(index) > 0, "{query} reads the index");
    }
}
