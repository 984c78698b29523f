//! What an agent is permitted when it asks: by the kind of its tool and the role's permissions.

use super::files;
use super::plan::Plan;
use super::said::changes_files;
use crate::submission::TOOL;
use agent_client_protocol::v1::schema::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionResponse,
    SelectedPermissionOutcome, ToolCallContent, ToolCallUpdateFields, ToolKind,
};
use std::path::{Path, PathBuf};

/// A tool that the agent wants to use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    pub title: String,
    /// What the agent does not say, or the protocol does not know, is another one.
    pub kind: ToolKind,
    /// The files that it is about.
    pub paths: Vec<PathBuf>,
    /// Whether it is the tool that takes the result, as any of its titles has it.
    pub submits: bool,
}

impl Wish {
    /// Takes over what a message of the agent's says of a tool, and leaves what it does not say.
    pub fn learn(&mut self, said: &ToolCallUpdateFields) {
        if let Some(title) = said.title.as_ref().filter(|title| !title.is_empty()) {
            self.title = title.clone();
            self.submits |= title.contains(TOOL);
        }
        if let Some(kind) = said.kind.filter(|kind| *kind != ToolKind::Other) {
            self.kind = kind;
        }
        let locations = said.locations.iter().flatten().map(|location| location.path.as_path());
        let changed = said.content.iter().flatten().filter_map(changed);
        for path in locations.chain(changed) {
            if !self.paths.iter().any(|known| known == path) {
                self.paths.push(path.to_path_buf());
            }
        }
    }

    /// Whether the role may use the tool. What nobody knows it may not.
    pub fn is_permitted(&self, plan: &Plan) -> bool {
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

fn changed(part: &ToolCallContent) -> Option<&Path> {
    match part {
        ToolCallContent::Diff(diff) => Some(&diff.path),
        _ => None,
    }
}

/// The answer to a request, by the kind of its options.
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
    use crate::converse::Server;
    use serde_json::{Value, json};

    fn plan(write: bool, shell: bool, network: bool) -> Plan {
        let server = Server { name: "remand".into(), command: "/remand".into(), args: Vec::new() };
        let (tree, out) = (PathBuf::from("/tmp/t/tree"), PathBuf::from("/tmp/t/out"));
        let (session, model, mode, meta) = (None, None, None, None);
        Plan {
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
            books: None,
            meta,
            server,
        }
    }

    fn wish(kind: &str, title: &str, path: Option<&str>) -> Wish {
        let mut wish = Wish::default();
        let locations: Vec<Value> = path.iter().map(|path| json!({"path": path})).collect();
        let said = json!({"title": title, "kind": kind, "locations": locations});
        wish.learn(&serde_json::from_value(said).unwrap());
        wish
    }

    // CORE-05, CORE-15
    #[test]
    fn permissions_follow_the_kind_of_the_tool_and_the_role() {
        let (reader, writer) = (plan(false, false, false), plan(true, true, true));
        for kind in ["read", "search", "think"] {
            assert!(wish(kind, "x", None).is_permitted(&reader), "{kind}");
        }
        for kind in ["edit", "delete", "move", "execute", "fetch"] {
            assert!(!wish(kind, "x", None).is_permitted(&reader), "{kind}");
            assert!(wish(kind, "x", None).is_permitted(&writer), "{kind}");
        }
        for kind in ["switch_mode", "other", "", "brand_new"] {
            assert!(!wish(kind, "x", None).is_permitted(&writer), "{kind}");
        }
        assert!(wish("other", "mcp__remand__submit_result", None).is_permitted(&reader));
        assert!(!wish("execute", "echo submit_result", None).is_permitted(&reader));
    }

    // CORE-05
    #[test]
    fn a_change_is_judged_by_the_files_that_it_is_about() {
        let (reader, writer) = (plan(false, true, false), plan(true, false, false));
        assert!(wish("edit", "x", Some("/tmp/t/out/result.yaml")).is_permitted(&reader));
        assert!(!wish("edit", "x", Some("/tmp/t/tree/a.rs")).is_permitted(&reader));
        assert!(wish("edit", "x", Some("/tmp/t/tree/new/a.rs")).is_permitted(&writer));
        for beyond in ["/tmp/t/tree/../other", "/etc/passwd", "/tmp/t/treelike/a"] {
            assert!(!wish("edit", "x", Some(beyond)).is_permitted(&writer), "{beyond}");
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
        let said = |options: &[PermissionOption], permitted| {
            serde_json::to_value(answer(options, permitted)).unwrap()
        };
        assert_eq!(said(&options, true)["outcome"], json!({"outcome": "selected", "optionId": "b"}));
        assert_eq!(said(&options, false)["outcome"], json!({"outcome": "selected", "optionId": "c"}));
        assert_eq!(said(&[], false)["outcome"], json!({"outcome": "cancelled"}));
    }
}
