//! Proves that the tests of a change can fail: on the code before the change, or on mutants of the changed lines.

use super::integrity::PlannedTests;
use super::measurement::Measurement;
use super::other_build::{
    FAILS_IN_OTHER_BUILD, expects_panic, has_tests, in_other_build, may_see_checks, not_passing,
};
use super::sides::ExchangedTree;
use super::tested_change::TestedChange;
use super::{Done, finding};
use crate::pinned::{Cache, ProofDemand};
use crate::row_names::PROOF;
use crate::site::{Job, LaneContent, Trouble};
use remand_checks::{
    ChangedFile, CheckEnd, CheckPlan, CheckResult, CheckSpec, Edited, FileVersion, Half, HuntEnd,
    HuntedChange, MutantHunt, MutantTrial, Selection, TestInQuestion, asserts_in_test_code, at_base,
    tests_in_question,
};
use remand_git::{FileContents, TreeId};
use remand_kernel::change::TestEnd;
use remand_kernel::evidence::{RowPhase, Tier};
use remand_kernel::finding::{Category, Finding, FindingKind, Location, Severity};
use remand_kernel::ids::{BudgetId, Lane};
use remand_kernel::program::Action;
use remand_kernel::resolve;
use remand_ledger::fact::{NoteKind, Reuse};
use remand_ledger::proof::{ChangeProof, MutantFate, ProvenTest, TestOrigin, TestProof, TriedMutant};
use remand_ledger::query::{CheckFilter, CheckRow};
use remand_ledger::{BlobId, Reader};
use remand_mutants::{
    AlteredSource, BlindEquality, ChangedSource, added_names, behaviour_lines, blind_equalities,
    comparing_lines,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The version of the stored form and of the way in which proofs are found.
const FORMAT: u32 = 3;
/// The artifact of workflows in which a separate role writes the tests.
const TESTS: &str = "tests";
/// How much longer than without a mutant a check may take.
const TIME_FACTOR: u32 = 3;
/// Added to the time limit of a check on a mutant, since a build takes part of it.
const TIME_FOR_BUILD: Duration = Duration::from_secs(20);
/// Trees that are used at the same time, if the machine has the cores.
const MAX_WORKERS: usize = 4;
/// Survivors that a finding lists.
const MAX_LISTED: usize = 12;

/// What the engine found out about the tests of a change.
#[derive(Default)]
pub struct Proving {
    /// `None` if nothing had to be proven.
    pub proof: Option<ChangeProof>,
    row: Option<CheckResult>,
    /// What no confidence makes up for: a test that turned green without the code, an equality that always holds.
    refusals: Vec<Finding>,
    /// That nothing notices the change.
    unnoticed: Option<Finding>,
    /// Tests that prove nothing next to others that do.
    idle: Vec<Finding>,
}

/// Finds out whether the tests of a change can fail. The checks have passed.
pub fn prove(
    job: &Job,
    lane: &LaneContent,
    task: Option<&str>,
    tested: &TestedChange,
    measured: &Measurement,
) -> Result<Proving, Trouble> {
    let ProofDemand::Proof { time } = job.site.pinned.proof else { return Ok(Proving::default()) };
    if !is_time_for_tests(job) {
        return Ok(Proving::default());
    }
    let Some(prover) = Prover::new(job, lane, tested, measured, time) else { return Ok(Proving::default()) };
    let reader = job.site.reader()?;
    let key = prover.key();
    let (mut proof, reuse, reason) = match prover.known(&reader, key)? {
        Some((proof, row)) => (proof, Reuse::Taken { run: row.run, seq: row.seq, at: row.at }, row.reason),
        None => {
            let Some(proof) = prover.find()? else { return Ok(Proving::default()) };
            if job.cancel.is_cancelled() {
                return Err(Trouble::cancelled());
            }
            let reason = summary(&proof);
            (proof, Reuse::Kept { key }, reason)
        }
    };
    (proof.task, proof.iteration) = (task.map(str::to_string), measured.iteration());
    let blind = prover.blind();
    let released = PlannedTests::read(job, &reader)?.announced(task);
    let refusals = refusals(&proof, &blind, &|test| released.has_reported_test(test));
    let (unnoticed, idle) = (unnoticed(&proof), idle_tests(&proof));
    let mut row = CheckResult::of_engine(PROOF, None, CheckEnd::Passed, reason);
    row.duration = Duration::from_millis(proof.spent_ms);
    row.reuse = Some(reuse);
    Ok(Proving { proof: Some(proof), row: Some(row), refusals, unnoticed, idle })
}

impl Proving {
    /// Adds rows and findings. A change that no test notices is sent back once; after that, or if it cannot be sent back, it
    /// lowers the confidence.
    pub fn judge(
        self,
        job: &Job,
        task: Option<&str>,
        measured: &mut Measurement,
        done: &mut Done,
    ) -> Result<(), Trouble> {
        let Some(mut row) = self.row else { return Ok(()) };
        let mut findings = self.refusals;
        match self.unnoticed {
            Some(unnoticed) if !findings.is_empty() || can_send_back(job) && !was_sent_back(job, task)? => {
                findings.push(unnoticed);
            }
            Some(unnoticed) => done.note(NoteKind::Degradation, job.site.redact(&unnoticed.claim)),
            None => {}
        }
        if findings.is_empty() {
            measured.add_results(job, &[row], self.idle);
        } else {
            row.tier = Some(Tier::Two);
            row.end = CheckEnd::Failed;
            findings.extend(self.idle);
            measured.add_results(job, &[row], findings);
        }
        done.facts.proof = self.proof;
        Ok(())
    }
}

/// Whether the tests of the change exist by now: a workflow may write them in a later phase.
fn is_time_for_tests(job: &Job) -> bool {
    let phase = job.program.phase(job.id.phase);
    job.program.artifact_named(TESTS).is_none_or(|tests| phase.reads.contains(&tests))
}

/// Whether a failed gate sends the work back to a role that writes the tests too.
fn can_send_back(job: &Job) -> bool {
    let Some(signal) = job.program.signal_named("failed") else { return false };
    let left = |budget: BudgetId| {
        if let Lane::Task { index, .. } = job.id.lane
            && let Some(run) = job.state.tasks.get(usize::from(index))
            && let Some((_, left)) = run.left.iter().find(|(id, _)| *id == budget)
        {
            return *left;
        }
        job.state.left.get(budget.index()).copied().unwrap_or(0)
    };
    let resolution = resolve::resolve(&job.program, job.id.phase, signal, left);
    let is_remand = resolution.is_some_and(|resolution| matches!(resolution.route.action, Action::Remand(_)));
    is_remand && job.program.artifact_named(TESTS).is_none()
}

fn was_sent_back(job: &Job, task: Option<&str>) -> Result<bool, Trouble> {
    let filter = CheckFilter { task: None, phase: Some(RowPhase::After) };
    let rows = job.site.reader()?.checks(&job.site.run, filter)?;
    Ok(rows.iter().any(|row| row.name == PROOF && row.task.as_deref() == task && !row.passed))
}

/// A changed file as the proof needs it.
struct ProductionFile {
    path: PathBuf,
    before: Option<String>,
    after: String,
    /// The lines that may behave differently.
    lines: BTreeSet<usize>,
}

impl ProductionFile {
    /// The lines that may behave differently, except those that decide what is equal.
    fn other_lines(&self) -> BTreeSet<usize> {
        let source = AlteredSource { path: &self.path, text: &self.after, lines: &self.lines };
        let comparing = comparing_lines(&source);
        self.lines.difference(&comparing).copied().collect()
    }
}

struct Prover<'p> {
    job: &'p Job,
    lane: &'p LaneContent,
    tested: &'p TestedChange,
    head: &'p [CheckResult],
    before: &'p [CheckResult],
    files: Vec<ProductionFile>,
    tests: Vec<TestInQuestion>,
    added: BTreeSet<String>,
    budget: Duration,
}

impl<'p> Prover<'p> {
    /// `None` if the change has nothing to prove, or no check that could prove it.
    fn new(
        job: &'p Job,
        lane: &'p LaneContent,
        tested: &'p TestedChange,
        measured: &'p Measurement,
        min_time: Duration,
    ) -> Option<Prover<'p>> {
        let TestedChange { change, specs, .. } = tested;
        let edited: Vec<Edited> = change
            .sides
            .of_tests()
            .map(|(file, _)| Edited {
                path: file.path.clone(),
                before: text(&file.base).map(str::to_string),
                after: text(&file.head).map(str::to_string),
            })
            .collect();
        let is_chosen = |result: &&CheckResult| specs.iter().any(|spec| spec.name == result.name);
        let now: Vec<CheckResult> = measured.results.iter().filter(is_chosen).cloned().collect();
        let tests = tests_in_question(&edited, &measured.before, &now);
        let (files, added) = production(change.sides.of_production());
        let own_time: Duration = now.iter().map(|result| result.duration).sum();
        let budget = own_time.max(min_time);
        let budget = job.time_left().map_or(budget, |left| budget.min(left / 2));
        let prover = Prover {
            job,
            lane,
            tested,
            head: &measured.results,
            before: &measured.before,
            files,
            tests,
            added,
            budget,
        };
        (prover.has_behaviour() || !prover.tests.is_empty()).then_some(prover)
    }

    fn has_behaviour(&self) -> bool {
        self.files.iter().any(|file| !file.lines.is_empty())
    }

    /// Hashes everything that the proof depends on.
    fn key(&self) -> BlobId {
        let (tree, proof) = (format!("{} proven", self.lane.tree), self.job.site.pinned.proof);
        let mut text = format!("proof {FORMAT} of {} {proof:?}\n", self.tested.base);
        self.tested.with_conditions(self.job, &tree, |conditions| {
            for spec in &self.tested.specs {
                text.push_str(&format!("{}\n", conditions.key(spec)));
            }
        });
        for test in &self.tests {
            text.push_str(&format!("{} {} {:?}\n", test.check, test.name, test.origin));
        }
        BlobId::of(text.as_bytes())
    }

    /// The proof that the ledger has for a key.
    fn known(&self, reader: &Reader, key: BlobId) -> Result<Option<(ChangeProof, CheckRow)>, Trouble> {
        if self.job.site.pinned.cache == Cache::Off {
            return Ok(None);
        }
        let Some(row) = reader.result(key)? else { return Ok(None) };
        let tests = reader.test_proofs(&row.run)?.into_iter().filter(|test| test.seq == row.seq);
        let mutants = reader.mutants(&row.run)?.into_iter().filter(|mutant| mutant.seq == row.seq);
        let proof = ChangeProof {
            tests: tests.map(|test| test.proven).collect(),
            mutants: mutants.map(|mutant| mutant.mutant).collect(),
            budget_ms: millis(self.budget),
            ..ChangeProof::default()
        };
        Ok(Some((proof, row)))
    }

    /// Runs what is needed. `None` if the change alters no behaviour and no test needs a proof.
    fn find(&self) -> Result<Option<ChangeProof>, Trouble> {
        let started = Instant::now();
        let mut proven = self.at_base()?;
        let mut lines: Vec<BTreeSet<usize>> = self.files.iter().map(|file| file.lines.clone()).collect();
        let others: Vec<BTreeSet<usize>> = self.files.iter().map(ProductionFile::other_lines).collect();
        // An equality that the change brings may hold whatever the code does: then only mutants of other code show something.
        let decides_equality = others != lines && others.iter().any(|lines| !lines.is_empty());
        if decides_equality {
            proven.iter_mut().for_each(|(_, proof)| *proof = None);
            lines = others;
        }
        let sources: Vec<AlteredSource<'_>> = self
            .files
            .iter()
            .zip(&lines)
            .map(|(file, lines)| AlteredSource { path: &file.path, text: &file.after, lines })
            .collect();
        let read = |path: &Path| {
            let bytes = self.job.site.repository().read(&self.lane.tree, path).ok().flatten()?;
            String::from_utf8(bytes).ok()
        };
        let change = HuntedChange {
            files: &sources,
            specs: &self.tested.specs,
            head: self.head,
            decides_equality,
            read: &read,
        };
        let hunt = MutantHunt::new(change, proven);
        let HuntEnd { mut tests, mutants, untried, .. } = self.hunt(hunt)?;
        let failing = self.failing_in_other_build()?;
        for test in tests.iter_mut().filter(|test| test.origin == TestOrigin::Fixed) {
            if failing.iter().any(|failing| failing.check == test.check && failing.name == test.test) {
                (test.proof, test.detail) = (TestProof::Nothing, FAILS_IN_OTHER_BUILD.to_string());
            }
        }
        if tests.is_empty() && mutants.is_empty() {
            return Ok(None);
        }
        Ok(Some(ChangeProof {
            tests,
            mutants,
            untried,
            spent_ms: millis(started.elapsed()),
            budget_ms: millis(self.budget),
            ..ChangeProof::default()
        }))
    }

    /// The tests, with what the code before the change shows about them.
    fn at_base(&self) -> Result<Vec<(TestInQuestion, Option<TestProof>)>, Trouble> {
        let with_proof = |proof_of: &dyn Fn(&TestInQuestion) -> Option<TestProof>| -> Vec<_> {
            self.tests.iter().map(|test| (test.clone(), proof_of(test))).collect()
        };
        if self.tests.is_empty() {
            return Ok(Vec::new());
        }
        let Some(ExchangedTree { tree, .. }) = self.tested.change.with_tests_of(self.job, Half::Head)? else {
            // The test is the one that failed before the change.
            return Ok(with_proof(&|test| {
                let is_red = test.origin == TestOrigin::Fixed && self.failed_before(test);
                is_red.then_some(TestProof::RedAtBase)
            }));
        };
        self.watch("the tests on the code before the change".to_string());
        let content = self.lane.holding(&tree).apart("base");
        let results = self.run(&content, &self.tested.specs)?;
        content.give_back(self.job)?;
        let repository = self.job.site.repository();
        let asserts_at = |file: &str, line: usize| {
            let text = repository.read(&tree, Path::new(file)).ok().flatten();
            let text = text.and_then(|bytes| String::from_utf8(bytes).ok());
            text.is_some_and(|text| asserts_in_test_code(Path::new(file), &text, line))
        };
        let judged = |test: &TestInQuestion| {
            let parser = self.tested.specs.iter().find(|spec| spec.name == test.check)?.parser;
            let result = results.iter().find(|result| result.name == test.check)?;
            at_base(test, parser, result, &self.added, &asserts_at)
        };
        let is_green = |test: &TestInQuestion| is_listed(test, &results, Some(TestEnd::Passed));
        let mut tests = with_proof(&judged);
        self.prove_unbuilt(&mut tests, &results)?;
        for (test, _) in &mut tests {
            test.is_green_at_base = is_green(test);
        }
        Ok(tests)
    }

    /// A new test may keep those next to it from being built before the change. What failed before and passes on the new code with
    /// tests and data as they were is proven: nothing but the code differs.
    fn prove_unbuilt(
        &self,
        tests: &mut [(TestInQuestion, Option<TestProof>)],
        at_base: &[CheckResult],
    ) -> Result<(), Trouble> {
        let mut unbuilt: Vec<_> = tests
            .iter_mut()
            .filter(|(test, _)| test.origin == TestOrigin::Fixed && self.failed_before(test))
            .filter(|(test, _)| !is_listed(test, at_base, None))
            .collect();
        if unbuilt.is_empty() {
            return Ok(());
        }
        let Some(ExchangedTree { tree, .. }) = self.tested.change.with_tests_of(self.job, Half::Base)? else {
            return Ok(());
        };
        self.watch("the tests as they were".to_string());
        let content = self.lane.holding(&tree).apart("old tests of the proof");
        let results = self.run(&content, &self.tested.specs)?;
        content.give_back(self.job)?;
        for (test, proof) in &mut unbuilt {
            if is_listed(test, &results, Some(TestEnd::Passed)) {
                *proof = Some(TestProof::RedAtBase);
            }
        }
        Ok(())
    }

    /// The tests that the change turned green, and that do not pass if the code is built without checks.
    fn failing_in_other_build(&self) -> Result<Vec<&TestInQuestion>, Trouble> {
        let may_see = |file: &ProductionFile| {
            file.path.extension().is_some_and(|extension| extension == "rs")
                && may_see_checks(file.before.as_deref().unwrap_or_default(), &file.after)
        };
        if !self.files.iter().any(may_see) {
            return Ok(Vec::new());
        }
        let code = self.tested.change.code(self.job)?;
        let is_judged =
            |test: &&TestInQuestion| test.origin == TestOrigin::Fixed && !expects_panic(&test.name, &code);
        let mut failing: Vec<&TestInQuestion> = self.tests.iter().filter(is_judged).collect();
        let specs: Vec<CheckSpec> = self.limited(false).iter().filter_map(in_other_build).collect();
        failing.retain(|test| specs.iter().any(|spec| spec.name == test.check));
        let run = |content: &LaneContent, tests: &[&TestInQuestion]| {
            self.watch("the tests in a build without debug assertions".to_string());
            let is_needed = |spec: &&CheckSpec| tests.iter().any(|test| test.check == spec.name);
            let specs: Vec<CheckSpec> = specs.iter().filter(is_needed).cloned().collect();
            let results = self.run(content, &specs)?;
            content.give_back(self.job)?;
            Ok::<_, Trouble>(results)
        };
        let content = self.lane.apart("another build");
        let mut unbuilt: Vec<&TestInQuestion> = Vec::new();
        // A flaky test may fail once.
        for _ in 0..2 {
            if failing.is_empty() {
                return Ok(failing);
            }
            let results = run(&content, &failing)?;
            failing = not_passing(failing, &results);
            unbuilt = failing.iter().copied().filter(|test| !has_tests(&test.check, &results)).collect();
        }
        if !unbuilt.is_empty() {
            // The project itself may not build this way.
            let results = run(&content.holding(&self.tested.base), &unbuilt)?;
            failing.retain(|test| !unbuilt.contains(test) || has_tests(&test.check, &results));
        }
        Ok(failing)
    }

    fn failed_before(&self, test: &TestInQuestion) -> bool {
        self.before
            .iter()
            .filter(|before| before.name == test.check)
            .any(|before| before.tests.iter().any(|old| old.name == test.name && old.end == TestEnd::Failed))
    }

    /// Tries mutants in parallel trees until nothing is left to show or the time is spent.
    fn hunt(&self, hunt: MutantHunt<'_>) -> Result<HuntEnd, Trouble> {
        let hunt = Mutex::new(hunt);
        let started = Instant::now();
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let workers = (cores / 2).clamp(1, MAX_WORKERS);
        // The first trial shows what tests reach, which decides about the rest.
        self.work(&hunt, started, 1, Some(1))?;
        let ends: Vec<Result<(), Trouble>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (1..=workers)
                .map(|worker| {
                    let hunt = &hunt;
                    scope.spawn(move || self.work(hunt, started, worker, None))
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| {
                    thread
                        .join()
                        .unwrap_or_else(|_| Err(Trouble::environment("a worker panicked".to_string())))
                })
                .collect()
        });
        for worker in 1..=workers {
            self.lane.apart(&mutants_tree(worker)).give_back(self.job)?;
        }
        ends.into_iter().collect::<Result<Vec<()>, Trouble>>()?;
        Ok(hunt.into_inner().unwrap_or_else(PoisonError::into_inner).end())
    }

    /// Tries copies of the code in one tree.
    fn work(
        &self,
        hunt: &Mutex<MutantHunt<'_>>,
        started: Instant,
        worker: usize,
        max: Option<usize>,
    ) -> Result<(), Trouble> {
        let mut tried = 0;
        while !self.job.cancel.is_cancelled() && max.is_none_or(|max| tried < max) {
            let (trial, tree) = {
                let mut hunt = hunt.lock().unwrap_or_else(PoisonError::into_inner);
                let left = self.budget.saturating_sub(started.elapsed());
                if left.is_zero() {
                    return Ok(());
                }
                let Some(trial) = hunt.next_trial() else { return Ok(()) };
                let tree = self.with_texts(&trial)?;
                (trial, tree)
            };
            self.watch(match &trial {
                MutantTrial::Probe { .. } => "which tests reach the change".to_string(),
                MutantTrial::Mutant { mutant, .. } => format!("mutant {}", mutant + 1),
            });
            let content = self.lane.holding(&tree).apart(&mutants_tree(worker));
            let results = self.run(&content, &self.limited(tried > 0 || max.is_none()))?;
            tried += 1;
            hunt.lock().unwrap_or_else(PoisonError::into_inner).record(&trial, &results);
        }
        Ok(())
    }

    /// The code with the texts of a trial.
    fn with_texts(&self, trial: &MutantTrial) -> Result<TreeId, Trouble> {
        let texts = trial.texts().into_iter();
        let files: FileContents =
            texts.map(|(path, text)| (path.to_path_buf(), Some(text.as_bytes().to_vec()))).collect();
        Ok(self.job.trees.with_files(&self.lane.tree, &files)?)
    }

    /// The checks, with a time limit for code that may never end. A tree without build output needs longer.
    fn limited(&self, is_warm: bool) -> Vec<CheckSpec> {
        let limit = |spec: &CheckSpec| {
            let own = self
                .head
                .iter()
                .find(|result| result.name == spec.name)
                .map_or(spec.time, |result| result.duration);
            let warm = own * TIME_FACTOR + TIME_FOR_BUILD;
            let time = if is_warm { warm } else { warm + self.budget };
            CheckSpec { time: spec.time.min(time), ..spec.clone() }
        };
        self.tested.specs.iter().map(limit).collect()
    }

    /// Runs checks once on a content.
    fn run(&self, content: &LaneContent, specs: &[CheckSpec]) -> Result<Vec<CheckResult>, Trouble> {
        self.tested.run(self.job, content, &CheckPlan::once(specs, Selection::All))
    }

    fn watch(&self, what: String) {
        let site = &self.job.site;
        site.settings().activity.report(&site.run, self.job.id, format!("proof: {what}"));
    }

    /// The definitions of equality that hold whatever they compare with.
    fn blind(&self) -> Vec<(String, BlindEquality)> {
        let of_file = |file: &ProductionFile| {
            let source = AlteredSource { path: &file.path, text: &file.after, lines: &file.lines };
            let path = file.path.display().to_string();
            blind_equalities(&source).into_iter().map(move |blind| (path.clone(), blind)).collect::<Vec<_>>()
        };
        self.files.iter().flat_map(of_file).collect()
    }
}

/// Whether the check of a test lists it, with this end if one is given.
fn is_listed(test: &TestInQuestion, results: &[CheckResult], end: Option<TestEnd>) -> bool {
    let of_check = results.iter().filter(|result| result.name == test.check);
    of_check
        .flat_map(|result| &result.tests)
        .any(|now| now.name == test.name && end.is_none_or(|end| now.end == end))
}

fn mutants_tree(worker: usize) -> String {
    format!("mutants {worker}")
}

fn text(version: &FileVersion) -> Option<&str> {
    match version {
        FileVersion::Text(text) => Some(text),
        FileVersion::Absent | FileVersion::Other => None,
    }
}

/// The changed production code, and the names that it brings.
fn production<'f>(files: impl Iterator<Item = &'f ChangedFile>) -> (Vec<ProductionFile>, BTreeSet<String>) {
    let mut files: Vec<ProductionFile> = files
        .filter_map(|file| {
            let before = match &file.base {
                FileVersion::Absent => None,
                FileVersion::Text(text) => Some(text.clone()),
                FileVersion::Other => return None,
            };
            let after = text(&file.head).unwrap_or_default().to_string();
            Some(ProductionFile { path: PathBuf::from(&file.path), before, after, lines: BTreeSet::new() })
        })
        .collect();
    let sources: Vec<ChangedSource<'_>> = files
        .iter()
        .map(|file| ChangedSource { path: &file.path, before: file.before.as_deref(), after: &file.after })
        .collect();
    let (lines, added) = (behaviour_lines(&sources), added_names(&sources));
    for (file, lines) in files.iter_mut().zip(lines) {
        file.lines = lines;
    }
    (files, added)
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// That no test notices the change; `None` if one does, or if no mutant could be judged.
fn unnoticed(proof: &ChangeProof) -> Option<Finding> {
    let is_red = proof.tests.iter().any(|test| test.proof == TestProof::RedAtBase);
    let is_killed = proof.mutants.iter().any(|mutant| mutant.fate == MutantFate::Killed);
    let alive = alive(proof);
    let first = alive.first().filter(|_| !is_red && !is_killed)?;
    let claim = if alive.iter().all(|mutant| mutant.fate == MutantFate::NotReached) {
        "no test runs the changed code".to_string()
    } else {
        let tried = mutants(proof);
        format!("no test notices the change: {tried} tried, and no assertion failed")
    };
    let mut found = about(format!("{PROOF}:change"), claim, listed(&alive, proof));
    found.place = Location { file: first.file.clone(), symbol: first.function.clone(), line: first.line };
    found.recommendation =
        "add a test that fails without the change, or assert what the changed code returns or does"
            .to_string();
    Some(found)
}

/// Tests that turned green without the code, unless they are released, and equalities that always hold.
fn refusals(
    proof: &ChangeProof,
    blind: &[(String, BlindEquality)],
    is_released: &dyn Fn(&str) -> bool,
) -> Vec<Finding> {
    let fixed = proof.tests.iter().filter(|test| test.origin == TestOrigin::Fixed && is_idle(test));
    let fixed = fixed.filter(|test| !is_released(&test.test)).map(|test| {
        let claim = if test.detail == FAILS_IN_OTHER_BUILD {
            format!("`{}` passes only as tests are usually built: {FAILS_IN_OTHER_BUILD}", test.test)
        } else {
            format!(
            "`{}` failed before the change and passes now, but nothing shows that the code is the reason: no assertion of \
             it fails on the code before the change, or the change decides itself what is equal, and {}",
            test.test, test.detail
        )
        };
        let mut found = about(format!("{PROOF}:{}", test.test), claim, listed(&alive(proof), proof));
        found.place.symbol.clone_from(&test.test);
        found.recommendation = "restore the test and change the code so that it passes".to_string();
        found
    });
    let blind = blind.iter().map(|(file, BlindEquality { name, line })| {
        let claim = format!(
            "`{name}` of {file} never looks at the value that it compares with, so every assertion of equality holds"
        );
        let mut found = about(format!("{PROOF}:{file}:{name}"), claim, String::new());
        found.kind = Some(FindingKind::Production);
        let line = u32::try_from(*line).unwrap_or(0);
        found.place = Location { file: file.clone(), symbol: name.clone(), line };
        found.recommendation = "compare the values".to_string();
        found
    });
    fixed.chain(blind).collect()
}

/// The mutants that no test noticed.
fn alive(proof: &ChangeProof) -> Vec<&TriedMutant> {
    let is_alive =
        |mutant: &&TriedMutant| matches!(mutant.fate, MutantFate::Survived | MutantFate::NotReached);
    proof.mutants.iter().filter(is_alive).collect()
}

/// A follow-up for each new or changed test that proves nothing next to tests that do.
fn idle_tests(proof: &ChangeProof) -> Vec<Finding> {
    let idle = proof.tests.iter().filter(|test| test.origin != TestOrigin::Fixed && is_idle(test));
    idle.map(|test| {
        let origin = if test.origin == TestOrigin::New { "new" } else { "changed" };
        let claim =
            format!("the {origin} test `{}` proves nothing about the change: {}", test.test, test.detail);
        let mut found = about(format!("{PROOF}:{}", test.test), claim, String::new());
        found.severity = Severity::Minor;
        found.place.symbol.clone_from(&test.test);
        found.recommendation = "assert what the change does".to_string();
        found
    })
    .collect()
}

fn is_idle(test: &ProvenTest) -> bool {
    test.proof == TestProof::Nothing
}

fn about(id: String, claim: String, evidence: String) -> Finding {
    Finding {
        category: Category::Correctness,
        kind: Some(FindingKind::Test),
        ..finding(id, None, claim, evidence)
    }
}

/// The mutants that no test noticed, by place.
fn listed(alive: &[&TriedMutant], proof: &ChangeProof) -> String {
    let mut lines: Vec<String> = alive
        .iter()
        .take(MAX_LISTED)
        .map(|mutant| {
            let fate =
                if mutant.fate == MutantFate::NotReached { "no test runs it" } else { "no test fails" };
            format!("{}:{}: {}: {fate}", mutant.file, mutant.line, mutant.alteration)
        })
        .collect();
    let more = alive.len().saturating_sub(MAX_LISTED);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    if proof.untried > 0 {
        lines.push(format!("{} mutants were not tried", proof.untried));
    }
    lines.join("\n")
}

/// The number of mutants that were tried.
fn mutants(proof: &ChangeProof) -> String {
    match proof.mutants.len() {
        1 => "1 mutant".to_string(),
        count => format!("{count} mutants"),
    }
}

/// The proof in one sentence.
fn summary(proof: &ChangeProof) -> String {
    let mut ends: BTreeMap<&str, usize> = BTreeMap::new();
    for mutant in &proof.mutants {
        let word = match mutant.fate {
            MutantFate::Killed => "killed",
            MutantFate::Survived => "survived",
            MutantFate::NotReached => "not reached",
            MutantFate::Unjudged => "not judged",
        };
        *ends.entry(word).or_default() += 1;
    }
    let proven =
        proof.tests.iter().filter(|test| !matches!(test.proof, TestProof::Nothing | TestProof::Untried));
    let mut parts =
        vec![format!("{} of {} new, changed or fixed tests can fail", proven.count(), proof.tests.len())];
    if !ends.is_empty() {
        let ends: Vec<String> = ends.iter().map(|(word, count)| format!("{count} {word}")).collect();
        parts.push(format!("{} tried: {}", mutants(proof), ends.join(", ")));
    }
    if proof.untried > 0 {
        let why = if proof.spent_ms >= proof.budget_ms { "the time ran out" } else { "they were not needed" };
        parts.push(format!("{} not tried, because {why}", proof.untried));
    }
    parts.join("; ")
}
