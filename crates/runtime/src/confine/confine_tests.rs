//! Real confined processes: this test binary confines itself when it is started again through a small script.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::*;
use crate::process::{Cancel, Confined, Ended, Exit, Job, run};
use rustix::process::{Resource, getrlimit};
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

const POLICY: &str = "REMAND_TEST_POLICY";
const ARGV: &str = "REMAND_TEST_ARGV";

/// Is the wrapper when the switch is set; a fact of its own otherwise.
#[test]
fn inside() {
    let Ok(policy) = std::env::var(POLICY) else { return };
    let argv: Vec<OsString> = std::env::var(ARGV).expect("argv").split('\u{1f}').map(Into::into).collect();
    let policy = Policy::from_argument(&policy).expect("a policy");
    let error = enter_and_exec(&policy, &argv).expect_err("it never returns");
    eprintln!("error: {error}");
    std::process::exit(125);
}

struct Lab {
    folder: tempfile::TempDir,
}

impl Lab {
    fn new() -> Lab {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("inside")).unwrap();
        fs::create_dir(folder.path().join("outside")).unwrap();
        fs::write(folder.path().join("outside/file"), "precious").unwrap();
        let exe = std::env::current_exe().unwrap();
        let script = format!(
            "#!/bin/sh\n[ \"$1 $2 $4\" = 'confine --policy --' ] || exit 99\nexport {POLICY}=\"$3\"\nshift 4\n\
             export {ARGV}=\"$1\"\nshift\nfor a; do {ARGV}=\"${ARGV}$(printf '\\037')$a\"; done\n\
             exec '{}' --exact confine::confine_tests::inside --nocapture --quiet\n",
            exe.display()
        );
        fs::write(folder.path().join("remand"), script).unwrap();
        fs::set_permissions(folder.path().join("remand"), fs::Permissions::from_mode(0o755)).unwrap();
        Lab { folder }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn policy(&self) -> Policy {
        Policy {
            read_write: vec![self.path("inside")],
            report: Some(self.path("report.json")),
            ..Policy::default()
        }
    }

    fn job(&self, policy: Policy, script: &str) -> Job {
        let mut job = Job::new(
            ["sh", "-c", script],
            self.path("inside"),
            format!("lab-{}", self.folder.path().display()),
        );
        job = job.inherit(&["PATH"]);
        job.confine = Some(Confined { exe: self.path("remand"), policy });
        job.limits.time = Duration::from_secs(60);
        job.limits.grace = Duration::from_millis(200);
        job
    }

    fn run(&self, policy: Policy, script: &str) -> Ended {
        run(&self.job(policy, script), &Cancel::new()).expect("starts")
    }

    fn report(&self) -> Enforcement {
        serde_json::from_slice(&fs::read(self.path("report.json")).expect("a report")).expect("JSON")
    }
}

// CORE-05
#[test]
fn what_is_written_outside_is_denied_and_inside_allowed() {
    let lab = Lab::new();
    let done = lab.run(
        lab.policy(),
        "echo x >new && mkdir -p a/b && mv new a/b/moved && ln -s x link && : >/dev/null || exit 9\n\
         for c in 'echo x >../outside/new' 'echo x >>../outside/file' ': >../outside/file' 'rm ../outside/file' \
         'mkdir ../outside/d' 'mv a/b/moved ../outside/m' 'ln -s x ../outside/l' 'mv ../outside/file f' 'truncate -s 0 ../outside/file'; do\n\
         (eval \"$c\") 2>/dev/null && echo \"allowed: $c\"; done; exit 0",
    );
    assert_eq!(done.exit, Exit::Code(0), "{}", done.stderr.text());
    assert!(lab.path("inside/a/b/moved").exists());
    assert_eq!(lab.report(), landlocked::enforcement(&lab.policy()));
    match lab.report().files {
        Level::Full => {
            assert!(!done.stdout.text().contains("allowed"), "{}", done.stdout.text());
            assert_eq!(fs::read_to_string(lab.path("outside/file")).unwrap(), "precious");
            assert_eq!(fs::read_dir(lab.path("outside")).unwrap().count(), 1);
        }
        Level::Partial => assert!(lab.report().gaps.iter().any(|gap| gap.contains("truncating"))),
        Level::None => assert!(lab.report().gaps.iter().any(|gap| gap.contains("writing"))),
        Level::Unasked => panic!("writing is always asked for"),
    }
}

// CORE-16
#[test]
fn one_file_can_be_the_only_writable_place() {
    let lab = Lab::new();
    fs::write(lab.path("outside/report"), "").unwrap();
    let policy = Policy { read_write: vec![lab.path("outside/report")], ..Policy::default() };
    let done = lab.run(policy, "echo x >../outside/report; echo y >here; echo z >../outside/other");
    assert_eq!(fs::read_to_string(lab.path("outside/report")).unwrap(), "x\n", "{}", done.stderr.text());
    let denied = probe().files == Level::Full;
    assert_eq!((lab.path("inside/here").exists(), lab.path("outside/other").exists()), (!denied, !denied));
}

// CORE-05
#[test]
fn a_connection_is_denied_without_network_and_works_with_it() {
    let lab = Lab::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let connect = format!("exec bash -c 'exec 3<>/dev/tcp/127.0.0.1/{}' 2>/dev/null", address.port());
    let open = Policy { network: true, ..lab.policy() };
    assert_eq!(lab.run(open, &connect).exit, Exit::Code(0));
    assert_eq!(lab.report().network, Level::Unasked);
    let done = lab.run(lab.policy(), &connect);
    match lab.report().network {
        Level::Partial => {
            assert_ne!(done.exit, Exit::Code(0));
            assert!(lab.report().gaps.iter().any(|gap| gap.contains("UDP")));
        }
        Level::None => assert!(lab.report().gaps.iter().any(|gap| gap.contains("TCP connections"))),
        Level::Full | Level::Unasked => panic!("{:?}", lab.report()),
    }
}

// CORE-05
#[test]
fn reading_is_free_unless_it_is_limited() {
    let lab = Lab::new();
    fs::create_dir(lab.path("given")).unwrap();
    fs::write(lab.path("given/file"), "given").unwrap();
    let script = "cat ../outside/file; cat ../given/file; echo own >own && cat own";
    assert_eq!(lab.run(lab.policy(), script).stdout.text().matches("precious").count(), 1);
    let limited = Policy { read_only: vec![lab.path("given")], ..lab.policy() };
    let done = lab.run(limited, script);
    assert!(done.stdout.text().ends_with("givenown\n"), "{}", done.stderr.text());
    assert_eq!(done.stdout.text().contains("precious"), lab.report().files == Level::None);
}

// CORE-05
#[test]
fn other_processes_of_the_user_cannot_be_signalled() {
    let lab = Lab::new();
    let mut other = Command::new("sleep").arg("1000").spawn().unwrap();
    let done = lab.run(lab.policy(), &format!("kill {}; sleep 1000 & kill $! && echo own", other.id()));
    let gap = lab.report().gaps.iter().any(|gap| gap.contains("signals"));
    assert!(done.stdout.text().contains("own"));
    assert!(other.try_wait().unwrap().is_none() || gap, "{}", done.stderr.text());
    other.kill().unwrap();
    other.wait().unwrap();
}

#[test]
fn limits_bind_memory_file_size_and_core_files() {
    let lab = Lab::new();
    let policy = Policy { file_size: Some(1000), memory: Some(64_000_000), ..lab.policy() };
    let done = lab.run(policy, "ulimit -H -c; ulimit -d; head -c 5000 /dev/zero >big; wc -c <big");
    let text = done.stdout.text().into_owned();
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| line.bytes().all(|b| b.is_ascii_digit()) && !line.is_empty())
        .collect();
    assert_eq!(lines, ["0", "62500", "1000"], "{text}");
}

#[test]
fn processes_are_limited_beyond_those_at_hand() {
    let lab = Lab::new();
    let done =
        lab.run(Policy { processes: Some(70_000), ..lab.policy() }, "grep 'Max processes' /proc/self/limits");
    let text = done.stdout.text().into_owned();
    let fields: Vec<&str> = text.split("Max processes").nth(1).expect("a limit").split_whitespace().collect();
    let own: u64 = getrlimit(Resource::Nproc).maximum.unwrap_or(u64::MAX);
    let limit: u64 = fields[0].parse().unwrap();
    assert!(limit == own || limit > 70_000, "{text}");
}

#[test]
fn the_limit_of_a_job_reaches_through_the_wrapper() {
    let lab = Lab::new();
    let mut job = lab.job(Policy { memory: Some(64_000_000), ..lab.policy() }, "ulimit -d");
    job.limits.memory = Some(32_000_000);
    let done = run(&job, &Cancel::new()).unwrap();
    assert!(done.stdout.text().contains("31250"), "{}", done.stdout.text());
}

// CORE-17
#[test]
fn a_confined_process_has_a_session_of_its_own_and_can_still_be_stopped() {
    let lab = Lab::new();
    let done = lab.run(lab.policy(), "set -- $(cat /proc/self/stat); cut -d' ' -f5,6 /proc/$$/stat; echo $$");
    let text = done.stdout.text().into_owned();
    let pid = text.lines().last().unwrap();
    assert!(text.contains(&format!("{pid} {pid}\n")), "{text}");
    let mut job = lab.job(lab.policy(), "sleep 1000 & sleep 1000");
    job.limits.time = Duration::from_millis(800);
    let done = run(&job, &Cancel::new()).unwrap();
    assert_eq!(done.exit, Exit::TimedOut);
    assert_eq!(crate::process::kill_marked(&job.marker), 0);
}

#[test]
fn a_program_that_is_missing_is_told_before_anything_starts() {
    let lab = Lab::new();
    let mut job = lab.job(lab.policy(), "");
    job.argv = vec!["no-such-program".into()];
    assert!(matches!(run(&job, &Cancel::new()), Err(crate::process::SpawnError::NotFound { .. })));
    assert!(!lab.path("report.json").exists());
}

#[test]
fn a_folder_that_does_not_exist_is_an_error_and_nothing_runs() {
    let lab = Lab::new();
    let policy = Policy { read_write: vec![lab.path("missing")], ..Policy::default() };
    let done = lab.run(policy, "echo ran");
    assert_eq!(done.exit, Exit::Code(125));
    assert!(!done.stdout.text().contains("ran"));
    assert!(done.stderr.text().contains("missing, which cannot be opened; create it first or leave it out"));
}

#[test]
fn a_policy_goes_through_json_and_unknown_keys_are_refused() {
    let lab = Lab::new();
    let policy = Policy { network: true, processes: Some(7), read_only: vec!["/etc".into()], ..lab.policy() };
    let json = policy.to_json().unwrap();
    assert_eq!(Policy::from_argument(&json).unwrap(), policy);
    fs::write(lab.path("policy.json"), &json).unwrap();
    assert_eq!(Policy::from_argument(lab.path("policy.json").to_str().unwrap()).unwrap(), policy);
    assert!(matches!(Policy::from_argument("{\"netwrk\": true}"), Err(ConfineError::Malformed { .. })));
    assert!(matches!(Policy::from_argument("/no/such/policy"), Err(ConfineError::Unreadable { .. })));
    let argv = wrap(Path::new("/remand"), &policy, &["true".into()]).unwrap();
    assert_eq!(argv, ["/remand", "confine", "--policy", &json, "--", "true"]);
    assert!(matches!(wrap(Path::new("/remand"), &policy, &[]), Err(ConfineError::NoProgram)));
}
