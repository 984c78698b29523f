-- What cannot be made again: the journal, the content it names, and what other processes ask for.
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
    hash BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX events_of_run ON events (run, seq);
CREATE TRIGGER events_are_not_replaced BEFORE INSERT ON events
WHEN EXISTS (SELECT 1 FROM events WHERE id = NEW.id)
    OR EXISTS (SELECT 1 FROM events WHERE run = NEW.run AND seq = NEW.seq)
BEGIN SELECT RAISE(ABORT, 'events are never replaced'); END;
CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
CREATE TRIGGER events_are_not_removed BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'events are never removed'); END;

CREATE TABLE blobs (
    id BLOB PRIMARY KEY,
    size INTEGER NOT NULL,
    body BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER blobs_are_not_replaced BEFORE INSERT ON blobs
WHEN EXISTS (SELECT 1 FROM blobs WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'blobs are never replaced'); END;
CREATE TRIGGER blobs_are_not_changed BEFORE UPDATE ON blobs
BEGIN SELECT RAISE(ABORT, 'blobs are never changed'); END;
CREATE TRIGGER blobs_are_not_removed BEFORE DELETE ON blobs
BEGIN SELECT RAISE(ABORT, 'blobs are never removed'); END;

CREATE TABLE requests (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    run TEXT NOT NULL,
    at INTEGER NOT NULL,
    body TEXT NOT NULL,
    refused TEXT
) STRICT;
CREATE INDEX requests_of_run ON requests (run, id);

CREATE TABLE snapshots (
    run TEXT NOT NULL,
    seq INTEGER NOT NULL,
    state TEXT NOT NULL,
    open TEXT NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT;
