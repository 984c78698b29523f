//! Custom agents of GitHub Copilot and VS Code: `.github/agents/*.agent.md`.
//!
//! `tools` is a list or a comma-separated string. If it is absent or `*`, it means all tools; an empty list means none.
//! `model` is a name, or, in VS Code, a list of names to try in order.

use super::front::words;
use super::{Foreign, tools};
use crate::yaml::{YamlKey, YamlNode};

/// Applies one key. Returns `false` if the key has no meaning here.
pub(super) fn apply(foreign: &mut Foreign, key: &YamlKey, node: &YamlNode) -> bool {
    if key.name != "tools" {
        return false;
    }
    tools::allow(foreign, &words(node));
    true
}
