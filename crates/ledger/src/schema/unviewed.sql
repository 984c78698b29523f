-- Views of tables that are made anew.
DROP VIEW pipeline_telemetry;
DROP VIEW dispatches;
DROP VIEW operations;
