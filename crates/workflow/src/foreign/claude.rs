//! Claude Code's subagents: `.claude/agents/*.md`.
//!
//! `tools` is a list or a comma-separated text, and means all tools if it is absent; `disallowedTools` removes tools;
//! `permissionMode: plan` forbids changes; `model` is an alias, a name, or `inherit`.

use super::front::{line, words};
use super::grants::Grant;
use super::{Foreign, tools};
use crate::yaml::{YamlKey, YamlNode};

/// Applies one key; `false` if it has no meaning here.
pub(super) fn apply(foreign: &mut Foreign, key: &YamlKey, node: &YamlNode) -> bool {
    match key.name.as_str() {
        "tools" => {
            // A denied tool stays denied, whatever the order of the keys.
            let before = foreign.grants.clone();
            tools::allow(foreign, &words(node));
            for (now, was) in [
                (&mut foreign.grants.edit, before.edit),
                (&mut foreign.grants.shell, before.shell),
                (&mut foreign.grants.network, before.network),
            ] {
                if was.is_denied() {
                    *now = Grant::Denied;
                }
            }
        }
        "disallowedTools" => tools::deny(foreign, &words(node)),
        "permissionMode" if line(node).as_deref() == Some("plan") => foreign.grants.edit = Grant::Denied,
        _ => return false,
    }
    true
}
