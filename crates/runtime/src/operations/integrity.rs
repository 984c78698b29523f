//! What the change of a lane takes from the tests, held against what the plan announced (CORE-21).

use crate::checks::{Announced, Before, Edited, Ground, HadTests, Integrity, concerns, integrity};
use crate::dispatch::parsed;
use crate::git::TreeId;
use crate::workshop::{Job, LaneContent, Trouble};
use remand_kernel::change::TestEnd;
use remand_ledger::Reader;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Larger files are no source that anybody wrote.
const LARGEST: usize = 2 * 1024 * 1024;

/// The plan's own words about tests and files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    tasks: Vec<Announced>,
    ids: Vec<String>,
    request: String,
}

impl Plan {
    /// Reads the plan of a run; without one the request itself is what was announced.
    pub fn read(job: &Job, reader: &Reader) -> Result<Plan, Trouble> {
        let documents = parsed(&reader.artifacts(&job.site.run)?, reader)?;
        let tasks = ["tasks", "plan"]
            .iter()
            .find_map(|name| documents.get(*name)?.pointer("/payload/tasks")?.as_array());
        let Some(tasks) = tasks else {
            return Ok(Plan { request: job.site.subject()?, ..Plan::default() });
        };
        let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_string);
        let listed =
            |task: &Value, key: &str| task.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
        let announced = |task: &Value| Announced {
            tests: listed(task, "removes_tests")
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_string)
                .collect(),
            files: listed(task, "files").iter().filter_map(|file| text(file, "path")).collect(),
            request: String::new(),
        };
        Ok(Plan {
            ids: tasks.iter().map(|task| text(task, "id").unwrap_or_default()).collect(),
            tasks: tasks.iter().map(announced).collect(),
            request: String::new(),
        })
    }

    /// What is announced for one task, or for all of them.
    pub fn announced(&self, task: Option<&str>) -> Announced {
        let mut all = Announced { request: self.request.clone(), ..Announced::default() };
        for (id, announced) in self.ids.iter().zip(&self.tasks) {
            if task.is_none_or(|task| task == id) {
                all.tests.extend(announced.tests.iter().cloned());
                all.files.extend(announced.files.iter().cloned());
            }
        }
        all
    }
}

/// Judges what the lane changed since it began.
pub fn judge(
    job: &Job,
    lane: &LaneContent,
    announced: &Announced,
    had_tests: HadTests,
    earlier: &[Before],
) -> Result<Integrity, Trouble> {
    let repository = job.site.repository();
    let folders: BTreeSet<String> = job.site.pinned.checks.iter().map(|spec| spec.folder.clone()).collect();
    let base = repository.tree_of(&lane.base)?;
    let paths: Vec<PathBuf> = repository
        .changed(&base, &lane.tree)?
        .into_iter()
        .map(|change| change.path)
        .filter(|path| concerns(path, &folders))
        .collect();
    let (before, after) = (texts(job, &base, &paths)?, texts(job, &lane.tree, &paths)?);
    let edited: Vec<Edited> = paths
        .iter()
        .zip(before.into_iter().zip(after))
        .map(|(path, (before, after))| Edited { path: path.display().to_string(), before, after })
        .collect();
    let tests = earlier.iter().flat_map(|before| &before.tests);
    let failed: Vec<String> =
        tests.filter(|test| test.end == TestEnd::Failed).map(|test| test.name.clone()).collect();
    Ok(integrity(&edited, announced, &Ground { had_tests, failed, folders }))
}

fn texts(job: &Job, tree: &TreeId, paths: &[PathBuf]) -> Result<Vec<Option<String>>, Trouble> {
    let paths: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    let contents = job.site.repository().read_all(tree, &paths)?;
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).ok().filter(|text| text.len() <= LARGEST);
    Ok(contents.into_iter().map(|content| content.and_then(text)).collect())
}
