//! Tests with real confined processes: a small script starts this test binary again, and the binary confines itself.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::*;
use crate::testing::{act_as_confine, install, wait_for};
use crate::{Cancel, Confinement, ExceededLimit, Exit, JobEnd, ProcessJob, run};
use rustix::process::{Resource, getrlimit};
use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// Acts as `remand confine` if a script from [`install`] started this binary; passes otherwise.
#[test]
fn inside() {
    act_as_confine();
}

pub(super) struct Lab {
    folder: tempfile::TempDir,
}

impl Lab {
    pub fn new() -> Lab {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("inside")).unwrap();
        fs::create_dir(folder.path().join("outside")).unwrap();
        fs::write(folder.path().join("outside/file"), "precious").unwrap();
        install(&folder.path().join("remand"), "confine::confine_tests::inside");
        Lab { folder }
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub fn policy(&self) -> Policy {
        Policy {
            read_write: vec![self.path("inside")],
            report: Some(self.path("report.json")),
            ..Policy::default()
        }
    }

    pub fn job(&self, policy: Policy, script: &str) -> ProcessJob {
        let mut job = ProcessJob::new(
            ["sh", "-c", script],
            self.path("inside"),
            format!("lab-{}", self.folder.path().display()),
        );
        job = job.inherit(&["PATH"]);
        job.confine = Some(Confinement { exe: self.path("remand"), policy });
        job.limits.time = Duration::from_secs(60);
        job.limits.grace = Duration::from_millis(200);
        job
    }

    pub fn run(&self, policy: Policy, script: &str) -> JobEnd {
        run(&self.job(policy, script), &Cancel::new()).expect("starts")
    }

    pub fn report(&self) -> Enforcement {
        serde_json::from_slice(&fs::read(self.path("report.json")).expect("a report")).expect("JSON")
    }
}

// CORE-05
#[test]
fn writing_is_allowed_inside_the_writable_folder_and_denied_outside() {
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
    assert_eq!(lab.report(), Enforcement::of(ground(false), &lab.policy()));
    match lab.report().files {
        EnforcementLevel::Full => {
            assert!(!done.stdout.text().contains("allowed"), "{}", done.stdout.text());
            assert_eq!(fs::read_to_string(lab.path("outside/file")).unwrap(), "precious");
            assert_eq!(fs::read_dir(lab.path("outside")).unwrap().count(), 1);
        }
        EnforcementLevel::Partial => {
            assert!(lab.report().gaps().iter().any(|gap| gap.contains("truncating")))
        }
        EnforcementLevel::None => assert!(lab.report().gaps().iter().any(|gap| gap.contains("writing"))),
        EnforcementLevel::Unasked => panic!("writing is always restricted"),
    }
}

// CORE-16
#[test]
fn a_single_file_can_be_the_only_writable_path() {
    let lab = Lab::new();
    fs::write(lab.path("outside/report"), "").unwrap();
    let policy = Policy { read_write: vec![lab.path("outside/report")], ..Policy::default() };
    let done = lab.run(policy, "echo x >../outside/report; echo y >here; echo z >../outside/other");
    assert_eq!(fs::read_to_string(lab.path("outside/report")).unwrap(), "x\n", "{}", done.stderr.text());
    let denied = probe().files == EnforcementLevel::Full;
    assert_eq!((lab.path("inside/here").exists(), lab.path("outside/other").exists()), (!denied, !denied));
}

// CORE-05
#[test]
fn connections_need_the_network_permission() {
    let lab = Lab::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let connect = format!("exec bash -c 'exec 3<>/dev/tcp/127.0.0.1/{}' 2>/dev/null", address.port());
    let open = Policy { network: true, ..lab.policy() };
    assert_eq!(lab.run(open, &connect).exit, Exit::Code(0));
    assert_eq!(lab.report().network, EnforcementLevel::Unasked);
    let done = lab.run(lab.policy(), &connect);
    match lab.report().network {
        EnforcementLevel::Full | EnforcementLevel::Partial => assert_ne!(done.exit, Exit::Code(0)),
        EnforcementLevel::None => {
            assert!(lab.report().gaps().iter().any(|gap| gap.contains("TCP connections")))
        }
        EnforcementLevel::Unasked => panic!("{:?}", lab.report()),
    }
}

// CORE-05
#[test]
fn a_process_can_listen_only_on_allowed_ports() {
    let lab = Lab::new();
    let free_port = || TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let (allowed, other) = (free_port(), free_port());
    let talk = |port: u16| {
        format!(
            "python3 -c 'import socket; s = socket.create_server((\"127.0.0.1\", {port})); socket.create_connection(s.getsockname())'"
        )
    };
    let policy = || Policy { listens: vec![allowed], ..lab.policy() };
    let done = lab.run(policy(), &talk(allowed));
    assert_eq!(done.exit, Exit::Code(0), "{}", done.stderr.text());
    let done = lab.run(policy(), &talk(other));
    assert_eq!(
        done.exit == Exit::Code(0),
        lab.report().network == EnforcementLevel::None,
        "{}",
        done.stderr.text()
    );
}

// CORE-05
#[test]
fn reading_is_unrestricted_unless_the_policy_limits_it() {
    let lab = Lab::new();
    fs::create_dir(lab.path("given")).unwrap();
    fs::write(lab.path("given/file"), "given").unwrap();
    let script = "cat ../outside/file; cat ../given/file; echo own >own && cat own";
    assert_eq!(lab.run(lab.policy(), script).stdout.text().matches("precious").count(), 1);
    let limited = Policy { read_only: vec![lab.path("given")], ..lab.policy() };
    let done = lab.run(limited, script);
    assert!(done.stdout.text().ends_with("givenown\n"), "{}", done.stderr.text());
    assert_eq!(done.stdout.text().contains("precious"), lab.report().files == EnforcementLevel::None);
}

// CORE-05
#[test]
fn a_confined_process_cannot_signal_other_processes_of_the_user() {
    let lab = Lab::new();
    let mut other = Command::new("sleep").arg("1000").spawn().unwrap();
    let done = lab.run(lab.policy(), &format!("kill {}; sleep 1000 & kill $! && echo own", other.id()));
    let gap = lab.report().gaps().iter().any(|gap| gap.contains("signals"));
    assert!(done.stdout.text().contains("own"));
    assert!(other.try_wait().unwrap().is_none() || gap, "{}", done.stderr.text());
    other.kill().unwrap();
    other.wait().unwrap();
}

#[test]
fn file_size_and_core_files_are_limited() {
    let lab = Lab::new();
    let policy = Policy { file_size: Some(1000), ..lab.policy() };
    let done = lab.run(policy, "ulimit -H -c; head -c 5000 /dev/zero >big; wc -c <big");
    let text = done.stdout.text().into_owned();
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| line.bytes().all(|b| b.is_ascii_digit()) && !line.is_empty())
        .collect();
    assert_eq!(lines, ["0", "1000"], "{text}");
}

#[test]
fn existing_processes_are_added_to_the_process_limit() {
    let lab = Lab::new();
    let done =
        lab.run(Policy { processes: Some(8_750), ..lab.policy() }, "grep 'Max processes' /proc/self/limits");
    let text = done.stdout.text().into_owned();
    let fields: Vec<&str> = text.split("Max processes").nth(1).expect("a limit").split_whitespace().collect();
    let inherited: u64 = getrlimit(Resource::Nproc).maximum.unwrap_or(u64::MAX);
    let limit: u64 = fields[0].parse().unwrap();
    assert!(limit == inherited || limit > 70_000, "{text}");
}

// UP-03
#[test]
fn a_program_may_reserve_more_memory_than_it_may_use() {
    let lab = Lab::new();
    let policy = Policy { memory: Some(64_000_000), memory_of_all: Some(64_000_000), ..lab.policy() };
    let reserving = python(
        "import mmap, time; held = mmap.mmap(-1, 1 << 36, flags=mmap.MAP_PRIVATE | 0x4000); time.sleep(0.3); print(len(held))",
    );
    let done = lab.run(policy, &reserving);
    assert!(done.stdout.text().trim().ends_with("68719476736"), "{}", done.stderr.text());
}

// CORE-17
#[test]
fn a_confined_process_has_its_own_session_and_can_still_be_killed() {
    let lab = Lab::new();
    let done = lab.run(lab.policy(), "cut -d' ' -f4,5,6 /proc/$$/stat");
    let text = done.stdout.text().into_owned();
    let ids: Vec<&str> = text.lines().last().unwrap().split(' ').collect();
    // The supervisor is the parent of the program, and leads the same group and session.
    assert!(ids[0] == ids[1] && ids[1] == ids[2], "{text}");
    let mut job = lab.job(lab.policy(), "sleep 1000 & sleep 1000");
    job.limits.time = Duration::from_millis(800);
    let done = run(&job, &Cancel::new()).unwrap();
    assert_eq!(done.exit, Exit::TimedOut);
    assert_eq!(crate::kill_marked(&job.marker), 0);
}

#[test]
fn a_program_is_confined_if_the_group_of_its_parent_is_outside_of_the_pid_namespace() {
    const INSIDE: &str = "REMAND_TEST_INSIDE_NAMESPACE";
    if std::env::var_os(INSIDE).is_some() {
        let lab = Lab::new();
        let done = lab.run(lab.policy(), "echo confined");
        assert!(done.stdout.text().ends_with("confined\n"), "{}", done.stderr.text());
        return;
    }
    let start = |program: &str, arguments: &[&str]| {
        let user: &[&str] =
            if rustix::process::geteuid().is_root() { &[] } else { &["--user", "--map-root-user"] };
        let mut command = Command::new("unshare");
        command.args(user).args(["--pid", "--fork", "--kill-child", "--mount-proc", program]);
        command.args(arguments).env(INSIDE, "yes").output().expect("starts")
    };
    if !start("true", &[]).status.success() {
        eprintln!("NOT TESTED: this machine refuses PID namespaces");
        return;
    }
    let exe = std::env::current_exe().expect("this binary");
    let test = "confine::confine_tests::a_program_is_confined_if_the_group_of_its_parent_is_outside_of_the_pid_namespace";
    let done = start(exe.to_str().expect("UTF-8"), &["--exact", test, "--nocapture"]);
    let text = String::from_utf8_lossy(&done.stdout);
    assert!(
        done.status.success() && text.contains("1 passed"),
        "{text}{}",
        String::from_utf8_lossy(&done.stderr)
    );
}

#[test]
fn a_missing_program_is_reported_before_anything_starts() {
    let lab = Lab::new();
    let mut job = lab.job(lab.policy(), "");
    job.argv = vec!["no-such-program".into()];
    assert!(matches!(run(&job, &Cancel::new()), Err(crate::SpawnError::NotFound { .. })));
    assert!(!lab.path("report.json").exists());
}

#[test]
fn a_missing_folder_in_the_policy_is_an_error_and_nothing_runs() {
    let lab = Lab::new();
    let policy = Policy { read_write: vec![lab.path("missing")], ..Policy::default() };
    let job = lab.job(policy, "touch ran");
    let error = run(&job, &Cancel::new()).unwrap_err().to_string();
    assert!(!lab.path("inside/ran").exists());
    assert!(error.starts_with("the sandbox of sh could not be set up: "), "{error}");
    assert!(
        error.contains("missing, which cannot be opened; create it or remove it from the policy"),
        "{error}"
    );
}

#[test]
fn a_policy_is_unchanged_by_json_and_unknown_keys_are_rejected() {
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

/// How much this machine enforces, of a policy without namespaces.
fn probe() -> Enforcement {
    Enforcement::of(ground(false), &Policy { hidden: vec!["/proc/1".into()], ..Policy::default() })
}

/// Returns whether this machine has the whole sandbox except for namespaces. Otherwise attacks may succeed.
pub(super) fn is_fully_enforced() -> bool {
    let found = ground(false);
    found.landlock >= 6 && found.filter
}

/// Runs each attack in a separate shell, and returns those that succeeded.
pub(super) fn successful_attacks(lab: &Lab, policy: Policy, attacks: &[&str]) -> Vec<String> {
    let mut script = String::new();
    for (number, attack) in attacks.iter().enumerate() {
        fs::write(lab.path(&format!("inside/attack-{number}")), attack).unwrap();
        script.push_str(&format!("sh ./attack-{number} >/dev/null 2>&1 && echo through-{number}\n"));
    }
    let done = lab.run(policy, &script);
    let text = done.stdout.text().into_owned();
    let succeeded =
        attacks.iter().enumerate().filter(|(number, _)| text.contains(&format!("through-{number}\n")));
    succeeded.map(|(_, attack)| (*attack).to_string()).collect()
}

pub(super) fn python(body: &str) -> String {
    format!("exec python3 -c '{body}'")
}

// CORE-05
#[test]
fn without_network_only_tcp_sockets_and_socket_pairs_can_be_opened() {
    let lab = Lab::new();
    let _listener = std::os::unix::net::UnixListener::bind(lab.path("outside/sock")).unwrap();
    let open = |call: &str| python(&format!("import socket as s; {call}"));
    let attacks = [
        open("s.socket(s.AF_INET, s.SOCK_DGRAM)"),
        open("s.socket(s.AF_INET6, s.SOCK_DGRAM | s.SOCK_NONBLOCK)"),
        open("s.socket(s.AF_INET, s.SOCK_RAW, 1)"),
        open("s.socket(s.AF_INET, s.SOCK_STREAM, 262)"),
        open("s.socket(40, s.SOCK_STREAM)"),
        open("s.socket(38, s.SOCK_SEQPACKET)"),
        open("s.socket(17, s.SOCK_RAW)"),
        open("s.socket(s.AF_UNIX).connect(\"../outside/sock\")"),
        open("s.socket(s.AF_UNIX, s.SOCK_DGRAM)"),
    ];
    let attacks: Vec<&str> = attacks.iter().map(String::as_str).collect();
    let succeeded = successful_attacks(&lab, lab.policy(), &attacks);
    assert!(succeeded.is_empty() || !is_fully_enforced(), "{succeeded:?}");
    let permitted =
        [open("s.socketpair(); s.socket(s.AF_INET, s.SOCK_STREAM); s.socket(s.AF_INET6, s.SOCK_STREAM)")];
    assert_eq!(successful_attacks(&lab, lab.policy(), &[&permitted[0]]), permitted);
    let sockets = Policy { sockets: true, ..lab.policy() };
    assert_eq!(successful_attacks(&lab, sockets, &[attacks[7]]), [attacks[7]]);
}

// CORE-05 EP-30
#[test]
fn only_the_names_of_other_processes_can_be_read() {
    let lab = Lab::new();
    let mut other = Command::new("sleep");
    let mut other = other.arg("1000").env("SECRET", "hush").current_dir(lab.path("outside")).spawn().unwrap();
    let pid = other.id();
    let attacks = [
        format!("cat /proc/{pid}/environ"),
        format!("cat /proc/{pid}/cwd/file"),
        format!("readlink /proc/{pid}/fd/0"),
        format!("cat /proc/{pid}/maps"),
        format!("head -c 1 /proc/{pid}/mem"),
        format!("ls /proc/{pid}/root/"),
        "cat /proc/$(cut -d\" \" -f4 /proc/$PPID/stat)/environ".to_string(),
        python(&format!("import ctypes,sys; sys.exit(ctypes.CDLL(None).ptrace(16, {pid}, 0, 0) != 0)")),
    ];
    let attacks: Vec<&str> = attacks.iter().map(String::as_str).collect();
    let succeeded = successful_attacks(&lab, lab.policy(), &attacks);
    other.kill().unwrap();
    other.wait().unwrap();
    assert!(succeeded.is_empty() || !is_fully_enforced(), "{succeeded:?}");
}

// CORE-05
#[test]
fn mounts_namespaces_and_kernel_interfaces_are_denied() {
    let lab = Lab::new();
    let call = |number: i64, more: &str| {
        python(&format!("import ctypes,sys; sys.exit(ctypes.CDLL(None).syscall({number}{more}) == -1)"))
    };
    let attacks = [
        "mkdir m && mount -t tmpfs none m".to_string(),
        "mkdir b && mount --bind ../outside b".to_string(),
        "unshare -U true".to_string(),
        "unshare -m true".to_string(),
        "unshare -n true".to_string(),
        "mknod dev c 1 5".to_string(),
        "chroot . /bin/true".to_string(),
        call(libc::SYS_keyctl, ",0,-3,1"),
        call(libc::SYS_io_uring_setup, ",4,0"),
        call(libc::SYS_userfaultfd, ",0"),
        call(libc::SYS_setns, ",0,0"),
        call(libc::SYS_clone3, ",0,0"),
    ];
    let attacks: Vec<&str> = attacks.iter().map(String::as_str).collect();
    let succeeded = successful_attacks(&lab, lab.policy(), &attacks);
    assert!(succeeded.is_empty() || !is_fully_enforced(), "{succeeded:?}");
}

// CORE-05
#[test]
fn root_keeps_only_capabilities_for_files_signals_and_user_ids() {
    let lab = Lab::new();
    let done = lab.run(lab.policy(), "grep CapBnd /proc/self/status; grep CapEff /proc/self/status");
    let text = done.stdout.text().into_owned();
    let effective = text.lines().find_map(|line| line.strip_prefix("CapEff:")).unwrap().trim().to_string();
    let effective = u64::from_str_radix(&effective, 16).unwrap();
    let kept = 0b1111_1011; // chown, dac-override, fowner, fsetid, kill, setgid, setuid
    assert_eq!(effective & !kept, 0, "{text}");
}

// CORE-05
#[test]
fn links_and_indirect_paths_do_not_lead_out_of_the_sandbox() {
    let lab = Lab::new();
    let outside = lab.path("outside");
    let with_outside = |attack: &str| attack.replace("OUT", &outside.display().to_string());
    let attacks = [
        with_outside("ln -s OUT s && echo x >s/planted"),
        with_outside("ln OUT/file h"),
        with_outside("ln -s OUT/file t && echo x >>t"),
        with_outside("mv attack-0 OUT/moved"),
        with_outside("echo x >/proc/self/root/OUT/planted"),
        with_outside("cd OUT && echo x >planted"),
        with_outside("echo x >../outside/planted"),
        with_outside("exec 3<. && echo x >/proc/self/fd/3/../outside/planted"),
        python(&with_outside("open(\"OUT/planted\", \"w\")")),
        python(&with_outside("import os; os.rename(\"OUT/file\", \"taken\")")),
        python(&with_outside("import os; os.truncate(\"OUT/file\", 0)")),
        python(&with_outside("import os; os.link(\"OUT/file\", \"again\")")),
    ];
    let attacks: Vec<&str> = attacks.iter().map(String::as_str).collect();
    let succeeded = successful_attacks(&lab, lab.policy(), &attacks);
    assert!(succeeded.is_empty() || probe().files != EnforcementLevel::Full, "{succeeded:?}");
    if probe().files == EnforcementLevel::Full {
        assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "precious");
        assert_eq!(fs::read_dir(outside).unwrap().count(), 1);
    }
}

// CORE-05
#[test]
fn hidden_folders_can_neither_be_read_nor_listed_but_shown_ones_can() {
    let lab = Lab::new();
    fs::create_dir_all(lab.path("home/.cargo/bin")).unwrap();
    fs::create_dir_all(lab.path("home/.ssh")).unwrap();
    for file in ["home/.ssh/id", "home/.cargo/credentials.toml", "home/.cargo/bin/tool"] {
        fs::write(lab.path(file), "precious").unwrap();
    }
    let policy = Policy {
        hidden: vec![lab.path("home"), lab.path("home/.cargo/credentials.toml")],
        shown: vec![lab.path("home/.cargo")],
        ..lab.policy()
    };
    let attacks = [
        "cat ../home/.ssh/id",
        "ls ../home/.ssh",
        "ls ../home",
        "cat ../home/.cargo/credentials.toml",
        "cat /proc/self/cwd/../home/.ssh/id",
        "ln -s ../home/.ssh s && cat s/id",
    ];
    let succeeded = successful_attacks(&lab, policy.clone(), &attacks);
    assert!(succeeded.is_empty() || probe().files == EnforcementLevel::None, "{succeeded:?}");
    let permitted = ["cat ../home/.cargo/bin/tool", "cat ../outside/file", "ls ../home/.cargo/bin /usr"];
    assert_eq!(successful_attacks(&lab, policy, &permitted), permitted);
}

// OT-05
#[test]
fn a_program_can_start_only_allowed_programs() {
    let lab = Lab::new();
    let real = |path: &str| PathBuf::from(path).canonicalize().ok();
    let loaders = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"];
    let mut programs: Vec<PathBuf> = loaders.iter().filter_map(|path| real(path)).collect();
    programs.push(real("/bin/sh").unwrap());
    let bins = ["/bin", "/usr/bin", "/usr/local/bin"].iter().filter_map(|path| real(path)).collect();
    let policy = Policy { shown: programs.clone(), programs: Some(programs), hidden: bins, ..lab.policy() };
    let script =
        "echo begun; /bin/ls; cp /bin/ls own; ./own; for l in /lib64/ld-linux-*.so.*; do $l /bin/ls; done";
    let mut job = lab.job(policy, script);
    job.argv[0] = real("/bin/sh").unwrap().into_os_string();
    let done = run(&job, &Cancel::new()).unwrap();
    assert!(done.stdout.text().contains("begun\n"), "{}{}", done.stdout.text(), done.stderr.text());
    assert!(
        done.stdout.text().ends_with("begun\n") || probe().files == EnforcementLevel::None,
        "{}",
        done.stdout.text()
    );
}

/// Forks twice, leaves its group, session, environment and pipes, and writes its pid to a file.
const DAEMON: &str = "exec python3 -c '\nimport os,time\nif os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\n\
     os.closerange(0, 64)\nf = open(\"daemon\", \"w\"); f.write(str(os.getpid()) + \"\\n\"); f.close()\n\
     os.execve(\"/bin/sleep\", [\"sleep\", \"1000\"], {})\n'";

fn is_alive(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

// CORE-17
#[test]
fn a_daemon_without_group_session_environment_and_pipes_dies_with_the_job() {
    let lab = Lab::new();
    fs::write(lab.path("inside/daemon.sh"), DAEMON).unwrap();
    let done = lab.run(lab.policy(), "sh ./daemon.sh; while [ ! -s daemon ]; do sleep 0.01; done");
    assert_eq!((done.exit, done.strays), (Exit::Code(0), 1), "{}", done.stderr.text());
    assert!(!is_alive(&fs::read_to_string(lab.path("inside/daemon")).unwrap()));
    fs::remove_file(lab.path("inside/daemon")).unwrap();
    let job = lab.job(lab.policy(), "sh ./daemon.sh; sleep 1000");
    let cancel = Cancel::new();
    let runner = {
        let cancel = cancel.clone();
        std::thread::spawn(move || run(&job, &cancel).expect("starts"))
    };
    let daemon = wait_for(&lab.path("inside/daemon"));
    assert!(is_alive(&daemon));
    cancel.cancel();
    assert_eq!(runner.join().unwrap().exit, Exit::Cancelled);
    assert!(!is_alive(&daemon));
}

// CORE-17
#[test]
fn when_the_engine_dies_all_descendants_of_the_supervisor_die() {
    let lab = Lab::new();
    fs::write(lab.path("inside/daemon.sh"), DAEMON).unwrap();
    let argv: Vec<OsString> =
        ["sh", "-c", "sh ./daemon.sh; echo $$ >program; sleep 1000"].map(Into::into).into();
    let wrapped = wrap(&lab.path("remand"), &lab.policy(), &argv).unwrap();
    // A shell takes the role of the engine: it waits for its child and can be killed.
    let mut engine = Command::new("sh");
    engine.arg("-c").arg("\"$@\" & wait").arg("sh").args(wrapped).current_dir(lab.path("inside"));
    let mut engine = engine.spawn().unwrap();
    let (daemon, program) = (wait_for(&lab.path("inside/daemon")), wait_for(&lab.path("inside/program")));
    assert!(is_alive(&daemon) && is_alive(&program));
    engine.kill().unwrap();
    engine.wait().unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    while is_alive(&daemon) || is_alive(&program) {
        assert!(Instant::now() < until, "a process is still alive");
        std::thread::sleep(Duration::from_millis(5));
    }
}

// CORE-05
#[test]
fn exceeding_memory_processes_disk_or_file_size_kills_the_job_and_names_the_limit() {
    let lab = Lab::new();
    let exceeded = |limit: &dyn Fn(&mut ProcessJob), script: &str| {
        let mut job = lab.job(Policy { file_size: Some(200_000_000), ..lab.policy() }, script);
        limit(&mut job);
        let done = run(&job, &Cancel::new()).expect("starts");
        assert!(!done.exit.succeeded());
        assert_eq!(crate::kill_marked(&job.marker), 0);
        done.exceeded.unwrap_or_else(|| panic!("{:?} {}", done.exit, done.stderr.text()))
    };
    let hog = python("import time; x = b\"x\" * 300000000; time.sleep(1000)");
    assert_eq!(
        exceeded(&|job| job.limits.memory_of_all = Some(100_000_000), &hog),
        ExceededLimit::Memory(100_000_000)
    );
    assert_eq!(
        exceeded(&|job| job.limits.memory = Some(90_000_000), &hog),
        ExceededLimit::Memory(90_000_000)
    );
    let bomb = "b() { sleep 1000 & b; }; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24; \
                do sh -c 'sleep 1000 & sleep 1000' & done; wait";
    assert_eq!(exceeded(&|job| job.limits.processes = Some(20), bomb), ExceededLimit::Processes(20));
    let exits_soon = "i=0; while [ $i -lt 40 ]; do sleep 1000 & i=$((i + 1)); done >/dev/null 2>&1";
    assert_eq!(exceeded(&|job| job.limits.processes = Some(20), exits_soon), ExceededLimit::Processes(20));
    let filler = "for i in 1 2 3 4 5; do head -c 20000000 /dev/zero >f$i; done; sleep 1000";
    assert_eq!(exceeded(&|job| job.limits.disk = Some(50_000_000), filler), ExceededLimit::Disk(50_000_000));
    let huge = "exec head -c 300000000 /dev/zero >huge";
    assert_eq!(exceeded(&|_| {}, huge), ExceededLimit::FileSize(200_000_000));
}

/// A lab whose folder is private in all its parts: `home` is a hidden home with one shown folder, `inside` is writable.
fn private_policy(lab: &Lab) -> Policy {
    for folder in ["home/.cache", "home/.cargo", "home/.ssh", "storage", "elsewhere"] {
        fs::create_dir_all(lab.path(folder)).unwrap();
    }
    for file in [
        "home/.cache/a",
        "home/.cache/b",
        "home/.ssh/id",
        "home/.cargo/tool",
        "home/.cargo/credentials.toml",
        "home/.profile",
    ] {
        fs::write(lab.path(file), "precious").unwrap();
    }
    let private = PrivateFolders {
        folders: vec![lab.path("home"), "/tmp".into()],
        copied: vec![lab.path("home/.cache")],
        storage: lab.path("storage"),
        empties_hidden: true,
    };
    Policy {
        hidden: vec![lab.path("home"), lab.path("home/.cargo/credentials.toml"), lab.path("outside")],
        shown: vec![lab.path("home/.cargo")],
        private: Some(private),
        private_required: true,
        ..lab.policy()
    }
}

// UP-03
#[test]
fn a_program_with_a_private_network_can_serve_and_reach_itself_and_nobody_else() {
    let lab = Lab::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let _named = std::os::unix::net::UnixListener::bind(lab.path("elsewhere.sock")).unwrap();
    let open = |call: &str| python(&format!("import socket as s, os; {call}"));
    let own = [
        open("a = s.create_server((\"127.0.0.1\", 0)); s.create_connection(a.getsockname())"),
        open(
            "a = s.socket(s.AF_INET, s.SOCK_DGRAM); a.bind((\"127.0.0.1\", 0)); s.socket(s.AF_INET, s.SOCK_DGRAM).sendto(b\"x\", a.getsockname())",
        ),
        open(
            "a = s.socket(s.AF_UNIX); a.bind(\"own.sock\"); a.listen(); s.socket(s.AF_UNIX).connect(\"own.sock\")",
        ),
        python("import multiprocessing as m; m.Lock(); m.Queue(); m.shared_memory"),
    ];
    let own: Vec<&str> = own.iter().map(String::as_str).collect();
    let policy = private_policy(&lab);
    assert_eq!(successful_attacks(&lab, policy.clone(), &own[..3]), own[..3]);
    let attacks = [
        open(&format!("s.create_connection((\"127.0.0.1\", {port}), 2)")),
        open(&format!("s.socket().sendto(b\"x\", 0x20000000, (\"127.0.0.1\", {port}))")),
        open(&format!("s.socket(2, 1, 262).connect((\"127.0.0.1\", {port}))")),
        open("s.create_connection((\"192.0.2.1\", 80), 2)"),
        open("s.socket(s.AF_UNIX).connect(\"../elsewhere.sock\")"),
    ];
    let attacks: Vec<&str> = attacks.iter().map(String::as_str).collect();
    assert_eq!(successful_attacks(&lab, policy, &attacks), Vec::<String>::new());
    assert_eq!(lab.report().network, EnforcementLevel::Full);
    drop(listener);
}

// UP-03
#[test]
fn private_folders_can_be_written_and_leave_no_trace_in_the_shared_ones() {
    let lab = Lab::new();
    let policy = private_policy(&lab);
    let home = lab.path("home").display().to_string();
    let script = format!(
        "echo own >{home}/.config && cat {home}/.config {home}/.cargo/tool && mkdir -p {home}/a/b && \
         echo own >/tmp/remand-own && echo own >/dev/shm/remand-own && echo $TMPDIR && mktemp"
    );
    let done = lab.run(policy.clone(), &script);
    assert_eq!(done.exit, Exit::Code(0), "{}{}", done.stdout.text(), done.stderr.text());
    assert!(done.stdout.text().contains("own\nprecious/tmp\n"), "{}", done.stdout.text());
    for trace in [lab.path("home/.config"), "/tmp/remand-own".into(), "/dev/shm/remand-own".into()] {
        assert!(!trace.exists(), "{}", trace.display());
    }
    let attacks = [
        format!("cat {home}/.ssh/id"),
        format!("cat {home}/.profile"),
        format!("grep precious {home}/.cargo/credentials.toml"),
        format!("echo x >{home}/.cargo/tool"),
        format!("chmod 0777 {home}/.cargo/tool"),
        format!("rm {home}/.cargo/tool"),
        "cat ../outside/file".to_string(),
        "cat ../../*/outside/file".to_string(),
        "echo x >../outside/new".to_string(),
        "cat /proc/self/cwd/../outside/file".to_string(),
        "umount /tmp".to_string(),
        format!("umount -l {home}"),
    ];
    let attacks: Vec<&str> = attacks.iter().map(String::as_str).collect();
    assert_eq!(successful_attacks(&lab, policy, &attacks), Vec::<String>::new());
    assert_eq!(fs::read_to_string(lab.path("home/.cargo/tool")).unwrap(), "precious");
    assert_eq!(fs::read_dir(lab.path("outside")).unwrap().count(), 1);
}

// UP-03
#[test]
fn changes_to_a_copied_folder_are_seen_by_the_program_alone() {
    let lab = Lab::new();
    let cache = lab.path("home/.cache");
    let script = format!(
        "cd {} && echo own >new && echo own >a && rm b && mkdir -m 0 sealed && cat a new && ls",
        cache.display()
    );
    let done = lab.run(private_policy(&lab), &script);
    let text = done.stdout.text();
    assert!(text.ends_with("own\nown\na\nnew\nsealed\n"), "{text}{}", done.stderr.text());
    let mut left: Vec<_> = fs::read_dir(&cache).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["a", "b"]);
    assert_eq!(fs::read_to_string(cache.join("a")).unwrap(), "precious");
}

// UP-03
#[test]
fn system_v_memory_of_a_program_with_private_folders_is_gone_after_it() {
    let lab = Lab::new();
    let make = python("import ctypes; print(ctypes.CDLL(None).shmget(0x52454d, 4096, 0o1666))");
    let done = lab.run(private_policy(&lab), &make);
    assert_eq!(done.exit, Exit::Code(0), "{}", done.stderr.text());
    let left = Command::new("sh").args(["-c", "cat /proc/sysvipc/shm"]).output().unwrap();
    let key = format!("{}", 0x52454d);
    assert!(!String::from_utf8_lossy(&left.stdout).contains(&key));
}
