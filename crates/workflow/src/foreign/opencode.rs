//! opencode's agents: `.opencode/agents/*.md`, and `.opencode/agent/*.md`.
//!
//! `permission` maps tools to `allow`, `ask` or `deny`, or to such a map by pattern; the last rule that matches holds,
//! and what no rule matches is allowed. Before version 1.1 `tools` maps tools to true or false; version 2 writes
//! `permissions`, a list of `action`, `resource` and `effect`. All three are read by every version since.

use super::Foreign;
use super::front::line;
use super::grants::{Grant, Grants};
use super::tools::{Kind, kind, pointless};
use super::unused::Unused;
use crate::source::{At, Span};
use crate::yaml::{Key, Node, Value};

/// What a pattern for everything is written as.
const ALL: &str = "*";

/// Takes one key; false when it has no meaning here.
pub(super) fn take(foreign: &mut Foreign, key: &Key, node: &Node) -> bool {
    match key.name.as_str() {
        "tools" => switches(foreign, node),
        "permission" => by_tool(foreign, node),
        "permissions" => by_rule(foreign, node),
        _ => return false,
    }
    true
}

/// `tools: {write: false}`.
fn switches(foreign: &mut Foreign, node: &Node) {
    let Value::Map(entries) = &node.value else { return };
    for (key, node) in entries {
        let effect = match line(node).as_deref() {
            Some("false") => "deny",
            _ => "allow",
        };
        rule(foreign, &key.name, ALL, effect, key.span);
    }
}

/// `permission: deny`, `permission: {edit: deny, bash: {"*": deny, "git diff": allow}}`.
fn by_tool(foreign: &mut Foreign, node: &Node) {
    if let Some(effect) = line(node) {
        rule(foreign, ALL, ALL, &effect, node.span);
    }
    let Value::Map(entries) = &node.value else { return };
    for (key, node) in entries {
        if let Some(effect) = line(node) {
            rule(foreign, &key.name, ALL, &effect, key.span);
        }
        let Value::Map(patterns) = &node.value else { continue };
        for (pattern, node) in patterns {
            rule(foreign, &key.name, &pattern.name, &line(node).unwrap_or_default(), pattern.span);
        }
    }
}

/// `permissions: [{action: edit, resource: "*", effect: deny}]`.
fn by_rule(foreign: &mut Foreign, node: &Node) {
    let Value::List(rules) = &node.value else { return };
    for one in rules {
        let Value::Map(entries) = &one.value else { continue };
        let part =
            |name: &str| entries.iter().find(|(key, _)| key.name == name).and_then(|(_, node)| line(node));
        let action = part("action").unwrap_or_else(|| ALL.to_string());
        let resource = part("resource").unwrap_or_else(|| ALL.to_string());
        rule(foreign, &action, &resource, &part("effect").unwrap_or_default(), one.span);
    }
}

/// One rule; later ones win, as they do in opencode.
fn rule(foreign: &mut Foreign, action: &str, resource: &str, effect: &str, at: Span) {
    let what = if resource == ALL {
        format!("{action}: {effect}")
    } else {
        format!("{action} {resource}: {effect}")
    };
    if resource != ALL && resource != "**" {
        let reason = "an ability is given or not; the rule for everything decides";
        foreign.unused.push(Unused::new(what, reason, at));
        return;
    }
    let grant = match effect {
        "allow" => Grant::Given(At::new(what.clone(), at)),
        "deny" => Grant::Denied,
        "ask" => {
            foreign.unused.push(Unused::new(&what, "nobody is there to be asked, so it is denied", at));
            Grant::Denied
        }
        _ => {
            foreign.unused.push(Unused::new(&what, "remand does not know it, so it is denied", at));
            Grant::Denied
        }
    };
    if action == ALL {
        // Giving everything asks for nothing in particular.
        let grant = if grant.is_denied() { Grant::Denied } else { Grant::Unsaid };
        foreign.grants = Grants { edit: grant.clone(), shell: grant.clone(), network: grant };
        return;
    }
    let kind = kind(action);
    match foreign.grants.of(kind) {
        Some(known) => *known = grant,
        None if grant.is_denied() && kind != Kind::Look => {}
        None if grant.is_denied() => {
            foreign.unused.push(Unused::new(what, "every role may read, search and keep lists", at));
        }
        None => foreign.unused.extend(pointless(kind, &At::new(action.to_string(), at))),
    }
}
