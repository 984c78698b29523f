DROP TABLE rulings_of_runs;

-- A check that is looked for by its name is among the latest ones; an index of names costs every check a page.
DROP INDEX checks_by_name;
