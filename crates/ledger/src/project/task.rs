//! The tasks of a run: the current list, and tasks of earlier lists.

use super::Projection;
use crate::column::Json;
use crate::detail::TASKS;
use crate::error::Fault;
use remand_kernel::event::Item;
use rusqlite::{Connection, params};

const UNLIST_TASKS: &str = "UPDATE tasks SET listed = 0 WHERE run = ?1 AND listed = 1";

const LIST_TASK: &str =
    "INSERT INTO tasks (run, id, position, needs, files, listed) VALUES (?1, ?2, ?3, ?4, ?5, 1)
    ON CONFLICT (run, id) DO UPDATE SET position = excluded.position, needs = excluded.needs,
    files = excluded.files, listed = 1";

const LOAD_TASKS: &str = "SELECT id, needs, files FROM tasks WHERE run = ?1 AND listed = 1 ORDER BY position";

/// Loads the current list of tasks of a run.
pub(super) fn load_tasks(conn: &Connection, run: &str) -> Result<Vec<Item>, Fault> {
    let mut statement = conn.prepare_cached(LOAD_TASKS)?;
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
    pub(super) fn project_tasks(&self, stored: &mut Vec<Item>) -> Result<(), Fault> {
        let Some(list) = self.replayed.program.list_named(TASKS) else {
            return Ok(());
        };
        let items = &self.replayed.state.lists[list.index()];
        let is_same = |(item, stored): (&Item, &Item)| {
            item.id == stored.id && item.needs == stored.needs && item.files == stored.files
        };
        if items.len() == stored.len() && items.iter().zip(stored.iter()).all(is_same) {
            return Ok(());
        }
        self.conn.prepare_cached(UNLIST_TASKS)?.execute([self.replayed.run])?;
        for (position, item) in items.iter().enumerate() {
            self.conn.prepare_cached(LIST_TASK)?.execute(params![
                self.replayed.run,
                item.id,
                i64::try_from(position).unwrap_or(i64::MAX),
                Json(&item.needs),
                Json(&item.files),
            ])?;
        }
        stored.clone_from(items);
        Ok(())
    }
}
