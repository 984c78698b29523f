//! What a foreign file wants an agent to be able to do, in our terms.

use super::tools::Kind;
use crate::source::At;

/// What is said about one ability.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Grant {
    /// Nothing: the tool gives all that there is.
    #[default]
    Unsaid,
    /// By this word.
    Given(At<String>),
    Denied,
}

/// The abilities that correspond to permissions of ours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grants {
    /// Writing files: `may-write`.
    pub edit: Grant,
    /// Starting programs: `shell`.
    pub shell: Grant,
    pub network: Grant,
}

impl Grant {
    pub fn is_denied(&self) -> bool {
        *self == Grant::Denied
    }
}

impl Grants {
    /// Nothing is given; what a list of tools starts from.
    pub(super) const NONE: Grants =
        Grants { edit: Grant::Denied, shell: Grant::Denied, network: Grant::Denied };

    /// The ability that a kind of tool needs; `None` for tools that everybody has.
    pub(super) fn of(&mut self, kind: Kind) -> Option<&mut Grant> {
        match kind {
            Kind::Edit => Some(&mut self.edit),
            Kind::Shell => Some(&mut self.shell),
            Kind::Network => Some(&mut self.network),
            Kind::Look | Kind::Agents | Kind::Ask | Kind::Skill | Kind::Unknown => None,
        }
    }
}
