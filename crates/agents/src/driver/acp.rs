//! Launches agents that speak the Agent Client Protocol: the dispatch starts our client, and the client starts the agent.

use super::row::{AgentRow, SessionLogLocation};
use super::template::TemplateValues;
use super::{DispatchContext, Launch};
use crate::converse::{ConversationPlan, McpServerCommand, SessionLog, SessionLogSource};
use crate::submission::SERVER;
use std::path::PathBuf;

/// Path of the client's plan, relative to the agent's home.
const PLAN: &str = ".remand/plan.json";

/// Changes the launch so that our client starts the agent.
pub fn wrap(
    mut launch: Launch,
    row: &AgentRow,
    context: &DispatchContext,
    template_values: &TemplateValues,
) -> Launch {
    let plan = ConversationPlan {
        tree: context.tree.clone(),
        out: context.out.clone(),
        write: context.permissions.write,
        shell: context.permissions.shell,
        network: context.permissions.network,
        session: context.session.as_ref().map(|session| session.id.clone()),
        model: context.model.clone().or_else(|| row.model.clone()),
        mode: Some(template_values.fill_text(&row.acp.mode)).filter(|mode| !mode.is_empty()),
        reads: row.acp.reads,
        tokens: row.acp.tokens,
        session_log: row.acp.session_log.as_ref().map(|session_log| SessionLog {
            source: log_source(session_log, &launch, row, context),
            rules: row.output_rules.clone(),
        }),
        // Most rows leave `meta` empty, which is not JSON.
        meta: serde_json::from_str(&template_values.fill_text(&row.acp.meta)).ok(),
        server: McpServerCommand {
            name: SERVER.to_string(),
            command: context.remand.clone(),
            args: ["submit", "--dispatch", &context.about.display().to_string()].map(str::to_string).to_vec(),
        },
    };
    launch.files.push((PathBuf::from(PLAN), serde_json::to_string_pretty(&plan).unwrap_or_default()));
    let client = [
        context.remand.clone().into_os_string(),
        "converse".into(),
        "--plan".into(),
        context.home.join(PLAN).into_os_string(),
        "--".into(),
    ];
    launch.argv = client.into_iter().chain(launch.argv).collect();
    launch
}

fn log_source(
    session_log: &SessionLogLocation,
    launch: &Launch,
    row: &AgentRow,
    context: &DispatchContext,
) -> SessionLogSource {
    match session_log {
        SessionLogLocation::Files { below, ends, by } => {
            SessionLogSource::Files { below: context.home.join(below), ends: ends.clone(), by: by.clone() }
        }
        SessionLogLocation::Command(arguments) => {
            let command =
                launch.argv.iter().take(row.command.len()).map(|word| word.to_string_lossy().into_owned());
            SessionLogSource::Command(command.chain(arguments.iter().cloned()).collect())
        }
    }
}
