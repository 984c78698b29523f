//! Rebuilds the projections in a temporary database, and compares them with the ledger row by row.

use super::problem::AuditProblem;
use super::{Audit, AuditPart};
use crate::error::Fault;
use crate::fact::RunId;
use crate::follow;
use crate::history::{Purpose, RunReplays};
use crate::project::{self, ReplayedEvent};
use crate::replay_error::ReplayFailure;
use crate::tables::{PROJECTION_SCHEMA, PROJECTION_TABLES, ProjectionTable};
use remand_kernel::State;
use remand_kernel::command::Command;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::cmp::Ordering;

const SNAPSHOT: &str = "SELECT state, open FROM snapshots WHERE run = ?1 AND seq = ?2";
const STRAY_SNAPSHOT: &str = "SELECT run, seq FROM snapshots
    WHERE NOT EXISTS (SELECT 1 FROM events WHERE events.run = snapshots.run AND events.seq = snapshots.seq)
    ORDER BY run, seq LIMIT 1";

impl Audit<'_> {
    pub(super) fn check_projections(&mut self) -> Result<(), Fault> {
        // An empty path gives a temporary database, which SQLite deletes.
        let rebuilt = Connection::open("")?;
        rebuilt.pragma_update(None, "journal_mode", "off")?;
        rebuilt.pragma_update(None, "synchronous", "off")?;
        rebuilt.set_prepared_statement_cache_capacity(64);
        rebuilt.execute_batch(PROJECTION_SCHEMA)?;
        if let Err(failure) = self.rebuild(&rebuilt) {
            match failure {
                ReplayFailure::Fault(fault) => return Err(fault),
                ReplayFailure::Mismatch { .. }
                | ReplayFailure::Refused { .. }
                | ReplayFailure::NoProgram { .. } => {
                    let detail = failure.at_path(self.path).to_string();
                    self.problems.push(AuditProblem::RuledOtherwise { detail });
                    return Ok(());
                }
            }
        }
        self.check_stray_snapshots()?;
        for projection in PROJECTION_TABLES {
            if let Some(problem) = first_difference(self.conn, &rebuilt, projection)? {
                self.problems.push(problem);
            }
        }
        Ok(())
    }

    fn rebuild(&mut self, rebuilt: &Connection) -> Result<(), ReplayFailure> {
        let (conn, mut done) = (self.conn, 0);
        let last_projected = follow::last_projected(conn)?;
        rebuilt.execute_batch("BEGIN")?;
        RunReplays::default().replay_after(
            conn,
            0,
            Purpose::Audit,
            |replayed, slot, commands, memo, open| {
                if serde_json::to_string(&replayed.step.commands)? != commands {
                    let detail = format!(
                        "event {} of run {} leads to commands that differ from the recorded ones",
                        slot.seq, replayed.run
                    );
                    self.problems.push(AuditProblem::RuledOtherwise { detail });
                }
                if !snapshot_matches(conn, replayed, slot.seq, open)? {
                    self.problems.push(snapshot_problem(replayed.run.clone(), slot.seq));
                }
                // Events that a driving process has just appended may not be projected yet.
                if slot.id <= last_projected {
                    project::project(rebuilt, replayed, slot, memo)?;
                }
                done += 1;
                self.report_progress(AuditPart::Projections, done);
                Ok(())
            },
        )?;
        rebuilt.execute_batch("COMMIT")?;
        Ok(())
    }

    /// Reports a snapshot of an event that is not in the journal.
    fn check_stray_snapshots(&mut self) -> Result<(), Fault> {
        let stray = self.conn.query_row(STRAY_SNAPSHOT, [], |row| Ok((row.get(0)?, row.get(1)?)));
        if let Some((run, seq)) = stray.optional()? {
            self.problems.push(snapshot_problem(run, seq));
        }
        Ok(())
    }
}

fn snapshot_problem(run: RunId, seq: i64) -> AuditProblem {
    AuditProblem::Snapshot { run, seq: u64::try_from(seq).unwrap_or(0) }
}

fn snapshot_matches(
    conn: &Connection,
    replayed: &ReplayedEvent<'_>,
    seq: i64,
    open: &[Command],
) -> Result<bool, Fault> {
    let stored = conn.prepare_cached(SNAPSHOT)?.query_row(params![replayed.run, seq], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
    });
    let Some((state, commands)) = stored.optional()? else {
        return Ok(true);
    };
    Ok(serde_json::from_str::<State>(&state).is_ok_and(|stored| stored == *replayed.state)
        && serde_json::from_str::<Vec<Command>>(&commands).is_ok_and(|stored| stored == open))
}

/// The first difference between the two versions of a table, in the order of its key.
fn first_difference(
    found: &Connection,
    rebuilt: &Connection,
    projection: &ProjectionTable,
) -> Result<Option<AuditProblem>, Fault> {
    let ProjectionTable { table, key, identified_by } = *projection;
    let (keys, identified_by): (Vec<&str>, Vec<&str>) =
        (key.split(", ").collect(), identified_by.split(", ").collect());
    let sql = format!("SELECT {key}, * FROM {table} ORDER BY {key}");
    let (mut found, mut rebuilt) = (found.prepare(&sql)?, rebuilt.prepare(&sql)?);
    let names: Vec<String> = rebuilt.column_names().map(str::to_string).collect();
    if found.column_count() != names.len() {
        let detail = format!("table {table} does not have the expected columns");
        return Err(Fault::Decode { what: "the schema".to_string(), detail });
    }
    let (mut found, mut rebuilt) = (found.query([])?, rebuilt.query([])?);
    let whole_row = |row: &Row<'_>, found: &str, made: &str| -> Result<Option<AuditProblem>, Fault> {
        let (found, made) = (found.to_string(), made.to_string());
        Ok(Some(AuditProblem::Projection {
            table,
            row: describe_row(row, &identified_by)?,
            column: None,
            found,
            made,
        }))
    };
    loop {
        let (actual, expected) = match (found.next()?, rebuilt.next()?) {
            (None, None) => return Ok(None),
            (Some(actual), None) => return whole_row(actual, "present", "absent"),
            (None, Some(expected)) => return whole_row(expected, "absent", "present"),
            (Some(actual), Some(expected)) => (actual, expected),
        };
        match compare_keys(actual, expected, keys.len())? {
            Ordering::Less => return whole_row(actual, "present", "absent"),
            Ordering::Greater => return whole_row(expected, "absent", "present"),
            Ordering::Equal => {}
        }
        for (index, column) in names.iter().enumerate().skip(keys.len()) {
            let (found, made) = (actual.get_ref(index)?, expected.get_ref(index)?);
            if found != made {
                let (found, made) = (display_value(found), display_value(made));
                let (row, column) = (describe_row(expected, &identified_by)?, Some(column.clone()));
                return Ok(Some(AuditProblem::Projection { table, row, column, found, made }));
            }
        }
    }
}

fn compare_keys(actual: &Row<'_>, expected: &Row<'_>, key_columns: usize) -> Result<Ordering, Fault> {
    for column in 0..key_columns {
        let order = match (actual.get_ref(column)?, expected.get_ref(column)?) {
            (ValueRef::Integer(actual), ValueRef::Integer(expected)) => actual.cmp(&expected),
            (ValueRef::Text(actual), ValueRef::Text(expected)) => actual.cmp(expected),
            _ => Ordering::Equal,
        };
        if order != Ordering::Equal {
            return Ok(order);
        }
    }
    Ok(Ordering::Equal)
}

/// Describes a row to people by the columns that identify it.
fn describe_row(row: &Row<'_>, identified_by: &[&str]) -> Result<String, Fault> {
    let mut parts = Vec::with_capacity(identified_by.len());
    for column in identified_by {
        parts.push(format!("{column} {}", display_value(row.get_ref(*column)?)));
    }
    Ok(parts.join(", "))
}

/// A value as text for people, shortened.
fn display_value(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "nothing".to_string(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(bytes) => {
            let text = String::from_utf8_lossy(bytes);
            let short: String = text.chars().take(80).collect();
            if short.len() < text.len() { format!("`{short}…`") } else { format!("`{short}`") }
        }
        ValueRef::Blob(bytes) => {
            let digits: String = bytes.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
            format!("{digits}…")
        }
    }
}
