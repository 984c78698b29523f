//! Rebuilds the projections in a temporary database, and compares them row by row.

use super::problem::AuditProblem;
use super::{Audit, AuditPart};
use crate::error::Fault;
use crate::fact::RunId;
use crate::follow;
use crate::history::{Purpose, RunReplays};
use crate::project::{self, ReplayedEvent};
use crate::replay_error::Failed;
use crate::tables::{PROJECTED, PROJECTIONS, Projected};
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
    pub(super) fn tables(&mut self) -> Result<(), Fault> {
        // A temporary database, which SQLite removes.
        let made = Connection::open("")?;
        made.pragma_update(None, "journal_mode", "off")?;
        made.pragma_update(None, "synchronous", "off")?;
        made.set_prepared_statement_cache_capacity(64);
        made.execute_batch(PROJECTIONS)?;
        if let Err(failed) = self.make(&made) {
            match failed {
                Failed::Fault(fault) => return Err(fault),
                Failed::Mismatch { .. } | Failed::Refused { .. } | Failed::NoProgram { .. } => {
                    let detail = failed.at(self.path).to_string();
                    self.problems.push(AuditProblem::RuledOtherwise { detail });
                    return Ok(());
                }
            }
        }
        self.stray_snapshot()?;
        for projected in PROJECTED {
            if let Some(problem) = first_difference(self.conn, &made, projected)? {
                self.problems.push(problem);
            }
        }
        Ok(())
    }

    fn make(&mut self, made: &Connection) -> Result<(), Failed> {
        let (conn, mut done) = (self.conn, 0);
        let followed = follow::followed(conn)?;
        made.execute_batch("BEGIN")?;
        RunReplays::default().replay_after(
            conn,
            0,
            Purpose::Audit,
            |replayed, slot, commands, memo, open| {
                if serde_json::to_string(&replayed.step.commands)? != commands {
                    let detail = format!(
                        "event {} of run {} leads to other commands than were recorded",
                        slot.seq, replayed.run
                    );
                    self.problems.push(AuditProblem::RuledOtherwise { detail });
                }
                if !snapshot_fits(conn, replayed, slot.seq, open)? {
                    self.problems.push(misleading(replayed.run.clone(), slot.seq));
                }
                // Events that a driver has just appended may not be projected yet.
                if slot.id <= followed {
                    project::project(made, replayed, slot, memo)?;
                }
                done += 1;
                self.report(AuditPart::Projections, done);
                Ok(())
            },
        )?;
        made.execute_batch("COMMIT")?;
        Ok(())
    }

    /// Finds a snapshot of an event that is not in the journal.
    fn stray_snapshot(&mut self) -> Result<(), Fault> {
        let stray = self.conn.query_row(STRAY_SNAPSHOT, [], |row| Ok((row.get(0)?, row.get(1)?)));
        if let Some((run, seq)) = stray.optional()? {
            self.problems.push(misleading(run, seq));
        }
        Ok(())
    }
}

fn misleading(run: RunId, seq: i64) -> AuditProblem {
    AuditProblem::Snapshot { run, seq: u64::try_from(seq).unwrap_or(0) }
}

fn snapshot_fits(
    conn: &Connection,
    replayed: &ReplayedEvent<'_>,
    seq: i64,
    open: &[Command],
) -> Result<bool, Fault> {
    let kept = conn.prepare_cached(SNAPSHOT)?.query_row(params![replayed.run, seq], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
    });
    let Some((state, commands)) = kept.optional()? else {
        return Ok(true);
    };
    Ok(serde_json::from_str::<State>(&state).is_ok_and(|kept| kept == *replayed.state)
        && serde_json::from_str::<Vec<Command>>(&commands).is_ok_and(|kept| kept == open))
}

/// The first row that differs, comparing both tables in the order of their keys.
fn first_difference(
    found: &Connection,
    made: &Connection,
    projected: &Projected,
) -> Result<Option<AuditProblem>, Fault> {
    let Projected { table, key, known_by } = *projected;
    let (keys, known_by): (Vec<&str>, Vec<&str>) =
        (key.split(", ").collect(), known_by.split(", ").collect());
    let sql = format!("SELECT {key}, * FROM {table} ORDER BY {key}");
    let (mut found, mut made) = (found.prepare(&sql)?, made.prepare(&sql)?);
    let names: Vec<String> = made.column_names().map(str::to_string).collect();
    if found.column_count() != names.len() {
        let detail = format!("table {table} does not have the columns of its format");
        return Err(Fault::Decode { what: "the schema".to_string(), detail });
    }
    let (mut found, mut made) = (found.query([])?, made.query([])?);
    let whole = |row: &Row<'_>, found: &str, made: &str| -> Result<Option<AuditProblem>, Fault> {
        let (found, made) = (found.to_string(), made.to_string());
        Ok(Some(AuditProblem::Projection { table, row: name(row, &known_by)?, column: None, found, made }))
    };
    loop {
        let (is, should) = match (found.next()?, made.next()?) {
            (None, None) => return Ok(None),
            (Some(is), None) => return whole(is, "present", "absent"),
            (None, Some(should)) => return whole(should, "absent", "present"),
            (Some(is), Some(should)) => (is, should),
        };
        match by_key(is, should, keys.len())? {
            Ordering::Less => return whole(is, "present", "absent"),
            Ordering::Greater => return whole(should, "absent", "present"),
            Ordering::Equal => {}
        }
        for (at, column) in names.iter().enumerate().skip(keys.len()) {
            let (found, made) = (is.get_ref(at)?, should.get_ref(at)?);
            if found != made {
                let (found, made) = (words(found), words(made));
                let (row, column) = (name(should, &known_by)?, Some(column.clone()));
                return Ok(Some(AuditProblem::Projection { table, row, column, found, made }));
            }
        }
    }
}

fn by_key(is: &Row<'_>, should: &Row<'_>, keys: usize) -> Result<Ordering, Fault> {
    for at in 0..keys {
        let order = match (is.get_ref(at)?, should.get_ref(at)?) {
            (ValueRef::Integer(is), ValueRef::Integer(should)) => is.cmp(&should),
            (ValueRef::Text(is), ValueRef::Text(should)) => is.cmp(should),
            _ => Ordering::Equal,
        };
        if order != Ordering::Equal {
            return Ok(order);
        }
    }
    Ok(Ordering::Equal)
}

/// A row by the columns that identify it to people.
fn name(row: &Row<'_>, known_by: &[&str]) -> Result<String, Fault> {
    let mut parts = Vec::with_capacity(known_by.len());
    for column in known_by {
        parts.push(format!("{column} {}", words(row.get_ref(*column)?)));
    }
    Ok(parts.join(", "))
}

/// A value for people, shortened.
fn words(value: ValueRef<'_>) -> String {
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
