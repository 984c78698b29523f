//! Shared by the tests of this and other crates: a test binary that acts as `remand confine`.
#![allow(clippy::expect_used, clippy::panic)]

use crate::confine::{Policy, UNCONFINED, run_confined};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

const POLICY: &str = "REMAND_TEST_POLICY";
const ARGV: &str = "REMAND_TEST_ARGV";

/// Writes a script that starts this test binary again, in the role of `remand confine`. `test` is the full name of a
/// test that only calls [`act_as_confine`].
///
/// Tests have several threads, and such a process cannot enter a user namespace. So for an ordinary user, the script enters one.
pub fn install(program: &Path, test: &str) {
    let exe = std::env::current_exe().expect("this binary");
    let script = format!(
        "#!/bin/sh\n[ \"$1 $2 $4\" = 'confine --policy --' ] || exit 99\nexport {POLICY}=\"$3\"\nshift 4\n\
         export {ARGV}=\"$1\"\nshift\nfor a; do {ARGV}=\"${ARGV}$(printf '\\037')$a\"; done\n\
         user='unshare --user --map-current-user --keep-caps'\n\
         if [ \"$(id -u)\" = 0 ] || ! $user true 2>/dev/null; then user=; fi\n\
         exec $user '{}' --exact {test} --nocapture --quiet\n",
        exe.display()
    );
    fs::write(program, script).expect("a script");
    fs::set_permissions(program, fs::Permissions::from_mode(0o755)).expect("permissions");
}

/// If a script from [`install`] started this process, confines it and executes the program; otherwise does nothing.
pub fn act_as_confine() {
    let Ok(policy) = std::env::var(POLICY) else { return };
    let argv: Vec<OsString> = std::env::var(ARGV).expect("argv").split('\u{1f}').map(Into::into).collect();
    let policy = Policy::from_argument(&policy).expect("a policy");
    let Err(error) = run_confined(&policy, &argv);
    eprintln!("{}", error.chain());
    std::process::exit(UNCONFINED);
}

/// Waits until a file ends with a line feed, and reads it.
pub fn wait_for(path: &Path) -> String {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        match fs::read_to_string(path) {
            Ok(text) if text.ends_with('\n') => return text,
            _ => assert!(Instant::now() < until, "{} never appeared", path.display()),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
