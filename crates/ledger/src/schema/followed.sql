-- The last event that the tables made from the journal show: they follow it, in commits of their own.
CREATE TABLE followed (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    event INTEGER NOT NULL
) STRICT;
INSERT INTO followed SELECT 1, coalesce(max(id), 0) FROM events;
