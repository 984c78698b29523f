//! The cost of evidence on a repository of 5,000 files: the guard, the sandbox, and checks with cached results. Then whole
//! runs on larger repositories.

use super::folder::BenchFolder;
use super::report::{BenchReport, Build, Figure, Goal, Unit};
use super::sample::{Durations, ratio};
use super::scale::Scale;
use super::whole_runs;
use super::workload::bug;
use remand_git::{KeepIgnored, Reach, Repository, RunTrees};
use remand_ledger::Reader;
use remand_process::confine::Policy;
use remand_process::{Cancel, Confinement, JobEnd, ProcessJob, run};
use remand_terminal::CommandFailure;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const FILES: u32 = 5_000;
const FOLDERS: u32 = 50;
const ROUNDS: u32 = 30;
const TIMEOUT: Duration = Duration::from_secs(600);

const SETTINGS: &str = "[checks]\ndetect = false\n\n[checks.shape]\ncommand = \"test -d part0\"\ntier = 1\n\n\
                        [checks.build]\ncommand = \"test -f part0/file0.txt\"\n";

/// Scripted agents for `quick`: one file is added, and approved.
const REHEARSAL: &str = r#"{"rehearsal": 1, "about": "a measurement", "dispatches": [
    {"role": "implementer", "usage": {"tokens": 1}, "do": [{"write": {"path": "part0/new.txt", "text": "new\n"}},
        {"result": {"payload": {"verdict": "done", "hypothesis": "One file more.",
            "changes": [{"file": "part0/new.txt", "what": "added"}]}}}]},
    {"role": "reviewer", "usage": {"tokens": 1}, "do": [{"result": {"payload": {"verdict": "approve", "scope": "code",
        "focus": "general", "summary": "One file.", "checked": ["all of it"], "findings": []}}}]}]}"#;

/// Measures everything; `progress` receives the name of each measurement.
pub fn measure(state: &Path, scale: Scale, progress: impl Fn(&str)) -> Result<BenchReport, CommandFailure> {
    let bench = BenchFolder::create(state)?;
    let files = scale.of(FILES);
    progress(&format!("a new repository of {files} files"));
    let repository = repository(&bench.subfolder("repository")?, files)?;
    progress("the guard, relative to `git status`");
    let guard = guard(&bench, &repository, scale, files)?;
    progress("the sandbox");
    let sandbox = sandbox(&repository, scale)?;
    progress("checks with cached results");
    let checks = cached_checks(&bench, &repository, files)?;
    let mut figures = vec![guard, sandbox, checks];
    figures.extend(whole_runs::measure(&bench, scale, progress)?);
    Ok(BenchReport {
        folder: bench.path().display().to_string(),
        file_system: bench.file_system(),
        build: Build::this(),
        size: scale.describe(),
        figures,
    })
}

/// Creates a repository with this many small files in a folder.
pub(super) fn repository(root: &Path, files: u32) -> Result<PathBuf, CommandFailure> {
    let unwritable = |error: std::io::Error| bug(format!("{}: {error}", root.display()));
    for number in 0..files {
        let folder = root.join(format!("part{}", number % FOLDERS));
        fs::create_dir_all(&folder).map_err(unwritable)?;
        fs::write(folder.join(format!("file{number}.txt")), format!("file {number}\n"))
            .map_err(unwritable)?;
    }
    fs::write(root.join("remand.toml"), SETTINGS).map_err(unwritable)?;
    let commit = "git init -q -b work && git add -A && git -c user.name=bench -c user.email=bench@localhost commit -q -m files";
    run_command(root, &["sh", "-c", commit])?;
    Ok(root.to_path_buf())
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

fn sandbox(root: &Path, scale: Scale) -> Result<Figure, CommandFailure> {
    let exe = this_program()?;
    let policy = Policy { read_write: vec![root.to_path_buf(), "/dev/null".into()], ..Policy::default() };
    let spawn_time = |confine: Option<Confinement>| {
        let mut job = job(root, &["true"]);
        job.confine = confine;
        let started = Instant::now();
        run_job(&job).map(|_| started.elapsed())
    };
    let (mut plain, mut confined) = (Durations::default(), Durations::default());
    for _ in 0..scale.of(ROUNDS).max(5) {
        plain.add(spawn_time(None)?);
        confined.add(spawn_time(Some(Confinement { exe: exe.clone(), policy: policy.clone() }))?);
    }
    let added = confined.median().saturating_sub(plain.median());
    Ok(Figure {
        what: "sandbox on a spawn".to_string(),
        value: millis(added),
        unit: Unit::Millis,
        goal: Goal::AtMost(5.0),
        note: format!(
            "{:.1} ms with it and {:.1} ms without; medians of {}, alternating",
            millis(confined.median()),
            millis(plain.median()),
            plain.len()
        ),
    })
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

/// Plays a run of `quick` that adds one file, and returns how long it took.
pub(super) fn run_quick(bench: &BenchFolder, root: &Path, state: &Path) -> Result<Duration, CommandFailure> {
    let script = bench.subfolder("script")?.join("rehearsal.yaml");
    fs::write(&script, REHEARSAL).map_err(|error| bug(error.to_string()))?;
    let agent = format!("rehearsal:{}", script.display());
    let arguments =
        ["run", "one file more", "--workflow", "quick", "--autonomous", "--agent", agent.as_str()];
    let mut job = job(root, &[]);
    job.argv =
        std::iter::once(this_program()?.into_os_string()).chain(arguments.iter().map(Into::into)).collect();
    job.environment.insert("REMAND_STATE_DIR".into(), state.into());
    for (name, value) in
        [("GIT_AUTHOR_NAME", "bench"), ("GIT_COMMITTER_NAME", "bench"), ("EMAIL", "bench@localhost")]
    {
        job.environment.insert(name.into(), value.into());
    }
    let started = Instant::now();
    run_job(&job)?;
    Ok(started.elapsed())
}

fn this_program() -> Result<PathBuf, CommandFailure> {
    std::env::current_exe().map_err(|error| {
        CommandFailure::internal_error("the path of this program cannot be determined", &error)
    })
}

fn job(folder: &Path, argv: &[&str]) -> ProcessJob {
    let mut job = ProcessJob::standalone(argv.iter().copied(), folder, "bench").inherit(&["PATH", "HOME"]);
    job.limits.time = TIMEOUT;
    job
}

pub(super) fn run_command(folder: &Path, argv: &[&str]) -> Result<JobEnd, CommandFailure> {
    run_job(&job(folder, argv))
}

fn run_job(job: &ProcessJob) -> Result<JobEnd, CommandFailure> {
    let ended = run(job, &Cancel::default())
        .map_err(|error| CommandFailure::internal_error("a child cannot be started", &error))?;
    if ended.exit.succeeded() {
        return Ok(ended);
    }
    let output = format!("{}{}", ended.stdout.text(), ended.stderr.text());
    Err(bug(format!("a child of the measurement ended with {}", ended.exit)).caused_by(output))
}

pub(super) fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
