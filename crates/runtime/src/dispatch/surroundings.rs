//! What an agent's process finds around it: its environment, its home, its sandbox and its limits.

use super::{Brief, note};
use crate::confine::{Enforcement, Policy, Privacy, programs};
use crate::driver::{Launch, left_by_agent};
use crate::git::remove;
use crate::process::{Confined, Ended, Exceeded, Job as Process, Limits};
use crate::workshop::Trouble;
use remand_ledger::fact::{Note, NoteKind};
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// The variable by which this program knows that an agent started it.
pub const AGENT: &str = "REMAND_AGENT";

/// The most that is read of what an agent was refused.
const REFUSED: usize = 4096;

/// The agent as a process, ready to be started.
pub fn process(brief: &Brief<'_>) -> Result<Process, Trouble> {
    let place = brief.place();
    let mut launch = brief.driver.launch(&place);
    let settings = brief.job.site.settings();
    let mut process = Process::new(std::mem::take(&mut launch.argv), place.tree, brief.job.marker());
    process.environment = settings.environment.clone();
    process.environment.extend(settings.agent_environment.clone());
    process.environment.insert("PATH".into(), path(brief));
    process.environment.insert(AGENT.into(), brief.title.clone().into());
    let home = brief.home.clone();
    let own = [("HOME", home.clone()), ("TMPDIR", home.clone())];
    process.environment.extend(own.map(|(name, path)| (name.into(), path.into_os_string())));
    let asked = std::mem::take(&mut launch.environment);
    process.environment.extend(asked.into_iter().map(|(name, value)| (name.into(), value)));
    process.stdin = std::mem::take(&mut launch.stdin);
    for (from, to) in &launch.copies {
        put(&home, to, &std::fs::read(from)?)?;
    }
    for (path, text) in &launch.files {
        put(&home, path, text.as_bytes())?;
    }
    let sandbox = &settings.sandbox;
    let time = Duration::from_secs(brief.choice.seconds);
    process.limits = Limits {
        time: brief.job.time_left().map_or(time, |left| left.min(time)),
        silence: launch.silence,
        memory_of_all: sandbox.memory,
        processes: sandbox.processes,
        disk: sandbox.disk,
        ..Limits::default()
    };
    let policy = policy(brief, &process, launch);
    process.confine = Some(Confined { exe: settings.program.clone(), policy });
    Ok(process)
}

/// Puts a file into a home that an agent may have written: whatever is in its way goes, and no link is followed.
fn put(home: &Path, path: &Path, bytes: &[u8]) -> Result<(), Trouble> {
    let mut at = home.to_path_buf();
    let parts: Vec<Component<'_>> = path.components().collect();
    for (number, part) in parts.iter().enumerate() {
        let Component::Normal(name) = part else {
            return Err(Trouble::denied(format!("`{}` leads out of the agent's home", path.display())));
        };
        at.push(name);
        let is_folder = at.symlink_metadata().is_ok_and(|found| found.is_dir());
        if number + 1 == parts.len() {
            remove(&at)?;
            std::fs::write(&at, bytes)?;
        } else if !is_folder {
            remove(&at)?;
            std::fs::create_dir(&at)?;
        }
    }
    Ok(())
}

/// The folders of programs, with those that say no in front.
fn path(brief: &Brief<'_>) -> OsString {
    let settings = brief.job.site.settings();
    let usual = settings.environment.get(OsStr::new("PATH")).cloned().unwrap_or_default();
    let folders = std::iter::once(brief.folder.shims()).chain(std::env::split_paths(&usual));
    std::env::join_paths(folders).unwrap_or(usual)
}

/// Writing is possible in the folder for results, in a private home, and in the tree if the role may change any of
/// it. Of the engine's state, the user's checkout and the user's home nothing can be read but what belongs to the
/// dispatch and to toolchains.
fn policy(brief: &Brief<'_>, process: &Process, launch: Launch) -> Policy {
    let settings = brief.job.site.settings();
    let tree = brief.lane.work.path().to_path_buf();
    let mut read_write = vec![brief.folder.out(), brief.home.clone(), Path::new("/dev/null").to_path_buf()];
    if !brief.permit.is_read_only() {
        read_write.push(tree.clone());
    }
    let home = Path::new(&settings.user_home);
    let mut private = Privacy::of_home(home, &process.environment);
    private.hidden.extend([
        settings.home.above().to_path_buf(),
        settings.repository.root().to_path_buf(),
        settings.repository.common_dir().to_path_buf(),
    ]);
    private.shown.extend(launch.reads);
    private.shown.extend(settings.sandbox.readable(home));
    private.shown.extend([brief.folder.root().to_path_buf(), settings.program.clone()]);
    private.shown.extend(Some(tree).filter(|_| brief.role.tree));
    let programs = (!brief.role.shell).then(|| {
        let first = process.argv.first().map(PathBuf::from);
        let path = process.environment.get(OsStr::new("PATH")).cloned().unwrap_or_default();
        let all: Vec<PathBuf> = first.into_iter().chain(launch.programs).collect();
        let needed = programs::needed(&all, &path);
        private.hidden.extend(programs::FOLDERS.iter().map(PathBuf::from));
        private.shown.extend(needed.iter().cloned());
        needed
    });
    Policy {
        read_write,
        hidden: private.hidden,
        shown: private.shown,
        programs,
        network: brief.role.network,
        ports: launch.ports,
        listens: launch.listens,
        sockets: settings.sandbox.unix_sockets,
        shared_memory: settings.sandbox.shared_memory,
        memory: settings.sandbox.memory.map(|bytes| bytes.saturating_mul(2)),
        file_size: settings.sandbox.file_size,
        report: Some(brief.folder.enforced()),
        ..Policy::default()
    }
}

/// What is to be known of a process that ended, besides what it did to the tree.
pub fn notes(brief: &Brief<'_>, ended: &Ended) -> Vec<Note> {
    let mut notes = Vec::new();
    if let Some(refused) = left_by_agent(&brief.folder.refused(), REFUSED) {
        let text = format!("{} tried to run {}; it was refused", brief.title, tried(&refused));
        notes.push(note(NoteKind::Warning, brief.job.site.redact(&crate::contract::clean(&text))));
    }
    if let Some(limit) = &ended.exceeded {
        notes.push(note(NoteKind::Warning, format!("{}: {}", brief.title, exceeded(limit))));
    }
    notes.extend(unenforced(brief).map(|text| note(NoteKind::Degradation, text)));
    notes
}

/// The commands that were refused, each once. Agents look at the repository by themselves, with long lists of settings.
fn tried(refused: &[u8]) -> String {
    let mut commands: Vec<String> = Vec::new();
    for line in String::from_utf8_lossy(refused).lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let settings = words.iter().rposition(|word| *word == "-c").map_or(0, |at| at + 1);
        let rest = words.iter().skip(1.max(settings + 1)).take(4).copied();
        let command: Vec<&str> = words.first().copied().into_iter().chain(rest).collect();
        let command: String = command.join(" ").chars().take(80).collect();
        if !commands.contains(&command) {
            commands.push(command);
        }
    }
    commands.truncate(5);
    commands.join("; ")
}

/// What was enforced less on this process than the machine is known for, which every run says once.
fn unenforced(brief: &Brief<'_>) -> Option<String> {
    let read = std::fs::read(brief.folder.enforced()).ok();
    let enforced: Option<Enforcement> = read.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let known = &brief.job.site.settings().enforcement.gaps;
    match enforced {
        None if cfg!(target_os = "linux") => {
            Some(format!("what the sandbox enforced on {} is not known", brief.title))
        }
        None => None,
        Some(enforced) => {
            let more: Vec<String> = enforced.gaps.into_iter().filter(|gap| !known.contains(gap)).collect();
            (!more.is_empty()).then(|| format!("not enforced on {}: {}", brief.title, more.join("; ")))
        }
    }
}

/// A limit that was exceeded, with the setting that it is from.
pub fn exceeded(limit: &Exceeded) -> String {
    let key = match limit {
        Exceeded::Memory(_) => "memory",
        Exceeded::Processes(_) => "processes",
        Exceeded::Disk(_) => "disk",
        Exceeded::FileSize(_) => "file-size",
    };
    format!("it used {limit} and was stopped; the limit is `sandbox.{key}`")
}
