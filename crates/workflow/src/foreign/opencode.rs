//! opencode's agents: `.opencode/agents/*.md`, and `.opencode/agent/*.md`.
//!
//! `permission` maps tools to `allow`, `ask` or `deny`, or to a map from patterns to these words. The last matching rule
//! applies, and anything that no rule matches is allowed. Before version 1.1, `tools` maps tools to true or false; version
//! 2 writes `permissions`, a list of `action`, `resource` and `effect`. Later versions read all three.

use super::Foreign;
use super::front::trimmed;
use super::grants::{Grant, ToolGrants, ToolPurpose};
use super::tools::{purpose, unused_tool};
use super::unused::Unused;
use crate::source::{Span, Spanned};
use crate::yaml::{YamlKey, YamlNode, YamlValue};

/// The pattern that matches everything.
const EVERYTHING: &str = "*";

/// Applies one key. Returns `false` if the key has no meaning here.
pub(super) fn apply(foreign: &mut Foreign, key: &YamlKey, node: &YamlNode) -> bool {
    match key.name.as_str() {
        "tools" => apply_switches(foreign, node),
        "permission" => apply_by_tool(foreign, node),
        "permissions" => apply_rules(foreign, node),
        _ => return false,
    }
    true
}

/// `tools: {write: false}`.
fn apply_switches(foreign: &mut Foreign, node: &YamlNode) {
    let YamlValue::Map(entries) = &node.value else { return };
    for (key, node) in entries {
        let effect = match trimmed(node).as_deref() {
            Some("false") => "deny",
            _ => "allow",
        };
        apply_rule(foreign, &key.name, EVERYTHING, effect, key.span);
    }
}

/// `permission: deny`, `permission: {edit: deny, bash: {"*": deny, "git diff": allow}}`.
fn apply_by_tool(foreign: &mut Foreign, node: &YamlNode) {
    if let Some(effect) = trimmed(node) {
        apply_rule(foreign, EVERYTHING, EVERYTHING, &effect, node.span);
    }
    let YamlValue::Map(entries) = &node.value else { return };
    for (key, node) in entries {
        if let Some(effect) = trimmed(node) {
            apply_rule(foreign, &key.name, EVERYTHING, &effect, key.span);
        }
        let YamlValue::Map(patterns) = &node.value else { continue };
        for (pattern, node) in patterns {
            apply_rule(foreign, &key.name, &pattern.name, &trimmed(node).unwrap_or_default(), pattern.span);
        }
    }
}

/// `permissions: [{action: edit, resource: "*", effect: deny}]`.
fn apply_rules(foreign: &mut Foreign, node: &YamlNode) {
    let YamlValue::List(rules) = &node.value else { return };
    for item in rules {
        let YamlValue::Map(entries) = &item.value else { continue };
        let part =
            |name: &str| entries.iter().find(|(key, _)| key.name == name).and_then(|(_, node)| trimmed(node));
        let action = part("action").unwrap_or_else(|| EVERYTHING.to_string());
        let resource = part("resource").unwrap_or_else(|| EVERYTHING.to_string());
        apply_rule(foreign, &action, &resource, &part("effect").unwrap_or_default(), item.span);
    }
}

/// Applies one rule. Later rules override earlier ones, as in opencode.
fn apply_rule(foreign: &mut Foreign, action: &str, resource: &str, effect: &str, span: Span) {
    let rule = if resource == EVERYTHING {
        format!("{action}: {effect}")
    } else {
        format!("{action} {resource}: {effect}")
    };
    if resource != EVERYTHING && resource != "**" {
        let reason = "a permission is granted or denied as a whole; the rule for everything decides";
        foreign.unused.push(Unused::new(rule, reason, span));
        return;
    }
    let grant = match effect {
        "allow" => Grant::Given(Spanned::new(rule.clone(), span)),
        "deny" => Grant::Denied,
        "ask" => {
            foreign.unused.push(Unused::new(&rule, "there is nobody to ask, so it is denied", span));
            Grant::Denied
        }
        _ => {
            foreign.unused.push(Unused::new(&rule, "its effect is unknown, so it is denied", span));
            Grant::Denied
        }
    };
    if action == EVERYTHING {
        // A rule that allows everything does not request a particular permission.
        let grant = if grant.is_denied() { Grant::Denied } else { Grant::Unstated };
        foreign.grants = ToolGrants { edit: grant.clone(), shell: grant.clone(), network: grant };
        return;
    }
    let purpose = purpose(action);
    match foreign.grants.grant_for(purpose) {
        Some(existing) => *existing = grant,
        None if grant.is_denied() && purpose != ToolPurpose::Read => {}
        None if grant.is_denied() => {
            foreign.unused.push(Unused::new(rule, "every role may read, search and keep to-do lists", span));
        }
        None => foreign.unused.extend(unused_tool(purpose, &Spanned::new(action.to_string(), span))),
    }
}
