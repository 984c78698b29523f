-- `anvil_checks` with the rows of every round. Queries of a task that count passed checks must count the latest round only,
-- and the columns have no place for that: so a passed row of an earlier iteration has the task id `TASK@ITERATION`.
-- The judgement of a criterion has a verdict like a review; its task id is the task, so no query of a review counts it.
CREATE INDEX checks_passed_earlier ON checks (run, task_id || '@' || iteration, phase, round, name, passed, superseded,
    task_id, iteration) WHERE superseded = 1 AND passed = 1;

DROP VIEW anvil_checks;
CREATE VIEW anvil_checks AS
SELECT id, run AS run_id, task_id, phase, name AS check_name, tool, command, exit_code,
    substr(snippet, 1, 500) AS output_snippet, passed,
    CASE WHEN verdict = 'needs-revision' THEN 'needs_revision' WHEN verdict IN ('approve', 'blocker') THEN verdict
        WHEN verdict IS NULL AND phase = 'review' THEN iif(passed, 'approve', 'needs_revision') END AS verdict,
    CASE severity WHEN 'blocker' THEN 'Blocker' WHEN 'critical' THEN 'Critical' WHEN 'major' THEN 'Major'
        WHEN 'minor' THEN 'Minor' END AS severity,
    round, strftime('%Y-%m-%dT%H:%M:%fZ', at / 1000.0, 'unixepoch') AS ts
FROM checks WHERE (superseded = 0 OR passed = 0) AND task_id IS NOT NULL
UNION ALL
SELECT id, run, task_id || '@' || iteration, phase, name, tool, command, exit_code,
    substr(snippet, 1, 500), passed, NULL, NULL, round,
    strftime('%Y-%m-%dT%H:%M:%fZ', at / 1000.0, 'unixepoch')
FROM checks WHERE superseded = 1 AND passed = 1
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
