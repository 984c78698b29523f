//! Agents that wait in the middle of their work until a test releases them.

use super::place::Place;
use super::three_tasks::REHEARSAL;
use std::fs;
use std::path::{Path, PathBuf};

/// One agent that has started to work.
#[derive(Debug)]
pub struct Agent {
    /// A number that it has chosen.
    pub number: u32,
    /// The files that it found in its tree.
    pub saw: String,
}

/// Reports to the test that it runs and which files it saw, leaves junk, and waits.
const WAIT: &str = r#"out="$(dirname "$REMAND_DISPATCH")/out"; ls -R > "$out/saw"; mkdir -p deep; echo half > deep/junk.py; echo half > junk.py; od -An -N4 -tu4 /dev/urandom > "$out/started"; while [ ! -e GO ]; do sleep 0.02; done; rm -r deep junk.py"#;

/// A rehearsal in which the first agent of task 1 waits for a file.
pub fn waiting(place: &Place) -> (PathBuf, String) {
    let go = place.visible_file("go");
    let text = format!(
        "{REHEARSAL}{}",
        implementer("task-1", &go, "", "sums/sub.py", "def sub(a, b):\\n    return a - b  # FIXME\\n", 500)
    );
    (go, text)
}

/// A rehearsal in which the agents of two parallel tasks wait, each with a process that has left its group.
pub fn waiting_in_parallel(place: &Place) -> (PathBuf, String) {
    let go = place.visible_file("go");
    let stray = "      - spawn: sleep 1000\n";
    let first = implementer(
        "task-1",
        &go,
        stray,
        "sums/sub.py",
        "def sub(a, b):\\n    return a - b  # FIXME\\n",
        500,
    );
    let third =
        implementer("task-3", &go, stray, "README.md", "# sums\\n\\nThere are add, sub and mul.\\n", 120);
    (go, format!("{REHEARSAL}{first}{third}"))
}

/// An entry that waits, and then does the same as the rehearsal's entry for the first round of a task.
fn implementer(task: &str, go: &Path, more: &str, file: &str, text: &str, tokens: u32) -> String {
    let wait = WAIT.replace("GO", &go.display().to_string()).replace('\'', "''");
    let money = f64::from(tokens) / 10_000.0;
    format!(
        "
  - role: implementer
    task: {task}
    phase: implement
    round: 1
    attempt: 1
    usage: {{tokens: {tokens}, money: {money}}}
    do:
{more}      - run: '{wait}'
      - write: {{path: {file}, text: \"{text}\"}}
      - result:
          payload:
            verdict: done
            task: {task}
            hypothesis: It is enough.
            changes: [{{file: {file}, what: The change., why: the task}}]
"
    )
}

/// Lets all agents that wait for this file continue.
pub fn release(go: &Path) {
    fs::write(go, "").expect("go");
}

/// The agents that have started, by the latest dispatch of each command.
pub fn started(place: &Place) -> Vec<Agent> {
    let outs = find_below(&place.state(), |path| path.ends_with("out/started"));
    outs.iter()
        .filter_map(|path| {
            let number = fs::read_to_string(path).ok()?.trim().parse().ok()?;
            Some(Agent { number, saw: fs::read_to_string(path.with_file_name("saw")).ok()? })
        })
        .collect()
}

/// The junk files of waiting agents that are still in work trees.
pub fn junk(place: &Place) -> Vec<String> {
    let left =
        find_below(&place.home().join("trees"), |path| path.ends_with("junk.py") || path.ends_with("deep"));
    left.iter().map(|path| path.display().to_string()).collect()
}

/// All matching paths below a folder; files that vanish meanwhile are left out.
fn find_below(folder: &Path, matches: impl Fn(&Path) -> bool + Copy) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if matches(&path) {
            found.push(path.clone());
        }
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(find_below(&path, matches));
        }
    }
    found
}
