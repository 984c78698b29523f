//! The projection tables: their definitions, and the keys of their rows.

/// The projection tables alone, for an audit that rebuilds them elsewhere.
pub(crate) const PROJECTIONS: &str = concat!(
    include_str!("schema/projections.sql"),
    include_str!("schema/results.sql"),
    include_str!("schema/subject.sql"),
    include_str!("schema/corrections.sql"),
    include_str!("schema/tokens.sql"),
    include_str!("schema/price.sql"),
    include_str!("schema/appended.sql"),
    include_str!("schema/settled.sql"),
    include_str!("schema/facts.sql")
);

/// A projection table.
pub(crate) struct Projected {
    pub table: &'static str,
    /// The columns of its primary key.
    pub key: &'static str,
    /// The columns that identify a row to people.
    pub known_by: &'static str,
}

/// The projection tables, in the order in which an audit reports them.
pub(crate) const PROJECTED: &[Projected] = &[
    projected("runs", "run"),
    Projected { known_by: "run, seq, n", ..projected("commands", "id") },
    Projected { known_by: "run, seq, n", ..projected("rulings", "id") },
    projected("checks", "id"),
    projected("findings", "run, position"),
    projected("artifacts", "run, name, part, version"),
    projected("gates", "id"),
    projected("notes", "id"),
    projected("tasks", "run, id"),
    projected("results", "key"),
    projected("reuses", "check_id"),
    projected("corrections", "run, seq, position"),
    projected("deliveries", "id"),
    projected("run_details", "run"),
];

/// A table whose rows people identify by the primary key.
const fn projected(table: &'static str, key: &'static str) -> Projected {
    Projected { table, key, known_by: key }
}
