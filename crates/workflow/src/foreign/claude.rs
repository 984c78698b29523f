//! Claude Code's subagents: `.claude/agents/*.md`.
//!
//! `tools` is a list or a text with commas, and all tools when it is absent; `disallowedTools` takes away from it;
//! `permissionMode: plan` lets nothing be changed; `model` is an alias, a name, or `inherit`.

use super::front::{line, words};
use super::grants::Grant;
use super::{Foreign, tools};
use crate::yaml::{Key, Node};

/// Takes one key; false when it has no meaning here.
pub(super) fn take(foreign: &mut Foreign, key: &Key, node: &Node) -> bool {
    match key.name.as_str() {
        "tools" => {
            // What is taken away stays so, in whichever order the keys stand.
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
