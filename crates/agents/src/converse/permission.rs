//! Decides an agent's permission requests by the kind of tool and the role's permissions.

use super::event::changes_files;
use super::files;
use super::plan::ConversationPlan;
use crate::submission::TOOL;
use agent_client_protocol::v1::schema::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionResponse,
    SelectedPermissionOutcome, ToolCallContent, ToolCallUpdateFields, ToolKind,
};
use std::path::{Path, PathBuf};

/// A tool call, as far as the agent has described it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolCallRequest {
    pub title: String,
    /// `Other` if the agent does not state the kind, or states one that the protocol does not define.
    pub kind: ToolKind,
    /// The files that the call affects.
    pub paths: Vec<PathBuf>,
    /// Whether any title of the call names the tool that submits the result.
    pub submits: bool,
}

impl ToolCallRequest {
    /// Updates the call from a message of the agent. Fields that the message leaves out stay the same.
    pub fn update(&mut self, fields: &ToolCallUpdateFields) {
        if let Some(title) = fields.title.as_ref().filter(|title| !title.is_empty()) {
            self.title = title.clone();
            self.submits |= title.contains(TOOL);
        }
        if let Some(kind) = fields.kind.filter(|kind| *kind != ToolKind::Other) {
            self.kind = kind;
        }
        let locations = fields.locations.iter().flatten().map(|location| location.path.as_path());
        let diffs = fields.content.iter().flatten().filter_map(diff_path);
        for path in locations.chain(diffs) {
            if !self.paths.iter().any(|known| known == path) {
                self.paths.push(path.to_path_buf());
            }
        }
    }

    /// Whether the role permits the call. A call of an unknown kind is denied unless it submits the result.
    pub fn is_permitted(&self, plan: &ConversationPlan) -> bool {
        match self.kind {
            ToolKind::Read | ToolKind::Search | ToolKind::Think => true,
            kind if changes_files(kind) => match self.paths.as_slice() {
                [] => plan.write,
                paths => paths.iter().all(|path| files::may_write(plan, path)),
            },
            ToolKind::Execute => plan.shell,
            ToolKind::Fetch => plan.network,
            ToolKind::Other => self.submits,
            _ => false,
        }
    }
}

fn diff_path(part: &ToolCallContent) -> Option<&Path> {
    match part {
        ToolCallContent::Diff(diff) => Some(&diff.path),
        _ => None,
    }
}

/// Answers a request with an option that allows or rejects the call.
pub fn answer(options: &[PermissionOption], permitted: bool) -> RequestPermissionResponse {
    use PermissionOptionKind::{AllowAlways, AllowOnce, RejectAlways, RejectOnce};
    let kinds = if permitted { [AllowOnce, AllowAlways] } else { [RejectOnce, RejectAlways] };
    let chosen = kinds.iter().find_map(|kind| options.iter().find(|option| option.kind == *kind));
    RequestPermissionResponse::new(match chosen {
        Some(option) => {
            RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(option.option_id.clone()))
        }
        None => RequestPermissionOutcome::Cancelled,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::converse::McpServerCommand;
    use serde_json::{Value, json};

    fn plan(write: bool, shell: bool, network: bool) -> ConversationPlan {
        let server = McpServerCommand { name: "remand".into(), command: "/remand".into(), args: Vec::new() };
        let (tree, out) = (PathBuf::from("/tmp/t/tree"), PathBuf::from("/tmp/t/out"));
        let (session, model, mode, meta) = (None, None, None, None);
        ConversationPlan {
            tree,
            out,
            write,
            shell,
            network,
            session,
            model,
            mode,
            reads: true,
            tokens: true,
            session_log: None,
            meta,
            server,
        }
    }

    fn call(kind: &str, title: &str, path: Option<&str>) -> ToolCallRequest {
        let mut call = ToolCallRequest::default();
        let locations: Vec<Value> = path.iter().map(|path| json!({"path": path})).collect();
        let fields = json!({"title": title, "kind": kind, "locations": locations});
        call.update(&serde_json::from_value(fields).unwrap());
        call
    }

    // CORE-05, CORE-15
    #[test]
    fn permissions_depend_on_the_kind_of_tool_and_the_role() {
        let (reader, writer) = (plan(false, false, false), plan(true, true, true));
        for kind in ["read", "search", "think"] {
            assert!(call(kind, "x", None).is_permitted(&reader), "{kind}");
        }
        for kind in ["edit", "delete", "move", "execute", "fetch"] {
            assert!(!call(kind, "x", None).is_permitted(&reader), "{kind}");
            assert!(call(kind, "x", None).is_permitted(&writer), "{kind}");
        }
        for kind in ["switch_mode", "other", "", "brand_new"] {
            assert!(!call(kind, "x", None).is_permitted(&writer), "{kind}");
        }
        assert!(call("other", "mcp__remand__submit_result", None).is_permitted(&reader));
        assert!(!call("execute", "echo submit_result", None).is_permitted(&reader));
    }

    // CORE-05
    #[test]
    fn a_file_change_is_permitted_only_in_folders_the_role_may_write_to() {
        let (reader, writer) = (plan(false, true, false), plan(true, false, false));
        assert!(call("edit", "x", Some("/tmp/t/out/result.yaml")).is_permitted(&reader));
        assert!(!call("edit", "x", Some("/tmp/t/tree/a.rs")).is_permitted(&reader));
        assert!(call("edit", "x", Some("/tmp/t/tree/new/a.rs")).is_permitted(&writer));
        for outside in ["/tmp/t/tree/../other", "/etc/passwd", "/tmp/t/treelike/a"] {
            assert!(!call("edit", "x", Some(outside)).is_permitted(&writer), "{outside}");
        }
    }

    // CORE-15
    #[test]
    fn options_are_chosen_by_their_kind() {
        let options = json!([
            {"optionId": "a", "kind": "allow_always", "name": "always"},
            {"optionId": "b", "kind": "allow_once", "name": "yes"},
            {"optionId": "c", "kind": "reject_once", "name": "no"},
        ]);
        let options: Vec<PermissionOption> = serde_json::from_value(options).unwrap();
        let response = |options: &[PermissionOption], permitted| {
            serde_json::to_value(answer(options, permitted)).unwrap()
        };
        assert_eq!(response(&options, true)["outcome"], json!({"outcome": "selected", "optionId": "b"}));
        assert_eq!(response(&options, false)["outcome"], json!({"outcome": "selected", "optionId": "c"}));
        assert_eq!(response(&[], false)["outcome"], json!({"outcome": "cancelled"}));
    }
}
