-- The two kinds of commands.
CREATE VIEW dispatches AS
SELECT run, seq, n, id, command, phase, name AS role, item, task, advisory, visit, attempt, started_at, completed_at,
    status, retries, tokens, money, time, model, driver, session, says, failure, detail, summary, prompt, output,
    result, before, after, exit_code, ended_by
FROM commands WHERE kind = 'dispatch';

CREATE VIEW operations AS
SELECT run, seq, n, id, command, phase, name, task, visit, attempt, started_at, completed_at, status, time,
    says AS result, failure, detail
FROM commands WHERE kind = 'operation';

-- The evidence and the telemetry with the columns and spellings of the source (EP-17).
CREATE VIEW anvil_checks AS
SELECT id, run AS run_id, task_id, phase, name AS check_name, tool, command, exit_code,
    substr(snippet, 1, 500) AS output_snippet, passed,
    CASE verdict WHEN 'needs-revision' THEN 'needs_revision' WHEN 'approve' THEN 'approve'
        WHEN 'blocker' THEN 'blocker' END AS verdict,
    CASE severity WHEN 'blocker' THEN 'Blocker' WHEN 'critical' THEN 'Critical' WHEN 'major' THEN 'Major'
        WHEN 'minor' THEN 'Minor' END AS severity,
    round, strftime('%Y-%m-%dT%H:%M:%fZ', at / 1000.0, 'unixepoch') AS ts
FROM checks WHERE superseded = 0 AND task_id IS NOT NULL
UNION ALL
SELECT checks.id, checks.run, tasks.id, 'baseline', checks.name, tool, command, exit_code,
    substr(snippet, 1, 500), passed, NULL, NULL, round,
    strftime('%Y-%m-%dT%H:%M:%fZ', at / 1000.0, 'unixepoch')
FROM tasks CROSS JOIN checks ON checks.run = tasks.run
WHERE checks.superseded = 0 AND checks.task_id IS NULL AND checks.phase = 'baseline'
UNION ALL
SELECT checks.id, checks.run, runs.slug, 'baseline', checks.name, tool, command, exit_code,
    substr(snippet, 1, 500), passed, NULL, NULL, round,
    strftime('%Y-%m-%dT%H:%M:%fZ', at / 1000.0, 'unixepoch')
FROM runs CROSS JOIN checks ON checks.run = runs.run
WHERE checks.superseded = 0 AND checks.task_id IS NULL AND checks.phase = 'baseline'
    AND NOT EXISTS (SELECT 1 FROM tasks WHERE tasks.run = runs.run);

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
