//! Compares the tests that a change removes or weakens with those that the plan announced.

use super::planned;
use crate::artifacts::TASK_LISTS;
use crate::given_change::GivenChange;
use crate::pinned::ProofDemand;
use crate::site::{Job, LaneContent, Trouble};
use remand_checks::{
    Announced, Announcer, BeforeChange, CheckEnd, CheckResult, Edited, HadTests, Integrity, integrity,
    may_concern_tests,
};
use remand_contract::schema::plan::PlannedTask;
use remand_git::{ChangeKind, TreeId};
use remand_kernel::change::TestEnd;
use remand_ledger::Reader;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Larger files are not compared: nobody writes them by hand.
const MAX_BYTES: usize = 2 * 1024 * 1024;

/// Changes to tests and files that the plan announces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlannedTests {
    tasks: Vec<(String, Announced)>,
    request: String,
    words: String,
    by: Announcer,
}

impl PlannedTests {
    /// Reads the plan of a run. Without a plan, the request counts as the announcement.
    pub fn read(job: &Job, reader: &Reader) -> Result<PlannedTests, Trouble> {
        let Some(tasks) = planned::tasks(job, reader, &TASK_LISTS)? else {
            let released =
                job.site.pinned.change.as_ref().map(|change| ("released".to_string(), released(change)));
            let request = job.site.subject()?;
            let by = if released.is_some() { Announcer::Vetter } else { Announcer::Request };
            return Ok(PlannedTests {
                by,
                tasks: released.into_iter().collect(),
                words: request.clone(),
                request,
            });
        };
        let announced = |task: PlannedTask| {
            let files = task.files.into_iter().map(|file| file.path.0).collect();
            (task.id, Announced { tests: task.removes_tests, files, ..Announced::default() })
        };
        let tasks = tasks.into_iter().map(announced).collect();
        let words = job.site.subject()?;
        Ok(PlannedTests { tasks, request: String::new(), words, by: Announcer::Plan })
    }

    /// The announcement for one task, or for all tasks.
    pub fn announced(&self, task: Option<&str>) -> Announced {
        let (request, words) = (self.request.clone(), self.words.clone());
        let mut all = Announced { request, words, by: self.by, ..Announced::default() };
        for (id, announced) in &self.tasks {
            if task.is_none_or(|task| task == id) {
                all.tests.extend(announced.tests.iter().cloned());
                all.files.extend(announced.files.iter().cloned());
            }
        }
        all
    }
}

/// The tests and files that the user releases with a given change.
fn released(change: &GivenChange) -> Announced {
    let names: Vec<String> = change.releases.iter().map(|release| release.test.clone()).collect();
    Announced { files: names.clone(), tests: names, ..Announced::default() }
}

/// Judges the changes of the lane since it started.
pub fn judge(
    job: &Job,
    lane: &LaneContent,
    announced: &Announced,
    had_tests: HadTests,
    earlier: &[CheckResult],
) -> Result<Integrity, Trouble> {
    let repository = job.site.repository();
    let folders: BTreeSet<String> = job.site.pinned.checks.iter().map(|spec| spec.folder.clone()).collect();
    let base = repository.tree_of(&lane.base)?;
    let changed = repository.changed(&base, &lane.tree)?;
    let moved = changed.iter().filter(|change| change.kind == ChangeKind::Submodule);
    let moved: Vec<String> = moved.map(|change| change.path.display().to_string()).collect();
    let paths: Vec<PathBuf> = changed
        .into_iter()
        .map(|change| change.path)
        .filter(|path| may_concern_tests(path, &folders))
        .collect();
    let (before, after) = (contents(job, &base, &paths)?, contents(job, &lane.tree, &paths)?);
    let edited: Vec<Edited> = paths
        .iter()
        .zip(before.into_iter().zip(after))
        .map(|(path, (before, after))| Edited { path: path.display().to_string(), before, after })
        .collect();
    let failed = match job.site.pinned.proof {
        ProofDemand::Nothing => {
            let tests = earlier.iter().flat_map(|before| &before.tests);
            tests.filter(|test| test.end == TestEnd::Failed).map(|test| test.name.clone()).collect()
        }
        // An edited test that failed before is judged by what it can notice, not by its text.
        ProofDemand::Proof { .. } => Vec::new(),
    };
    let was_red = earlier.iter().any(|before| {
        before.end == CheckEnd::Failed || before.tests.iter().any(|test| test.end == TestEnd::Failed)
    });
    let files = repository.files(&base)?;
    let files = files.into_iter().filter_map(|path| path.into_os_string().into_string().ok()).collect();
    let mut found =
        integrity(&edited, announced, &BeforeChange { had_tests, was_red, failed, folders, files });
    found.notes.extend(moved.into_iter().map(|path| {
        format!("the submodule `{path}` has another commit; nothing here shows what is different in it")
    }));
    Ok(found)
}

/// The content of each file; `None` if it does not exist, is not text, or is too large.
fn contents(job: &Job, tree: &TreeId, paths: &[PathBuf]) -> Result<Vec<Option<String>>, Trouble> {
    let paths: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    let files = job.site.repository().read_all(tree, &paths)?;
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).ok().filter(|text| text.len() <= MAX_BYTES);
    Ok(files.into_iter().map(|bytes| bytes.and_then(text)).collect())
}
