-- The file that a run is about, from the root of the repository; none for a request.
ALTER TABLE runs ADD COLUMN file TEXT;
