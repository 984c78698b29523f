DROP VIEW dispatches;

CREATE VIEW dispatches AS
SELECT run, seq, n, id, command, phase, name AS role, item, task, advisory, visit, attempt, started_at, completed_at,
    status, retries, tokens, money, time, model, driver, session, says, failure, detail, summary, prompt, output,
    result, before, after, exit_code, ended_by, tokens_in, tokens_out, tokens_cached, tokens_stored, price
FROM commands WHERE kind = 'dispatch';
