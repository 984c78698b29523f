//! The permissions that a foreign file grants, in our terms.

use crate::source::Spanned;

/// What a file states about one permission.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Grant {
    /// The file states nothing, so the tool grants the permission.
    #[default]
    Unstated,
    /// Granted by this word.
    Given(Spanned<String>),
    Denied,
}

/// The grants for each of our permissions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolGrants {
    /// Writing files: `may-write`.
    pub edit: Grant,
    /// Starting programs: `shell`.
    pub shell: Grant,
    pub network: Grant,
}

/// The purpose of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToolPurpose {
    Edit,
    Shell,
    Network,
    /// Reading, searching and to-do lists, which every role may use.
    Read,
    /// Starting other agents.
    Agents,
    /// Asking a human.
    Ask,
    Skill,
    Unknown,
}

impl Grant {
    pub fn is_denied(&self) -> bool {
        *self == Grant::Denied
    }
}

impl ToolGrants {
    /// Nothing is granted. A list of tools starts with this.
    pub(super) const NONE: ToolGrants =
        ToolGrants { edit: Grant::Denied, shell: Grant::Denied, network: Grant::Denied };

    /// The grant that a tool with this purpose needs; `None` if it needs no permission.
    pub(super) fn grant_for(&mut self, purpose: ToolPurpose) -> Option<&mut Grant> {
        match purpose {
            ToolPurpose::Edit => Some(&mut self.edit),
            ToolPurpose::Shell => Some(&mut self.shell),
            ToolPurpose::Network => Some(&mut self.network),
            ToolPurpose::Read
            | ToolPurpose::Agents
            | ToolPurpose::Ask
            | ToolPurpose::Skill
            | ToolPurpose::Unknown => None,
        }
    }
}
