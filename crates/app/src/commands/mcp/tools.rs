//! The tools by name: what each does, its arguments, and the function that answers.

use super::call::ToolCall;
use super::{answers, looks, runs, vetting, waiting};
use remand_terminal::CommandFailure;
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

type Answer = fn(&ToolCall<'_>) -> Result<Value, CommandFailure>;

/// One tool.
pub struct McpTool {
    pub name: &'static str,
    about: &'static str,
    /// Name, JSON type, whether it is required, and meaning.
    arguments: &'static [(&'static str, &'static str, bool, &'static str)],
    /// Whether it changes nothing.
    reads: bool,
    pub answer: Answer,
}

const RUN: (&str, &str, bool, &str) =
    ("run", "string", false, "The run: its id, a part of it, or `latest`, which is the default");

pub const TOOLS: &[McpTool] = &[
    McpTool {
        name: "start",
        about: "Starts a run: agents do the work, the engine tests and reviews it, and commits it to a branch of its own. \
                Returns the id of the run at once; then call `wait`. Name one of request, issue, ticket and spec.",
        arguments: &[
            ("request", "string", false, "What is wanted, in plain words"),
            ("issue", "string", false, "The id of an issue in TODO/"),
            ("ticket", "string", false, "The file of a ticket"),
            ("spec", "string", false, "The specification file to refine"),
            (
                "workflow",
                "string",
                false,
                "The workflow, such as quick, feature or tsp; by default it follows from the subject",
            ),
            ("agent", "string", false, "The agent that does the work; by default the configured one"),
            ("model", "string", false, "The model, by the name that the agent uses"),
            (
                "starting",
                "string",
                false,
                "What an earlier call returned because the start takes long; nothing else is needed",
            ),
        ],
        reads: false,
        answer: runs::start,
    },
    McpTool {
        name: "wait",
        about: "Waits for news of a run, at most 45 seconds, and returns what happened since `since`, with a `cursor` for the \
                next call. `over` says that the run has ended, `needs_you` that a person must act.",
        arguments: &[
            RUN,
            ("since", "integer", false, "The cursor of the last call; 0 or absent for everything"),
            ("seconds", "integer", false, "How long to wait at most; 45 by default, and never more"),
            (
                "until",
                "string",
                false,
                "`change` returns at the first change; `rest`, the default, when the run is over, needs somebody, or the time is up",
            ),
        ],
        reads: true,
        answer: waiting::wait,
    },
    McpTool {
        name: "status",
        about: "The status of a run: its position, tasks, spending, findings and open gates. Without `run`: all runs in progress.",
        arguments: &[("run", "string", false, "The run: its id, a part of it, or `latest`")],
        reads: true,
        answer: looks::status,
    },
    McpTool {
        name: "findings",
        about: "What reviewers and checks found in a run, and where each finding was sent.",
        arguments: &[RUN],
        reads: true,
        answer: looks::findings,
    },
    McpTool {
        name: "evidence",
        about: "The evidence of a run: its outcome, and every check with command, exit code and counts.",
        arguments: &[RUN],
        reads: true,
        answer: looks::evidence,
    },
    McpTool {
        name: "brief",
        about: "What an agent of a run was given, and what it returned. Without `dispatch`: the list of dispatches.",
        arguments: &[RUN, ("dispatch", "string", false, "The id of the dispatch")],
        reads: true,
        answer: looks::brief,
    },
    McpTool {
        name: "gates",
        about: "The questions that wait for a person, each with its options, its digest, and whether you may answer it.",
        arguments: &[("run", "string", false, "Only gates of this run")],
        reads: true,
        answer: answers::gates,
    },
    McpTool {
        name: "answer",
        about: "Answers a gate, if the user named it for you. Gates that are asked in every mode are for people. Every refused \
                attempt is recorded. Ask the user first.",
        arguments: &[
            RUN,
            (
                "gate",
                "string",
                false,
                "The id of the gate, as `gates` shows it; may be absent if the run has one open gate",
            ),
            ("digest", "string", true, "The digest of the gate, as `gates` shows it"),
            ("option", "string", true, "One of its options"),
            ("note", "string", false, "A note for the agents that continue the work"),
        ],
        reads: false,
        answer: answers::answer,
    },
    McpTool {
        name: "vet",
        about: "Judges a change that anybody made, by the checks of its base: whether tests regressed or were weakened. If it \
                takes long, returns a `vet` id; call again with it.",
        arguments: &[
            (
                "change",
                "string",
                false,
                "BASE..HEAD, a branch or a commit; by default all uncommitted work in the checkout",
            ),
            ("base", "string", false, "Compare with this revision"),
            ("request", "string", false, "What the change is for; tests that it names may change"),
            ("vet", "string", false, "The id of a vetting that is under way"),
            ("seconds", "integer", false, "How long to wait at most; 45 by default, and never more"),
        ],
        reads: false,
        answer: vetting::vet,
    },
    McpTool {
        name: "cancel",
        about: "Ends a run: its agents are killed and its work trees restored.",
        arguments: &[("run", "string", true, "The run: its id, a part of it, or `latest`")],
        reads: false,
        answer: runs::cancel,
    },
];

impl McpTool {
    pub fn by_name(name: &str) -> Option<&'static McpTool> {
        TOOLS.iter().find(|tool| tool.name == name)
    }

    /// The tool as the protocol describes it.
    pub fn described(&self) -> Tool {
        let mut properties = Map::new();
        for (name, kind, _, about) in self.arguments {
            properties.insert((*name).to_string(), json!({ "type": kind, "description": about }));
        }
        let required: Vec<&str> = self.arguments.iter().filter(|it| it.2).map(|it| it.0).collect();
        let mut schema = Map::new();
        schema.insert("type".to_string(), json!("object"));
        schema.insert("properties".to_string(), Value::Object(properties));
        schema.insert("required".to_string(), json!(required));
        let mut hints = ToolAnnotations::new();
        hints.read_only_hint = Some(self.reads);
        Tool::new(self.name, self.about, schema).annotate(hints)
    }
}
