//! A program for the tests of drawings.

use remand_kernel::ids::{BudgetId, ContractId, ListId, OperationId, PhaseId, SignalId};
use remand_kernel::program::{
    Action, Budget, BudgetSize, Contract, Effect, Nearest, Operation, Phase, Program, QuestionOption, Route,
    Scope, Work,
};
use remand_kernel::signal::{IMPLICIT, SPENT};

/// Phases `plan`, `review` (2 rounds), `tasks` with `make` and `verify` inside, `commit`, and the aside `decide`.
pub fn program() -> Program {
    let mut sample = Sample::new(&["plan", "review", "tasks", "make", "verify", "commit", "decide"]);
    sample.program.budgets.push(Budget {
        name: "rework".into(),
        size: BudgetSize::Fixed(1),
        scope: Scope::Run,
        then: Some(route(Action::To(DECIDE))),
        line: 0,
    });
    sample.program.budgets.push(Budget {
        name: "review.round".into(),
        size: BudgetSize::Fixed(1),
        scope: Scope::Entry(REVIEW),
        then: None,
        line: 0,
    });
    sample.program.phases[REVIEW.index()].round = Some(ROUND);
    for inner in [MAKE, VERIFY] {
        sample.program.phases[inner.index()].owner = Some(TASKS);
    }
    sample.program.phases[TASKS.index()].work = Work::Flow { list: ListId(0), at_once: 2, tally: Vec::new() };
    sample.program.phases[DECIDE.index()].aside = true;
    let go_on = sample.signal("go on \"now\"");
    let options = vec![QuestionOption { signal: go_on, offered: None }];
    sample.program.phases[DECIDE.index()].work =
        Work::Ask { question: "What now?".into(), default: None, options };
    sample.add_route(PLAN, "done", route(Action::Next));
    sample.add_route(REVIEW, "approved", route(Action::Next));
    sample.add_route(REVIEW, "needs-work", spending_route(Action::Remand(PLAN), &[ROUND]));
    sample.add_route(REVIEW, "block", spending_route(Action::Remand(PLAN), &[ROUND]));
    let with_blockers = Route { effect: Some(Effect::Blockers), ..route(Action::Next) };
    sample.program.phases[REVIEW.index()].routes.push((SPENT, with_blockers));
    sample.add_route(MAKE, "done", route(Action::Next));
    sample.add_route(VERIFY, "met", route(Action::Next));
    let unverified = sample.signal("unverified");
    sample.add_route(VERIFY, "unmet", route(Action::Raise(unverified)));
    sample.add_route(TASKS, "verified", route(Action::Next));
    sample.add_route(TASKS, "unverified", spending_route(Action::Remand(PLAN), &[REWORK]));
    let otherwise = Some(Box::new(route(Action::Fail)));
    sample.add_route(TASKS, "unsafe", Route { otherwise, ..spending_route(Action::Remand(PLAN), &[REWORK]) });
    sample.add_route(COMMIT, "committed", route(Action::Done));
    sample.add_route(DECIDE, "go on \"now\"", route(Action::Next));
    sample.add_route(DECIDE, "stop", route(Action::Stop("given <up>".into())));
    for phase in [PLAN, REVIEW, COMMIT] {
        sample.add_route(phase, "no-result", route(Action::Fail));
    }
    for phase in &mut sample.program.phases {
        phase.routes.sort_by_key(|(signal, _)| *signal);
    }
    sample.program
}

pub const PLAN: PhaseId = PhaseId(0);
pub const REVIEW: PhaseId = PhaseId(1);
pub const TASKS: PhaseId = PhaseId(2);
pub const MAKE: PhaseId = PhaseId(3);
pub const VERIFY: PhaseId = PhaseId(4);
pub const COMMIT: PhaseId = PhaseId(5);
pub const DECIDE: PhaseId = PhaseId(6);
pub const REWORK: BudgetId = BudgetId(0);
pub const ROUND: BudgetId = BudgetId(1);

pub fn route(action: Action) -> Route {
    Route { action, spends: Vec::new(), otherwise: None, effect: None, line: 0 }
}

pub fn spending_route(action: Action, budgets: &[BudgetId]) -> Route {
    Route { spends: budgets.to_vec(), ..route(action) }
}

struct Sample {
    program: Program,
}

impl Sample {
    /// A program of engine phases without routes; `plan` is done by a role.
    fn new(names: &[&str]) -> Sample {
        let phases = names.iter().map(|name| phase(name)).collect();
        let mut program = Program {
            name: "sample".into(),
            about: "Shows <everything> & more.".into(),
            subject: "request".into(),
            phases,
            budgets: Vec::new(),
            artifacts: Vec::new(),
            signals: IMPLICIT.iter().map(|(name, _)| (*name).to_string()).collect(),
            flags: Vec::new(),
            lists: vec!["tasks".into()],
            contracts: vec![contract()],
            operations: vec![operation()],
            injects: Vec::new(),
            confirms_origin: false,
            failure: Vec::new(),
        };
        program.phases[0].work = Work::Role { contract: ContractId(0), nearest: Nearest::Named };
        Sample { program }
    }

    fn signal(&mut self, name: &str) -> SignalId {
        if let Some(known) = self.program.signal_named(name) {
            return known;
        }
        self.program.signals.push(name.to_string());
        self.program.signal_named(name).unwrap()
    }

    fn add_route(&mut self, phase: PhaseId, signal: &str, route: Route) {
        let signal = self.signal(signal);
        self.program.phases[phase.index()].routes.push((signal, route));
    }
}

fn phase(name: &str) -> Phase {
    Phase {
        name: name.to_string(),
        owner: None,
        aside: false,
        when: None,
        work: Work::Operation { operation: OperationId(0) },
        reads: Vec::new(),
        may_read: Vec::new(),
        writes: Vec::new(),
        discards: Vec::new(),
        sets: Vec::new(),
        routes: Vec::new(),
        qualified: Vec::new(),
        round: None,
        retries: 0,
        repeats: 2,
        status: String::new(),
        checkpoint: false,
        everything: false,
        afresh: false,
        line: 0,
    }
}

fn contract() -> Contract {
    Contract {
        role: "check".into(),
        mode: "code".into(),
        says: Vec::new(),
        mild: None,
        findings: false,
        by_kind: false,
        changes: Vec::new(),
        states_approach: false,
        guarded: false,
        lists: Vec::new(),
    }
}

fn operation() -> Operation {
    Operation {
        name: remand_kernel::EngineOperation::Checks,
        results: Vec::new(),
        judges: false,
        changes: Vec::new(),
        idempotent: false,
        records_approach: false,
        gives_up: false,
        lists: Vec::new(),
    }
}
