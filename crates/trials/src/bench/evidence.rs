//! The cost of evidence on a repository of 5,000 files: the guard, the sandbox, and a cascade with cached results.

use super::place::BenchFolder;
use super::report::{BenchReport, Build, Figure, Goal, Unit};
use super::sample::{Durations, ratio};
use super::scale::Scale;
use super::workload::defect;
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
const PATIENCE: Duration = Duration::from_secs(600);

const SETTINGS: &str = "[checks]\ndetect = false\n\n[checks.shape]\ncommand = \"test -d part0\"\ntier = 1\n\n\
                        [checks.build]\ncommand = \"test -f part0/file0.txt\"\n";

/// Scripted agents for `quick`: one file is added, and approved.
const REHEARSAL: &str = r#"{"rehearsal": 1, "about": "a measurement", "dispatches": [
    {"role": "implementer", "usage": {"tokens": 1}, "do": [{"write": {"path": "part0/new.txt", "text": "new\n"}},
        {"result": {"payload": {"verdict": "done", "hypothesis": "One file more.",
            "changes": [{"file": "part0/new.txt", "what": "added"}]}}}]},
    {"role": "reviewer", "usage": {"tokens": 1}, "do": [{"result": {"payload": {"verdict": "approve", "scope": "code",
        "focus": "general", "summary": "One file.", "checked": ["all of it"], "findings": []}}}]}]}"#;

/// Measures everything; `tell` receives what is being measured.
pub fn measure(state: &Path, scale: Scale, tell: impl Fn(&str)) -> Result<BenchReport, CommandFailure> {
    let place = BenchFolder::make(state)?;
    let files = scale.of(FILES);
    tell(&format!("a repository of {files} files is made"));
    let repository = repository(&place, files)?;
    tell("the guard against `git status`");
    let guard = guard(&place, &repository, scale, files)?;
    tell("the sandbox");
    let sandbox = sandbox(&repository, scale)?;
    tell("a cascade whose results are known");
    let cascade = cascade(&place, &repository, files)?;
    Ok(BenchReport {
        place: place.folder().display().to_string(),
        file_system: place.file_system(),
        build: Build::this(),
        size: scale.words(),
        figures: vec![guard, sandbox, cascade],
    })
}

fn repository(place: &BenchFolder, files: u32) -> Result<PathBuf, CommandFailure> {
    let root = place.part("repository")?;
    let unwritable = |error: std::io::Error| defect(format!("{}: {error}", root.display()));
    for number in 0..files {
        let folder = root.join(format!("part{}", number % FOLDERS));
        fs::create_dir_all(&folder).map_err(unwritable)?;
        fs::write(folder.join(format!("file{number}.txt")), format!("file {number}\n"))
            .map_err(unwritable)?;
    }
    fs::write(root.join("remand.toml"), SETTINGS).map_err(unwritable)?;
    let commit = "git init -q -b work && git add -A && git -c user.name=bench -c user.email=bench@localhost commit -q -m files";
    started(&root, &["sh", "-c", commit])?;
    Ok(root)
}

/// The cost after a dispatch: census, snapshot and comparison.
fn guard(place: &BenchFolder, root: &Path, scale: Scale, files: u32) -> Result<Figure, CommandFailure> {
    let git = |error: remand_git::GitError| CommandFailure::from(error);
    let repository = Repository::discover(root).map_err(git)?;
    let base = repository.head().map_err(git)?.commit;
    let trees = RunTrees::begin(&repository, "bench-evidence", &place.part("trees")?, &base).map_err(git)?;
    let work = trees.main_tree();
    let mut before = work.snapshot().map_err(git)?;
    let (mut guard, mut status) = (Durations::default(), Durations::default());
    for number in 0..scale.of(ROUNDS).max(5) {
        let stock = work.begin(KeepIgnored::BuildOutput, Reach::Tree).map_err(git)?;
        for tree in [work.path(), root] {
            let changed = tree.join("part1/file1.txt");
            fs::write(&changed, format!("round {number}\n")).map_err(|error| defect(error.to_string()))?;
        }
        let begun = Instant::now();
        let left = work.aftermath(&stock, &before, Reach::Tree).map_err(git)?;
        guard.take(begun.elapsed());
        before = left.tree;
        let begun = Instant::now();
        started(root, &["git", "status", "--porcelain"])?;
        status.take(begun.elapsed());
    }
    Ok(Figure {
        what: "guard after a dispatch".to_string(),
        value: ratio(guard.median(), status.median()),
        unit: Unit::Times,
        goal: Goal::AtMost(2.0),
        note: format!(
            "{:.1} ms against {:.1} ms of `git status`, {files} files, one of them changed; medians of {}",
            millis(guard.median()),
            millis(status.median()),
            guard.len()
        ),
    })
}

fn sandbox(root: &Path, scale: Scale) -> Result<Figure, CommandFailure> {
    let exe = std::env::current_exe().map_err(|error| {
        CommandFailure::internal_error("the path of this program cannot be determined", &error)
    })?;
    let policy = Policy { read_write: vec![root.to_path_buf(), "/dev/null".into()], ..Policy::default() };
    let spawned = |confine: Option<Confinement>| {
        let mut job = job(root, &["true"]);
        job.confine = confine;
        let begun = Instant::now();
        ended(&job).map(|_| begun.elapsed())
    };
    let (mut plain, mut confined) = (Durations::default(), Durations::default());
    for _ in 0..scale.of(ROUNDS).max(5) {
        plain.take(spawned(None)?);
        confined.take(spawned(Some(Confinement { exe: exe.clone(), policy: policy.clone() }))?);
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

/// The same work in two runs; the second only looks its results up in the cache.
fn cascade(place: &BenchFolder, root: &Path, files: u32) -> Result<Figure, CommandFailure> {
    let exe = std::env::current_exe().map_err(|error| {
        CommandFailure::internal_error("the path of this program cannot be determined", &error)
    })?;
    let state = place.part("state")?;
    let script = place.part("script")?.join("rehearsal.yaml");
    fs::write(&script, REHEARSAL).map_err(|error| defect(error.to_string()))?;
    let agent = format!("rehearsal:{}", script.display());
    for _ in 0..2 {
        let mut job = job(root, &[]);
        let words =
            ["run", "one file more", "--workflow", "quick", "--autonomous", "--agent", agent.as_str()];
        job.argv =
            std::iter::once(exe.clone().into_os_string()).chain(words.iter().map(Into::into)).collect();
        job.environment.insert("REMAND_STATE_DIR".into(), state.clone().into_os_string());
        for (name, value) in
            [("GIT_AUTHOR_NAME", "bench"), ("GIT_COMMITTER_NAME", "bench"), ("EMAIL", "bench@localhost")]
        {
            job.environment.insert(name.into(), value.into());
        }
        ended(&job)?;
    }
    let home = fs::read_dir(&state).map_err(|error| defect(error.to_string()))?;
    let ledger = home.flatten().map(|entry| entry.path().join("ledger.db")).find(|path| path.is_file());
    let ledger = ledger.ok_or_else(|| defect("the runs of the measurement left no ledger".to_string()))?;
    let reader = Reader::open(&ledger)?;
    let run = reader.latest()?;
    let run = run.ok_or_else(|| defect("the ledger has no run".to_string()))?.run;
    let rows = reader.checks(&run, Default::default())?;
    let known =
        rows.iter().filter(|row| row.command.is_some() && row.tier.is_some()).all(|row| row.origin.is_some());
    if rows.is_empty() || !known {
        return Err(defect("a check of the second run was not known already".to_string()));
    }
    let operations = reader.operations(&run)?;
    let time = operations.iter().find(|row| row.name == "checks").and_then(|row| row.time);
    let time = time.ok_or_else(|| defect("the cascade of the second run has no time".to_string()))?;
    Ok(Figure {
        what: "cascade that is known".to_string(),
        value: time as f64,
        unit: Unit::Millis,
        goal: Goal::AtMost(100.0),
        note: format!("the operation `checks` of a second run on the same change, {files} files"),
    })
}

fn job(folder: &Path, argv: &[&str]) -> ProcessJob {
    let mut job = ProcessJob::apart(argv.iter().copied(), folder, "bench").inherit(&["PATH", "HOME"]);
    job.limits.time = PATIENCE;
    job
}

fn started(folder: &Path, argv: &[&str]) -> Result<JobEnd, CommandFailure> {
    ended(&job(folder, argv))
}

fn ended(job: &ProcessJob) -> Result<JobEnd, CommandFailure> {
    let ended = run(job, &Cancel::default())
        .map_err(|error| CommandFailure::internal_error("a child cannot be started", &error))?;
    if ended.exit.succeeded() {
        return Ok(ended);
    }
    let output = format!("{}{}", ended.stdout.text(), ended.stderr.text());
    Err(defect(format!("a child of the measurement ended with {}", ended.exit)).caused_by(output))
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
