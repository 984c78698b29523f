//! A change with the checks that report their tests, and trees apart in which these run on other content.

use super::measurement::{Measurement, lane_changes};
use super::sides::SidedChange;
use crate::site::{Job, LaneContent, Trouble};
use remand_checks::{
    BenchSetup, CheckPlan, CheckResult, CheckSpec, Conditions, FileScope, Parser, TaskChange, Workbench,
};
use remand_git::TreeId;

/// A change whose tests can be judged.
pub struct TestedChange {
    pub base: TreeId,
    pub change: SidedChange,
    /// The checks that report tests, that the change can affect, and that passed.
    pub specs: Vec<CheckSpec>,
}

impl TestedChange {
    /// `None` if nothing differs from the base, or if no check reports tests.
    pub fn find(
        job: &Job,
        lane: &LaneContent,
        measured: &Measurement,
    ) -> Result<Option<TestedChange>, Trouble> {
        let base = job.site.repository().tree_of(&lane.base)?;
        if base == lane.tree {
            return Ok(None);
        }
        let changed = lane_changes(job, lane)?;
        let checks = &job.site.pinned.checks;
        let left_out =
            remand_checks::left_out(checks, TaskChange { by_task: &changed, since_detection: &changed });
        let result_of = |spec: &CheckSpec| measured.results.iter().find(|result| result.name == spec.name);
        let reports_tests = |spec: &&CheckSpec| {
            spec.parser != Parser::None
                && left_out.get(&spec.name).is_none()
                && result_of(spec).is_some_and(|result| {
                    (result.passed() || result.red_before > 0) && !result.tests.is_empty()
                })
        };
        let specs: Vec<CheckSpec> = checks
            .iter()
            .filter(reports_tests)
            .map(|spec| left_out.narrowed(spec).unwrap_or_else(|| spec.clone()))
            .collect();
        if specs.is_empty() {
            return Ok(None);
        }
        let change = SidedChange::find(job, &base, &lane.tree)?;
        Ok(Some(TestedChange { base, change, specs }))
    }

    /// The conditions under which the checks run on a content, which `tree` identifies.
    pub fn with_conditions<T>(
        &self,
        job: &Job,
        tree: &str,
        use_them: impl FnOnce(&Conditions<'_>) -> T,
    ) -> T {
        let site = &job.site;
        use_them(&Conditions {
            tree,
            base: &self.base.to_string(),
            files: FileScope::Whole,
            environment: &site.settings().check_environment,
            tools: &site.settings().tools,
            installed: &remand_checks::installed(site.repository().root(), &self.specs),
        })
    }

    /// Runs planned checks on a content.
    pub fn run(
        &self,
        job: &Job,
        content: &LaneContent,
        plan: &CheckPlan,
    ) -> Result<Vec<CheckResult>, Trouble> {
        let site = &job.site;
        let settings = site.settings();
        let work = content.check_out(job)?;
        let setup = BenchSetup {
            repository: site.repository(),
            installed_for: &site.pinned.checks,
            content: &content.tree,
            base: &self.base,
            files: FileScope::Whole,
            environment: &settings.check_environment,
            scratch: site.folder().join("scratch").join(format!("{}-{}", job.id, work.name())),
            sandbox: job.check_sandbox(),
            cancel: &job.cancel,
            on_check: remand_checks::CheckWatch::nobody(),
        };
        let mut bench = Workbench::set_up(work, setup)?;
        let results = bench.run(plan);
        bench.leave()?;
        Ok(results?)
    }
}
