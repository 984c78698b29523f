-- The two kinds of commands, by their events.
CREATE VIEW dispatches AS
SELECT events.run AS run, events.seq AS seq, n, commands.id AS id, command, phase, name AS role, item, task, advisory, visit, attempt,
    started_at, completed_at, status, retries, tokens, money, time, model, driver, session, says, failure, detail, summary,
    prompt, output, result, before, after, exit_code, ended_by, tokens_in, tokens_out, tokens_cached, tokens_stored, price
FROM events JOIN commands
    ON commands.id BETWEEN events.id << 16 AND events.id << 16 | 65535 AND events.id = commands.id >> 16
WHERE commands.kind = 'dispatch';

CREATE VIEW operations AS
SELECT events.run AS run, events.seq AS seq, n, commands.id AS id, command, phase, name, task, visit, attempt, started_at, completed_at, status,
    time, says AS result, failure, detail
FROM events JOIN commands
    ON commands.id BETWEEN events.id << 16 AND events.id << 16 | 65535 AND events.id = commands.id >> 16
WHERE commands.kind = 'operation';

-- The telemetry with the columns and spellings of the source (EP-17).
CREATE VIEW pipeline_telemetry AS
SELECT id, run AS run_id, phase AS step, role AS agent, coalesce(item, task) AS instance,
    strftime('%Y-%m-%dT%H:%M:%fZ', started_at / 1000.0, 'unixepoch') AS started_at,
    strftime('%Y-%m-%dT%H:%M:%fZ', completed_at / 1000.0, 'unixepoch') AS completed_at,
    status, 1 AS dispatch_count, retries AS retry_count,
    CASE WHEN failure IS NULL THEN summary
        WHEN coalesce(detail, '') = '' THEN failure
        ELSE failure || ': ' || detail END AS notes,
    strftime('%Y-%m-%dT%H:%M:%fZ', coalesce(completed_at, started_at) / 1000.0, 'unixepoch') AS ts
FROM dispatches;
