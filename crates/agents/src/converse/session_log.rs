//! Reads token counts from the session log of an agent program, for agents that do not report them over the protocol.
//!
//! The agent's row says where the log is and how to read it. If the log is missing or unreadable, the counts are unknown.

use super::event::ConversationEvent;
use crate::output::{OutputReader, OutputRules, Pick};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// The maximum length of a line, and of the output of a command.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// How many levels of subfolders are searched.
const MAX_DEPTH: usize = 8;

/// The pause between two checks whether the command has exited.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The session log of an agent program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionLog {
    pub source: SessionLogSource,
    /// The format of the log.
    pub rules: OutputRules,
}

/// Where a session log comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SessionLogSource {
    /// JSON lines in files below a folder. The counts of all files are added up, except those that name another session.
    Files {
        below: PathBuf,
        /// Suffix of the file names.
        ends: String,
        /// Path of the value that identifies an entry. Of several lines with the same value, the last one counts.
        by: Option<String>,
    },
    /// JSON that a command prints; `${session}` is the session's id.
    Command(Vec<String>),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    input: u64,
    output: u64,
    cached: u64,
    stored: u64,
}

impl SessionLog {
    /// The tokens of a session, if the log has them. A command that exceeds the timeout is killed.
    pub fn count(&self, session: &str, timeout: Duration) -> Option<ConversationEvent> {
        let counts = match &self.source {
            SessionLogSource::Files { below, ends, by } => {
                let id_pick = by.as_ref().map(|at| Pick { at: Some(at.clone()), ..Pick::default() });
                let files = files(below, ends, MAX_DEPTH).into_iter();
                files
                    .filter_map(|file| self.count_file(&file, session, id_pick.as_ref()))
                    .reduce(Counts::plus)
            }
            SessionLogSource::Command(words) => {
                let mut reader = OutputReader::new(&self.rules);
                reader.line(&command_output(words, session, timeout)?);
                counts(&reader).filter(|_| belongs_to(&reader, session))
            }
        };
        let Counts { input, output, cached, stored } = counts?;
        Some(ConversationEvent::Usage { input, output, cached, stored })
    }

    fn count_file(&self, file: &Path, session: &str, id_pick: Option<&Pick>) -> Option<Counts> {
        let mut lines = BufReader::new(File::open(file).ok()?);
        let mut file_reader = OutputReader::new(&self.rules);
        let mut entries = BTreeMap::new();
        let mut line = Vec::new();
        while let Ok(1..) = lines.by_ref().take(MAX_BYTES).read_until(b'\n', &mut line) {
            file_reader.line(&line);
            if let Some(id) = id_pick.and_then(|pick| entry_id(pick, &line)) {
                let mut reader = OutputReader::new(&self.rules);
                reader.line(&line);
                entries.extend(counts(&reader).map(|counts| (id, counts)));
            }
            line.clear();
        }
        let total = match id_pick {
            Some(_) => entries.into_values().reduce(Counts::plus),
            None => counts(&file_reader),
        };
        total.filter(|_| belongs_to(&file_reader, session))
    }
}

impl Counts {
    fn plus(self, other: Counts) -> Counts {
        Counts {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cached: self.cached.saturating_add(other.cached),
            stored: self.stored.saturating_add(other.stored),
        }
    }
}

fn counts(reader: &OutputReader) -> Option<Counts> {
    let (cached, stored) = (reader.cached().unwrap_or(0), reader.stored().unwrap_or(0));
    Some(Counts { input: reader.input()?, output: reader.output()?, cached, stored })
}

/// Whether a log is about a session. A log that names no session counts.
fn belongs_to(reader: &OutputReader, session: &str) -> bool {
    reader.session().is_none_or(|id| id == session)
}

fn entry_id(id_pick: &Pick, line: &[u8]) -> Option<String> {
    let line: Value = serde_json::from_slice(line).ok()?;
    id_pick.values(&line).first().map(ToString::to_string)
}

/// The files below a folder whose names have this suffix. Symbolic links are not followed.
fn files(folder: &Path, ends: &str, depth: usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth > 0 => found.extend(files(&entry.path(), ends, depth - 1)),
            Ok(kind) if kind.is_file() && entry.file_name().to_string_lossy().ends_with(ends) => {
                found.push(entry.path());
            }
            Ok(_) | Err(_) => {}
        }
    }
    found
}

/// The output of a command, if it succeeds within the timeout.
fn command_output(words: &[String], session: &str, timeout: Duration) -> Option<Vec<u8>> {
    let words: Vec<String> = words.iter().map(|word| word.replace("${session}", session)).collect();
    let (program, arguments) = words.split_first()?;
    let mut process = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let stdout = process.stdout.take()?;
    let (sender, output) = mpsc::channel();
    std::thread::spawn(move || {
        let mut all = Vec::new();
        let read = stdout.take(MAX_BYTES).read_to_end(&mut all).map(|_| all);
        // The receiver is gone if the command failed or exceeded the timeout.
        let _ = sender.send(read);
    });
    let deadline = Instant::now() + timeout;
    while Instant::now() < deadline {
        match process.try_wait() {
            Ok(Some(status)) if status.success() => {
                // A child of the command may keep the output open after the command has ended.
                let left = deadline.saturating_duration_since(Instant::now());
                return output.recv_timeout(left).ok()?.ok();
            }
            Ok(None) => std::thread::sleep(POLL_INTERVAL),
            Ok(Some(_)) | Err(_) => return None,
        }
    }
    // Killing fails if the process has already exited.
    let _ = process.kill();
    let _ = process.wait();
    None
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;
    use std::fs;

    const TIMEOUT: Duration = Duration::from_secs(10);

    fn usage(input: u64, output: u64, cached: u64) -> Option<ConversationEvent> {
        Some(ConversationEvent::Usage { input, output, cached, stored: 0 })
    }

    fn session_log(source: SessionLogSource, rules: &str) -> SessionLog {
        SessionLog { source, rules: toml::from_str(rules).expect("rules") }
    }

    fn in_files(folder: &Path, by: Option<&str>, rules: &str) -> SessionLog {
        let (below, ends, by) = (folder.to_path_buf(), ".jsonl".to_string(), by.map(str::to_string));
        session_log(SessionLogSource::Files { below, ends, by }, rules)
    }

    // CORE-11
    #[test]
    fn a_session_is_counted_from_its_file_in_any_subfolder() {
        let home = tempfile::tempdir().expect("a folder");
        let deep = home.path().join("2026/01/01");
        fs::create_dir_all(&deep).expect("folders");
        let file = |name: &str, session: &str, last: u64| {
            let lines = format!(
                "{{\"meta\":{{\"id\":\"{session}\"}}}}\nnot JSON\n{{\"sum\":{{\"in\":1,\"out\":1}}}}\n{{\"sum\":null}}\n\
                 {{\"sum\":{{\"in\":{last},\"out\":7,\"old\":3}}}}"
            );
            fs::write(deep.join(name), lines).expect("a file");
        };
        file("a.jsonl", "mine", 40);
        file("b.jsonl", "another", 900);
        file("c.txt", "mine", 900);
        std::os::unix::fs::symlink(deep.join("a.jsonl"), deep.join("d.jsonl")).expect("a link");
        let rules = "session = [{at = 'meta.id'}]\ninput = [{at = 'sum.in'}]\noutput = [{at = 'sum.out'}]\ncached = [{at = 'sum.old'}]";
        let session_log = in_files(home.path(), None, rules);
        assert_eq!(session_log.count("mine", TIMEOUT), usage(40, 7, 3));
        assert_eq!(session_log.count("nobody's", TIMEOUT), None);
        assert_eq!(in_files(Path::new("/nowhere"), None, rules).count("mine", TIMEOUT), None);
    }

    // CORE-11
    #[test]
    fn an_entry_that_is_written_twice_counts_once() {
        let home = tempfile::tempdir().expect("a folder");
        let lines = "{\"id\":1,\"in\":10,\"out\":1}\n{\"id\":2,\"in\":20,\"out\":2}\n{\"id\":1,\"in\":11,\"out\":1}\n{\"id\":2}\n";
        fs::write(home.path().join("chat.jsonl"), lines).expect("a file");
        let rules = "input = [{at = 'in'}]\noutput = [{at = 'out'}]";
        assert_eq!(in_files(home.path(), Some("id"), rules).count("s", TIMEOUT), usage(31, 3, 0));
    }

    // CORE-11
    #[test]
    fn a_command_that_fails_or_is_late_or_names_another_session_does_not_count() {
        let rules = "session = [{at = 'id'}]\ninput = [{at = 'in'}]\noutput = [{at = 'out'}]";
        let count = |script: &str| {
            let words = ["sh", "-c", script, "sh", "${session}"].map(str::to_string).to_vec();
            session_log(SessionLogSource::Command(words), rules).count("s1", Duration::from_millis(700))
        };
        assert_eq!(count("printf '{\\n\"id\": \"%s\", \"in\": 5, \"out\": 6}' $1"), usage(5, 6, 0));
        for failing in [
            "echo '{\"id\": \"s2\", \"in\": 5, \"out\": 6}'",
            "echo '{\"in\": 5}'",
            "exit 1",
            "sleep 9",
            // The command ends, and its child keeps the output open.
            "sleep 9 & echo '{\"id\": \"s1\", \"in\": 5, \"out\": 6}'",
        ] {
            assert_eq!(count(failing), None, "{failing}");
        }
    }
}
