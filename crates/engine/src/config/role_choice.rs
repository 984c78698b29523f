//! The settings of one role.

use std::time::Duration;

/// The settings of one role; `None` means not configured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoleChoice {
    pub agent: Option<String>,
    pub model: Option<String>,
    pub time: Option<Duration>,
    /// A role file of another tool, relative to the root of the repository.
    pub file: Option<String>,
}
