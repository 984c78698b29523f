//! Tests with real processes: how they end, which output is kept, and that none of them survives.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::*;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// A timeout that only a bug can reach.
const FOREVER: Duration = Duration::from_secs(60);

fn marker() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("test-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

fn shell(folder: &Path, script: &str) -> ProcessJob {
    let mut job = ProcessJob::new(["sh", "-c", script], folder, marker());
    job.environment.insert("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into());
    job.limits.time = FOREVER;
    job.limits.grace = Duration::from_millis(300);
    job
}

fn run_job(job: &ProcessJob) -> JobEnd {
    run(job, &Cancel::new()).expect("starts")
}

fn temp() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

fn pids_with_marker(marker: &str) -> Vec<i32> {
    let all = procfs::all().into_iter().filter(|stat| stat.alive).map(|stat| stat.process.pid);
    all.filter(|pid| procfs::variable(*pid, MARKER_VARIABLE).is_some_and(|value| value == marker.as_bytes()))
        .collect()
}

fn wait_for_file(path: &Path) -> String {
    let until = Instant::now() + FOREVER;
    loop {
        match fs::read_to_string(path) {
            Ok(text) if text.ends_with('\n') => return text,
            _ => assert!(Instant::now() < until, "{} never appeared", path.display()),
        }
        thread::sleep(Duration::from_millis(5));
    }
}

fn is_alive(pid: &str) -> bool {
    procfs::stat(pid.trim().parse().expect("a number")).is_some_and(|stat| stat.alive)
}

/// A process that is killed at the end of its test, even if the test fails.
struct Sleeper(std::process::Child);

impl Drop for Sleeper {
    fn drop(&mut self) {
        // Both fail if the test has already killed and reaped the process.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn exit_codes_signals_and_both_streams_are_reported_separately() {
    let folder = temp();
    let done = run_job(&shell(folder.path(), "echo out; echo err >&2; exit 7"));
    assert_eq!(done.exit, Exit::Code(7));
    assert_eq!((done.stdout.text().as_ref(), done.stderr.text().as_ref()), ("out\n", "err\n"));
    assert_eq!(done.strays, 0);
    assert_eq!(run_job(&shell(folder.path(), "kill -9 $$")).exit, Exit::Signal(9));
    assert!(run_job(&shell(folder.path(), ":")).exit.succeeded());
}

#[test]
fn stdin_arrives_completely_and_a_process_may_ignore_it() {
    let folder = temp();
    let mut job = shell(folder.path(), "wc -c");
    job.stdin = vec![b'x'; 1_000_000];
    assert_eq!(run_job(&job).stdout.text().trim(), "1000000");
    job.argv = vec!["true".into()];
    assert!(run_job(&job).exit.succeeded());
}

// EP-30
#[test]
fn a_process_sees_exactly_the_listed_environment() {
    let folder = temp();
    let mut job = shell(folder.path(), "env");
    job.argv = vec!["env".into()];
    job.environment.insert("GIVEN".into(), "yes".into());
    let done = run_job(&job);
    let mut names: Vec<String> =
        done.stdout.text().lines().map(|line| line.split('=').next().unwrap().to_owned()).collect();
    names.sort();
    assert_eq!(names, ["GIVEN", "PATH", "REMAND_MARK"]);
}

#[test]
fn only_listed_variables_are_inherited() {
    let job = ProcessJob::new(["true"], "/", "m").inherit(&["PATH", "REMAND_NO_SUCH_VARIABLE"]);
    assert_eq!(job.environment.keys().collect::<Vec<_>>(), ["PATH"]);
}

#[test]
fn a_process_is_killed_at_its_time_limit() {
    let folder = temp();
    let mut job = shell(folder.path(), "echo before; sleep 1000");
    job.limits.time = Duration::from_millis(200);
    let done = run_job(&job);
    assert_eq!(done.exit, Exit::TimedOut);
    assert_eq!(done.stdout.text(), "before\n");
    assert!(done.duration < FOREVER / 2, "{:?}", done.duration);
    assert_eq!(pids_with_marker(&job.marker), Vec::<i32>::new());
}

#[test]
fn a_process_that_ignores_sigterm_is_killed_after_the_grace_period() {
    let folder = temp();
    let mut job = shell(folder.path(), "trap '' TERM; while :; do sleep 1; done");
    job.limits.time = Duration::from_millis(200);
    let done = run_job(&job);
    assert_eq!(done.exit, Exit::TimedOut);
    assert!(
        done.duration >= Duration::from_millis(500),
        "the process got no grace period: {:?}",
        done.duration
    );
    assert_eq!(pids_with_marker(&job.marker), Vec::<i32>::new());
}

#[test]
fn a_process_can_clean_up_after_sigterm() {
    let folder = temp();
    let mut job = shell(folder.path(), "trap 'echo bye; exit 0' TERM; while :; do sleep 0.01; done");
    job.limits.time = Duration::from_millis(200);
    job.limits.grace = FOREVER;
    let done = run_job(&job);
    assert_eq!((done.exit, done.stdout.text().as_ref()), (Exit::TimedOut, "bye\n"));
}

#[test]
fn a_child_process_gets_sigterm_and_the_grace_period_too() {
    let folder = temp();
    let child = "trap 'sleep 0.2; echo bye; exit 0' TERM; while :; do sleep 0.01; done";
    let mut job = shell(folder.path(), &format!("sh -c \"{child}\" & wait"));
    job.limits.time = Duration::from_millis(300);
    job.limits.grace = FOREVER;
    let done = run_job(&job);
    assert_eq!((done.exit, done.stdout.text().as_ref(), done.strays), (Exit::TimedOut, "bye\n", 0));
}

#[test]
fn a_silent_process_is_killed_and_one_that_writes_is_not() {
    let folder = temp();
    let mut job = shell(folder.path(), "echo once; sleep 1000");
    job.limits.silence = Some(Duration::from_millis(300));
    assert_eq!(run_job(&job).exit, Exit::Silent);
    let mut job = shell(folder.path(), "for i in 1 2 3 4 5 6 7 8; do sleep 0.1; echo $i; done");
    job.limits.silence = Some(Duration::from_secs(5));
    assert_eq!(run_job(&job).exit, Exit::Code(0));
}

#[test]
fn long_output_keeps_its_head_and_tail_and_states_the_number_of_dropped_bytes() {
    let folder = temp();
    let mut job = shell(folder.path(), "echo head; yes flood | head -c 10000000; echo tail");
    job.limits.output = 4096;
    let done = run_job(&job);
    assert_eq!(done.exit, Exit::Code(0));
    let text = done.stdout.text().into_owned();
    assert!(text.starts_with("head\nflood\n"), "{}", &text[..20]);
    assert!(text.ends_with("flood\ntail\n") || text.ends_with("tail\n"));
    assert!(text.contains(&format!("[remand: {} bytes left out]", 10_000_010 - 4096)));
    assert_eq!((done.stdout.truncated, done.stdout.total), (true, 10_000_010));
    assert!(!done.stderr.truncated);
}

#[test]
fn output_of_exactly_the_limit_is_kept_completely() {
    let folder = temp();
    let mut job = shell(folder.path(), "printf 123456789");
    job.limits.output = 9;
    let done = run_job(&job);
    assert_eq!((done.stdout.text().as_ref(), done.stdout.truncated), ("123456789", false));
}

#[test]
fn the_watch_sees_lines_while_the_process_runs() {
    let folder = temp();
    let job = shell(folder.path(), "echo one; read go; printf 'two\\r\\nthree'; echo four >&2");
    let (seen, lines) = mpsc::channel();
    let seen = Mutex::new(seen);
    let watch: LineWatch = Arc::new(move |stream, line: &[u8]| {
        seen.lock().unwrap().send((stream, String::from_utf8_lossy(line).into_owned())).unwrap();
        AfterLine::Output
    });
    let mut job = job;
    job.argv[2] =
        "echo one; while [ ! -e go ]; do sleep 0.01; done; printf 'two\\r\\nthree'; echo four >&2".into();
    let path = folder.path().join("go");
    let runner = thread::spawn(move || run_watched(&job, &Cancel::new(), watch).expect("starts"));
    assert_eq!(lines.recv_timeout(FOREVER).unwrap(), (Stream::Stdout, "one".to_owned()));
    fs::write(path, "").unwrap();
    assert!(runner.join().unwrap().exit.succeeded());
    let mut rest: Vec<(Stream, String)> = lines.iter().collect();
    rest.sort();
    let rest: Vec<&str> = rest.iter().map(|(_, line)| line.as_str()).collect();
    assert_eq!(rest, ["three", "two", "four"]);
}

// CORE-15
#[test]
fn expected_silence_does_not_end_a_process() {
    let folder = temp();
    let mut job = shell(folder.path(), "echo tool; sleep 1; echo done; sleep 100");
    job.limits.silence = Some(Duration::from_millis(300));
    let watch: LineWatch =
        Arc::new(|_, line: &[u8]| if line == b"tool" { AfterLine::Silence } else { AfterLine::Output });
    let ended = run_watched(&job, &Cancel::new(), watch).expect("starts");
    assert_eq!((ended.exit, ended.stdout.text().as_ref()), (Exit::Silent, "tool\ndone\n"));
}

// CORE-15
#[test]
fn a_process_that_keeps_running_after_its_last_line_is_killed() {
    let folder = temp();
    let mut job = shell(folder.path(), "echo last; sleep 100");
    job.limits.linger = Duration::from_millis(200);
    let watch: LineWatch = Arc::new(|_, _: &[u8]| AfterLine::End);
    let ended = run_watched(&job, &Cancel::new(), watch).expect("starts");
    assert_eq!((ended.exit, ended.stdout.text().as_ref()), (Exit::Lingered, "last\n"));
}

// CORE-17
#[test]
fn cancelling_from_another_thread_kills_the_whole_process_tree() {
    let folder = temp();
    let script =
        "sh -c 'sh -c \"echo \\$\\$ >grandchild; sleep 1000\" & echo $$ >child; sleep 1000' & sleep 1000";
    let job = shell(folder.path(), script);
    let cancel = Cancel::new();
    let runner = {
        let (job, cancel) = (job.clone(), cancel.clone());
        thread::spawn(move || run(&job, &cancel).expect("starts"))
    };
    let child = wait_for_file(&folder.path().join("child"));
    let grandchild = wait_for_file(&folder.path().join("grandchild"));
    assert!(is_alive(&child) && is_alive(&grandchild));
    cancel.cancel();
    let done = runner.join().unwrap();
    assert_eq!(done.exit, Exit::Cancelled);
    assert!(!is_alive(&child) && !is_alive(&grandchild));
    assert_eq!(pids_with_marker(&job.marker), Vec::<i32>::new());
}

// CORE-17
#[test]
fn no_process_starts_after_cancel() {
    let folder = temp();
    let cancel = Cancel::new();
    cancel.cancel();
    let done = run(&shell(folder.path(), "touch started"), &cancel).expect("no error");
    assert_eq!(done.exit, Exit::Cancelled);
    assert!(!folder.path().join("started").exists());
    assert!(cancel.wait(Duration::ZERO) && cancel.clone().is_cancelled());
}

#[test]
fn one_token_cancels_all_running_jobs() {
    let folder = temp();
    let cancel = Cancel::new();
    assert!(run(&shell(folder.path(), ":"), &cancel).unwrap().exit.succeeded());
    let runners: Vec<_> = (0..4)
        .map(|_| {
            let (job, cancel) = (shell(folder.path(), "sleep 1000"), cancel.clone());
            thread::spawn(move || run(&job, &cancel).expect("starts").exit)
        })
        .collect();
    assert!(!cancel.wait(Duration::from_millis(50)));
    cancel.cancel();
    for runner in runners {
        assert_eq!(runner.join().unwrap(), Exit::Cancelled);
    }
}

// CORE-17
#[test]
fn a_stray_in_its_own_session_is_killed_and_counted() {
    let folder = temp();
    let script = "setsid sh -c 'echo $$ >stray; exec sleep 1000' >/dev/null 2>&1 & \
                  while [ ! -s stray ]; do sleep 0.01; done";
    let job = shell(folder.path(), script);
    let done = run_job(&job);
    assert_eq!((done.exit, done.strays), (Exit::Code(0), 1));
    assert!(!is_alive(&fs::read_to_string(folder.path().join("stray")).unwrap()));
}

// CORE-17
#[test]
fn a_permitted_daemon_survives_its_job_and_the_next_engine_but_other_strays_do_not() {
    let folder = temp();
    let script = "setsid sh -c 'echo $$ >daemon; exec sleep 1000' >/dev/null 2>&1 & \
                  sh -c 'echo $$ >stray; exec sleep 1000' >/dev/null 2>&1 & \
                  while [ ! -s daemon ] || [ ! -s stray ]; do sleep 0.01; done";
    let mut job = shell(folder.path(), script);
    job.survivors = Survivors::Daemons;
    let done = run_job(&job);
    assert_eq!((done.exit, done.strays), (Exit::Code(0), 1));
    let pid = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(is_alive(&pid("daemon")) && !is_alive(&pid("stray")));
    assert_eq!(kill_marked(&job.marker), 0);
    assert!(is_alive(&pid("daemon")));
    let daemon = pid("daemon").trim().parse().ok().and_then(rustix::process::Pid::from_raw).unwrap();
    rustix::process::kill_process(daemon, rustix::process::Signal::KILL).unwrap();
}

#[test]
fn a_child_without_the_marker_is_killed_if_it_stays_in_the_group() {
    let folder = temp();
    let script =
        "env -i sleep 1000 >/dev/null 2>&1 & echo $! >stray; while ! grep -q sleep /proc/$!/comm; do :; done";
    let done = run_job(&shell(folder.path(), script));
    assert_eq!((done.exit, done.strays), (Exit::Code(0), 1));
    assert!(!is_alive(&fs::read_to_string(folder.path().join("stray")).unwrap()));
}

#[test]
fn a_stray_without_group_and_marker_is_killed_if_it_holds_the_output_open() {
    let folder = temp();
    let script = "setsid env -i /bin/sh -c 'echo $$ >stray; exec sleep 1000' & while [ ! -s stray ]; do sleep 0.01; done";
    let done = run_job(&shell(folder.path(), script));
    assert_eq!((done.exit, done.strays), (Exit::Code(0), 1));
    let stray = fs::read_to_string(folder.path().join("stray")).unwrap();
    let until = Instant::now() + FOREVER;
    while is_alive(&stray) {
        assert!(Instant::now() < until, "the stray is still alive");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_descendant_without_group_and_marker_is_killed_on_cancel() {
    let folder = temp();
    let script = "setsid env -i /bin/sh -c 'echo $$ >stray; exec sleep 1000' >/dev/null 2>&1 & sleep 1000";
    let job = shell(folder.path(), script);
    let cancel = Cancel::new();
    let runner = {
        let (job, cancel) = (job, cancel.clone());
        thread::spawn(move || run(&job, &cancel).expect("starts"))
    };
    let stray = wait_for_file(&folder.path().join("stray"));
    cancel.cancel();
    assert_eq!(runner.join().unwrap().exit, Exit::Cancelled);
    assert!(!is_alive(&stray));
}

// CORE-17
#[test]
fn jobs_outside_of_runs_do_not_kill_each_other_even_with_the_same_name() {
    let folder = tempfile::tempdir().unwrap();
    let job = |script: &str| {
        let job = ProcessJob::standalone(["sh", "-c", script], folder.path(), "probe");
        run(&job.inherit(&["PATH"]), &Cancel::new()).unwrap()
    };
    thread::scope(|scope| {
        let long = scope.spawn(|| job("echo begun > begun; sleep 1; echo done"));
        while !folder.path().join("begun").exists() {
            thread::sleep(Duration::from_millis(5));
        }
        assert_eq!((job("true").exit, job("true").strays), (Exit::Code(0), 0));
        let long = long.join().unwrap();
        assert_eq!((long.exit, long.stdout.text().trim()), (Exit::Code(0), "done"));
    });
}

// CORE-17
#[test]
fn processes_of_a_dead_engine_are_found_by_the_prefix_of_their_marker() {
    let run = marker();
    let start = |marker: String| {
        let mut command = std::process::Command::new("sleep");
        Sleeper(
            command
                .arg("1000")
                .env(MARKER_VARIABLE, marker)
                .stdout(std::process::Stdio::null())
                .spawn()
                .expect("starts"),
        )
    };
    let mut ours = [start(format!("{run}/a/1")), start(format!("{run}/b/1"))];
    let mut other = start(format!("{run}0/a/1"));
    assert_eq!(kill_marked(&run), 2);
    for child in &mut ours {
        assert!(!child.0.wait().unwrap().success());
    }
    assert!(other.0.try_wait().unwrap().is_none());
    assert_eq!((kill_marked(&run), kill_marked("")), (0, 0));
}

#[test]
fn no_zombie_remains() {
    let folder = temp();
    let mut job = shell(folder.path(), "echo $$; sleep 1000");
    job.limits.time = Duration::from_millis(100);
    let pid: i32 = run_job(&job).stdout.text().trim().parse().unwrap();
    assert!(procfs::stat(pid).is_none());
}

#[test]
fn the_error_for_a_missing_program_lists_the_searched_folders() {
    let folder = temp();
    let mut job = shell(folder.path(), "");
    job.argv = vec!["no-such-program".into()];
    let error = run(&job, &Cancel::new()).unwrap_err().to_string();
    assert_eq!(
        error,
        "`no-such-program` was not found on PATH (/usr/local/bin, /usr/bin, /bin); install it or give its path"
    );
    job.environment.clear();
    let error = run(&job, &Cancel::new()).unwrap_err();
    assert!(matches!(error, SpawnError::NotFound { searched: ProgramSearch::NoPath, .. }));
    job.argv = vec!["./here".into()];
    let error = run(&job, &Cancel::new()).unwrap_err();
    assert!(
        matches!(error, SpawnError::NotFound { searched: ProgramSearch::At(path), .. } if path.ends_with("here"))
    );
}

#[test]
fn a_relative_entry_of_path_is_ignored() {
    let folder = temp();
    fs::write(folder.path().join("tool"), "#!/bin/sh\n").unwrap();
    let mut job = shell(folder.path(), "");
    job.argv = vec!["tool".into()];
    job.environment.insert("PATH".into(), ".::".into());
    assert!(matches!(run(&job, &Cancel::new()), Err(SpawnError::NotFound { .. })));
}

#[test]
fn the_error_for_a_program_that_cannot_be_executed_says_why() {
    use std::os::unix::fs::PermissionsExt;
    let folder = temp();
    let why = |content: &[u8], mode: u32| {
        let path = folder.path().join("tool");
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let job = ProcessJob::new(["./tool"], folder.path(), marker());
        match run(&job, &Cancel::new()) {
            Err(SpawnError::NotExecutable { why, .. }) => why,
            other => panic!("{other:?}"),
        }
    };
    assert!(why(b"#!/bin/sh\n", 0o644).contains("chmod +x"));
    assert!(why(b"#!/no/such/interpreter\n", 0o755).contains("interpreter"));
    assert!(why(b"\x7fELF garbage", 0o755).contains("neither a binary"));
    let job = ProcessJob::new(["./"], folder.path(), marker());
    assert!(matches!(run(&job, &Cancel::new()), Err(SpawnError::NotExecutable { .. })));
}

#[test]
fn a_missing_folder_and_a_file_as_the_folder_are_errors() {
    let folder = temp();
    let mut job = shell(&folder.path().join("missing"), ":");
    assert!(matches!(run(&job, &Cancel::new()), Err(SpawnError::Folder { .. })));
    fs::write(folder.path().join("file"), "").unwrap();
    job.folder = folder.path().join("file");
    assert!(
        matches!(run(&job, &Cancel::new()), Err(SpawnError::Folder { why, .. }) if why == "it is not a folder")
    );
}

#[test]
fn a_job_without_program_or_marker_is_rejected() {
    let mut job = ProcessJob::new(Vec::<String>::new(), "/", "m");
    assert!(matches!(run(&job, &Cancel::new()), Err(SpawnError::NoProgram)));
    job.marker.clear();
    assert!(matches!(run(&job, &Cancel::new()), Err(SpawnError::Marker { .. })));
}

#[test]
fn a_job_ends_even_if_its_watch_panics() {
    let folder = temp();
    let watch: LineWatch = Arc::new(|_, _| -> AfterLine { std::panic::resume_unwind(Box::new("watch")) });
    let done = run_watched(&shell(folder.path(), "echo x"), &Cancel::new(), watch).expect("starts");
    assert_eq!((done.exit, done.stdout.text().as_ref()), (Exit::Code(0), "x\n"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_cannot_use_more_memory_than_its_limit() {
    let folder = temp();
    let script = "head -c 200000000 /dev/zero | tail -c 190000000 | (sleep 0.5; wc -c)";
    let mut job = shell(folder.path(), script);
    job.limits.memory = Some(50_000_000);
    assert_eq!(run_job(&job).exceeded, Some(ExceededLimit::Memory(50_000_000)));
    // The first process too.
    let hog = "import time; kept = bytearray(b'1' * 190_000_000); time.sleep(2)";
    let mut first = ProcessJob::standalone(["python3", "-c", hog], folder.path(), "hog");
    first.environment = job.environment.clone();
    first.limits.memory = job.limits.memory;
    assert_eq!(run_job(&first).exceeded, Some(ExceededLimit::Memory(50_000_000)));
    job.limits.memory = None;
    assert_eq!(run_job(&job).stdout.text().trim(), "190000000");
}
