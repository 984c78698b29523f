//! Custom agents of GitHub Copilot and VS Code: `.github/agents/*.agent.md`.
//!
//! `tools` is a list or a text with commas; absent or `*` it is all tools, and an empty list none. `model` is a name,
//! or in VS Code a list of names that are tried in order.

use super::front::words;
use super::{Foreign, tools};
use crate::yaml::{Key, Node};

/// Takes one key; false when it has no meaning here.
pub(super) fn take(foreign: &mut Foreign, key: &Key, node: &Node) -> bool {
    if key.name != "tools" {
        return false;
    }
    tools::allow(foreign, &words(node));
    true
}
