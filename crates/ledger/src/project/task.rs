//! The tasks of a run: the current list, and tasks of earlier lists.

use super::Projection;
use crate::column::Json;
use crate::detail::TASKS;
use crate::error::Fault;
use remand_kernel::event::Item;
use rusqlite::{Connection, params};

const UNLIST: &str = "UPDATE tasks SET listed = 0 WHERE run = ?1 AND listed = 1";

const LIST: &str =
    "INSERT INTO tasks (run, id, position, needs, files, listed) VALUES (?1, ?2, ?3, ?4, ?5, 1)
    ON CONFLICT (run, id) DO UPDATE SET position = excluded.position, needs = excluded.needs,
    files = excluded.files, listed = 1";

const LISTED: &str = "SELECT id, needs, files FROM tasks WHERE run = ?1 AND listed = 1 ORDER BY position";

/// The current list of a run, from the table.
pub(super) fn listed(conn: &Connection, run: &str) -> Result<Vec<Item>, Fault> {
    let mut statement = conn.prepare_cached(LISTED)?;
    let rows = statement.query_map([run], |row| {
        Ok(Item {
            id: row.get(0)?,
            needs: row.get::<_, Json<Vec<String>>>(1)?.0,
            files: row.get::<_, Json<Vec<String>>>(2)?.0,
            ..Item::default()
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

impl Projection<'_> {
    pub(super) fn tasks(&self, memo: &mut Vec<Item>) -> Result<(), Fault> {
        let Some(list) = self.replayed.program.list_named(TASKS) else {
            return Ok(());
        };
        let items = &self.replayed.state.lists[list.index()];
        let same = |(item, known): (&Item, &Item)| {
            item.id == known.id && item.needs == known.needs && item.files == known.files
        };
        if items.len() == memo.len() && items.iter().zip(memo.iter()).all(same) {
            return Ok(());
        }
        self.conn.prepare_cached(UNLIST)?.execute([self.replayed.run])?;
        for (position, item) in items.iter().enumerate() {
            self.conn.prepare_cached(LIST)?.execute(params![
                self.replayed.run,
                item.id,
                i64::try_from(position).unwrap_or(i64::MAX),
                Json(&item.needs),
                Json(&item.files),
            ])?;
        }
        memo.clone_from(items);
        Ok(())
    }
}
