//! Agents that speak the Agent Client Protocol: a client of ours is started in their place, which starts them in turn.

use super::fill::Filling;
use super::row::{Books, Row};
use super::{Launch, Place};
use crate::converse::{Kept, Plan, Server, Source};
use crate::submission::SERVER;
use std::path::PathBuf;

/// Where the client finds its plan, below the agent's home.
const PLAN: &str = ".remand/plan.json";

/// Puts the client in front of the agent.
pub fn wrap(mut launch: Launch, row: &Row, place: &Place, filling: &Filling) -> Launch {
    let plan = Plan {
        tree: place.tree.clone(),
        out: place.out.clone(),
        write: place.may.write,
        shell: place.may.shell,
        network: place.may.network,
        session: place.session.as_ref().map(|session| session.id.clone()),
        model: place.model.clone().or_else(|| row.model.clone()),
        mode: Some(filling.text(&row.acp.mode)).filter(|mode| !mode.is_empty()),
        reads: row.acp.reads,
        tokens: row.acp.tokens,
        books: row
            .acp
            .books
            .as_ref()
            .map(|books| Kept { source: source(books, &launch, row, place), hear: row.hear.clone() }),
        meta: serde_json::from_str(&filling.text(&row.acp.meta)).ok(),
        server: Server {
            name: SERVER.to_string(),
            command: place.remand.clone(),
            args: ["submit", "--dispatch", &place.about.display().to_string()].map(str::to_string).to_vec(),
        },
    };
    launch.files.push((PathBuf::from(PLAN), serde_json::to_string_pretty(&plan).unwrap_or_default()));
    let client = [
        place.remand.clone().into_os_string(),
        "converse".into(),
        "--plan".into(),
        place.home.join(PLAN).into_os_string(),
        "--".into(),
    ];
    launch.argv = client.into_iter().chain(launch.argv).collect();
    launch
}

fn source(books: &Books, launch: &Launch, row: &Row, place: &Place) -> Source {
    match books {
        Books::Files { below, ends, by } => {
            Source::Files { below: place.home.join(below), ends: ends.clone(), by: by.clone() }
        }
        Books::Told(arguments) => {
            let command =
                launch.argv.iter().take(row.command.len()).map(|word| word.to_string_lossy().into_owned());
            Source::Told(command.chain(arguments.iter().cloned()).collect())
        }
    }
}
