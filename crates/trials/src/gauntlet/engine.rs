//! Runs this program as the engine of a trial: a child process with its own home, state directory and environment.

use super::arena::Arena;
use super::case::{GauntletCase, Strike};
use super::tool::TrialTools;
use remand_process::{Exit, JobEnd};
use remand_terminal::CommandFailure;
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const POLL: Duration = Duration::from_millis(10);

/// The output of all commands of a trial.
#[derive(Debug, Default)]
pub struct EngineOutput {
    /// How the last command ended.
    pub exit: Option<Exit>,
    pub text: String,
}

/// Plays a case: the run, and the commands that follow it.
pub fn play(
    arena: &Arena,
    case: &GauntletCase,
    request: &str,
    tools: &TrialTools,
) -> Result<EngineOutput, CommandFailure> {
    let mut arguments: Vec<OsString> =
        ["run", request, "--workflow", &case.workflow, "--agent"].map(OsString::from).to_vec();
    arguments.push(format!("rehearsal:{}", arena.rehearsal().display()).into());
    arguments.extend(case.setup.flags.iter().map(OsString::from));
    let mut output = EngineOutput::default();
    match case.strike {
        None => output.add(&run_command(arena, &arguments, tools)?),
        Some(strike) => output.add(&run_with_strike(arena, &arguments, tools, strike)?),
    }
    for arguments in &case.then {
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        output.add(&run_command(arena, &arguments, tools)?);
    }
    Ok(output)
}

/// Runs one command of this program in the checkout.
pub fn run_command(
    arena: &Arena,
    arguments: &[OsString],
    tools: &TrialTools,
) -> Result<JobEnd, CommandFailure> {
    let mut argv = vec![arena.program().as_os_str().to_os_string()];
    argv.push("--state".into());
    argv.push(arena.state().into_os_string());
    argv.extend_from_slice(arguments);
    tools.run(&argv, &arena.checkout())
}

impl EngineOutput {
    fn add(&mut self, ended: &JobEnd) {
        self.exit = Some(ended.exit);
        self.text.push_str(&ended.stdout.text());
        self.text.push_str(&ended.stderr.text());
    }
}

/// Runs a command, and strikes as soon as an agent has started.
fn run_with_strike(
    arena: &Arena,
    arguments: &[OsString],
    tools: &TrialTools,
    strike: Strike,
) -> Result<JobEnd, CommandFailure> {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let striker = scope.spawn(|| {
            while find_files(&arena.state(), "started").is_empty() {
                if over.load(Ordering::SeqCst) {
                    return Ok(());
                }
                std::thread::sleep(POLL);
            }
            arena.write(&arena.root().join("struck"), "")?;
            match strike {
                Strike::KillEngine => {
                    if let Some(pid) = driver(arena) {
                        let _ = kill_process(pid, Signal::KILL);
                    }
                    Ok(())
                }
                Strike::Cancel => {
                    run_command(arena, &[OsString::from("cancel"), OsString::from("latest")], tools).map(drop)
                }
            }
        });
        let ended = run_command(arena, arguments, tools);
        over.store(true, Ordering::SeqCst);
        match striker.join() {
            Ok(strike) => strike.and(ended),
            Err(_) => ended,
        }
    })
}

/// The process that drives the run, as its lock names it.
fn driver(arena: &Arena) -> Option<Pid> {
    let lock = find_files(&arena.state(), "driver").pop()?;
    let text = fs::read_to_string(lock).ok()?;
    Pid::from_raw(text.strip_prefix("process ")?.split(',').next()?.parse().ok()?)
}

/// All files with this name below a folder.
pub fn find_files(folder: &Path, name: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => files.extend(find_files(&path, name)),
            Ok(kind) if kind.is_file() && entry.file_name() == name => files.push(path),
            Ok(_) | Err(_) => {}
        }
    }
    files
}
