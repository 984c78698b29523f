-- Tests that must be able to fail, each with what shows that it can.
CREATE TABLE test_proofs (
    id INTEGER PRIMARY KEY,
    run TEXT NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    -- None for the whole run.
    task TEXT,
    iteration INTEGER NOT NULL,
    check_name TEXT NOT NULL,
    test TEXT NOT NULL,
    origin TEXT NOT NULL,
    proof TEXT NOT NULL,
    detail TEXT NOT NULL
) STRICT;
CREATE INDEX test_proofs_of_run ON test_proofs (run, seq);

-- Mutants of changed lines, each with what became of it.
CREATE TABLE mutants (
    id INTEGER PRIMARY KEY,
    run TEXT NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    -- None for the whole run.
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
) STRICT;
CREATE INDEX mutants_of_run ON mutants (run, seq);
