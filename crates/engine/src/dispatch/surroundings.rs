//! The surroundings of an agent's process: environment, home, sandbox and limits.

use super::{Prepared, note};
use crate::asked_hosts;
use crate::site::Trouble;
use remand_agents::driver::{Launch, read_agent_file};
use remand_checks::{NO_NETWORK, TARGET_FOLDER};
use remand_git::remove;
use remand_ledger::fact::{Note, NoteKind};
use remand_process::confine::{Enforcement, Policy, Privacy, PrivateFolders, TEMPORARY_FOLDERS, programs};
use remand_process::{Confinement, JobEnd, ProcessJob, ProcessLimits};
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// The environment variable by which Remand recognizes that an agent started it.
pub const AGENT: &str = "REMAND_AGENT";

/// Maximum size of the list of refused commands, in bytes.
const MAX_REFUSED_BYTES: usize = 256 * 1024;

/// Tools that run on Java.
const JAVA_TOOLS: [&str; 3] = ["mvn", "mvnw", "gradle"];

/// The options of every Java program.
const JAVA_OPTIONS: &str = "JAVA_TOOL_OPTIONS";

/// Java takes the home from the list of users and not from `HOME`, and Maven has its packages there.
fn java_options(earlier: Option<OsString>, home: &Path, user_home: &Path) -> OsString {
    let mut options = earlier.unwrap_or_default();
    let mut add = |name: &str, folder: &Path| {
        options.push(format!(" -D{name}="));
        options.push(folder);
    };
    add("user.home", home);
    let packages = user_home.join(".m2/repository");
    if packages.is_dir() {
        add("maven.repo.local", &packages);
    }
    options
}

/// The user's name in git, for tests that make commits in repositories of their own.
fn git_settings(prepared: &Prepared<'_>) -> Result<String, Trouble> {
    let repository = prepared.job.site.repository();
    let mut text = String::new();
    for (section, key) in [("user", "name"), ("user", "email"), ("init", "defaultBranch")] {
        if let Some(value) = repository.setting(&format!("{section}.{key}"))? {
            text.push_str(&git_setting(section, key, &value));
        }
    }
    Ok(text)
}

fn git_setting(section: &str, key: &str, value: &str) -> String {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("[{section}]\n\t{key} = \"{value}\"\n")
}

/// The agent's process, ready to start.
pub fn process(prepared: &Prepared<'_>) -> Result<ProcessJob, Trouble> {
    let context = prepared.context();
    let mut launch = prepared.driver.launch(&context);
    let settings = prepared.job.site.settings();
    let mut process = ProcessJob::new(std::mem::take(&mut launch.argv), context.tree, prepared.job.marker());
    process.environment = settings.environment.clone();
    process.environment.extend(settings.agent_environment.clone());
    process.environment.insert("PATH".into(), path(prepared));
    process.environment.insert(AGENT.into(), prepared.title.clone().into());
    // Compiled code that the agent's own runs leave beside the sources would be part of its change.
    process.environment.entry("PYTHONDONTWRITEBYTECODE".into()).or_insert_with(|| "1".into());
    let home = prepared.home.clone();
    let folder_variables = [("HOME", home.clone()), ("TMPDIR", home.clone())];
    process.environment.extend(folder_variables.map(|(name, path)| (name.into(), path.into_os_string())));
    if prepared.job.site.pinned.checks.iter().any(|check| JAVA_TOOLS.contains(&check.tool.as_str())) {
        let earlier = process.environment.get(OsStr::new(JAVA_OPTIONS)).cloned();
        let options = java_options(earlier, &home, Path::new(&settings.user_home));
        process.environment.insert(JAVA_OPTIONS.into(), options);
    }
    if !prepared.role.network {
        process.environment.extend(NO_NETWORK.map(|(name, value)| (name.into(), value.into())));
    }
    if prepared.job.site.pinned.checks.iter().any(|check| check.environment.contains_key(TARGET_FOLDER)) {
        process.environment.insert(TARGET_FOLDER.into(), home.join("target").into_os_string());
    }
    write_into_home(&home, Path::new(".gitconfig"), git_settings(prepared)?.as_bytes())?;
    let requested = std::mem::take(&mut launch.environment);
    process.environment.extend(requested.into_iter().map(|(name, value)| (name.into(), value)));
    process.stdin = std::mem::take(&mut launch.stdin);
    for (from, to) in &launch.copies {
        write_into_home(&home, to, &std::fs::read(from)?)?;
    }
    for (path, text) in &launch.files {
        write_into_home(&home, path, text.as_bytes())?;
    }
    let sandbox = &settings.sandbox;
    let time = Duration::from_secs(prepared.choice.seconds);
    process.limits = ProcessLimits {
        time: prepared.job.time_left().map_or(time, |left| left.min(time)),
        silence: launch.silence,
        memory_of_all: sandbox.memory,
        processes: sandbox.processes,
        disk: sandbox.disk,
        ..ProcessLimits::default()
    };
    let policy = policy(prepared, &process, launch);
    process.confine = Some(Confinement { exe: settings.program.clone(), policy });
    Ok(process)
}

/// Writes a file into a home that an agent may have changed: obstacles are removed, and no link is followed.
fn write_into_home(home: &Path, path: &Path, bytes: &[u8]) -> Result<(), Trouble> {
    let mut at = home.to_path_buf();
    let parts: Vec<Component<'_>> = path.components().collect();
    for (number, part) in parts.iter().enumerate() {
        let Component::Normal(name) = part else {
            return Err(Trouble::denied(format!("`{}` is outside the agent's home", path.display())));
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

/// The agent's `PATH`; its first entry is the folder of shims.
fn path(prepared: &Prepared<'_>) -> OsString {
    let settings = prepared.job.site.settings();
    let inherited = settings.environment.get(OsStr::new("PATH")).cloned().unwrap_or_default();
    let folders = std::iter::once(prepared.folder.shims()).chain(std::env::split_paths(&inherited));
    std::env::join_paths(folders).unwrap_or(inherited)
}

/// The agent may write in the result folder, in its home, and in the tree unless the role is read-only. In the engine's
/// state, the user's checkout and the user's home, it can read only files of the dispatch and of toolchains.
fn policy(prepared: &Prepared<'_>, process: &ProcessJob, launch: Launch) -> Policy {
    let settings = prepared.job.site.settings();
    let tree = prepared.lane.work.path().to_path_buf();
    let mut read_write =
        vec![prepared.folder.out(), prepared.home.clone(), Path::new("/dev/null").to_path_buf()];
    if !prepared.permit.is_read_only() {
        read_write.push(tree.clone());
    }
    let home = Path::new(&settings.user_home);
    let mut private = Privacy::of_home(home, &process.environment);
    private.hide([
        settings.home.state_root().to_path_buf(),
        settings.repository.root().to_path_buf(),
        settings.repository.common_dir().to_path_buf(),
    ]);
    private.shown.extend(launch.reads);
    private.show_packages(prepared.packages.reads.iter().cloned());
    private.shown.extend(settings.sandbox.readable(home));
    private.shown.extend([prepared.folder.root().to_path_buf(), settings.program.clone()]);
    private.shown.extend(Some(tree).filter(|_| prepared.role.tree));
    let programs = (!prepared.role.shell).then(|| {
        let first = process.argv.first().map(PathBuf::from);
        let path = process.environment.get(OsStr::new("PATH")).cloned().unwrap_or_default();
        let all: Vec<PathBuf> = first.into_iter().chain(launch.programs).collect();
        let needed = programs::files_to_start(&all, &path);
        private.hidden.extend(programs::FOLDERS.iter().map(PathBuf::from));
        private.shown.extend(needed.iter().cloned());
        needed
    });
    let holds_hidden = |folder: &PathBuf| private.hidden.iter().any(|hidden| hidden.starts_with(folder));
    let temporary = TEMPORARY_FOLDERS.map(PathBuf::from).into_iter();
    let own_folders = PrivateFolders {
        // In a private folder, attempts to read what is hidden there would go unnoticed.
        folders: temporary.filter(|folder| folder.is_dir() && !holds_hidden(folder)).collect(),
        storage: prepared.folder.private(),
        ..PrivateFolders::default()
    };
    Policy {
        read_write,
        hidden: private.hidden,
        shown: private.shown,
        programs,
        network: prepared.role.network,
        services: launch.services,
        private: Some(own_folders),
        private_required: settings.enforcement.isolates(),
        contacts: Some(prepared.folder.contacts()),
        listens: launch.listens,
        sockets: settings.sandbox.unix_sockets,
        shared_memory: settings.sandbox.shared_memory,
        memory: settings.sandbox.memory.map(|bytes| bytes.saturating_mul(2)),
        file_size: settings.sandbox.file_size,
        report: Some(prepared.folder.enforced()),
        ..Policy::default()
    }
}

/// Notes about refused commands, an exceeded limit, and rules that the sandbox did not enforce.
pub fn notes(prepared: &Prepared<'_>, ended: &JobEnd) -> Vec<Note> {
    let mut notes = Vec::new();
    if let Some(refused) = read_agent_file(&prepared.folder.refused(), MAX_REFUSED_BYTES) {
        let commands = refused_commands(&refused, prepared.driver.own_commands());
        if !commands.is_empty() {
            let text = format!("{} tried to run {commands}; it was refused", prepared.title);
            notes.push(note(NoteKind::Warning, prepared.job.site.redact(&remand_notation::clean(&text))));
        }
    }
    let refusal = ended.contacts.as_ref().and_then(|asked| asked_hosts::refusal(&prepared.title, asked));
    if let Some(text) = refusal {
        notes.push(note(NoteKind::Warning, prepared.job.site.redact(&text)));
    }
    if let Some(file) = prepared.packages.left_out.first() {
        let number = prepared.packages.left_out.len();
        let text = format!(
            "{number} files of `sandbox.copies` cannot be read and were left out, such as {}",
            file.display()
        );
        notes.push(note(NoteKind::Warning, prepared.job.site.redact(&text)));
    }
    if let Some(limit) = &ended.exceeded {
        notes.push(note(NoteKind::Warning, format!("{}: {}", prepared.title, limit.explain())));
    }
    notes.extend(unenforced(prepared).map(|text| note(NoteKind::Degradation, text)));
    notes
}

/// The refused commands of the model, each once and without `-c` settings. Commands that the agent's program runs
/// automatically, such as at its start, are left out.
fn refused_commands(refused: &[u8], own: Option<&str>) -> String {
    let mut commands: Vec<String> = Vec::new();
    let refused = String::from_utf8_lossy(refused);
    // The last line may be cut off.
    let lines = refused.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    for line in lines.filter(|line| own.is_none_or(|own| !line.contains(own))) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let settings_end = words.iter().rposition(|word| *word == "-c").map_or(0, |at| at + 1);
        let rest = words.iter().skip(1.max(settings_end + 1)).take(4).copied();
        let command: Vec<&str> = words.first().copied().into_iter().chain(rest).collect();
        let command: String = command.join(" ").chars().take(80).collect();
        if !commands.contains(&command) {
            commands.push(command);
        }
    }
    commands.truncate(5);
    commands.join("; ")
}

/// The rules that the sandbox did not enforce on this process, except those that it never enforces on this machine.
fn unenforced(prepared: &Prepared<'_>) -> Option<String> {
    let read = std::fs::read(prepared.folder.enforced()).ok();
    let enforced: Option<Enforcement> = read.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let known = prepared.job.site.settings().enforcement.gaps();
    match enforced {
        None if cfg!(target_os = "linux") => {
            Some(format!("it is unknown what the sandbox enforced on {}: there is no report", prepared.title))
        }
        None => None,
        Some(enforced) => {
            let more: Vec<String> = enforced.gaps().into_iter().filter(|gap| !known.contains(gap)).collect();
            (!more.is_empty()).then(|| format!("not enforced on {}: {}", prepared.title, more.join("; ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_quotes_and_line_breaks_stays_one_value() {
        let text = git_setting("user", "name", "Ada \"A\\B\"\n[core]\n\tpager = x");
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(text.contains(r#"name = "Ada \"A\\B\"\n[core]\n"#), "{text}");
    }
}
