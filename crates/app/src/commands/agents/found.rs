//! Finds each agent on this machine: its program, its version, and how it is signed in.

use crate::environment;
use crate::installed_agents::{SignedIn, program};
use remand_agents::driver::{AgentProtocol, NamedRow};
use remand_engine::config::Config;
use remand_process::confine::EnforcementLevel;
use remand_process::{Cancel, ProcessJob};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The timeout for a program to print its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(10);

/// What this machine shows about an agent, without a request to its service.
#[derive(Debug, Serialize)]
pub struct FoundAgent {
    pub name: String,
    pub title: String,
    /// The path of its program, if it is installed.
    pub program: Option<PathBuf>,
    /// `None` if it is not installed, prints no version, or was not started.
    pub version: Option<String>,
    /// Whether the repository's configuration defines or changes it. Such a program is never started just to list it.
    pub of_repository: bool,
    /// The version that it was tested with, if any.
    pub tried: Option<String>,
    /// How it is signed in, as far as the environment or a file shows.
    pub signed_in: Option<SignedIn>,
    /// How far the sandbox of this machine confines it.
    pub held: EnforcementLevel,
    pub driven: AgentProtocol,
    pub spends: String,
    pub install: String,
    pub sign_in: String,
}

impl FoundAgent {
    /// Finds all agents in parallel, because printing a version can take a while.
    pub fn find_all(agents: &[NamedRow], config: &Config, held: EnforcementLevel) -> Vec<FoundAgent> {
        std::thread::scope(|scope| {
            let threads: Vec<_> = agents
                .iter()
                .map(|agent| {
                    scope.spawn(move || {
                        FoundAgent::find(agent, config.is_defined_by_repository(&agent.name), held)
                    })
                })
                .collect();
            threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
        })
    }

    fn find(agent: &NamedRow, of_repository: bool, held: EnforcementLevel) -> FoundAgent {
        let row = &agent.row;
        let program = program(agent);
        let startable = program.as_ref().filter(|_| !of_repository);
        FoundAgent {
            name: agent.name.clone(),
            title: row.title.clone(),
            version: startable.and_then(|program| version(program, agent)),
            of_repository,
            program,
            tried: row.tried.clone(),
            signed_in: SignedIn::of(row),
            held,
            driven: row.speaks,
            spends: row.spends.clone(),
            install: row.install.clone(),
            sign_in: row.sign_in.clone(),
        }
    }
}

/// The version that the program prints: the first word that looks like one.
fn version(program: &Path, agent: &NamedRow) -> Option<String> {
    let row = &agent.row;
    let arguments = row.command.iter().skip(1).chain(&row.version);
    let argv = std::iter::once(program.as_os_str().to_owned()).chain(arguments.map(Into::into));
    let mut job = ProcessJob::standalone(argv, "/", "agents");
    job.environment = environment::inherited();
    job.environment.extend(std::env::var_os("HOME").map(|home| ("HOME".into(), home)));
    job.limits.time = VERSION_TIMEOUT;
    let ended = remand_process::run(&job, &Cancel::new()).ok().filter(|ended| ended.exit.succeeded())?;
    find_version(&ended.stdout.text())
}

/// The first word that looks like a version, such as the `1.2.3` of `agent v1.2.3, for Linux`.
fn find_version(output: &str) -> Option<String> {
    let words = output.split(|c: char| c.is_whitespace() || "/,;()".contains(c));
    let mut bare = words.map(|word| word.strip_prefix('v').unwrap_or(word));
    bare.find(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.')).map(str::to_string)
}

#[cfg(test)]
mod tests {
    use super::find_version;

    #[test]
    fn the_version_is_found_in_the_output_of_programs() {
        for output in
            ["1.2.3\n", "2.1 (Agent)", "agent 1.2.3", "agent-cli v1.2.3-beta.1, linux", "Agent/1.2.3 node/22"]
        {
            assert!(
                find_version(output).is_some_and(|found| output.contains(&found) && !found.starts_with('v')),
                "{output}"
            );
        }
        assert_eq!(find_version("agent v1.2.3, for Linux").as_deref(), Some("1.2.3"));
        assert_eq!(find_version("usage: agent [options]"), None);
    }
}
