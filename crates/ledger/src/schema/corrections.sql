-- How findings were sent back and what became of it, made from the journal: one row for each time.
CREATE TABLE corrections (
    run TEXT NOT NULL,
    -- The event that sent it.
    seq INTEGER NOT NULL,
    -- The finding.
    position INTEGER NOT NULL,
    at INTEGER NOT NULL,
    target TEXT NOT NULL,
    -- The task within which it is corrected; none where the main line does.
    task TEXT,
    -- How much had changed by then, so that a correction without a change can be told.
    changes INTEGER NOT NULL,
    -- The event that closed it.
    closed INTEGER,
    closed_at INTEGER,
    outcome TEXT,
    PRIMARY KEY (run, seq, position)
) STRICT, WITHOUT ROWID;
