//! What of each agent is there: its program, its version, and what signs it in.

use crate::agents;
use crate::driving;
use remand_runtime::config::Config;
use remand_runtime::confine::Level;
use remand_runtime::driver::{Named, Row, Speech};
use remand_runtime::process::{self, Cancel, Job};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A program that takes longer to tell its version has none.
const PATIENCE: Duration = Duration::from_secs(10);

/// One agent, as far as it can be known without asking its service.
#[derive(Debug, Serialize)]
pub struct Found {
    pub name: String,
    pub title: String,
    /// Where its program is; none if it is not installed.
    pub program: Option<PathBuf>,
    /// None if it is not installed, does not tell, or is not asked.
    pub version: Option<String>,
    /// Whether the repository's file brings or changes it: nothing is started for looking at what was cloned.
    pub of_repository: bool,
    /// The version that it was tried with; none if nobody tried.
    pub tried: Option<String>,
    /// What signs it in; none if neither the environment nor a file tells.
    pub signed_in: Option<SignedIn>,
    /// How far the sandbox of this machine holds it.
    pub held: Level,
    pub driven: Speech,
    pub spends: String,
    pub install: String,
    pub sign_in: String,
}

/// What signs an agent in.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SignedIn {
    /// A variable of the environment.
    Key(String),
    /// A file, from the user's home.
    File(String),
}

impl Found {
    /// Looks for all of them at once, since each may take its time to tell its version.
    pub fn look_for(agents: &[Named], config: &Config, held: Level) -> Vec<Found> {
        std::thread::scope(|scope| {
            let looks: Vec<_> = agents
                .iter()
                .map(|agent| {
                    scope.spawn(move || Found::look(agent, config.is_of_repository(&agent.name), held))
                })
                .collect();
            looks.into_iter().filter_map(|look| look.join().ok()).collect()
        })
    }

    fn look(agent: &Named, of_repository: bool, held: Level) -> Found {
        let row = &agent.row;
        let program = agents::program(agent);
        let asked = program.as_ref().filter(|_| !of_repository);
        Found {
            name: agent.name.clone(),
            title: row.title.clone(),
            version: asked.and_then(|program| version(program, agent)),
            of_repository,
            program,
            tried: row.tried.clone(),
            signed_in: signed_in(row),
            held,
            driven: row.speaks,
            spends: row.spends.clone(),
            install: row.install.clone(),
            sign_in: row.sign_in.clone(),
        }
    }
}

/// What the program says of its version: the first thing that looks like one.
fn version(program: &Path, agent: &Named) -> Option<String> {
    let row = &agent.row;
    let words = row.command.iter().skip(1).chain(&row.version);
    let argv = std::iter::once(program.as_os_str().to_owned()).chain(words.map(Into::into));
    // Whoever ends takes along what has the same marker.
    let mut job = Job::apart(argv, "/", "agents");
    job.environment = driving::inherited();
    job.environment.extend(std::env::var_os("HOME").map(|home| ("HOME".into(), home)));
    job.limits.time = PATIENCE;
    let ended = process::run(&job, &Cancel::new()).ok().filter(|ended| ended.exit.succeeded())?;
    number(&ended.stdout.text())
}

/// The first word that looks like a version, such as the `1.2.3` of `agent v1.2.3, for Linux`.
fn number(said: &str) -> Option<String> {
    let words = said.split(|c: char| c.is_whitespace() || "/,;()".contains(c));
    let mut bare = words.map(|word| word.strip_prefix('v').unwrap_or(word));
    bare.find(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.')).map(str::to_string)
}

fn signed_in(row: &Row) -> Option<SignedIn> {
    let is_set = |name: &&String| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let key = row.keys.iter().find(is_set).map(|name| SignedIn::Key(name.clone()));
    key.or_else(|| {
        let home = PathBuf::from(std::env::var_os("HOME")?);
        let file = row.credentials.iter().find(|path| home.join(path).is_file());
        file.map(|path| SignedIn::File(format!("~/{path}")))
    })
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn a_version_is_found_in_what_programs_say() {
        for said in
            ["1.2.3\n", "2.1 (Agent)", "agent 1.2.3", "agent-cli v1.2.3-beta.1, linux", "Agent/1.2.3 node/22"]
        {
            assert!(
                number(said).is_some_and(|found| said.contains(&found) && !found.starts_with('v')),
                "{said}"
            );
        }
        assert_eq!(number("agent v1.2.3, for Linux").as_deref(), Some("1.2.3"));
        assert_eq!(number("usage: agent [options]"), None);
    }
}
