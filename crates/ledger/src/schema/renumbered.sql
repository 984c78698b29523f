-- The rulings that were there, by the events that they followed from.
INSERT INTO rulings (id, run, seq, n, at, phase, task, signal, action, target, body)
SELECT events.id << 16 | n, rulings_of_runs.run, rulings_of_runs.seq, n, rulings_of_runs.at, phase, task, signal, action,
    target, rulings_of_runs.body
FROM rulings_of_runs JOIN events ON events.run = rulings_of_runs.run AND events.seq = rulings_of_runs.seq
ORDER BY 1;
