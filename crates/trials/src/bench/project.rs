//! A repository to measure on, and the processes that work in it.

use super::folder::BenchFolder;
use super::workload::bug;
use remand_process::{Cancel, JobEnd, ProcessJob, run};
use remand_terminal::CommandFailure;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const FOLDERS: u32 = 50;
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
    commit_all(root)?;
    Ok(root.to_path_buf())
}

/// Makes a folder a repository with one commit.
pub(super) fn commit_all(root: &Path) -> Result<(), CommandFailure> {
    let commit = "git init -q -b work && git add -A && git -c user.name=bench -c user.email=bench@localhost commit -q -m files";
    run_command(root, &["sh", "-c", commit]).map(|_| ())
}

/// Plays a run of `quick` that adds one file, and returns how long it took.
pub(super) fn run_quick(bench: &BenchFolder, root: &Path, state: &Path) -> Result<Duration, CommandFailure> {
    play_quick(bench, root, state, ("one file more", REHEARSAL))
}

/// Plays a run of `quick` with a request and a rehearsal, and returns how long it took.
pub(super) fn play_quick(
    bench: &BenchFolder,
    root: &Path,
    state: &Path,
    (request, rehearsal): (&str, &str),
) -> Result<Duration, CommandFailure> {
    let script = bench.subfolder("script")?.join("rehearsal.yaml");
    fs::write(&script, rehearsal).map_err(|error| bug(error.to_string()))?;
    let agent = format!("rehearsal:{}", script.display());
    let arguments = ["run", request, "--workflow", "quick", "--autonomous", "--agent", agent.as_str()];
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

pub(super) fn this_program() -> Result<PathBuf, CommandFailure> {
    std::env::current_exe().map_err(|error| {
        CommandFailure::internal_error("the path of this program cannot be determined", &error)
    })
}

pub(super) fn job(folder: &Path, argv: &[&str]) -> ProcessJob {
    let mut job = ProcessJob::standalone(argv.iter().copied(), folder, "bench").inherit(&["PATH", "HOME"]);
    job.limits.time = TIMEOUT;
    job
}

pub(super) fn run_command(folder: &Path, argv: &[&str]) -> Result<JobEnd, CommandFailure> {
    run_job(&job(folder, argv))
}

pub(super) fn run_job(job: &ProcessJob) -> Result<JobEnd, CommandFailure> {
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
