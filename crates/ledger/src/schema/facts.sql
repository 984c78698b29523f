-- Facts that used to be readable in English only. Rows written before this format get them when the tables are rebuilt.
-- Which limit a gate asks about.
ALTER TABLE gates ADD COLUMN limit_kind TEXT;
-- What the ruling did: remand, next, hold, and so on.
ALTER TABLE rulings ADD COLUMN kind TEXT;
-- The git tree that a task's baseline row was measured on; none where it is the tree of the run's base commit.
ALTER TABLE checks ADD COLUMN tree TEXT;
-- What was wrong with a result that the contract refused.
ALTER TABLE commands ADD COLUMN malformed TEXT;

-- What became of a run's work: committed, refused by a hook, or left to the user. One row for each operation that says so.
CREATE TABLE deliveries (
    id INTEGER PRIMARY KEY,
    run TEXT NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    -- The delivery as JSON.
    body TEXT NOT NULL
) STRICT;
CREATE INDEX deliveries_of_run ON deliveries (run, id);

-- Where a run is, in types, after its last event: lanes, tasks, budgets, outcome.
CREATE TABLE run_details (
    run TEXT PRIMARY KEY,
    -- The detail as JSON.
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
