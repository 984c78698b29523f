//! The limits that can stop a run. The kernel names them by the constants of `Limits`.

use crate::column::column_words;
use remand_kernel::event::Limits;
use serde::{Deserialize, Serialize};

/// A limit that stops a run until a human answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitKind {
    Dispatches,
    Tokens,
    Time,
    Money,
    /// Tokens are limited, but some dispatches do not report theirs.
    UnknownTokens,
    /// Money is limited, but some dispatches do not report their cost.
    UnknownCosts,
    /// A budget that the agent program enforces itself, outside the run's limits.
    AgentBudget,
}

column_words! {
    LimitKind {
        LimitKind::Dispatches => "dispatches",
        LimitKind::Tokens => "tokens",
        LimitKind::Time => "time",
        LimitKind::Money => "money",
        LimitKind::UnknownTokens => "unknown-tokens",
        LimitKind::UnknownCosts => "unknown-costs",
        LimitKind::AgentBudget => "agent-budget",
    }
}

impl LimitKind {
    /// The limit with this name in the kernel. Any other name is the budget of an agent.
    pub fn from_name(name: &str) -> LimitKind {
        match name {
            Limits::DISPATCHES => LimitKind::Dispatches,
            Limits::TOKENS => LimitKind::Tokens,
            Limits::TIME => LimitKind::Time,
            Limits::MONEY => LimitKind::Money,
            Limits::UNKNOWN_TOKENS => LimitKind::UnknownTokens,
            Limits::UNKNOWN_COSTS => LimitKind::UnknownCosts,
            _ => LimitKind::AgentBudget,
        }
    }

    /// The kernel's name for the limit.
    pub fn name(self) -> &'static str {
        match self {
            LimitKind::Dispatches => Limits::DISPATCHES,
            LimitKind::Tokens => Limits::TOKENS,
            LimitKind::Time => Limits::TIME,
            LimitKind::Money => Limits::MONEY,
            LimitKind::UnknownTokens => Limits::UNKNOWN_TOKENS,
            LimitKind::UnknownCosts => Limits::UNKNOWN_COSTS,
            LimitKind::AgentBudget => "an agent's own budget",
        }
    }

    /// Whether a human can grant a further amount.
    pub fn has_amount(self) -> bool {
        match self {
            LimitKind::Dispatches | LimitKind::Tokens | LimitKind::Time | LimitKind::Money => true,
            LimitKind::UnknownTokens | LimitKind::UnknownCosts | LimitKind::AgentBudget => false,
        }
    }
}
