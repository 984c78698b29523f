-- What is made from the journal, and can be made again from it at any time.
CREATE TABLE runs (
    run TEXT PRIMARY KEY,
    workflow TEXT NOT NULL,
    subject TEXT NOT NULL,
    request TEXT NOT NULL,
    slug TEXT NOT NULL,
    mode TEXT NOT NULL,
    base TEXT NOT NULL,
    branch TEXT NOT NULL,
    pinned BLOB NOT NULL,
    version TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    stage TEXT NOT NULL,
    place TEXT NOT NULL,
    ended TEXT,
    confidence TEXT NOT NULL,
    risk TEXT NOT NULL,
    dispatches INTEGER NOT NULL,
    money INTEGER NOT NULL,
    unpriced INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    time INTEGER NOT NULL,
    limit_dispatches INTEGER,
    limit_money INTEGER,
    limit_tokens INTEGER,
    limit_time INTEGER
) STRICT;
CREATE INDEX runs_by_age ON runs (created_at, run);

-- Dispatches and operations. Like other tables of which a step writes rows, those of a run lie together in the order of
-- the journal: so a step touches few pages, and each page costs two writes and a share of the sync.
CREATE TABLE commands (
    run TEXT NOT NULL,
    -- The event that it was issued with, and its place among the commands of that event.
    seq INTEGER NOT NULL,
    n INTEGER NOT NULL,
    -- Unique over all runs, and sorted by issue.
    id INTEGER NOT NULL,
    kind TEXT NOT NULL,
    command TEXT NOT NULL,
    phase TEXT NOT NULL,
    -- The role, or the operation.
    name TEXT NOT NULL,
    item TEXT,
    task TEXT,
    advisory INTEGER NOT NULL,
    visit INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    completed_at INTEGER,
    status TEXT NOT NULL,
    retries INTEGER NOT NULL,
    tokens INTEGER,
    money INTEGER,
    time INTEGER,
    model TEXT,
    driver TEXT,
    session TEXT,
    says TEXT,
    failure TEXT,
    detail TEXT,
    summary TEXT,
    prompt BLOB,
    output BLOB,
    result BLOB,
    before TEXT,
    after TEXT,
    exit_code INTEGER,
    -- The event that ended it, in the whole journal.
    ended_by INTEGER,
    PRIMARY KEY (run, seq, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE rulings (
    run TEXT NOT NULL,
    seq INTEGER NOT NULL,
    n INTEGER NOT NULL,
    at INTEGER NOT NULL,
    phase TEXT NOT NULL,
    task TEXT,
    signal TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT,
    body TEXT NOT NULL,
    PRIMARY KEY (run, seq, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE checks (
    id INTEGER PRIMARY KEY,
    run TEXT NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    task TEXT,
    -- The task, or the slug of the run; none for a baseline of the whole run, which counts for every task.
    task_id TEXT,
    phase TEXT NOT NULL,
    name TEXT NOT NULL,
    tool TEXT NOT NULL,
    command TEXT,
    exit_code INTEGER,
    snippet TEXT NOT NULL,
    output BLOB,
    passed INTEGER NOT NULL,
    verdict TEXT,
    severity TEXT,
    round INTEGER NOT NULL,
    tier INTEGER,
    iteration INTEGER NOT NULL,
    collected INTEGER,
    duration_ms INTEGER NOT NULL,
    reason TEXT NOT NULL,
    tests BLOB,
    superseded INTEGER NOT NULL
) STRICT;
CREATE INDEX checks_standing ON checks (run, task_id, phase, superseded, round, passed, verdict, name, iteration);

CREATE TABLE findings (
    run TEXT NOT NULL,
    position INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    id TEXT NOT NULL,
    severity TEXT NOT NULL,
    category TEXT NOT NULL,
    kind TEXT,
    injected_by TEXT NOT NULL,
    phase TEXT NOT NULL,
    task TEXT,
    file TEXT NOT NULL,
    symbol TEXT NOT NULL,
    line INTEGER NOT NULL,
    claim TEXT NOT NULL,
    evidence TEXT NOT NULL,
    impact TEXT NOT NULL,
    recommendation TEXT NOT NULL,
    patch TEXT,
    repeats TEXT,
    status TEXT NOT NULL,
    sent_to TEXT,
    count INTEGER NOT NULL,
    known INTEGER NOT NULL,
    PRIMARY KEY (run, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE artifacts (
    run TEXT NOT NULL,
    name TEXT NOT NULL,
    part TEXT NOT NULL,
    version INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    digest INTEGER NOT NULL,
    blob BLOB NOT NULL,
    by TEXT NOT NULL,
    format TEXT NOT NULL,
    PRIMARY KEY (run, name, part, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE gates (
    id INTEGER PRIMARY KEY,
    run TEXT NOT NULL,
    seq INTEGER NOT NULL,
    command TEXT NOT NULL,
    phase TEXT NOT NULL,
    task TEXT,
    kind TEXT NOT NULL,
    question TEXT NOT NULL,
    options TEXT NOT NULL,
    withheld TEXT NOT NULL,
    approaches TEXT NOT NULL,
    preset TEXT,
    mandatory INTEGER NOT NULL,
    mode TEXT NOT NULL,
    opened_at INTEGER NOT NULL,
    option TEXT,
    by TEXT,
    note TEXT,
    flags TEXT,
    answered_at INTEGER,
    withdrawn_at INTEGER,
    auto INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX gates_of_run ON gates (run, command);
CREATE INDEX gates_open ON gates (run) WHERE answered_at IS NULL AND withdrawn_at IS NULL;

CREATE TABLE notes (
    id INTEGER PRIMARY KEY,
    run TEXT NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    files TEXT NOT NULL,
    blob BLOB
) STRICT;
CREATE INDEX notes_of_run ON notes (run, kind);
CREATE INDEX notes_by_kind ON notes (kind, id);

CREATE TABLE tasks (
    run TEXT NOT NULL,
    id TEXT NOT NULL,
    position INTEGER NOT NULL,
    needs TEXT NOT NULL,
    files TEXT NOT NULL,
    -- 0 for a task that a later list does not have any more.
    listed INTEGER NOT NULL,
    PRIMARY KEY (run, id)
) STRICT, WITHOUT ROWID;
