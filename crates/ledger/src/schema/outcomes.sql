-- The outcomes of runs that ended before this format, for ledgers that cannot be rebuilt.
UPDATE runs SET stage = 'committed', reason = NULL WHERE stage = 'done'
    AND EXISTS (SELECT 1 FROM deliveries WHERE deliveries.run = runs.run AND kind = 'committed');
UPDATE runs SET stage = 'left-to-you',
    reason = (SELECT json_extract(body, '$.reason') FROM deliveries WHERE deliveries.run = runs.run
        ORDER BY id DESC LIMIT 1)
    WHERE stage = 'done';
UPDATE runs SET reason = NULL WHERE stage IN ('failed', 'stopped');
UPDATE runs SET stage = 'stopped' WHERE stage = 'cancelled';
