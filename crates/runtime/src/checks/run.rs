//! Runs checks in order and says what became of each; every check of the selection has an outcome.

use super::affected::LeftOut;
use super::failure;
use super::job::{Bench, Missing};
use super::outcome::{CheckOutcome, End, Known, Listed, Steadiness};
use super::parsers::{self, Report};
use super::snippet::{Interest, plain, snippet};
use super::spec::{Action, BuiltIn, CheckSpec};
use super::syntax::{self, Look, Trees};
use super::tree_files;
use crate::config::duration_text;
use crate::process::{Cancel, Ended, Exit, Job, SpawnError};
use remand_kernel::change::TestEnd;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

/// Why a check that goes by single files has nothing to say.
const NO_FILE: &str = "there is no file to look at";

/// What checks are run with.
pub struct Context<'c> {
    /// All that the checks see of the environment.
    pub environment: &'c BTreeMap<OsString, OsString>,
    pub which: Which,
    pub files: Files<'c>,
    pub left_out: &'c LeftOut,
    /// The content of a file before the change, by its path in the tree; none where it is new.
    pub base: &'c dyn Fn(&str) -> Option<Vec<u8>>,
    /// A folder outside the tree that is thrown away afterwards; checks of one call share it.
    pub scratch: &'c Path,
    pub cancel: &'c Cancel,
    pub progress: &'c dyn Fn(Progress<'_>),
    /// Runs one process of a check; the caller adds its marker and its sandbox.
    pub runner: &'c dyn Fn(&CheckSpec, Job) -> Result<Ended, SpawnError>,
}

/// Which checks are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    Quick,
    All,
}

/// Which files the checks that go file by file look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Files<'f> {
    /// For a baseline.
    Whole,
    /// Relative to the tree; those that are gone are left out.
    Changed(&'f [String]),
}

/// What is going on.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'p> {
    Started(&'p CheckSpec),
    Ended(&'p CheckOutcome),
}

/// Runs the selected checks on a tree, in the order of `specs`, which is the order of their needs.
pub fn run(specs: &[CheckSpec], tree: &Path, context: &Context<'_>) -> Vec<CheckOutcome> {
    let bench = Bench { tree, scratch: context.scratch, environment: context.environment };
    let mut outcomes: Vec<CheckOutcome> = Vec::new();
    for spec in specs.iter().filter(|spec| context.which == Which::All || spec.quick) {
        let outcome = if context.cancel.is_cancelled() {
            not_run(spec, End::Cancelled, "the run was cancelled".to_string())
        } else if let Some(reason) = context.left_out.get(&spec.name) {
            not_run(spec, End::Skipped, reason.clone())
        } else if let Some(reason) = unmet(spec, &outcomes) {
            not_run(spec, End::Skipped, reason)
        } else {
            (context.progress)(Progress::Started(spec));
            Checked { spec, bench, context }.outcome()
        };
        (context.progress)(Progress::Ended(&outcome));
        outcomes.push(outcome);
    }
    outcomes
}

/// Why what a check needs is not there; what was not selected, or has nothing to look at, is not waited for.
pub(super) fn unmet(spec: &CheckSpec, outcomes: &[CheckOutcome]) -> Option<String> {
    let is_idle = |outcome: &CheckOutcome| outcome.end == End::Skipped && outcome.reason == NO_FILE;
    let needed = |outcome: &&CheckOutcome| {
        spec.needs.contains(&outcome.name) && !outcome.passed() && !is_idle(outcome)
    };
    let failed = outcomes.iter().find(needed)?;
    Some(format!("not run, since `{}` did not pass", failed.name))
}

pub(super) fn not_run(spec: &CheckSpec, end: End, reason: String) -> CheckOutcome {
    CheckOutcome {
        name: spec.name.clone(),
        tool: spec.tool.clone(),
        tier: spec.tier,
        command: spec.action.typed(),
        end,
        exit_code: None,
        output: Vec::new(),
        snippet: snippet(&reason, Interest::End),
        collected: None,
        duration: Duration::ZERO,
        tests: Vec::new(),
        listed: Listed::All,
        reason,
        steadiness: Steadiness::Steady,
        known: Known::Unkept,
    }
}

struct Checked<'c> {
    spec: &'c CheckSpec,
    bench: Bench<'c>,
    context: &'c Context<'c>,
}

/// What the processes of one check left behind.
struct Ran {
    exit: Exit,
    output: Vec<u8>,
    is_cut: bool,
    duration: Duration,
    reports: Vec<String>,
}

impl Checked<'_> {
    fn outcome(&self) -> CheckOutcome {
        match self.spec.action {
            Action::BuiltIn(BuiltIn::Syntax) => return self.syntax(),
            Action::Argv(_) | Action::Shell(_) => {}
        }
        match self.bench.missing(self.spec) {
            Some(Missing::Machine(reason)) => return not_run(self.spec, End::Environment, reason),
            Some(Missing::Tree(reason)) => return not_run(self.spec, End::Failed, reason),
            None => {}
        }
        let files: Vec<Option<String>> = if self.spec.each.is_empty() {
            vec![None]
        } else {
            self.files(&self.spec.each).into_iter().map(Some).collect()
        };
        if files.is_empty() {
            return not_run(self.spec, End::Skipped, NO_FILE.to_string());
        }
        match self.processes(&files) {
            Ok(ran) => self.judged(&ran),
            Err(error) => self.unstarted(&error),
        }
    }

    fn processes(&self, files: &[Option<String>]) -> Result<Ran, SpawnError> {
        let mut all = Ran {
            exit: Exit::Code(0),
            output: Vec::new(),
            is_cut: false,
            duration: Duration::ZERO,
            reports: Vec::new(),
        };
        for file in files {
            let Some(mut job) = self.bench.job(self.spec, file.as_deref()) else { continue };
            // The time is for the whole check, however many files it has.
            job.limits.time = job.limits.time.saturating_sub(all.duration);
            let stale = self.stamps();
            let ended = (self.context.runner)(self.spec, job)?;
            all.output.extend(ended.stdout.bytes);
            all.output.extend(ended.stderr.bytes);
            all.is_cut |= ended.stdout.truncated || ended.stderr.truncated;
            all.duration += ended.duration;
            all.reports.extend(tree_files::fresh(&self.stamps(), &stale));
            if !ended.exit.succeeded() && all.exit.succeeded() {
                all.exit = ended.exit;
            }
            match all.exit {
                Exit::Code(_) | Exit::Signal(_) => {}
                Exit::TimedOut | Exit::Silent | Exit::Lingered | Exit::Cancelled => break,
            }
        }
        Ok(all)
    }

    fn judged(&self, ran: &Ran) -> CheckOutcome {
        let text = self.without_tree(&plain(&ran.output));
        let report = if ran.is_cut && self.spec.parser.report().is_none() {
            Report::default()
        } else {
            let reports: Vec<String> = ran.reports.iter().map(|report| self.without_tree(report)).collect();
            parsers::parse(self.spec.parser, &text, &reports)
        };
        let (end, exit_code, reason) = self.ended(ran.exit, &report);
        let interest = if end == End::Passed { Interest::End } else { Interest::FirstFailure };
        let cut = if ran.is_cut { "the middle of the output was left out" } else { "" };
        let reason =
            [reason.as_str(), cut].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
        CheckOutcome {
            end,
            exit_code,
            snippet: snippet(report.readable.as_deref().unwrap_or(&text), interest),
            output: [ran.output.as_slice(), failure::kept(&report.told).as_bytes()].concat(),
            collected: report.collected,
            duration: ran.duration,
            tests: report.tests,
            ..not_run(self.spec, end, reason)
        }
    }

    /// The exit code decides; what the parser read can only take a pass away.
    fn ended(&self, exit: Exit, report: &Report) -> (End, Option<i32>, String) {
        match exit {
            Exit::Code(0) if report.collected == Some(0) => {
                (End::Vacuous, Some(0), "no test was run, which is no pass".to_string())
            }
            Exit::Code(0) if self.spec.parser.report().is_some() && report.collected.is_none() => (
                End::Vacuous,
                Some(0),
                "no report was written, so that no test is known to have run".to_string(),
            ),
            Exit::Code(0) => match report.tests.iter().find(|test| test.end == TestEnd::Failed) {
                Some(test) => (
                    End::Failed,
                    Some(0),
                    format!("it ended with exit code 0, although `{}` failed", test.name),
                ),
                None => (End::Passed, Some(0), String::new()),
            },
            Exit::Code(code) => match self.bench.missing_after(self.spec, Some(code)) {
                Some(Missing::Machine(reason)) => (End::Environment, Some(code), reason),
                Some(Missing::Tree(reason)) => (End::Failed, Some(code), reason),
                None => (End::Failed, Some(code), String::new()),
            },
            Exit::Signal(signal) => (End::Failed, None, format!("ended by signal {signal}")),
            Exit::TimedOut | Exit::Silent | Exit::Lingered => {
                let time = duration_text(self.spec.time);
                (End::TimedOut, None, format!("ended from outside, since it took longer than {time}"))
            }
            Exit::Cancelled => (End::Cancelled, None, "the run was cancelled".to_string()),
        }
    }

    fn unstarted(&self, error: &SpawnError) -> CheckOutcome {
        let is_of_the_tree = matches!(error, SpawnError::Folder { .. });
        let end = if is_of_the_tree { End::Failed } else { End::Environment };
        not_run(self.spec, end, error.to_string())
    }

    fn syntax(&self) -> CheckOutcome {
        let files = self.files(&[]);
        if files.is_empty() {
            return not_run(self.spec, End::Skipped, NO_FILE.to_string());
        }
        let trees = match self.context.files {
            Files::Whole => Trees::Left,
            Files::Changed(_) => Trees::Made,
        };
        let look = Look { tree: self.bench.tree, base: self.context.base, trees };
        let found = syntax::check(look, &files);
        if found.tests.is_empty() {
            return not_run(self.spec, End::Skipped, format!("no file could be judged\n{}", found.told()));
        }
        let end = if found.problems.is_empty() { End::Passed } else { End::Failed };
        let said = found.told();
        CheckOutcome {
            snippet: snippet(&said, Interest::FirstFailure),
            output: said.into_bytes(),
            collected: u32::try_from(found.tests.len()).ok(),
            duration: found.duration,
            tests: found.tests,
            listed: Listed::Part,
            ..not_run(self.spec, end, String::new())
        }
    }

    fn files(&self, endings: &[String]) -> Vec<String> {
        let fits = |file: &String| {
            endings.is_empty()
                || endings
                    .iter()
                    .any(|ending| Path::new(file).extension().is_some_and(|e| e == ending.as_str()))
        };
        let files = match self.context.files {
            Files::Whole => tree_files::all(&self.bench.tree.join(&self.spec.folder)),
            Files::Changed(files) => tree_files::present(self.bench.tree, &self.spec.folder, files),
        };
        files.into_iter().filter(fits).collect()
    }

    /// The report files that are there now, with the times of their last change.
    fn stamps(&self) -> tree_files::Stamps {
        match (&self.spec.report, self.spec.parser.report()) {
            (Some(report), Some(ending)) => {
                let folder = self.bench.tree.join(&self.spec.folder);
                tree_files::stamps(&folder, &self.bench.filled(report), ending)
            }
            (_, _) => tree_files::Stamps::new(),
        }
    }

    /// Names and places without the path of the work tree, which is another one for every run.
    fn without_tree(&self, text: &str) -> String {
        let tree = self.bench.tree.to_string_lossy();
        text.replace(&format!("file://{tree}/"), "").replace(&format!("{tree}/"), "")
    }
}
