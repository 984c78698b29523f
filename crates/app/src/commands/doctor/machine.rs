//! Checks the machine: git, the state directory, the ledger, the sandbox.

use super::checkup::Checkup;
use crate::context::CommandContext;
use crate::environment;
use crate::workplace;
use remand_engine::config::Config;
use remand_engine::home::{Home, HomeError};
use remand_git::Repository;
use remand_ledger::Reader;
use remand_process::confine::{self, WallLevel};
use remand_process::{Cancel, ProcessJob};
use remand_terminal::{CommandFailure, amount};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

/// With less free space than this, in bytes, most runs fail.
const LOW_SPACE: u64 = 1 << 30;
/// With less free space than this, in bytes, even the ledger cannot grow.
const MIN_SPACE: u64 = 100 << 20;

/// Checks the git on PATH.
pub fn git(checkup: &mut Checkup) {
    let mut job = ProcessJob::standalone(["git", "version"], "/", "doctor");
    job.environment = environment::inherited();
    job.limits.time = Duration::from_secs(10);
    match remand_process::run(&job, &Cancel::new()) {
        Ok(ended) if ended.exit.succeeded() => checkup.ok("git", ended.stdout.text().trim()),
        Ok(ended) => {
            let error = ended.stderr.text().trim().to_string();
            checkup.fail("git", format!("`git version` failed: {error}"), "install git 2.38 or later");
        }
        Err(error) => checkup.fail("git", error.to_string(), "install git 2.38 or later, and put it on PATH"),
    }
}

/// Checks the state directory and its ledger.
pub fn state(
    checkup: &mut Checkup,
    context: &CommandContext<'_>,
    repository: &Repository,
    config: Option<&Config>,
) {
    let root = match config {
        Some(config) => workplace::state(context, repository, config),
        None => context.state.map(Path::to_path_buf),
    };
    let Some(root) = root else {
        return match config {
            Some(_) => checkup.add_failure("state", &CommandFailure::from(HomeError::NoHome)),
            None => checkup.warn("state", "not checked, because the settings are invalid", ""),
        };
    };
    match Home::open(&root, repository).map_err(CommandFailure::from) {
        Ok(home) => {
            folder(checkup, home.root());
            ledger(checkup, &home);
        }
        Err(failure) => checkup.add_failure("state", &failure),
    }
}

fn folder(checkup: &mut Checkup, path: &Path) {
    let mode = std::fs::metadata(path).map(|metadata| metadata.permissions().mode() & 0o777);
    match mode {
        Ok(mode) if mode & 0o077 == 0 => checkup.ok("state", format!("{}, mode {mode:04o}", path.display())),
        Ok(mode) => {
            let what = format!("{} is accessible to other users: mode {mode:04o}", path.display());
            checkup.fail("state", what, format!("chmod 700 {}", path.display()));
        }
        Err(error) => checkup.fail("state", format!("{}: {error}", path.display()), "make it readable"),
    }
    match rustix::fs::statvfs(path) {
        Ok(disk) => {
            let free = disk.f_bavail.saturating_mul(disk.f_frsize);
            let what = format!("{} free", amount::bytes(free));
            let remedy = "free some space, or set REMAND_STATE_DIR to a folder on another disk";
            match free {
                0..MIN_SPACE => checkup.fail("state", what, remedy),
                MIN_SPACE..LOW_SPACE => checkup.warn("state", what, remedy),
                LOW_SPACE.. => checkup.ok("state", what),
            }
        }
        Err(error) => checkup.warn("state", format!("free space is unknown: {error}"), "see `df`"),
    }
}

fn ledger(checkup: &mut Checkup, home: &Home) {
    let path = home.ledger();
    if !path.exists() {
        return checkup.ok("ledger", "none yet; the first run creates it");
    }
    let contents = Reader::open(&path).and_then(|reader| {
        let runs = reader.runs()?;
        let in_progress = runs.iter().filter(|row| !row.stage.is_over()).count() as u64;
        Ok((reader.head()?, runs.len() as u64, in_progress))
    });
    match contents {
        Ok((head, runs, in_progress)) => {
            let format = remand_ledger::schema::format();
            let runs =
                format!("{}, {} in progress", amount::counted(runs, "run"), amount::grouped(in_progress));
            let hash = head.hash.to_string();
            let head =
                format!("{} events, head {}", amount::grouped(head.count), hash.get(..12).unwrap_or(&hash));
            checkup.ok("ledger", format!("format {format}, {runs}, {head}; `remand audit` verifies it"));
        }
        Err(error) => checkup.add_failure("ledger", &CommandFailure::from(error)),
    }
}

/// Shows which walls of the sandbox this machine builds, and how to get the others.
pub fn sandbox(checkup: &mut Checkup, program: &Path, config: Option<&Config>) {
    let enforced = confine::probe(program);
    let at = |level: WallLevel| enforced.walls.iter().filter(move |state| state.level == level);
    let held: Vec<&str> = at(WallLevel::Held).map(|state| state.wall.title()).collect();
    let (weaker, absent) = (at(WallLevel::Weaker).count(), at(WallLevel::Absent).count());
    let is_required = config.is_some_and(|config| config.sandbox.required);
    let what = match (weaker, absent) {
        (0, 0) => format!("complete, with walls against {}", held.join("; ")),
        _ if held.is_empty() => "nothing is enforced".to_string(),
        _ => format!(
            "{weaker} walls are weaker and {absent} absent; complete are those against {}",
            held.join("; ")
        ),
    };
    match absent {
        0 if weaker == 0 => checkup.ok("sandbox", what),
        0 => checkup.warn("sandbox", what, ""),
        _ if is_required => {
            checkup.fail("sandbox", what, "`sandbox.required` refuses runs on this machine; see below");
        }
        _ => checkup.warn("sandbox", what, "the guard still finds changes that a role may not make"),
    }
    for state in at(WallLevel::Weaker).chain(at(WallLevel::Absent)) {
        let gap = state.gap().unwrap_or_default();
        checkup.warn("sandbox", format!("not enforced: {gap}"), state.wall.remedy());
    }
}
