-- The tokens of a dispatch by kind; none where the agent did not say.
ALTER TABLE commands ADD COLUMN tokens_in INTEGER;
ALTER TABLE commands ADD COLUMN tokens_out INTEGER;
ALTER TABLE commands ADD COLUMN tokens_cached INTEGER;
ALTER TABLE commands ADD COLUMN tokens_stored INTEGER;
