-- A decision in types, as JSON: id, choice, reason, confidence, risk, by whom. None for a sentence of the engine.
ALTER TABLE notes ADD COLUMN decision TEXT;
