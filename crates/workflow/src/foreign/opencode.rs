//! opencode's agents: `.opencode/agents/*.md`, and `.opencode/agent/*.md`.
//!
//! `permission` maps tools to `allow`, `ask` or `deny`, or to such a map by pattern; the last matching rule applies, and
//! what no rule matches is allowed. Before version 1.1, `tools` maps tools to true or false; version 2 writes
//! `permissions`, a list of `action`, `resource` and `effect`. Later versions read all three.

use super::Foreign;
use super::front::line;
use super::grants::{Grant, Kind, ToolGrants};
use super::tools::{kind, unused_tool};
use super::unused::Unused;
use crate::source::{Span, Spanned};
use crate::yaml::{YamlKey, YamlNode, YamlValue};

/// The pattern that matches everything.
const ALL: &str = "*";

/// Applies one key; `false` if it has no meaning here.
pub(super) fn apply(foreign: &mut Foreign, key: &YamlKey, node: &YamlNode) -> bool {
    match key.name.as_str() {
        "tools" => switches(foreign, node),
        "permission" => by_tool(foreign, node),
        "permissions" => by_rule(foreign, node),
        _ => return false,
    }
    true
}

/// `tools: {write: false}`.
fn switches(foreign: &mut Foreign, node: &YamlNode) {
    let YamlValue::Map(entries) = &node.value else { return };
    for (key, node) in entries {
        let effect = match line(node).as_deref() {
            Some("false") => "deny",
            _ => "allow",
        };
        rule(foreign, &key.name, ALL, effect, key.span);
    }
}

/// `permission: deny`, `permission: {edit: deny, bash: {"*": deny, "git diff": allow}}`.
fn by_tool(foreign: &mut Foreign, node: &YamlNode) {
    if let Some(effect) = line(node) {
        rule(foreign, ALL, ALL, &effect, node.span);
    }
    let YamlValue::Map(entries) = &node.value else { return };
    for (key, node) in entries {
        if let Some(effect) = line(node) {
            rule(foreign, &key.name, ALL, &effect, key.span);
        }
        let YamlValue::Map(patterns) = &node.value else { continue };
        for (pattern, node) in patterns {
            rule(foreign, &key.name, &pattern.name, &line(node).unwrap_or_default(), pattern.span);
        }
    }
}

/// `permissions: [{action: edit, resource: "*", effect: deny}]`.
fn by_rule(foreign: &mut Foreign, node: &YamlNode) {
    let YamlValue::List(rules) = &node.value else { return };
    for one in rules {
        let YamlValue::Map(entries) = &one.value else { continue };
        let part =
            |name: &str| entries.iter().find(|(key, _)| key.name == name).and_then(|(_, node)| line(node));
        let action = part("action").unwrap_or_else(|| ALL.to_string());
        let resource = part("resource").unwrap_or_else(|| ALL.to_string());
        rule(foreign, &action, &resource, &part("effect").unwrap_or_default(), one.span);
    }
}

/// Applies one rule; later rules win, as in opencode.
fn rule(foreign: &mut Foreign, action: &str, resource: &str, effect: &str, at: Span) {
    let what = if resource == ALL {
        format!("{action}: {effect}")
    } else {
        format!("{action} {resource}: {effect}")
    };
    if resource != ALL && resource != "**" {
        let reason = "an ability is granted or denied as a whole; the rule for everything decides";
        foreign.unused.push(Unused::new(what, reason, at));
        return;
    }
    let grant = match effect {
        "allow" => Grant::Given(Spanned::new(what.clone(), at)),
        "deny" => Grant::Denied,
        "ask" => {
            foreign.unused.push(Unused::new(&what, "there is nobody to ask, so it is denied", at));
            Grant::Denied
        }
        _ => {
            foreign.unused.push(Unused::new(&what, "remand does not know it, so it is denied", at));
            Grant::Denied
        }
    };
    if action == ALL {
        // Allowing everything requests nothing in particular.
        let grant = if grant.is_denied() { Grant::Denied } else { Grant::Unsaid };
        foreign.grants = ToolGrants { edit: grant.clone(), shell: grant.clone(), network: grant };
        return;
    }
    let kind = kind(action);
    match foreign.grants.of(kind) {
        Some(known) => *known = grant,
        None if grant.is_denied() && kind != Kind::Look => {}
        None if grant.is_denied() => {
            foreign.unused.push(Unused::new(what, "every role may read, search and keep to-do lists", at));
        }
        None => foreign.unused.extend(unused_tool(kind, &Spanned::new(action.to_string(), at))),
    }
}
