//! A workflow file as written: all phrases are parsed, no name is resolved yet.

use crate::source::{Span, Spanned};
use remand_kernel::program::{Effect, Order};

/// A workflow file.
#[derive(Clone, Debug)]
pub struct WorkflowFile {
    pub name: Spanned<String>,
    pub about: Spanned<String>,
    pub subject: Spanned<String>,
    pub flags: Vec<Spanned<String>>,
    pub injects: Vec<Spanned<String>>,
    pub confirms_origin: bool,
    pub budgets: Vec<BudgetDecl>,
    pub retries: Option<Spanned<u16>>,
    pub defaults: Vec<DefaultDecl>,
    pub phases: Vec<PhaseDecl>,
    pub failure: Vec<Spanned<String>>,
    pub guarantees: Vec<GuaranteeDecl>,
}

#[derive(Clone, Debug)]
pub struct BudgetDecl {
    pub name: Spanned<String>,
    pub size: u16,
    /// `or LIST / N`: the list and the divisor.
    pub share: Option<(Spanned<String>, u16)>,
    /// Whether the size counts rounds. The first round is free.
    pub rounds: bool,
    pub scope: Spanned<String>,
    pub then: Option<RouteDecl>,
}

#[derive(Clone, Debug)]
pub struct DefaultDecl {
    pub signal: Spanned<String>,
    pub route: RouteDecl,
    pub except: Vec<Spanned<String>>,
}

#[derive(Clone, Debug)]
pub struct PhaseDecl {
    pub name: Spanned<String>,
    pub kind: KindDecl,
    pub aside: bool,
    pub checkpoint: bool,
    pub afresh: bool,
    pub when: Option<ConditionDecl>,
    pub reads: Vec<Spanned<String>>,
    pub may_read: Vec<Spanned<String>>,
    pub writes: Vec<Spanned<String>>,
    pub discards: Vec<Spanned<String>>,
    pub sets: Vec<Spanned<String>>,
    pub rounds: Option<Spanned<u16>>,
    pub repeats: Option<Spanned<u16>>,
    pub retries: Option<Spanned<u16>>,
    pub status: String,
    pub on: Vec<(Spanned<String>, RouteDecl)>,
    /// Signals with unreadable routes, which are already reported.
    pub unreadable: Vec<String>,
    /// The position of `on`, or of the phase's name if it has no `on`.
    pub on_span: Span,
}

#[derive(Clone, Debug)]
pub enum KindDecl {
    Role {
        role: Spanned<String>,
        nearest_caller: bool,
    },
    Each {
        role: Spanned<String>,
        items: ItemsDecl,
        tally: Vec<TallyDecl>,
        quorum: Option<Spanned<u16>>,
        diverse: bool,
    },
    Panel {
        members: Vec<Spanned<String>>,
        advisors: Vec<Spanned<String>>,
    },
    Flow {
        list: Spanned<String>,
        at_once: u16,
        phases: Vec<PhaseDecl>,
        tally: Vec<TallyDecl>,
    },
    Do {
        operation: Spanned<String>,
    },
    Ask {
        question: Spanned<String>,
        interactive: bool,
        default: Option<Spanned<String>>,
        options: Vec<OptionDecl>,
    },
    /// The kind could not be read, which is already reported.
    Unknown,
}

#[derive(Clone, Debug)]
pub enum ItemsDecl {
    Fixed(Vec<Spanned<String>>),
    Listed { list: Spanned<String>, up_to: u16 },
}

#[derive(Clone, Debug)]
pub struct TallyDecl {
    pub signal: Spanned<String>,
    pub test: TallyTestDecl,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum TallyTestDecl {
    Any(Spanned<String>),
    All(Spanned<String>),
    AtLeast { count: u16, members: u16, verdict: Spanned<String> },
    Otherwise,
}

#[derive(Clone, Debug)]
pub struct OptionDecl {
    pub name: Spanned<String>,
    pub offered: Option<ConditionDecl>,
}

#[derive(Clone, Debug)]
pub struct ConditionDecl {
    pub all: Vec<ComparisonDecl>,
}

#[derive(Clone, Debug)]
pub struct ComparisonDecl {
    pub fact: Spanned<String>,
    /// `None` for a flag alone.
    pub compared: Option<(Order, Spanned<String>)>,
    /// Set for `not FLAG`.
    pub negated: bool,
}

#[derive(Clone, Debug)]
pub struct RouteDecl {
    pub span: Span,
    pub action: ActionDecl,
    pub spends: Vec<Spanned<String>>,
    pub effect: Option<Effect>,
    pub otherwise: Option<Box<RouteDecl>>,
}

#[derive(Clone, Debug)]
pub enum ActionDecl {
    Next,
    To(Spanned<String>),
    Remand(Spanned<String>),
    RemandInjector,
    Restore(Spanned<String>),
    Return,
    Raise(Spanned<String>),
    Done,
    Fail,
    Stop(String),
    Hold,
    Ignore,
    /// The route of another signal.
    As(Spanned<String>),
}

#[derive(Clone, Debug)]
pub struct GuaranteeDecl {
    pub span: Span,
    pub text: String,
    pub claim: ClaimDecl,
    /// The lengths of a list for which the guarantee is stated: `when tasks > N`, `when gaps <= N`.
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
    Change(Spanned<String>),
    /// A phase, a signal, an effect or an end.
    Word(Spanned<String>),
    /// A phase and one of its signals.
    Pair(Spanned<String>, Spanned<String>),
}
