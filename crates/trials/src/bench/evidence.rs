//! The cost of evidence on a repository of 5,000 files: the guard, the sandbox, and checks with cached results. Then the
//! proof that tests can fail, and whole runs on larger repositories.

use super::folder::BenchFolder;
use super::project::{job, millis, repository, run_command, run_job, run_quick, this_program};
use super::report::{BenchReport, Build, Figure, Goal, Unit};
use super::sample::{Durations, ratio};
use super::scale::Scale;
use super::workload::bug;
use super::{proofs, whole_runs};
use crate::gauntlet::TestRunners;
use remand_git::{KeepIgnored, Reach, Repository, RunTrees};
use remand_ledger::Reader;
use remand_process::Confinement;
use remand_process::confine::{Policy, PrivateFolders};
use remand_terminal::CommandFailure;
use std::fs;
use std::path::Path;
use std::time::Instant;

const FILES: u32 = 5_000;
const ROUNDS: u32 = 30;

/// Work like that of a test suite: many short programs, and files that are read, written and removed.
const SUITE: &str = "set -e; copy=$(mktemp -d); for round in $(seq 1 ROUNDS); do git status --porcelain >/dev/null; \
                     grep -rq no-such-text . || true; cp -r part1 \"$copy/part\"; rm -r \"$copy/part\"; \
                     for call in 1 2 3 4 5 6 7 8 9 10; do sh -c 'exit 0'; done; done; rmdir \"$copy\"";
const SUITE_ROUNDS: u32 = 40;

/// Measures everything; `progress` receives the name of each measurement.
pub fn measure(
    state: &Path,
    scale: Scale,
    runners: &TestRunners,
    progress: impl Fn(&str),
) -> Result<BenchReport, CommandFailure> {
    let bench = BenchFolder::create(state)?;
    let files = scale.of(FILES);
    progress(&format!("a new repository of {files} files"));
    let repository = repository(&bench.subfolder("repository")?, files)?;
    progress("the guard, relative to `git status`");
    let guard = guard(&bench, &repository, scale, files)?;
    progress("the sandbox");
    let sandbox = sandbox(&bench, &repository, scale)?;
    progress("checks with cached results");
    let checks = cached_checks(&bench, &repository, files)?;
    let mut figures: Vec<Figure> = [guard].into_iter().chain(sandbox).chain([checks]).collect();
    figures.extend(proofs::measure(&bench, runners, &progress)?);
    figures.extend(whole_runs::measure(&bench, scale, progress)?);
    Ok(BenchReport {
        folder: bench.path().display().to_string(),
        file_system: bench.file_system(),
        build: Build::this(),
        size: scale.describe(),
        figures,
    })
}

/// Measures only what the tests as they were and the proofs cost.
pub fn measure_proofs(
    state: &Path,
    runners: &TestRunners,
    progress: impl Fn(&str),
) -> Result<BenchReport, CommandFailure> {
    let bench = BenchFolder::create(state)?;
    let figures = proofs::measure(&bench, runners, progress)?;
    Ok(BenchReport {
        folder: bench.path().display().to_string(),
        file_system: bench.file_system(),
        build: Build::this(),
        size: Scale::FULL.describe(),
        figures,
    })
}

/// Measures the guard after a dispatch: inventory, snapshot and comparison.
fn guard(bench: &BenchFolder, root: &Path, scale: Scale, files: u32) -> Result<Figure, CommandFailure> {
    let git = |error: remand_git::GitError| CommandFailure::from(error);
    let repository = Repository::discover(root).map_err(git)?;
    let base = repository.head().map_err(git)?.commit;
    let trees =
        RunTrees::begin(&repository, "bench-evidence", &bench.subfolder("trees")?, &base).map_err(git)?;
    let work = trees.main_tree();
    let mut before = work.snapshot().map_err(git)?;
    let (mut guard, mut status) = (Durations::default(), Durations::default());
    for number in 0..scale.of(ROUNDS).max(5) {
        let inventory = work.clean_up(KeepIgnored::BuildOutput, Reach::Tree).map_err(git)?;
        for tree in [work.path(), root] {
            let changed = tree.join("part1/file1.txt");
            fs::write(&changed, format!("round {number}\n")).map_err(|error| bug(error.to_string()))?;
        }
        let started = Instant::now();
        let after = work.aftermath(&inventory, &before, Reach::Tree).map_err(git)?;
        guard.add(started.elapsed());
        before = after.tree;
        let started = Instant::now();
        run_command(root, &["git", "status", "--porcelain"])?;
        status.add(started.elapsed());
    }
    Ok(Figure {
        what: "guard after a dispatch".to_string(),
        value: ratio(guard.median(), status.median()),
        unit: Unit::Times,
        goal: Goal::AtMost(2.0),
        note: format!(
            "{:.1} ms, and {:.1} ms for `git status`; {files} files, one of them changed; medians of {}",
            millis(guard.median()),
            millis(status.median()),
            guard.len()
        ),
    })
}

/// Measures what the sandbox of a check adds to a program that does nothing, and to one that works like a test suite.
fn sandbox(bench: &BenchFolder, root: &Path, scale: Scale) -> Result<[Figure; 2], CommandFailure> {
    let private = PrivateFolders {
        folders: vec!["/tmp".into()],
        storage: bench.subfolder("private")?,
        empties_hidden: true,
        ..PrivateFolders::default()
    };
    // The limits are measured while the program runs, which costs time, too.
    let policy = Policy {
        read_write: vec![root.to_path_buf(), "/dev/null".into()],
        hidden: vec![bench.subfolder("hidden")?],
        private: Some(private),
        memory_of_all: Some(16 << 30),
        processes: Some(1000),
        disk: Some(16 << 30),
        ..Policy::default()
    };
    let confinement = Confinement { exe: this_program()?, policy };
    let time = |argv: &[&str], confine: Option<Confinement>| {
        let mut job = job(root, argv);
        job.confine = confine;
        let started = Instant::now();
        run_job(&job).map(|_| started.elapsed())
    };
    let compare = |argv: &[&str], rounds: u32| {
        let (mut plain, mut confined) = (Durations::default(), Durations::default());
        for _ in 0..rounds {
            plain.add(time(argv, None)?);
            confined.add(time(argv, Some(confinement.clone()))?);
        }
        Ok::<_, CommandFailure>((plain, confined))
    };
    let (plain, confined) = compare(&["true"], scale.of(ROUNDS).max(5))?;
    let note = |plain: &Durations, confined: &Durations| {
        format!(
            "{:.1} ms with it and {:.1} ms without; medians of {}, alternating",
            millis(confined.median()),
            millis(plain.median()),
            plain.len()
        )
    };
    let spawn = Figure {
        what: "sandbox on a spawn".to_string(),
        value: millis(confined.median().saturating_sub(plain.median())),
        unit: Unit::Millis,
        goal: Goal::AtMost(10.0),
        note: note(&plain, &confined),
    };
    let suite = SUITE.replace("ROUNDS", &scale.of(SUITE_ROUNDS).to_string());
    let (plain, confined) = compare(&["sh", "-c", &suite], 5)?;
    let suite = Figure {
        what: "sandbox on a test suite".to_string(),
        value: ratio(confined.median(), plain.median()),
        unit: Unit::Times,
        goal: Goal::AtMost(1.02),
        note: format!("git, searches, copies and shells; {}", note(&plain, &confined)),
    };
    Ok([spawn, suite])
}

/// Does the same work in two runs; the second only looks up its results in the cache.
fn cached_checks(bench: &BenchFolder, root: &Path, files: u32) -> Result<Figure, CommandFailure> {
    let state = bench.subfolder("state")?;
    for _ in 0..2 {
        run_quick(bench, root, &state)?;
    }
    let home = fs::read_dir(&state).map_err(|error| bug(error.to_string()))?;
    let ledger = home.flatten().map(|entry| entry.path().join("ledger.db")).find(|path| path.is_file());
    let ledger = ledger.ok_or_else(|| bug("the runs of the measurement left no ledger".to_string()))?;
    let reader = Reader::open(&ledger)?;
    let run = reader.latest()?;
    let run = run.ok_or_else(|| bug("the ledger has no run".to_string()))?.run;
    let rows = reader.checks(&run, Default::default())?;
    let is_cached =
        rows.iter().filter(|row| row.command.is_some() && row.tier.is_some()).all(|row| row.origin.is_some());
    if rows.is_empty() || !is_cached {
        return Err(bug("a check of the second run was not cached".to_string()));
    }
    let operations = reader.operations(&run)?;
    let time = operations.iter().find(|row| row.name == "checks").and_then(|row| row.time);
    let time = time.ok_or_else(|| bug("the checks of the second run have no time".to_string()))?;
    Ok(Figure {
        what: "checks with cached results".to_string(),
        value: time as f64,
        unit: Unit::Millis,
        goal: Goal::AtMost(100.0),
        note: format!("the operation `checks` of a second run on the same change, {files} files"),
    })
}
