-- Dispatches, operations and rulings in the order of the whole journal: the rows of a commit lie together at the end,
-- whichever runs they are of, so a commit of many runs touches few pages. The rows of a run are found by its events: the
-- id of a row is that of its event, shifted by sixteen bits, and its place there.
ALTER TABLE commands RENAME TO commands_of_runs;
ALTER TABLE rulings RENAME TO rulings_of_runs;

CREATE TABLE commands (
    id INTEGER PRIMARY KEY,
    run TEXT NOT NULL,
    -- The event that it was issued with, and its place among the commands of that event.
    seq INTEGER NOT NULL,
    n INTEGER NOT NULL,
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
    -- The tokens by kind; none where the agent did not say.
    tokens_in INTEGER,
    tokens_out INTEGER,
    tokens_cached INTEGER,
    tokens_stored INTEGER,
    -- The price that the cost was reckoned by; none where the agent told its cost, or nobody knows it.
    price TEXT
) STRICT;

CREATE TABLE rulings (
    id INTEGER PRIMARY KEY,
    run TEXT NOT NULL,
    seq INTEGER NOT NULL,
    n INTEGER NOT NULL,
    at INTEGER NOT NULL,
    phase TEXT NOT NULL,
    task TEXT,
    signal TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT,
    body TEXT NOT NULL
) STRICT;

INSERT INTO commands (id, run, seq, n, kind, command, phase, name, item, task, advisory, visit, attempt, started_at, completed_at, status,
    retries, tokens, money, time, model, driver, session, says, failure, detail, summary, prompt, output, result, before,
    after, exit_code, ended_by, tokens_in, tokens_out, tokens_cached, tokens_stored, price)
SELECT id, run, seq, n, kind, command, phase, name, item, task, advisory, visit, attempt, started_at, completed_at, status,
    retries, tokens, money, time, model, driver, session, says, failure, detail, summary, prompt, output, result, before,
    after, exit_code, ended_by, tokens_in, tokens_out, tokens_cached, tokens_stored, price
FROM commands_of_runs ORDER BY id;

DROP TABLE commands_of_runs;
