-- One run for people and tools that know the source's tables: the definitions are the source's own.
CREATE TABLE anvil_checks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id TEXT NOT NULL,
    task_id TEXT NOT NULL,
    phase TEXT NOT NULL CHECK(phase IN ('baseline', 'after', 'review')),
    check_name TEXT NOT NULL,
    tool TEXT NOT NULL,
    command TEXT,
    exit_code INTEGER,
    output_snippet TEXT CHECK(LENGTH(output_snippet) <= 500),
    passed INTEGER NOT NULL CHECK(passed IN (0, 1)),
    verdict TEXT CHECK(verdict IN ('approve', 'needs_revision', 'blocker')),
    severity TEXT CHECK(severity IN ('Blocker', 'Critical', 'Major', 'Minor')),
    round INTEGER NOT NULL DEFAULT 1,
    ts DATETIME DEFAULT CURRENT_TIMESTAMP
);
CREATE TABLE pipeline_telemetry (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id TEXT NOT NULL,
    step TEXT NOT NULL,
    agent TEXT NOT NULL,
    instance TEXT,
    started_at TEXT NOT NULL,
    completed_at TEXT,
    status TEXT CHECK(status IN ('DONE', 'NEEDS_REVISION', 'ERROR', 'running')),
    dispatch_count INTEGER DEFAULT 1,
    retry_count INTEGER DEFAULT 0,
    notes TEXT,
    ts DATETIME DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX idx_anvil_task_phase ON anvil_checks(task_id, phase);
CREATE INDEX idx_anvil_run_round ON anvil_checks(run_id, round);
CREATE INDEX idx_telemetry_step ON pipeline_telemetry(step);

-- What shows that the tests of the change can fail.
CREATE TABLE test_proofs (
    seq INTEGER NOT NULL,
    task TEXT,
    iteration INTEGER NOT NULL,
    check_name TEXT NOT NULL,
    test TEXT NOT NULL,
    origin TEXT NOT NULL,
    proof TEXT NOT NULL,
    detail TEXT NOT NULL
);
CREATE TABLE mutants (
    seq INTEGER NOT NULL,
    task TEXT,
    iteration INTEGER NOT NULL,
    identity TEXT NOT NULL,
    file TEXT NOT NULL,
    line INTEGER NOT NULL,
    function TEXT NOT NULL,
    kind TEXT NOT NULL,
    alteration TEXT NOT NULL,
    fate TEXT NOT NULL,
    detail TEXT NOT NULL
);

-- The run's rows of the journal; each can be checked by itself with the hash of the row before it.
CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    run TEXT NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    facts TEXT NOT NULL,
    rulings TEXT NOT NULL,
    commands TEXT NOT NULL,
    hash BLOB NOT NULL,
    previous BLOB NOT NULL
);
CREATE TABLE head (count INTEGER NOT NULL, hash BLOB NOT NULL);
