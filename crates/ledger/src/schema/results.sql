-- Results of checks that hold for a tree, wherever it comes up again, and rows that were taken over from another.
CREATE TABLE results (
    key BLOB PRIMARY KEY,
    check_id INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE reuses (
    check_id INTEGER PRIMARY KEY,
    run TEXT NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL
) STRICT;

CREATE INDEX checks_by_name ON checks (name, id);
