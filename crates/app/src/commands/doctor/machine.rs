//! What the machine gives: git, the state directory, the ledger, the sandbox.

use super::checkup::Checkup;
use crate::commands::Context;
use crate::driving;
use crate::table::amount;
use crate::workplace::{self, of_home, of_ledger};
use remand_ledger::Reader;
use remand_runtime::config::Config;
use remand_runtime::confine::{self, Level};
use remand_runtime::git::Repository;
use remand_runtime::home::{Home, HomeError};
use remand_runtime::process::{self, Cancel, Job};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

/// Below this a run hardly gets through.
const SCARCE: u64 = 1 << 30;
/// Below this the ledger itself is in danger.
const TOO_LITTLE: u64 = 100 << 20;

/// The git that all commands would use.
pub fn git(checkup: &mut Checkup) {
    let mut job = Job::apart(["git", "version"], "/", "doctor");
    job.environment = driving::inherited();
    job.limits.time = Duration::from_secs(10);
    match process::run(&job, &Cancel::new()) {
        Ok(ended) if ended.exit.succeeded() => checkup.ok("git", ended.stdout.text().trim()),
        Ok(ended) => {
            let said = ended.stderr.text().trim().to_string();
            checkup.fail("git", format!("`git version` failed: {said}"), "install git 2.38 or later");
        }
        Err(error) => checkup.fail("git", error.to_string(), "install git 2.38 or later, and put it on PATH"),
    }
}

/// The state directory with its ledger.
pub fn state(checkup: &mut Checkup, context: &Context<'_>, repository: &Repository, config: Option<&Config>) {
    let root = match config {
        Some(config) => workplace::state(context, repository, config),
        None => context.state.map(Path::to_path_buf),
    };
    let Some(root) = root else {
        return match config {
            Some(_) => checkup.of_failure("state", &of_home(&HomeError::NoHome)),
            None => checkup.warn("state", "not looked at, since the settings cannot be used", ""),
        };
    };
    match Home::open(&root, repository).map_err(|error| of_home(&error)) {
        Ok(home) => {
            folder(checkup, home.root());
            ledger(checkup, &home);
        }
        Err(failure) => checkup.of_failure("state", &failure),
    }
}

fn folder(checkup: &mut Checkup, path: &Path) {
    let mode = std::fs::metadata(path).map(|found| found.permissions().mode() & 0o777);
    match mode {
        Ok(mode) if mode & 0o077 == 0 => checkup.ok("state", format!("{}, mode {mode:04o}", path.display())),
        Ok(mode) => {
            let what = format!("{} is open to others: mode {mode:04o}", path.display());
            checkup.fail("state", what, format!("chmod 700 {}", path.display()));
        }
        Err(error) => {
            checkup.fail("state", format!("{}: {error}", path.display()), "make it readable for you")
        }
    }
    match rustix::fs::statvfs(path) {
        Ok(found) => {
            let free = found.f_bavail.saturating_mul(found.f_frsize);
            let what = format!("{} free", amount::bytes(free));
            let remedy = "free some space, or set REMAND_STATE_DIR to a folder on another disk";
            match free {
                0..TOO_LITTLE => checkup.fail("state", what, remedy),
                TOO_LITTLE..SCARCE => checkup.warn("state", what, remedy),
                SCARCE.. => checkup.ok("state", what),
            }
        }
        Err(error) => checkup.warn("state", format!("free space cannot be told: {error}"), "see `df`"),
    }
}

fn ledger(checkup: &mut Checkup, home: &Home) {
    let path = home.ledger();
    if !path.exists() {
        return checkup.ok("ledger", "none yet; the first run makes it");
    }
    let looked = Reader::open(&path).and_then(|reader| {
        let runs = reader.runs()?;
        let under_way = runs.iter().filter(|row| !row.stage.is_over()).count() as u64;
        Ok((reader.head()?, runs.len() as u64, under_way))
    });
    match looked {
        Ok((head, runs, under_way)) => {
            let format = remand_ledger::schema::format();
            let runs =
                format!("{}, {} of them under way", amount::counted(runs, "run"), amount::grouped(under_way));
            let head = format!("head {}:{}", head.count, head.hash);
            checkup.ok("ledger", format!("format {format}, {runs}, {head}; `remand audit` verifies it"));
        }
        Err(error) => checkup.of_failure("ledger", &of_ledger(&error)),
    }
}

/// What is enforced of a policy that allows nothing (CORE-05).
pub fn sandbox(checkup: &mut Checkup, config: Option<&Config>) {
    let enforced = confine::probe();
    let level = |level: Level| match level {
        Level::Full => "enforced",
        Level::Partial => "enforced in part",
        Level::None => "not enforced",
        Level::Unasked => "not asked for",
    };
    let what = format!(
        "what agents may read and write is {}, what they may reach is {}",
        level(enforced.files),
        level(enforced.network)
    );
    if enforced.gaps.is_empty() {
        let more = "no Unix sockets, mounts, namespaces or signals to others; nobody outlives a dispatch";
        return checkup.ok("sandbox", format!("{what}; {more}"));
    }
    let remedy = "use Linux 6.12 or later with Landlock among its security modules and seccomp built in; without, \
                  the guard alone compares each tree with what a role may touch, and evidence says so";
    match config.is_some_and(|config| config.sandbox.required) {
        true => checkup.fail("sandbox", what, format!("{remedy}; `sandbox.required` refuses runs here")),
        false => checkup.warn("sandbox", what, remedy),
    }
    for gap in enforced.gaps {
        checkup.warn("sandbox", format!("not enforced: {gap}"), "");
    }
}
