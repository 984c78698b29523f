//! A workflow file as it is written: every phrase read, no name resolved yet.

use crate::source::{At, Span};
use remand_kernel::program::{Effect, Order};

/// A workflow file.
#[derive(Clone, Debug)]
pub struct File {
    pub name: At<String>,
    pub about: At<String>,
    pub subject: At<String>,
    pub flags: Vec<At<String>>,
    pub injects: Vec<At<String>>,
    pub budgets: Vec<BudgetDecl>,
    pub retries: Option<At<u16>>,
    pub defaults: Vec<DefaultDecl>,
    pub phases: Vec<PhaseDecl>,
    pub failure: Vec<At<String>>,
    pub guarantees: Vec<GuaranteeDecl>,
}

#[derive(Clone, Debug)]
pub struct BudgetDecl {
    pub name: At<String>,
    pub size: u16,
    /// `or LIST / N`: the list and the divisor.
    pub share: Option<(At<String>, u16)>,
    /// `rounds`: the first one costs nothing.
    pub rounds: bool,
    pub scope: At<String>,
    pub then: Option<RouteDecl>,
}

#[derive(Clone, Debug)]
pub struct DefaultDecl {
    pub signal: At<String>,
    pub route: RouteDecl,
    pub except: Vec<At<String>>,
}

#[derive(Clone, Debug)]
pub struct PhaseDecl {
    pub name: At<String>,
    pub kind: KindDecl,
    pub aside: bool,
    pub checkpoint: bool,
    pub when: Option<ConditionDecl>,
    pub reads: Vec<At<String>>,
    pub may_read: Vec<At<String>>,
    pub writes: Vec<At<String>>,
    pub discards: Vec<At<String>>,
    pub sets: Vec<At<String>>,
    pub rounds: Option<At<u16>>,
    pub repeats: Option<At<u16>>,
    pub retries: Option<At<u16>>,
    pub status: String,
    pub on: Vec<(At<String>, RouteDecl)>,
    /// Signals whose routes could not be read; that is reported.
    pub unreadable: Vec<String>,
    /// Where `on` stands, or the phase's name when it has none.
    pub on_span: Span,
}

#[derive(Clone, Debug)]
pub enum KindDecl {
    Role {
        role: At<String>,
        nearest_caller: bool,
    },
    Each {
        role: At<String>,
        items: ItemsDecl,
        tally: Vec<TallyDecl>,
        quorum: Option<At<u16>>,
        diverse: bool,
    },
    Panel {
        members: Vec<At<String>>,
        advisors: Vec<At<String>>,
    },
    Flow {
        list: At<String>,
        at_once: u16,
        phases: Vec<PhaseDecl>,
        tally: Vec<TallyDecl>,
    },
    Do {
        operation: At<String>,
    },
    Ask {
        question: At<String>,
        interactive: bool,
        default: Option<At<String>>,
        options: Vec<OptionDecl>,
    },
    /// The kind could not be read; the problem is reported.
    Unknown,
}

#[derive(Clone, Debug)]
pub enum ItemsDecl {
    Fixed(Vec<At<String>>),
    Listed { list: At<String>, up_to: u16 },
}

#[derive(Clone, Debug)]
pub struct TallyDecl {
    pub signal: At<String>,
    pub test: TallyTestDecl,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum TallyTestDecl {
    Any(At<String>),
    All(At<String>),
    AtLeast { least: u16, of: u16, verdict: At<String> },
    Otherwise,
}

#[derive(Clone, Debug)]
pub struct OptionDecl {
    pub name: At<String>,
    pub offered: Option<ConditionDecl>,
}

#[derive(Clone, Debug)]
pub struct ConditionDecl {
    pub all: Vec<ComparisonDecl>,
}

#[derive(Clone, Debug)]
pub struct ComparisonDecl {
    pub fact: At<String>,
    /// `None` for a bare flag, with `negated` for `not FLAG`.
    pub compared: Option<(Order, At<String>)>,
    pub negated: bool,
}

#[derive(Clone, Debug)]
pub struct RouteDecl {
    pub span: Span,
    pub action: ActionDecl,
    pub spends: Vec<At<String>>,
    pub effect: Option<Effect>,
    pub otherwise: Option<Box<RouteDecl>>,
}

#[derive(Clone, Debug)]
pub enum ActionDecl {
    Next,
    To(At<String>),
    Remand(At<String>),
    RemandInjector,
    Restore(At<String>),
    Return,
    Raise(At<String>),
    Done,
    Fail,
    Stop(String),
    Hold,
    Ignore,
    /// The same as the route of another signal.
    As(At<String>),
}

#[derive(Clone, Debug)]
pub struct GuaranteeDecl {
    pub span: Span,
    pub text: String,
    pub claim: ClaimDecl,
    /// Claimed only for some lengths of a list: `when tasks > N`, `when gaps <= N`.
    pub when: Option<LengthDecl>,
}

/// A condition on the length of a list.
#[derive(Clone, Debug)]
pub struct LengthDecl {
    pub list: String,
    pub order: Order,
    pub number: u16,
}

impl LengthDecl {
    pub fn holds(&self, length: u16) -> bool {
        match self.order {
            Order::AtMost => length <= self.number,
            Order::Above => length > self.number,
            Order::Below | Order::Equal | Order::Unequal | Order::AtLeast => false,
        }
    }
}

#[derive(Clone, Debug)]
pub enum ClaimDecl {
    /// `no A unless B since C`
    Unless { never: AtomsDecl, unless: AtomsDecl, since: AtomsDecl },
    /// `no A after B`, `no A after B unless C`
    After { never: AtomsDecl, after: AtomsDecl, unless: Option<AtomsDecl> },
    /// `A always leads to B`
    Leads { from: AtomsDecl, to: AtomsDecl },
    /// `happy path N + M per task dispatches`
    Happy { fixed: u32, per_task: u32 },
    /// `never more than N + M per task dispatches`
    AtMost { fixed: u32, per_task: u32 },
}

/// Atoms joined by `or`.
pub type AtomsDecl = Vec<AtomDecl>;

#[derive(Clone, Debug)]
pub enum AtomDecl {
    /// `change of ARTIFACT`
    Change(At<String>),
    /// A phase, a signal, an effect or an end.
    Word(At<String>),
    /// A phase and a signal of it.
    Pair(At<String>, At<String>),
}
