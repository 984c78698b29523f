//! What an agent is permitted when it asks: by the kind of its tool and the role's permissions.

use super::files;
use super::plan::Plan;
use super::said::changes_files;
use crate::submission::TOOL;
use serde_json::{Value, json};
use std::path::PathBuf;

/// A tool that the agent wants to use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    pub title: String,
    /// The protocol's word; empty where the agent does not say.
    pub kind: String,
    /// The files that it is about.
    pub paths: Vec<PathBuf>,
    /// Whether it is the tool that takes the result, as any of its titles has it.
    pub submits: bool,
}

impl Wish {
    /// Takes over what a message of the agent's says of a tool, and leaves what it does not say.
    pub fn learn(&mut self, call: &Value) {
        let text = |key: &str| call.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        if let Some(title) = text("title") {
            self.title = title.to_string();
            self.submits |= title.contains(TOOL);
        }
        if let Some(kind) = text("kind") {
            self.kind = kind.to_string();
        }
        let list = |key: &str| call.get(key).and_then(Value::as_array).into_iter().flatten();
        let paths = list("locations").chain(list("content")).filter_map(|entry| entry.get("path")?.as_str());
        for path in paths.map(PathBuf::from) {
            if !self.paths.contains(&path) {
                self.paths.push(path);
            }
        }
    }

    /// Whether the role may use the tool. What nobody knows it may not.
    pub fn is_permitted(&self, plan: &Plan) -> bool {
        match self.kind.as_str() {
            "read" | "search" | "think" => true,
            kind if changes_files(kind) => match self.paths.as_slice() {
                [] => plan.write,
                paths => paths.iter().all(|path| files::may_write(plan, path)),
            },
            "execute" => plan.shell,
            "fetch" => plan.network,
            "other" | "" => self.submits,
            _ => false,
        }
    }
}

/// The answer to a request, by the kind of its options.
pub fn answer(options: &Value, permitted: bool) -> Value {
    let kinds = if permitted { ["allow_once", "allow_always"] } else { ["reject_once", "reject_always"] };
    let all = options.as_array().map(Vec::as_slice).unwrap_or_default();
    let chosen = kinds.iter().find_map(|kind| all.iter().find(|option| option["kind"] == **kind));
    match chosen {
        Some(option) => json!({"outcome": {"outcome": "selected", "optionId": option["optionId"]}}),
        None => cancelled(),
    }
}

/// The answer to a request that nobody will decide on.
pub fn cancelled() -> Value {
    json!({"outcome": {"outcome": "cancelled"}})
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::converse::Server;

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
            meta,
            server,
        }
    }

    fn wish(kind: &str, title: &str, path: Option<&str>) -> Wish {
        let mut wish = Wish::default();
        let locations: Vec<Value> = path.iter().map(|path| json!({"path": path})).collect();
        wish.learn(&json!({"title": title, "kind": kind, "locations": locations}));
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
            {"optionId": "a", "kind": "allow_always"}, {"optionId": "b", "kind": "allow_once"}, {"optionId": "c", "kind": "reject_once"},
        ]);
        assert_eq!(answer(&options, true)["outcome"]["optionId"], "b");
        assert_eq!(answer(&options, false)["outcome"]["optionId"], "c");
        assert_eq!(answer(&json!([]), false), cancelled());
    }
}
