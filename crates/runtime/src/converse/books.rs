//! The books of an agent: what its own program writes down of a session, with the tokens that a conversation does not tell.
//!
//! Its row says where they are, and by `hear` how they are read. What is not found stays unknown.

use super::said::Said;
use crate::driver::{Ear, Hear, Pick};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The longest line that is taken in, and the most of what a command prints.
const MOST: u64 = 64 * 1024 * 1024;

/// How deep folders are looked into.
const DEPTH: usize = 8;

/// How often an end is looked for.
const LOOK: Duration = Duration::from_millis(20);

/// The books of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    pub source: Source,
    /// Where things are in them.
    pub hear: Hear,
}

/// Where books are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Lines of JSON in files below a folder; a file that names another session does not count.
    Files {
        below: PathBuf,
        ends: String,
        /// What tells an entry from others: of several lines about the same the last one counts.
        by: Option<String>,
    },
    /// JSON that a command prints; `${session}` stands for the session.
    Told(Vec<String>),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    input: u64,
    output: u64,
    cached: u64,
    stored: u64,
}

impl Kept {
    /// What a session spent, if its books tell. A command that takes longer than this tells nothing.
    pub fn count(&self, session: &str, patience: Duration) -> Option<Said> {
        let counts = match &self.source {
            Source::Files { below, ends, by } => {
                let by = by.as_ref().map(|at| Pick { at: Some(at.clone()), ..Pick::default() });
                let all = files(below, ends, DEPTH).into_iter();
                all.filter_map(|file| self.file(&file, session, by.as_ref())).reduce(Counts::and)
            }
            Source::Told(words) => {
                let mut ear = Ear::new(&self.hear);
                ear.line(&told(words, session, patience)?);
                counts(&ear).filter(|_| is_of(&ear, session))
            }
        };
        let Counts { input, output, cached, stored } = counts?;
        Some(Said::Usage { input, output, cached, stored })
    }

    fn file(&self, file: &Path, session: &str, by: Option<&Pick>) -> Option<Counts> {
        let mut from = BufReader::new(File::open(file).ok()?);
        let mut whole = Ear::new(&self.hear);
        let mut entries = BTreeMap::new();
        let mut line = Vec::new();
        while let Ok(1..) = from.by_ref().take(MOST).read_until(b'\n', &mut line) {
            whole.line(&line);
            if let Some(id) = by.and_then(|by| id(by, &line)) {
                let mut ear = Ear::new(&self.hear);
                ear.line(&line);
                entries.extend(counts(&ear).map(|counts| (id, counts)));
            }
            line.clear();
        }
        let counted = match by {
            Some(_) => entries.into_values().reduce(Counts::and),
            None => counts(&whole),
        };
        counted.filter(|_| is_of(&whole, session))
    }
}

impl Counts {
    fn and(self, other: Counts) -> Counts {
        Counts {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cached: self.cached.saturating_add(other.cached),
            stored: self.stored.saturating_add(other.stored),
        }
    }
}

fn counts(ear: &Ear) -> Option<Counts> {
    let (cached, stored) = (ear.cached().unwrap_or(0), ear.stored().unwrap_or(0));
    Some(Counts { input: ear.input()?, output: ear.output()?, cached, stored })
}

fn is_of(ear: &Ear, session: &str) -> bool {
    ear.session().is_none_or(|named| named == session)
}

fn id(by: &Pick, line: &[u8]) -> Option<String> {
    let line: Value = serde_json::from_slice(line).ok()?;
    by.values(&line).first().map(ToString::to_string)
}

/// The files below a folder whose names end so. Nothing is followed elsewhere.
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

/// What a command prints, if it ends well and in time.
fn told(words: &[String], session: &str, patience: Duration) -> Option<Vec<u8>> {
    let words: Vec<String> = words.iter().map(|word| word.replace("${session}", session)).collect();
    let (program, arguments) = words.split_first()?;
    let mut process = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let from = process.stdout.take()?;
    let reading = std::thread::spawn(move || {
        let mut all = Vec::new();
        from.take(MOST).read_to_end(&mut all).map(|_| all)
    });
    let until = Instant::now() + patience;
    while Instant::now() < until {
        match process.try_wait() {
            Ok(Some(status)) if status.success() => return reading.join().ok()?.ok(),
            Ok(None) => std::thread::sleep(LOOK),
            Ok(Some(_)) | Err(_) => return None,
        }
    }
    let _ = process.kill();
    let _ = process.wait();
    None
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;
    use std::fs;

    const TIME: Duration = Duration::from_secs(10);

    fn usage(input: u64, output: u64, cached: u64) -> Option<Said> {
        Some(Said::Usage { input, output, cached, stored: 0 })
    }

    fn kept(source: Source, hear: &str) -> Kept {
        Kept { source, hear: toml::from_str(hear).expect("rules") }
    }

    fn in_files(folder: &Path, by: Option<&str>, hear: &str) -> Kept {
        let (below, ends, by) = (folder.to_path_buf(), ".jsonl".to_string(), by.map(str::to_string));
        kept(Source::Files { below, ends, by }, hear)
    }

    // CORE-11
    #[test]
    fn a_session_is_counted_by_its_own_file_wherever_that_is() {
        let home = tempfile::tempdir().expect("a folder");
        let deep = home.path().join("2026/01/01");
        fs::create_dir_all(&deep).expect("folders");
        let file = |name: &str, session: &str, last: u64| {
            let lines = format!(
                "{{\"meta\":{{\"id\":\"{session}\"}}}}\nno JSON\n{{\"sum\":{{\"in\":1,\"out\":1}}}}\n{{\"sum\":null}}\n\
                 {{\"sum\":{{\"in\":{last},\"out\":7,\"old\":3}}}}"
            );
            fs::write(deep.join(name), lines).expect("a file");
        };
        file("a.jsonl", "mine", 40);
        file("b.jsonl", "another", 900);
        file("c.txt", "mine", 900);
        std::os::unix::fs::symlink(deep.join("a.jsonl"), deep.join("d.jsonl")).expect("a link");
        let hear = "session = [{at = 'meta.id'}]\ninput = [{at = 'sum.in'}]\noutput = [{at = 'sum.out'}]\ncached = [{at = 'sum.old'}]";
        let kept = in_files(home.path(), None, hear);
        assert_eq!(kept.count("mine", TIME), usage(40, 7, 3));
        assert_eq!(kept.count("nobody's", TIME), None);
        assert_eq!(in_files(Path::new("/nowhere"), None, hear).count("mine", TIME), None);
    }

    // CORE-11
    #[test]
    fn an_entry_that_is_written_again_counts_once() {
        let home = tempfile::tempdir().expect("a folder");
        let lines = "{\"id\":1,\"in\":10,\"out\":1}\n{\"id\":2,\"in\":20,\"out\":2}\n{\"id\":1,\"in\":11,\"out\":1}\n{\"id\":2}\n";
        fs::write(home.path().join("chat.jsonl"), lines).expect("a file");
        let hear = "input = [{at = 'in'}]\noutput = [{at = 'out'}]";
        assert_eq!(in_files(home.path(), Some("id"), hear).count("s", TIME), usage(31, 3, 0));
    }

    // CORE-11
    #[test]
    fn a_command_tells_of_the_session_or_of_nothing() {
        let hear = "session = [{at = 'id'}]\ninput = [{at = 'in'}]\noutput = [{at = 'out'}]";
        let asked = |script: &str| {
            let words = ["sh", "-c", script, "sh", "${session}"].map(str::to_string).to_vec();
            kept(Source::Told(words), hear).count("s1", Duration::from_millis(700))
        };
        assert_eq!(asked("printf '{\\n\"id\": \"%s\", \"in\": 5, \"out\": 6}' $1"), usage(5, 6, 0));
        for nothing in
            ["echo '{\"id\": \"s2\", \"in\": 5, \"out\": 6}'", "echo '{\"in\": 5}'", "exit 1", "sleep 9"]
        {
            assert_eq!(asked(nothing), None, "{nothing}");
        }
    }
}
