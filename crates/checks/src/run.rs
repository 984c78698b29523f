//! Runs one check in a work tree, and reads its result from the exit status, the output and the reports.

use super::action::{BuiltIn, CheckAction};
use super::context::{CheckContext, FileScope};
use super::failure;
use super::job::MissingProgram;
use super::parsers::{self, ParsedOutput};
use super::plan::{CheckPlan, CheckRun};
use super::result::{CheckEnd, CheckResult, TestListing};
use super::snippet::{Interest, plain, snippet};
use super::spec::{CheckSpec, Parser};
use super::syntax::SyntaxCheck;
use super::tree_files;
use remand_kernel::change::TestEnd;
use remand_notation::amount::duration_text;
use remand_process::{AfterLine, ExceededLimit, Exit, LineWatch, SpawnError, run_watched};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Runs a plan in one work tree, which is not cleaned between checks.
pub fn run_plan(plan: &CheckPlan, context: &CheckContext<'_>) -> Vec<CheckResult> {
    let mut run = CheckRun::new(plan);
    while let Some(spec) = run.next_check() {
        run.record(run_check(spec, context, None));
    }
    run.into_results()
}

/// Called with the number of tests of a running check that have ended, for people who watch.
pub type TestWatch = Arc<dyn Fn(u64) + Send + Sync>;

/// The longest line in which ended tests are counted, in bytes.
const MAX_COUNTED_LINE: usize = 4096;

/// Runs one check.
pub fn run_check(spec: &CheckSpec, context: &CheckContext<'_>, on_tests: Option<TestWatch>) -> CheckResult {
    if context.cancel.is_cancelled() {
        return CheckResult::not_run(spec, CheckEnd::Cancelled, "the run was cancelled".to_string());
    }
    let watch = on_tests.map(|on_tests| count_tests(spec.parser, on_tests));
    CheckProcess { spec, context, watch }.result()
}

/// Counts the tests that end in the output.
fn count_tests(parser: Parser, on_tests: TestWatch) -> LineWatch {
    let ended = AtomicU64::new(0);
    Arc::new(move |_, line| {
        let new = match line.len() {
            0..=MAX_COUNTED_LINE => parsers::tests_ended_in(parser, &plain(line)),
            _ => 0,
        };
        if new > 0 {
            on_tests(ended.fetch_add(new, Ordering::Relaxed) + new);
        }
        AfterLine::Output
    })
}

struct CheckProcess<'c> {
    spec: &'c CheckSpec,
    context: &'c CheckContext<'c>,
    watch: Option<LineWatch>,
}

/// The exit, output and reports of all processes of one check.
struct ProcessEnd {
    exit: Exit,
    exceeded: Option<ExceededLimit>,
    output: Vec<u8>,
    is_cut: bool,
    duration: Duration,
    reports: Vec<String>,
}

impl CheckProcess<'_> {
    fn result(&self) -> CheckResult {
        match self.spec.action {
            CheckAction::BuiltIn(BuiltIn::Syntax) => return self.syntax(),
            CheckAction::Argv(_) | CheckAction::Shell(_) => {}
        }
        match self.context.missing_before(self.spec) {
            Some(MissingProgram::Machine(reason)) => {
                return CheckResult::not_run(self.spec, CheckEnd::Environment, reason);
            }
            Some(MissingProgram::Tree(reason)) => {
                return CheckResult::not_run(self.spec, CheckEnd::Failed, reason);
            }
            None => {}
        }
        let files: Vec<Option<String>> = if self.spec.each.is_empty() {
            vec![None]
        } else {
            self.files(&self.spec.each).into_iter().map(Some).collect()
        };
        if files.is_empty() {
            return self.no_files();
        }
        match self.run_processes(&files) {
            Ok(ran) => self.judge(&ran),
            Err(error) => self.not_started(&error),
        }
    }

    fn run_processes(&self, files: &[Option<String>]) -> Result<ProcessEnd, SpawnError> {
        let mut all = ProcessEnd {
            exit: Exit::Code(0),
            exceeded: None,
            output: Vec::new(),
            is_cut: false,
            duration: Duration::ZERO,
            reports: Vec::new(),
        };
        for file in files {
            let Some(mut job) = self.context.job(self.spec, file.as_deref()) else { continue };
            // The time limit is for the whole check, not for each file.
            job.limits.time = job.limits.time.saturating_sub(all.duration);
            let before = self.stamps();
            let ended = match &self.watch {
                Some(watch) => run_watched(&job, self.context.cancel, Arc::clone(watch))?,
                None => remand_process::run(&job, self.context.cancel)?,
            };
            if let (Some(sandbox), Some(contacts)) = (self.context.sandbox, ended.contacts) {
                sandbox.contacts.add(&format!("the check `{}`", self.spec.name), contacts);
            }
            all.output.extend(ended.stdout.bytes);
            all.output.extend(ended.stderr.bytes);
            all.is_cut |= ended.stdout.truncated || ended.stderr.truncated;
            all.duration += ended.duration;
            all.reports.extend(tree_files::read_changed(&self.stamps(), &before));
            if !ended.exit.succeeded() && all.exit.succeeded() {
                all.exit = ended.exit;
                all.exceeded = ended.exceeded;
            }
            match all.exit {
                Exit::Code(_) | Exit::Signal(_) => {}
                Exit::TimedOut | Exit::Silent | Exit::Lingered | Exit::Cancelled => break,
            }
        }
        Ok(all)
    }

    fn judge(&self, ran: &ProcessEnd) -> CheckResult {
        let text = self.without_tree(&plain(&ran.output));
        let report = if ran.is_cut && self.spec.parser.report_extension().is_none() {
            ParsedOutput::default()
        } else {
            let reports: Vec<String> = ran.reports.iter().map(|report| self.without_tree(report)).collect();
            parsers::parse(self.spec.parser, &text, &reports)
        };
        let (end, exit_code, reason) = self.end(ran, &report);
        let interest = if end == CheckEnd::Passed { Interest::End } else { Interest::FirstFailure };
        let cut = if ran.is_cut { "the middle of the output was cut" } else { "" };
        let reason =
            [reason.as_str(), cut].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
        CheckResult {
            end,
            exit_code,
            snippet: snippet(report.readable.as_deref().unwrap_or(&text), interest),
            output: [ran.output.as_slice(), failure::report_section(&report.failures).as_bytes()].concat(),
            collected: report.collected,
            duration: ran.duration,
            tests: report.tests,
            ..CheckResult::not_run(self.spec, end, reason)
        }
    }

    /// The exit code decides. The parsed output can only turn a pass into a failure or a vacuous result.
    fn end(&self, ran: &ProcessEnd, report: &ParsedOutput) -> (CheckEnd, Option<i32>, String) {
        if let Some(exceeded) = &ran.exceeded {
            return (CheckEnd::Failed, None, exceeded.explain());
        }
        match ran.exit {
            Exit::Code(0) if report.collected == Some(0) => {
                (CheckEnd::Vacuous, Some(0), "no test ran, so this is not a pass".to_string())
            }
            Exit::Code(0) if self.spec.parser.report_extension().is_some() && report.collected.is_none() => (
                CheckEnd::Vacuous,
                Some(0),
                "no report was written, so no test is known to have run".to_string(),
            ),
            Exit::Code(0) => match report.tests.iter().find(|test| test.end == TestEnd::Failed) {
                Some(test) => {
                    (CheckEnd::Failed, Some(0), format!("exit code 0, although `{}` failed", test.name))
                }
                None => (CheckEnd::Passed, Some(0), String::new()),
            },
            Exit::Code(code) => match self.context.missing_after(self.spec, Some(code)) {
                Some(MissingProgram::Machine(reason)) => (CheckEnd::Environment, Some(code), reason),
                Some(MissingProgram::Tree(reason)) => (CheckEnd::Failed, Some(code), reason),
                None => (CheckEnd::Failed, Some(code), String::new()),
            },
            Exit::Signal(signal) => (CheckEnd::Failed, None, format!("killed by signal {signal}")),
            Exit::TimedOut | Exit::Silent | Exit::Lingered => {
                let time = duration_text(self.spec.time);
                (CheckEnd::TimedOut, None, format!("exceeded its time limit of {time}"))
            }
            Exit::Cancelled => (CheckEnd::Cancelled, None, "the run was cancelled".to_string()),
        }
    }

    fn not_started(&self, error: &SpawnError) -> CheckResult {
        let is_missing_folder = matches!(error, SpawnError::Folder { .. });
        let end = if is_missing_folder { CheckEnd::Failed } else { CheckEnd::Environment };
        CheckResult::not_run(self.spec, end, error.to_string())
    }

    fn syntax(&self) -> CheckResult {
        let files = self.files(&[]);
        if files.is_empty() {
            return self.no_files();
        }
        let found = SyntaxCheck::of(self.context).run(&files);
        if found.tests.is_empty() {
            return CheckResult::not_run(
                self.spec,
                CheckEnd::Skipped,
                format!("no file could be judged\n{}", found.report()),
            );
        }
        let end = if found.problems.is_empty() { CheckEnd::Passed } else { CheckEnd::Failed };
        let text = found.report();
        CheckResult {
            snippet: snippet(&text, Interest::FirstFailure),
            output: text.into_bytes(),
            collected: u32::try_from(found.tests.len()).ok(),
            duration: found.duration,
            tests: found.tests,
            listing: TestListing::ChangedFiles,
            ..CheckResult::not_run(self.spec, end, String::new())
        }
    }

    fn no_files(&self) -> CheckResult {
        CheckResult::not_run(self.spec, CheckEnd::NoFiles, "there is no file to look at".to_string())
    }

    fn files(&self, extensions: &[String]) -> Vec<String> {
        let is_selected = |file: &String| {
            let found = Path::new(file).extension();
            extensions.is_empty()
                || extensions.iter().any(|extension| found.is_some_and(|found| found == extension.as_str()))
        };
        let files = match self.context.files {
            FileScope::Whole => tree_files::all(&self.context.tree.join(&self.spec.folder)),
            FileScope::Changed(files) => tree_files::present(self.context.tree, &self.spec.folder, files),
        };
        files.into_iter().filter(is_selected).collect()
    }

    /// The report files that exist, with their modification times.
    fn stamps(&self) -> tree_files::Stamps {
        match (&self.spec.report, self.spec.parser.report_extension()) {
            (Some(report), Some(extension)) => {
                let folder = self.context.tree.join(&self.spec.folder);
                tree_files::stamps(&folder, &self.context.fill_in(report), extension)
            }
            (_, _) => tree_files::Stamps::new(),
        }
    }

    /// Removes the path of the work tree, which differs from run to run.
    fn without_tree(&self, text: &str) -> String {
        let tree = self.context.tree.to_string_lossy();
        text.replace(&format!("file://{tree}/"), "").replace(&format!("{tree}/"), "")
    }
}
