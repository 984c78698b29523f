//! Programs that try to take the whole machine, in agents, checks and hooks: each ends with its dispatch, and the engine and a
//! run beside it go on.
//!
//! Each bomb is bounded, so that a failure of the sandbox does not harm the machine.

use crate::place::Place;
use crate::rehearsed::{REQUEST, SUB, Script, TEST_SUB, TRIVIAL, implemented, role};
use remand_ledger::query::CheckFilter;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

/// The limits of these tests.
const LIMITS: &str = "[sandbox]\nprocesses = 40\nmemory = \"1G\"\ndisk = \"60M\"\n\n";

/// Starts at most this many processes.
const FORKS: &str = "import os, sys, time\nfor n in range(10000):\n  try:\n    if os.fork() == 0: os.execv('/bin/sleep', ['sleep', sys.argv[1]])\n  \
                     except OSError: break\ntime.sleep(1000)\n";

/// Takes at most two gigabytes.
const MEMORY: &str = "import mmap, time\nheld = []\nfor n in range(40):\n  held.append(mmap.mmap(-1, 50_000_000)); held[-1].write(b'x' * \
                      50_000_000)\ntime.sleep(1000)\n";

/// Writes at most 300 megabytes.
const DISK: &str = "import tempfile, time\nheld = []\nfor n in range(30):\n  held.append(tempfile.NamedTemporaryFile(delete=False)); \
                    held[-1].write(b'x' * 10_000_000); held[-1].flush()\ntime.sleep(1000)\n";

/// Leaves a process without parent, session, group, environment and files, and ends well.
const DAEMON: &str = "import os, sys\nif os.fork() == 0:\n  os.setsid()\n  if os.fork(): os._exit(0)\n  os.closerange(0, 64)\n  \
                      os.execve('/bin/sleep', ['sleep', sys.argv[1]], {})\nos.wait()\n";

/// How many processes have this argument.
fn remaining(argument: &str) -> usize {
    let lines = fs::read_dir("/proc").expect("processes").flatten();
    let lines = lines.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| line.split(|byte| *byte == 0).any(|word| word == argument.as_bytes())).count()
}

/// An argument that no other test uses.
fn argument(number: u32) -> String {
    format!("{number}{}", std::process::id())
}

/// A place with these limits.
fn place() -> Place {
    let place = Place::new();
    place.write("remand.toml", &format!("{LIMITS}{TRIVIAL}"));
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "Settings"]);
    place
}

// BX-01
#[test]
fn a_bomb_in_an_agent_ends_with_its_dispatch_and_a_run_beside_it_goes_on() {
    for (text, key) in [(FORKS, "processes"), (MEMORY, "memory"), (DISK, "disk")] {
        let (bombed, beside, argument) = (place(), place(), argument(71));
        let command = format!("exec python3 {} {argument}", bombed.write_outside("bomb.py", text));
        let script = Script::quick().with(role("implementer").attempt(1).runs(&command));
        let start = |place: &Place, script: &Script| {
            let agent = format!("rehearsal:{}", place.write_outside("rehearsal.yaml", &script.text()));
            let mut command = place.command(&["run", REQUEST, "--workflow", "quick", "--agent", &agent]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts")
        };
        let runs = [start(&bombed, &script), start(&beside, &Script::quick())];
        for (run, name) in runs.into_iter().zip(["with the bomb", "beside it"]) {
            let output = run.wait_with_output().expect("an end");
            assert!(output.status.success(), "{key}, {name}: {}", String::from_utf8_lossy(&output.stderr));
        }
        let dispatches = bombed.reader().dispatches(&bombed.latest().run).expect("dispatches");
        let detail = dispatches[0].detail.clone().unwrap_or_default();
        assert!(detail.contains(&format!("`sandbox.{key}`")), "{key}: {detail}");
        assert_eq!(remaining(&argument), 0, "{key}");
    }
}

// BX-01
#[test]
fn a_bomb_in_a_check_ends_with_it_and_names_the_limit() {
    for (text, key) in [(FORKS, "processes"), (DISK, "disk")] {
        let argument = argument(72);
        let place = place();
        place.write("bomb.py", text);
        let check = format!("[checks.bomb]\ncommand = \"exec python3 bomb.py {argument}\"\n");
        place.write("remand.toml", &format!("{LIMITS}{TRIVIAL}\n{check}"));
        place.git(&["add", "-A"]);
        place.git(&["commit", "-q", "-m", "A bomb"]);
        place.quick(&Script::quick(), &[]);
        let checks = place.reader().checks(&place.latest().run, CheckFilter::default()).expect("checks");
        let bombs: Vec<_> = checks.iter().filter(|row| row.name == "bomb").collect();
        let names_it = |reason: &str| reason.contains(&format!("`sandbox.{key}`"));
        assert!(
            !bombs.is_empty() && bombs.iter().all(|row| !row.passed && names_it(&row.reason)),
            "{bombs:#?}"
        );
        assert_eq!(remaining(&argument), 0, "{key}");
    }
}

// BX-01
#[test]
fn a_bomb_in_a_hook_ends_with_it_and_names_the_limit() {
    for (text, key) in [(FORKS, "processes"), (DISK, "disk")] {
        let argument = argument(73);
        let place = place();
        place.write("bomb.py", text);
        place.git(&["add", "-A"]);
        place.git(&["commit", "-q", "-m", "A bomb"]);
        let hook = place.project().join(".git/hooks/pre-commit");
        fs::write(&hook, format!("#!/bin/sh\nexec python3 bomb.py {argument}\n")).expect("a hook");
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).expect("the mode");
        let shown = place.quick(&Script::quick(), &[]);
        assert_eq!(shown.code, 6, "{}{}", shown.out, shown.err);
        assert!(shown.out.contains(&format!("`sandbox.{key}`")), "{}", shown.out);
        assert_eq!(remaining(&argument), 0, "{key}");
    }
}

// BX-01
#[test]
fn a_daemon_ends_with_its_agent_check_or_hook() {
    let argument = argument(74);
    let place = place();
    place.write("bomb.py", DAEMON);
    let command = format!("python3 bomb.py {argument}");
    place.write("remand.toml", &format!("{LIMITS}{TRIVIAL}\n[checks.daemon]\ncommand = \"{command}\"\n"));
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "A daemon"]);
    let hook = place.project().join(".git/hooks/pre-commit");
    fs::write(&hook, format!("#!/bin/sh\nexec {command}\n")).expect("a hook");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).expect("the mode");
    let work =
        role("implementer").runs(&command).writes("sums/sub.py", SUB).writes("tests/test_sub.py", TEST_SUB);
    let shown = place.quick(&Script::quick().with(work.says(implemented(""))), &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    assert_eq!(remaining(&argument), 0);
    let notes = place.reader().notes(&place.latest().run).expect("notes");
    assert!(notes.iter().any(|note| note.text.contains("left a process running")), "{notes:?}");
}
