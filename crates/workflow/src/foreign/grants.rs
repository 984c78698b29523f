//! What a foreign file lets an agent do, in our terms.

use crate::source::Spanned;

/// What a file says about one ability.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Grant {
    /// Nothing, so the tool grants everything.
    #[default]
    Unsaid,
    /// Granted by this word.
    Given(Spanned<String>),
    Denied,
}

/// The abilities that correspond to our permissions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolGrants {
    /// Writing files: `may-write`.
    pub edit: Grant,
    /// Starting programs: `shell`.
    pub shell: Grant,
    pub network: Grant,
}

/// What a tool is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Edit,
    Shell,
    Network,
    /// Reading, searching and to-do lists, which every role may use.
    Look,
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
    /// Nothing is granted: the starting point for a list of tools.
    pub(super) const NONE: ToolGrants =
        ToolGrants { edit: Grant::Denied, shell: Grant::Denied, network: Grant::Denied };

    /// The ability that a kind of tool needs; `None` for tools that every role has.
    pub(super) fn of(&mut self, kind: Kind) -> Option<&mut Grant> {
        match kind {
            Kind::Edit => Some(&mut self.edit),
            Kind::Shell => Some(&mut self.shell),
            Kind::Network => Some(&mut self.network),
            Kind::Look | Kind::Agents | Kind::Ask | Kind::Skill | Kind::Unknown => None,
        }
    }
}
