-- The price that the cost of a dispatch was reckoned by; none where the agent told its cost, or nobody knows it.
ALTER TABLE commands ADD COLUMN price TEXT;
-- Tokens that nobody told are unknown, not none.
UPDATE commands SET tokens = NULL WHERE kind = 'dispatch' AND tokens = 0 AND tokens_in IS NULL;
