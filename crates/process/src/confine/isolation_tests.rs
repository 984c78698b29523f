//! Tests of programs in namespaces: who sees whom, how they end, and what they cannot start.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use super::confine_tests::{Lab, is_fully_enforced, python, successful_attacks};
use super::*;
use crate::testing::wait_for;
use crate::{Cancel, ExceededLimit, Exit, SpawnError, run};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

/// A policy whose program is in namespaces.
fn isolated(lab: &Lab) -> Policy {
    let private = PrivateFolders { storage: lab.path("storage"), ..PrivateFolders::default() };
    Policy { private: Some(private), private_required: true, ..lab.policy() }
}

fn is_alive(pid: i32) -> bool {
    crate::procfs::stat(pid).is_some_and(|stat| stat.alive)
}

/// The numbers of this process's descendants that run this command line, as seen from outside.
fn find(argument: &str) -> Vec<i32> {
    let own = i32::try_from(std::process::id()).unwrap();
    let all = crate::procfs::descendants(own).into_iter().map(|stat| stat.process.pid);
    let line = |pid: i32| fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    all.filter(|pid| line(*pid).split(|byte| *byte == 0).any(|word| word == argument.as_bytes())).collect()
}

fn wait_until(is_done: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !is_done() {
        assert!(Instant::now() < until, "it never happened");
        std::thread::sleep(Duration::from_millis(5));
    }
}

// BX-04
#[test]
fn other_processes_are_neither_visible_nor_reachable() {
    let lab = Lab::new();
    let mut other = Command::new("sleep").arg("1000").spawn().unwrap();
    let pid = other.id();
    let engine = std::process::id();
    let attacks = [
        format!("ls -d /proc/{pid}"),
        format!("ls -d /proc/{engine}"),
        format!("kill -0 {pid}"),
        format!("renice -n 5 -p {pid}"),
        python(&format!("import resource; resource.prlimit({engine}, resource.RLIMIT_FSIZE)")),
        python(&format!("import os; os.sched_setaffinity({engine}, [0])")),
        "kill -9 1; sleep 0.2; kill -0 1".to_string(),
        "grep -a confine /proc/1/environ".to_string(),
        python("import os; [os.kill(1, 9), os.kill(os.getppid(), 19)]; open(\"/proc/1/mem\", \"rb\")"),
    ];
    let attacks: Vec<&str> = attacks.iter().map(String::as_str).collect();
    assert_eq!(successful_attacks(&lab, isolated(&lab), &attacks), Vec::<String>::new());
    let done = lab.run(isolated(&lab), "echo visible /proc/[0-9]*; echo parent $PPID; hostname other");
    let text = done.stdout.text().into_owned();
    assert!(text.contains("parent 1\n"), "{text}{}", done.stderr.text());
    let visible = text.lines().find_map(|line| line.strip_prefix("visible ")).expect("a list");
    assert!(visible.split(' ').count() <= 3, "the init and the shell: {visible}");
    other.kill().unwrap();
    other.wait().unwrap();
}

// UP-03
#[test]
fn a_program_may_listen_on_every_port_of_its_own_network() {
    let lab = Lab::new();
    let listens = python("import socket; print(socket.create_server((\"127.0.0.1\", 80)).getsockname()[1])");
    let done = lab.run(isolated(&lab), &listens);
    assert!(done.stdout.text().trim().ends_with("80"), "{}", done.stderr.text());
}

// CORE-17
#[test]
fn the_status_of_the_program_is_reported() {
    let lab = Lab::new();
    for code in [0, 1, 77, 125, 255] {
        assert_eq!(lab.run(isolated(&lab), &format!("exit {code}")).exit, Exit::Code(code));
    }
    for signal in [1, 6, 9, 11, 15] {
        let script = format!("ulimit -c 0; kill -{signal} $$; sleep 9");
        assert_eq!(lab.run(isolated(&lab), &script).exit, Exit::Signal(signal));
    }
}

// CORE-17
#[test]
fn the_program_receives_a_request_to_end_once() {
    let lab = Lab::new();
    let script = "trap 'echo asked >>asked' TERM; echo ready >ready; n=0; \
                  while [ $n -lt 60 ]; do sleep 0.05; n=$((n + 1)); done; exit 3";
    let mut job = lab.job(isolated(&lab), script);
    job.limits.grace = Duration::from_secs(60);
    let cancel = Cancel::new();
    let runner = {
        let cancel = cancel.clone();
        std::thread::spawn(move || run(&job, &cancel).expect("starts"))
    };
    wait_for(&lab.path("inside/ready"));
    cancel.cancel();
    let done = runner.join().unwrap();
    assert_eq!((done.exit, done.strays), (Exit::Cancelled, 0));
    assert_eq!(fs::read_to_string(lab.path("inside/asked")).unwrap(), "asked\n");
}

/// Starts daemons without group, session, environment and pipes; `$1` is their number, `$2` the argument to find them by.
const DAEMONS: &str = "import os, sys\nfor n in range(int(sys.argv[1])):\n  if os.fork() == 0:\n    os.setsid()\n    \
                       if os.fork(): os._exit(0)\n    os.closerange(0, 64)\n    \
                       os.execve(\"/bin/sleep\", [\"sleep\", sys.argv[2]], {})\nopen(\"ready\", \"w\").write(\"x\\n\")\n";

// BX-01 CORE-17
#[test]
fn daemons_end_with_their_program_and_are_counted() {
    let lab = Lab::new();
    fs::write(lab.path("inside/daemons.py"), DAEMONS).unwrap();
    let script =
        "python3 daemons.py 3 86401; while [ $(ls -d /proc/[0-9]* | wc -l) -gt 7 ]; do :; done; sleep 0.2";
    let done = lab.run(isolated(&lab), script);
    assert_eq!((done.exit, done.strays), (Exit::Code(0), 3), "{}", done.stderr.text());
    assert_eq!(find("86401"), [0; 0]);
}

// BX-01 CORE-17
#[test]
fn whichever_process_of_the_sandbox_dies_nothing_is_left() {
    let lab = Lab::new();
    fs::write(lab.path("inside/daemons.py"), DAEMONS).unwrap();
    for (victim, argument) in [("supervisor", "86402"), ("init", "86403"), ("engine", "86404")] {
        let script = format!("python3 daemons.py 2 {argument}; exec sleep {argument}");
        let job = lab.job(isolated(&lab), &script);
        let argv = wrap(&lab.path("remand"), &isolated(&lab), &job.argv).unwrap();
        // A shell takes the role of the engine: it waits for its child and can be killed.
        let mut engine = Command::new("sh");
        engine.arg("-c").arg("\"$@\" & wait").arg("sh").args(argv).current_dir(lab.path("inside"));
        let mut engine = engine.spawn().unwrap();
        let is_sleep = |pid: &i32| fs::read(format!("/proc/{pid}/comm")).unwrap_or_default() == b"sleep\n";
        let sleeping = || find(argument).into_iter().filter(is_sleep).collect::<Vec<_>>();
        wait_until(|| sleeping().len() == 3);
        let all = sleeping();
        let above = |pid: i32| crate::procfs::stat(pid).unwrap().parent;
        let program = all[0];
        let init = above(program);
        assert!(crate::procfs::is_init(init), "the program is below the init");
        let supervisor = above(init);
        let pid = match victim {
            "supervisor" => supervisor,
            "init" => init,
            _ => i32::try_from(engine.id()).unwrap(),
        };
        kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
        let started = Instant::now();
        wait_until(|| all.iter().chain([&init, &supervisor]).all(|pid| !is_alive(*pid)));
        assert!(started.elapsed() < Duration::from_secs(1), "{victim}: {:?}", started.elapsed());
        engine.wait().unwrap();
    }
}

// BX-01
#[test]
fn a_fork_bomb_is_stopped_by_the_kernel_even_for_root() {
    let lab = Lab::new();
    // More threads per process than this would need a machine with more processors.
    let limit = std::thread::available_parallelism().unwrap().get().max(8) * 10;
    let bomb = "import os, sys, time\nstarted = 0\nfor n in range(3000):\n  try:\n    if os.fork() == 0: time.sleep(1000)\n    \
                started += 1\n  except OSError: break\nprint(started, flush=True)\n";
    fs::write(lab.path("inside/bomb.py"), bomb).unwrap();
    // Without the engine, which would notice the processes and end them.
    let policy = Policy { processes: Some(10), ..isolated(&lab) };
    let argv = ["python3".into(), lab.path("inside/bomb.py").into_os_string()];
    let argv = wrap(&lab.path("remand"), &policy, &argv).unwrap();
    let done = Command::new(&argv[0]).args(&argv[1..]).current_dir(lab.path("inside")).output().unwrap();
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    let started: usize = text.lines().find_map(|line| line.parse().ok()).expect("a number");
    // Process numbers that the kernel uses only once count, too.
    assert!(started > limit / 2 && started <= limit + 300, "{started} of {limit}");
    assert_eq!(find(&lab.path("inside/bomb.py").display().to_string()), [0; 0]);
}

// BX-01
#[test]
fn memory_counts_wherever_it_is() {
    let lab = Lab::new();
    let limit = 200_000_000;
    let hogs = [
        ("its own", "held = []\nwhile True: held.append(bytearray(b\"x\") * 10_000_000)"),
        (
            "shared",
            "import mmap\nheld = []\nwhile True:\n  held.append(mmap.mmap(-1, 10_000_000)); held[-1].write(b\"x\" * 10_000_000)",
        ),
        (
            "a file in memory",
            "import mmap, os\nheld = []\nwhile True:\n  f = os.memfd_create(\"m\"); os.ftruncate(f, 10_000_000)\n  \
             held.append(mmap.mmap(f, 10_000_000)); held[-1].write(b\"x\" * 10_000_000)",
        ),
    ];
    for (kind, hog) in hogs {
        // The machine has more than ten times the limit; the program ends before it takes that.
        let bounded = hog.replace("while True", "for number in range(200)") + "\nprint(\"through\")\n";
        fs::write(lab.path("inside/hog.py"), bounded).unwrap();
        let policy = Policy { memory_of_all: Some(limit), ..isolated(&lab) };
        let done = lab.run(policy, "python3 hog.py; sleep 1000");
        assert_eq!(done.exceeded, Some(ExceededLimit::Memory(limit)), "{kind}: {}", done.stdout.text());
    }
}

// BX-01
#[test]
fn shared_memory_and_disk_cannot_be_filled() {
    let lab = Lab::new();
    let fill = |folder: &str| {
        format!(
            "for n in 1 2 3 4 5 6 7 8; do head -c 10000000 /dev/zero >{folder}/$n || exit 7; done; exec sleep 1000"
        )
    };
    let policy = Policy { memory_of_all: Some(30_000_000), ..isolated(&lab) };
    let done = lab.run(policy, &fill("/dev/shm"));
    let is_stopped = matches!(done.exceeded, Some(ExceededLimit::Memory(_)));
    assert!(is_stopped || done.exit == Exit::Code(7), "{done:?}");
    let mut policy = Policy { disk: Some(30_000_000), ..isolated(&lab) };
    policy.private.as_mut().unwrap().folders = vec!["/var/tmp".into()];
    let done = lab.run(policy, &fill("/var/tmp"));
    assert_eq!(done.exceeded, Some(ExceededLimit::Disk(30_000_000)), "{}", done.stderr.text());
}

// BX-03
#[test]
fn a_role_without_a_shell_starts_no_file_in_memory() {
    let lab = Lab::new();
    let attack = "import os; f = os.memfd_create(\"m\", 0); os.write(f, open(\"/bin/true\", \"rb\").read()); \
                  os.execve(f, [\"true\"], {})";
    let python = programs::find("python3", &std::env::var_os("PATH").unwrap()).unwrap();
    let shell = programs::find("sh", &std::env::var_os("PATH").unwrap()).unwrap();
    let real = Command::new(&python).args(["-c", "import sys; print(sys.executable)"]).output().unwrap();
    let real = std::path::PathBuf::from(String::from_utf8(real.stdout).unwrap().trim());
    let path = std::env::var_os("PATH").unwrap();
    let needed = programs::files_to_start(&[real.clone(), shell], &path);
    for (programs, expected) in [(None, Exit::Code(0)), (Some(needed), Exit::Code(1))] {
        let policy = Policy { programs, ..isolated(&lab) };
        let done = lab.run(policy, &format!("exec {} -c '{attack}'", real.display()));
        assert_eq!(done.exit, expected, "{}", done.stderr.text());
    }
}

// BX-01
#[test]
fn a_sandbox_that_cannot_be_set_up_is_an_error_with_its_reason() {
    let lab = Lab::new();
    fs::write(lab.path("storage"), "not a folder").unwrap();
    let mut policy = isolated(&lab);
    policy.private.as_mut().unwrap().folders = vec!["/tmp".into()];
    let error = run(&lab.job(policy, "echo ran"), &Cancel::new()).unwrap_err();
    assert!(matches!(&error, SpawnError::Unconfined { .. }), "{error:?}");
    assert!(error.to_string().contains("storage"), "{error}");
}

// BX-01
#[test]
fn a_hundred_programs_start_simultaneously() {
    let lab = Lab::new();
    let ends = std::thread::scope(|scope| {
        let start = |number: usize| {
            let mut job = lab.job(Policy { report: None, ..isolated(&lab) }, "echo own");
            job.marker = format!("{}/{number}", job.marker);
            scope.spawn(move || run(&job, &Cancel::new()).map(|done| done.exit))
        };
        let all: Vec<_> = (0..100).map(start).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(ends.iter().all(|end| matches!(end, Ok(Exit::Code(0)))), "{ends:?}");
}

// BX-03
#[test]
fn nothing_about_files_outside_can_be_changed() {
    let lab = Lab::new();
    let file = lab.path("outside/file");
    fs::create_dir(lab.path("hidden")).unwrap();
    fs::write(lab.path("hidden/key"), "precious").unwrap();
    let state = |path: &Path| {
        use std::os::unix::fs::MetadataExt;
        let found = path.metadata().unwrap();
        (found.mode(), found.uid(), found.gid(), found.mtime(), found.mtime_nsec(), found.atime())
    };
    let paths = ["outside", "outside/file", "hidden/key"].map(|path| lab.path(path));
    let before: Vec<_> = paths.iter().map(|path| state(path)).collect();
    let mut attacks: Vec<String> = Vec::new();
    for path in
        ["../outside", "../outside/file", "../hidden/key", "/etc/passwd", "/dev/null", "/proc/self/comm"]
    {
        attacks.extend([
            python(&format!("import os; os.chmod(\"{path}\", 0o4777)")),
            python(&format!("import os; os.utime(\"{path}\", (1, 1))")),
            python(&format!("import os; os.setxattr(\"{path}\", \"user.own\", b\"x\")")),
            python(&format!("import os; os.chown(\"{path}\", 1, 1)")),
            python(&format!("import os; f = os.open(\"{path}\", os.O_RDONLY); os.fchmod(f, 0o777)")),
            python(&format!("import os; f = os.open(\"{path}\", os.O_RDONLY); os.utime(f, (1, 1))")),
        ]);
    }
    attacks.push("chattr +i ../outside/file".to_string());
    attacks.push("echo x >/proc/sys/kernel/core_pattern".to_string());
    attacks.push("echo x >/sys/kernel/mm/transparent_hugepage/enabled".to_string());
    attacks.push("ls -d /dev/kmsg || ls -d /dev/mem || ls -d /dev/vda || ls -d /dev/sda".to_string());
    attacks.push("touch /dev/own".to_string());
    attacks.push("touch /own".to_string());
    let attacks: Vec<&str> = attacks.iter().map(String::as_str).collect();
    let policy = Policy { hidden: vec![lab.path("hidden")], ..isolated(&lab) };
    assert_eq!(successful_attacks(&lab, policy.clone(), &attacks), Vec::<String>::new());
    assert_eq!(paths.iter().map(|path| state(path)).collect::<Vec<_>>(), before);
    assert_eq!(fs::read_to_string(file).unwrap(), "precious");
    let own = [
        "echo x >own && chmod 700 own && touch -d @1 own && ln own again && mv again other".to_string(),
        python("import os; os.setxattr(\".\", \"user.own\", b\"x\")"),
        "echo x >/dev/shm/own && chmod 600 /dev/shm/own".to_string(),
        python("import pty; pty.spawn([\"sh\", \"-c\", \"tty && echo x >/dev/tty\"])"),
        "echo x >/dev/stdout && head -c 1 /dev/urandom >/dev/null".to_string(),
    ];
    let own: Vec<&str> = own.iter().map(String::as_str).collect();
    assert_eq!(successful_attacks(&lab, policy, &own), own);
}

// BX-03
#[test]
fn a_writable_path_may_be_inside_a_read_only_one() {
    let lab = Lab::new();
    fs::create_dir_all(lab.path("outside/own/deep")).unwrap();
    fs::write(lab.path("outside/single"), "").unwrap();
    let mut policy = isolated(&lab);
    policy.read_write.extend([
        lab.path("outside/own"),
        lab.path("outside/own/deep"),
        lab.path("outside/single"),
    ]);
    let own = ["echo x >../outside/own/new", "echo x >../outside/own/deep/new", "echo x >../outside/single"];
    assert_eq!(successful_attacks(&lab, policy.clone(), &own), own);
    let moved = "mv ../outside/own/new ../outside/own/deep/moved";
    assert_eq!(successful_attacks(&lab, policy.clone(), &[moved]), [moved]);
    assert_eq!(successful_attacks(&lab, policy, &["touch ../outside/own", "touch ../outside/new"]).len(), 1);
}

// BX-03 BX-04 BX-06
#[test]
fn without_namespaces_the_filter_protects_other_processes_shared_memory_and_attributes() {
    let lab = Lab::new();
    let mut other = Command::new("sleep").arg("1000").spawn().unwrap();
    let pid = other.id();
    let call = |number: i64, more: &str| {
        python(&format!("import ctypes,sys; sys.exit(ctypes.CDLL(None).syscall({number}{more}) == -1)"))
    };
    let attacks = [
        python(&format!("import resource; resource.prlimit({pid}, resource.RLIMIT_FSIZE, (0, 0))")),
        python(&format!("import os; os.sched_setaffinity({pid}, [0])")),
        format!("renice -n 5 -p {pid}"),
        "renice -n 5 -u $(id -u)".to_string(),
        format!("ionice -c 3 -p {pid}"),
        call(libc::SYS_shmget, ",0x4846,4096,0o1666"),
        call(libc::SYS_semget, ",0x4846,1,0o1666"),
        call(libc::SYS_msgget, ",0x4846,0o1666"),
        call(libc::SYS_mq_open, ",b\"own\",0o102,0o600,0"),
        python("import os; os.setxattr(\"../outside/file\", \"user.own\", b\"x\")"),
        python("import os; os.chmod(\"../outside/file\", 0o4755)"),
        python("import os; os.chmod(\"../outside/file\", 0o2755)"),
        python("import os; f = os.open(\"../outside/file\", os.O_RDONLY); os.fchmod(f, 0o6755)"),
        python("import fcntl; fcntl.ioctl(0, 0x5412, b\"x\")"),
        "chattr +i ../outside/file".to_string(),
        python("import fcntl, os; fcntl.ioctl(os.open(\"../outside/file\", 0), 0x401c5820, bytes([128]) + bytes(27))"),
        python("import fcntl, os; fcntl.ioctl(os.open(\"../outside/file\", 0), 0x40087602, bytes(8))"),
        call(469, ",-100,b\"../outside/file\",b\"\\x80\" + bytes(23),24,0"),
        python("import fcntl, os; fcntl.fcntl(os.open(\"../outside/file\", 0), 1024, 0)"),
        python("import socket; socket.socket().listen()"),
        "ls /dev/shm".to_string(),
        "ls /dev/pts".to_string(),
        "unshare -T true".to_string(),
        "for d in /dev/vda /dev/sda /dev/nvme0n1 /dev/mem /dev/loop0; do head -c 1 $d && exit 0; done; exit 1".to_string(),
    ];
    let attacks: Vec<&str> = attacks.iter().map(String::as_str).collect();
    let policy = Policy { hidden: vec!["/proc/1".into()], ..lab.policy() };
    let succeeded = successful_attacks(&lab, policy.clone(), &attacks);
    assert!(succeeded.is_empty() || !is_fully_enforced(), "{succeeded:?}");
    let own = [
        "echo x >own && chmod 755 own && chmod +x own && touch -d @1 own".to_string(),
        python("import os, resource; resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)); os.nice(1)"),
        python("import os; os.sched_setaffinity(0, os.sched_getaffinity(0))"),
        "cp -a own copied && tar -cf - own | tar -xf - -C /dev/null 2>/dev/null; test -e copied".to_string(),
    ];
    let own: Vec<&str> = own.iter().map(String::as_str).collect();
    assert_eq!(successful_attacks(&lab, policy, &own), own);
    other.kill().unwrap();
    other.wait().unwrap();
}
