-- Why a run ended as it did. The stage says how: committed, left-to-you, failed or stopped.
ALTER TABLE runs RENAME COLUMN ended TO reason;
