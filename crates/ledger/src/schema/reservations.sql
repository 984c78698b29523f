-- Numbers of issues that were given out, to whom, and which of theirs it is. They are never given out again.
CREATE TABLE reservations (
    prefix TEXT NOT NULL,
    number INTEGER NOT NULL,
    holder TEXT NOT NULL,
    place INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (prefix, number),
    UNIQUE (holder, prefix, place)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER reservations_stay BEFORE UPDATE ON reservations
BEGIN SELECT raise(ABORT, 'a number that was given out stays with its holder'); END;

CREATE TRIGGER reservations_remain BEFORE DELETE ON reservations
BEGIN SELECT raise(ABORT, 'a number that was given out is never given back'); END;
