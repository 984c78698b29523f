//! The projection tables: their definitions, and the keys of their rows.

/// The definitions of the projection tables alone, for an audit that rebuilds them in another database.
pub(crate) const PROJECTION_SCHEMA: &str = concat!(
    include_str!("schema/projections.sql"),
    include_str!("schema/results.sql"),
    include_str!("schema/subject.sql"),
    include_str!("schema/corrections.sql"),
    include_str!("schema/tokens.sql"),
    include_str!("schema/price.sql"),
    include_str!("schema/appended.sql"),
    include_str!("schema/settled.sql"),
    include_str!("schema/facts.sql"),
    include_str!("schema/decisions.sql"),
    include_str!("schema/outcome.sql"),
    include_str!("schema/proofs.sql")
);

/// A projection table.
pub(crate) struct ProjectionTable {
    pub table: &'static str,
    /// The columns of its primary key.
    pub key: &'static str,
    /// The columns that identify a row to people.
    pub identified_by: &'static str,
}

/// The projection tables, in the order in which an audit reports them.
pub(crate) const PROJECTION_TABLES: &[ProjectionTable] = &[
    table("runs", "run"),
    ProjectionTable { identified_by: "run, seq, n", ..table("commands", "id") },
    ProjectionTable { identified_by: "run, seq, n", ..table("rulings", "id") },
    table("checks", "id"),
    table("findings", "run, position"),
    table("artifacts", "run, name, part, version"),
    table("gates", "id"),
    table("notes", "id"),
    table("tasks", "run, id"),
    table("results", "key"),
    table("reuses", "check_id"),
    table("corrections", "run, seq, position"),
    table("deliveries", "id"),
    table("run_details", "run"),
    table("test_proofs", "id"),
    table("mutants", "id"),
];

/// A table whose rows people identify by the primary key.
const fn table(name: &'static str, key: &'static str) -> ProjectionTable {
    ProjectionTable { table: name, key, identified_by: key }
}
