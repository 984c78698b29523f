//! The tests that failed before any change: which of them the work of a run must turn green.

use crate::artifacts::{StoredTask, TASK_LISTS, content, tasks};
use crate::site::{Job, Site, Trouble};
use remand_checks::{
    BaseFile, CheckResult, Edited, NewCoverage, ReadBack, RedContext, RedTest, TestListing, read_back,
    rule_on_red_tests,
};
use remand_git::TreeId;
use remand_kernel::EngineOperation;
use remand_kernel::change::TestEnd;
use remand_kernel::evidence::RowPhase;
use remand_ledger::Reader;
use remand_ledger::query::CheckRow;
use remand_source::Language;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Larger files are not searched for tests: nobody writes them by hand.
const MAX_FILE: usize = 512 * 1024;
/// The total size of the code that is searched.
const MAX_CODE: usize = 64 * 1024 * 1024;

/// The task and the trees that a ruling on red tests is about.
#[derive(Clone, Copy)]
pub struct RedScope<'s> {
    pub task: Option<&'s str>,
    /// The trees before and after the change; `None` before any change.
    pub change: Option<(&'s TreeId, &'s TreeId)>,
    pub coverage: NewCoverage,
}

/// The names of the tests that failed in these results and passed in none of them.
pub fn names(before: &[CheckResult]) -> BTreeSet<String> {
    let lists_tests = |result: &&CheckResult| result.listing != TestListing::ChangedFiles && result.counts();
    let tests = || before.iter().filter(lists_tests).flat_map(|result| &result.tests);
    let named = |end: TestEnd| tests().filter(move |test| test.end == end).map(|test| test.name.clone());
    let passed: BTreeSet<String> = named(TestEnd::Passed).collect();
    named(TestEnd::Failed).filter(|name| !passed.contains(name)).collect()
}

/// The baseline results, from rows of the ledger.
pub fn baseline_results(reader: &Reader, rows: &[CheckRow]) -> Result<Vec<CheckResult>, Trouble> {
    let baseline = rows.iter().filter(|row| row.phase == RowPhase::Baseline && row.tier.is_some());
    baseline.map(|row| Ok(read_back(reader, row, ReadBack::Tests)?)).collect()
}

/// Rules on the tests that failed before any change, by what the request and the task say.
pub fn before_change(
    job: &Job,
    reader: &Reader,
    task: Option<&str>,
    rows: &[CheckRow],
) -> Result<Vec<RedTest>, Trouble> {
    let tests = names(&baseline_results(reader, rows)?);
    rule(job, reader, &tests, RedScope { task, change: None, coverage: NewCoverage::Untested })
}

/// Rules on tests that failed before any change.
pub fn rule(
    job: &Job,
    reader: &Reader,
    tests: &BTreeSet<String>,
    scope: RedScope<'_>,
) -> Result<Vec<RedTest>, Trouble> {
    if tests.is_empty() {
        return Ok(Vec::new());
    }
    let wanted = WantedWork::read(job, reader, scope.task)?;
    let code = code(job)?;
    let edited = match scope.change {
        Some((before, after)) => Some(edited(job, before, after)?),
        None => None,
    };
    let context = RedContext {
        request: &wanted.request,
        plan: &wanted.plan,
        other_tasks: &wanted.other_tasks,
        code: &code,
        change: edited.as_deref(),
        coverage: scope.coverage,
    };
    Ok(rule_on_red_tests(tests, &context))
}

/// The current request: the user's request, followed by changes from the answers to this run's gates.
pub fn current_request(site: &Site, reader: &Reader) -> Result<String, Trouble> {
    let mut request = site.subject()?;
    for gate in reader.gates(&site.run)? {
        let note = gate.note.as_deref().map(str::trim).unwrap_or_default();
        if gate.option.as_deref() == Some("modify") && !note.is_empty() {
            request.push_str(&format!("\n\n{note}"));
        }
    }
    Ok(request)
}

/// The texts that say what the work is about.
#[derive(Default)]
struct WantedWork {
    request: String,
    plan: String,
    other_tasks: String,
}

impl WantedWork {
    fn read(job: &Job, reader: &Reader, task: Option<&str>) -> Result<WantedWork, Trouble> {
        let request = current_request(&job.site, reader)?;
        let planned = planned_tasks(job, reader)?;
        let files_rest =
            job.program.operations.iter().any(|operation| operation.name == EngineOperation::FileSubIssues);
        let chosen = match task {
            Some(task) => Some(task.to_string()),
            // Only the first task is done in this run.
            None if files_rest => planned.first().map(|first| first.task.id.clone()),
            None => None,
        };
        let is_chosen = |task: &&StoredTask| chosen.as_ref().is_none_or(|chosen| *chosen == task.task.id);
        let (own, others): (Vec<&StoredTask>, Vec<&StoredTask>) = planned.iter().partition(is_chosen);
        let text = |tasks: &[&StoredTask]| tasks.iter().map(|task| task_text(task)).collect::<String>();
        let (plan, other_tasks) = (text(&own), text(&others));
        // One of several tasks is judged by its own text, and the merged tree by the request.
        let request = if others.is_empty() { request } else { String::new() };
        Ok(WantedWork { request, plan, other_tasks })
    }
}

fn planned_tasks(job: &Job, reader: &Reader) -> Result<Vec<StoredTask>, Trouble> {
    let artifacts = reader.artifacts(&job.site.run)?;
    for name in TASK_LISTS {
        let Some(row) = artifacts.iter().rfind(|row| row.name == name) else { continue };
        let listed = tasks(&content(reader, row.blob)?);
        if !listed.is_empty() {
            return Ok(listed);
        }
    }
    Ok(Vec::new())
}

/// The text of a task, without its list of files: new tests are often added to an existing file.
fn task_text(task: &StoredTask) -> String {
    let task = &task.task;
    let mut text = format!("{}\n{}\n{}\n", task.title.0, task.description, task.test_design);
    for criterion in &task.acceptance_criteria {
        text.push_str(&format!("{}\n", criterion.text.0));
    }
    for line in task.files.iter().map(|file| &file.change).chain(&task.signatures) {
        text.push_str(&format!("{line}\n"));
    }
    text
}

/// The code at the base of the run.
fn code(job: &Job) -> Result<Vec<BaseFile>, Trouble> {
    let base = job.trees.base_tree()?;
    let is_code = |path: &PathBuf| Language::of(path).is_some_and(Language::is_code);
    let paths: Vec<PathBuf> = job.site.repository().files(&base)?.into_iter().filter(is_code).collect();
    let mut left = MAX_CODE;
    let mut code = Vec::new();
    for (path, text) in paths.iter().zip(texts(job, &base, &paths)?) {
        let Some(text) = text.filter(|text| text.len() <= left) else { continue };
        left -= text.len();
        code.push(BaseFile { path: path.display().to_string(), text });
    }
    Ok(code)
}

fn edited(job: &Job, before: &TreeId, after: &TreeId) -> Result<Vec<Edited>, Trouble> {
    let changed = job.site.repository().changed(before, after)?;
    let paths: Vec<PathBuf> = changed.into_iter().map(|change| change.path).collect();
    let (old, new) = (texts(job, before, &paths)?, texts(job, after, &paths)?);
    let both = paths.iter().zip(old.into_iter().zip(new));
    Ok(both
        .map(|(path, (before, after))| Edited { path: path.display().to_string(), before, after })
        .collect())
}

/// The text of each file; `None` if it does not exist, is not text, or is too large.
fn texts(job: &Job, tree: &TreeId, paths: &[PathBuf]) -> Result<Vec<Option<String>>, Trouble> {
    let paths: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    let files = job.site.repository().read_all(tree, &paths)?;
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).ok().filter(|text| text.len() <= MAX_FILE);
    Ok(files.into_iter().map(|bytes| bytes.and_then(text)).collect())
}
