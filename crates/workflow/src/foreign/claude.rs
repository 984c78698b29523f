//! Claude Code's subagents: `.claude/agents/*.md`.
//!
//! `tools` is a list or a comma-separated string, and means all tools if it is absent; `disallowedTools` removes tools;
//! `permissionMode: plan` forbids changes; `model` is an alias, a name, or `inherit`.

use super::front::{trimmed, words};
use super::grants::Grant;
use super::{Foreign, tools};
use crate::yaml::{YamlKey, YamlNode};

/// Applies one key. Returns `false` if the key has no meaning here.
pub(super) fn apply(foreign: &mut Foreign, key: &YamlKey, node: &YamlNode) -> bool {
    match key.name.as_str() {
        "tools" => {
            // A denied tool stays denied, whatever the order of the keys.
            let before = foreign.grants.clone();
            tools::allow(foreign, &words(node));
            for (grant, grant_before) in [
                (&mut foreign.grants.edit, before.edit),
                (&mut foreign.grants.shell, before.shell),
                (&mut foreign.grants.network, before.network),
            ] {
                if grant_before.is_denied() {
                    *grant = Grant::Denied;
                }
            }
        }
        "disallowedTools" => tools::deny(foreign, &words(node)),
        "permissionMode" if trimmed(node).as_deref() == Some("plan") => foreign.grants.edit = Grant::Denied,
        _ => return false,
    }
    true
}
