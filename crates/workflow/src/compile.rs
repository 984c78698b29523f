//! A workflow file to a program: names become ids, defaults become routes. What is unknown is reported.

use crate::diagnostic::{Code, Diagnostic, suggest};
use crate::file::{
    ActionDecl, BudgetDecl, ComparisonDecl, ConditionDecl, File, ItemsDecl, KindDecl, PhaseDecl, RouteDecl,
    TallyDecl, TallyTestDecl,
};
use crate::operations::{OPERATIONS, operation};
use crate::producible::{self, Producible};
use crate::roles::{RoleSpec, Roles};
use crate::source::{At, Source, Span};
use remand_kernel::ids::{ArtifactId, BudgetId, ContractId, FlagId, ListId, OperationId, PhaseId, SignalId};
use remand_kernel::program::{
    Action, Budget, Choice, Comparison, Condition, Contract, Fact, Items, Nearest, Operation, Order, Phase,
    Program, Route, Scope, Size, TallyRow, TallyTest, Work,
};
use remand_kernel::signal::IMPLICIT;
use std::collections::BTreeMap;

/// The name under which a phase spends its own rounds.
pub const ROUND: &str = "round";

/// A program together with where its parts stand in the file.
#[derive(Clone, Debug)]
pub struct Compiled {
    pub program: Program,
    pub places: Places,
    /// Phases of each sub-flow and the file's own order are in the program; this is what rules need besides.
    pub file: File,
}

/// Where things stand in the file.
#[derive(Clone, Debug, Default)]
pub struct Places {
    pub phases: Vec<Span>,
    /// The `on` of each phase.
    pub ons: Vec<Span>,
    pub routes: BTreeMap<(PhaseId, SignalId), Span>,
    pub budgets: Vec<Span>,
}

impl Places {
    pub fn phase(&self, id: PhaseId) -> Span {
        self.phases.get(id.index()).copied().unwrap_or_default()
    }

    pub fn route(&self, id: PhaseId, signal: SignalId) -> Span {
        self.routes.get(&(id, signal)).copied().unwrap_or_else(|| self.phase(id))
    }
}

/// Compiles a file. The program is complete only if nothing was reported.
pub fn compile(file: &File, source: &Source, roles: &Roles, problems: &mut Vec<Diagnostic>) -> Compiled {
    let mut compiler = Compiler::new(file, source, roles, problems);
    compiler.declare_phases(&file.phases, None);
    compiler.declare_budgets();
    compiler.define_phases();
    compiler.define_budgets();
    compiler.define_rest();
    let Compiler { program, places, .. } = compiler;
    Compiled { program, places, file: file.clone() }
}

struct Compiler<'a> {
    file: &'a File,
    source: &'a Source,
    roles: &'a Roles,
    problems: &'a mut Vec<Diagnostic>,
    program: Program,
    places: Places,
    /// The declaration of each phase, in the order of ids.
    decls: Vec<&'a PhaseDecl>,
}

impl<'a> Compiler<'a> {
    fn new(
        file: &'a File,
        source: &'a Source,
        roles: &'a Roles,
        problems: &'a mut Vec<Diagnostic>,
    ) -> Compiler<'a> {
        let program = Program {
            name: file.name.it.clone(),
            about: file.about.it.clone(),
            subject: file.subject.it.clone(),
            phases: Vec::new(),
            budgets: Vec::new(),
            artifacts: vec![file.subject.it.clone()],
            signals: IMPLICIT.iter().map(|(name, _)| (*name).to_string()).collect(),
            flags: file.flags.iter().map(|flag| flag.it.clone()).collect(),
            lists: Vec::new(),
            contracts: Vec::new(),
            operations: Vec::new(),
            injects: Vec::new(),
            failure: Vec::new(),
        };
        Compiler { file, source, roles, problems, program, places: Places::default(), decls: Vec::new() }
    }

    fn report(&mut self, code: Code, span: Span, message: String, remedy: impl Into<String>) {
        self.problems.push(Diagnostic::error(code, span, message, remedy));
    }

    /// Gives every phase its id, so that routes can name any of them.
    fn declare_phases(&mut self, decls: &'a [PhaseDecl], owner: Option<PhaseId>) {
        for decl in decls {
            if self.program.phase_named(&decl.name.it).is_some() {
                let message = format!("there is another phase `{}`", decl.name.it);
                self.report(Code::DuplicatePhase, decl.name.span, message, "give one of them another name");
            }
            let id = PhaseId(narrow(self.program.phases.len()));
            self.program.phases.push(self.bare_phase(decl, owner));
            self.places.phases.push(decl.name.span);
            self.places.ons.push(decl.on_span);
            self.decls.push(decl);
            if let KindDecl::Flow { phases, .. } = &decl.kind {
                self.declare_phases(phases, Some(id));
            }
        }
    }

    fn bare_phase(&self, decl: &PhaseDecl, owner: Option<PhaseId>) -> Phase {
        let retries = decl.retries.as_ref().or(self.file.retries.as_ref()).map_or(0, |number| number.it);
        Phase {
            name: decl.name.it.clone(),
            owner,
            aside: decl.aside,
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
            retries: u8::try_from(retries).unwrap_or(u8::MAX),
            repeats: decl
                .repeats
                .as_ref()
                .map_or(2, |number| u8::try_from(number.it).unwrap_or(u8::MAX))
                .max(2),
            status: decl.status.clone(),
            checkpoint: decl.checkpoint,
            line: self.source.line_of(decl.name.span),
        }
    }

    /// Gives every budget its id: the declared ones, then the rounds of phases.
    fn declare_budgets(&mut self) {
        let file = self.file;
        for decl in &file.budgets {
            if decl.name.it == ROUND {
                let message = format!("`{ROUND}` is the name of a phase's own rounds");
                self.report(Code::Conflict, decl.name.span, message, "give the budget another name");
            }
            let scope = self.scope(decl);
            let size = self.size(decl);
            self.program.budgets.push(Budget {
                name: decl.name.it.clone(),
                size,
                scope,
                then: None,
                line: self.source.line_of(decl.name.span),
            });
            self.places.budgets.push(decl.name.span);
        }
        for at in 0..self.decls.len() {
            let Some(rounds) = &self.decls[at].rounds else {
                continue;
            };
            let id = PhaseId(narrow(at));
            if rounds.it == 0 {
                let message = "a phase with 0 rounds never runs".to_string();
                self.report(Code::Shape, rounds.span, message, "write 1 or more, or leave `rounds` out");
            }
            // N runs of the phase are N − 1 ways back from it.
            self.program.phases[at].round = Some(BudgetId(narrow(self.program.budgets.len())));
            self.program.budgets.push(Budget {
                name: format!("{}.{ROUND}", self.decls[at].name.it),
                size: Size::Fixed(rounds.it.saturating_sub(1)),
                scope: Scope::Entry(id),
                then: None,
                line: self.source.line_of(rounds.span),
            });
            self.places.budgets.push(rounds.span);
        }
    }

    fn scope(&mut self, decl: &BudgetDecl) -> Scope {
        match decl.scope.it.as_str() {
            "run" => Scope::Run,
            "subject" => Scope::Subject,
            name => match self.program.phase_named(name) {
                Some(id) if self.program.phase(id).owner.is_none() => Scope::Phase(id),
                Some(_) | None => {
                    let message =
                        format!("`per {name}` names neither `run`, `subject` nor a phase of the main flow");
                    let known = ["run", "subject"].into_iter().chain(self.main_phases());
                    let remedy = suggest(name, known.collect::<Vec<_>>());
                    self.report(Code::UnknownPhase, decl.scope.span, message, remedy);
                    Scope::Run
                }
            },
        }
    }

    fn main_phases(&self) -> Vec<&'a str> {
        self.decls
            .iter()
            .zip(&self.program.phases)
            .filter(|(_, phase)| phase.owner.is_none())
            .map(|(decl, _)| decl.name.it.as_str())
            .collect()
    }

    fn size(&mut self, decl: &BudgetDecl) -> Size {
        // N rounds are N − 1 ways back.
        let free = u16::from(decl.rounds);
        match &decl.share {
            None => Size::Fixed(decl.size.saturating_sub(free)),
            Some((list, divisor)) => {
                Size::Share { floor: decl.size, list: self.list(&list.it), divisor: (*divisor).max(1), free }
            }
        }
    }

    fn define_budgets(&mut self) {
        let file = self.file;
        for (at, decl) in file.budgets.iter().enumerate() {
            if let Some(then) = &decl.then {
                // A budget's `then` is not at a phase: `round` and `as` have no meaning there.
                self.program.budgets[at].then = self.route(then, None, &[]);
            }
        }
    }

    fn define_rest(&mut self) {
        let file = self.file;
        for name in &file.injects {
            match self.program.phase_named(&name.it) {
                Some(id) => self.program.injects.push(id),
                None => self.unknown_phase(name),
            }
        }
        self.program.injects.sort_unstable();
        for name in &file.failure {
            match self.operation(name) {
                Some(id) => self.program.failure.push(id),
                None => self.unknown_operation(name),
            }
        }
    }

    fn unknown_phase(&mut self, name: &At<String>) {
        let known: Vec<&str> = self.decls.iter().map(|decl| decl.name.it.as_str()).collect();
        let remedy = suggest(&name.it, known);
        self.report(Code::UnknownPhase, name.span, format!("there is no phase `{}`", name.it), remedy);
    }

    fn unknown_operation(&mut self, name: &At<String>) {
        let remedy = suggest(&name.it, OPERATIONS.iter().map(|spec| spec.name));
        self.report(
            Code::UnknownOperation,
            name.span,
            format!("the engine has no operation `{}`", name.it),
            remedy,
        );
    }

    fn define_phases(&mut self) {
        for at in 0..self.decls.len() {
            let decl = self.decls[at];
            let work = self.work(decl);
            let when = decl.when.as_ref().map(|when| self.condition(when));
            let reads = self.artifacts(&decl.reads);
            let may_read = self.artifacts(&decl.may_read);
            let writes = self.artifacts(&decl.writes);
            let discards = self.artifacts(&decl.discards);
            let sets = decl.sets.iter().filter_map(|flag| self.flag(flag)).collect();
            let phase = &mut self.program.phases[at];
            phase.work = work;
            phase.when = when;
            phase.reads = reads;
            phase.may_read = may_read;
            phase.writes = writes;
            phase.discards = discards;
            phase.sets = sets;
        }
        for at in 0..self.decls.len() {
            self.define_routes(at);
        }
    }

    /// A phase's own routes, then the defaults for what is left, then a look at what still has none.
    fn define_routes(&mut self, at: usize) {
        let decl = self.decls[at];
        if !self.is_known(&decl.kind) {
            return;
        }
        let id = PhaseId(narrow(at));
        let producible = producible::of(&mut self.program, id, decl);
        let mut routes: BTreeMap<SignalId, Route> = BTreeMap::new();
        for (name, route) in &decl.on {
            let Some(signal) = producible.named(&self.program, &name.it) else {
                self.unknown_signal(decl, name, &producible);
                continue;
            };
            let default = self.file.defaults.iter().find(|default| default.signal.it == name.it);
            if let Some(default) = default
                && !default.except.iter().any(|except| except.it == decl.name.it)
            {
                let message =
                    format!("`{}` has a default route, and this phase is not excepted from it", name.it);
                let line = self.source.line_of(default.signal.span);
                let remedy =
                    format!("add `{}` to the exceptions in line {line}, or remove this route", decl.name.it);
                self.report(Code::Exception, name.span, message, remedy);
            }
            self.places.routes.insert((id, signal), route.span);
            if let Some(route) = self.route(route, Some(id), &decl.on) {
                routes.insert(signal, route);
            }
        }
        for signal in producible.required(&self.program, &decl.on) {
            if routes.contains_key(&signal) {
                continue;
            }
            let name = self.program.signal(signal).to_string();
            let written = decl.on.iter().any(|(own, _)| own.it == name) || decl.unreadable.contains(&name);
            if written {
                // It could not be read or resolved: that is reported already.
                continue;
            }
            let default = self.file.defaults.iter().find(|default| default.signal.it == name);
            match default {
                Some(default) if !default.except.iter().any(|except| except.it == decl.name.it) => {
                    if let Some(route) = self.route(&default.route, Some(id), &[]) {
                        self.places.routes.insert((id, signal), default.route.span);
                        routes.insert(signal, route);
                    }
                }
                Some(_) | None => {
                    let message =
                        format!("phase `{}` can end with `{name}`, and nothing says what then", decl.name.it);
                    let remedy = format!("add `{name}: ROUTE` to its `on`, or to `defaults`");
                    self.report(Code::NoRoute, self.places.ons[at], message, remedy);
                }
            }
        }
        self.program.phases[at].routes = routes.into_iter().collect();
    }

    /// What an unknown role or operation can end with is unknown too.
    fn is_known(&self, kind: &KindDecl) -> bool {
        match kind {
            KindDecl::Role { role, .. } | KindDecl::Each { role, .. } => self.roles.get(&role.it).is_some(),
            KindDecl::Panel { members, .. } => members.iter().all(|role| self.roles.get(&role.it).is_some()),
            KindDecl::Do { operation: name } => operation(&name.it).is_some(),
            KindDecl::Flow { .. } | KindDecl::Ask { .. } => true,
            KindDecl::Unknown => false,
        }
    }

    fn unknown_signal(&mut self, decl: &PhaseDecl, name: &At<String>, producible: &Producible) {
        let known: Vec<String> =
            producible.all().iter().map(|signal| self.program.signal(*signal).to_string()).collect();
        let message = format!("phase `{}` cannot end with `{}`", decl.name.it, name.it);
        let remedy = suggest(&name.it, known.iter().map(String::as_str));
        self.report(Code::UnknownSignal, name.span, message, remedy);
    }

    fn work(&mut self, decl: &PhaseDecl) -> Work {
        match &decl.kind {
            KindDecl::Role { role, nearest_caller } => Work::Role {
                contract: self.contract(role),
                nearest: if *nearest_caller { Nearest::Caller } else { Nearest::Named },
            },
            KindDecl::Each { role, items, tally, quorum, diverse } => {
                let items = match items {
                    ItemsDecl::Fixed(names) => {
                        Items::Fixed(names.iter().map(|name| name.it.clone()).collect())
                    }
                    ItemsDecl::Listed { list, up_to } => {
                        Items::Listed { list: self.list(&list.it), up_to: *up_to }
                    }
                };
                Work::Each {
                    contract: self.contract(role),
                    items,
                    tally: self.tally(tally),
                    quorum: quorum.as_ref().map(|quorum| quorum.it),
                    diverse: *diverse,
                }
            }
            KindDecl::Panel { members, advisors } => Work::Panel {
                members: members.iter().map(|role| self.contract(role)).collect(),
                advisors: advisors.iter().map(|role| self.contract(role)).collect(),
            },
            KindDecl::Flow { list, at_once, tally, .. } => {
                Work::Flow { list: self.list(&list.it), at_once: *at_once, tally: self.tally(tally) }
            }
            KindDecl::Do { operation } => {
                let found = self.operation(operation);
                if found.is_none() {
                    self.unknown_operation(operation);
                }
                Work::Operation { operation: found.unwrap_or(OperationId(0)) }
            }
            KindDecl::Ask { question, default, options, .. } => Work::Ask {
                question: question.it.clone(),
                default: default.as_ref().map(|default| self.signal(&default.it)),
                options: options
                    .iter()
                    .map(|option| Choice {
                        signal: self.signal(&option.name.it),
                        offered: option.offered.as_ref().map(|offered| self.condition(offered)),
                    })
                    .collect(),
            },
            KindDecl::Unknown => Work::Operation { operation: OperationId(0) },
        }
    }

    fn tally(&mut self, rows: &[TallyDecl]) -> Vec<TallyRow> {
        rows.iter()
            .map(|row| TallyRow {
                signal: self.signal(&row.signal.it),
                test: match &row.test {
                    TallyTestDecl::Any(verdict) => TallyTest::Any(self.signal(&verdict.it)),
                    TallyTestDecl::All(verdict) => TallyTest::All(self.signal(&verdict.it)),
                    TallyTestDecl::AtLeast { least, verdict, .. } => {
                        TallyTest::AtLeast(*least, self.signal(&verdict.it))
                    }
                    TallyTestDecl::Otherwise => TallyTest::Otherwise,
                },
            })
            .collect()
    }

    /// A route with its names resolved. `None` when something in it is unknown; that is reported.
    fn route(
        &mut self,
        decl: &RouteDecl,
        at: Option<PhaseId>,
        on: &[(At<String>, RouteDecl)],
    ) -> Option<Route> {
        let mut decl = decl;
        for _ in 0..=on.len() {
            let ActionDecl::As(signal) = &decl.action else {
                break;
            };
            let Some((_, other)) = on.iter().find(|(name, _)| name.it == signal.it) else {
                let message = format!("`as {}` names no route of this phase", signal.it);
                let remedy =
                    suggest(&signal.it, on.iter().map(|(name, _)| name.it.as_str()).collect::<Vec<_>>());
                self.report(Code::UnknownSignal, signal.span, message, remedy);
                return None;
            };
            decl = other;
        }
        let action = match &decl.action {
            ActionDecl::Next => Action::Next,
            ActionDecl::To(name) => Action::To(self.phase(name)?),
            ActionDecl::Remand(name) => Action::Remand(self.phase(name)?),
            ActionDecl::RemandInjector => Action::RemandInjector,
            ActionDecl::Restore(name) => Action::Restore(self.phase(name)?),
            ActionDecl::Return => Action::Return,
            ActionDecl::Raise(signal) => Action::Raise(self.signal(&signal.it)),
            ActionDecl::Done => Action::Done,
            ActionDecl::Fail => Action::Fail,
            ActionDecl::Stop(why) => Action::Stop(why.clone()),
            ActionDecl::Hold => Action::Hold,
            ActionDecl::Ignore => Action::Ignore,
            ActionDecl::As(signal) => {
                let message = format!("`as {}` leads back to itself", signal.it);
                self.report(Code::Chain, signal.span, message, "write the route out once");
                return None;
            }
        };
        let mut spends = Vec::new();
        for name in &decl.spends {
            spends.push(self.budget(name, at)?);
        }
        let otherwise = match &decl.otherwise {
            Some(other) => Some(Box::new(self.route(other, at, on)?)),
            None => None,
        };
        Some(Route { action, spends, otherwise, effect: decl.effect, line: self.source.line_of(decl.span) })
    }

    fn phase(&mut self, name: &At<String>) -> Option<PhaseId> {
        let found = self.program.phase_named(&name.it);
        if found.is_none() {
            self.unknown_phase(name);
        }
        found
    }

    fn budget(&mut self, name: &At<String>, at: Option<PhaseId>) -> Option<BudgetId> {
        if name.it == ROUND {
            let round = at.and_then(|id| self.program.phase(id).round);
            if round.is_none() {
                let message = "`round` is spent here, but the phase has no `rounds`".to_string();
                self.report(Code::UnknownBudget, name.span, message, "add `rounds: N` to the phase");
            }
            return round;
        }
        let found = self.program.budget_named(&name.it);
        if found.is_none() {
            let known: Vec<String> = self.file.budgets.iter().map(|budget| budget.name.it.clone()).collect();
            let known = known.iter().map(String::as_str).chain([ROUND]).collect::<Vec<_>>();
            let remedy = suggest(&name.it, known);
            self.report(Code::UnknownBudget, name.span, format!("there is no budget `{}`", name.it), remedy);
        }
        found
    }

    fn condition(&mut self, decl: &ConditionDecl) -> Condition {
        Condition { all: decl.all.iter().filter_map(|comparison| self.comparison(comparison)).collect() }
    }

    fn comparison(&mut self, decl: &ComparisonDecl) -> Option<Comparison> {
        let name = decl.fact.it.as_str();
        if let Some(flag) = self.program.flag_named(name) {
            if let Some((_, value)) = &decl.compared {
                let message = format!("`{name}` is a flag and is not compared");
                self.report(Code::Phrase, value.span, message, format!("write `{name}` or `not {name}`"));
                return None;
            }
            return Some(Comparison {
                fact: Fact::Flag(flag),
                order: Order::Equal,
                value: u16::from(!decl.negated),
            });
        }
        let Some((order, value)) = &decl.compared else {
            let mut known: Vec<&str> = self.file.flags.iter().map(|flag| flag.it.as_str()).collect();
            known.extend(["tasks", "confidence", "mode", "risk"]);
            let remedy = format!("{}, or declare it under `flags`", suggest(name, known));
            self.report(Code::UnknownFact, decl.fact.span, format!("there is no flag `{name}`"), remedy);
            return None;
        };
        let (fact, levels): (Fact, &[&str]) = match name {
            "confidence" => (Fact::Confidence, &["low", "medium", "high"]),
            "mode" => (Fact::Mode, &["autonomous", "interactive"]),
            "risk" => (Fact::Risk, &["green", "yellow", "red"]),
            _ => match self.program.budget_named(name) {
                Some(budget) => (Fact::Left(budget), &[]),
                None => (Fact::Count(self.list(name)), &[]),
            },
        };
        let number = match levels.iter().position(|level| *level == value.it) {
            Some(level) => Some(narrow(level)),
            None if levels.is_empty() => value.it.parse().ok(),
            None => None,
        };
        let Some(number) = number else {
            let message = format!("`{}` is no value of `{name}`", value.it);
            let remedy = if levels.is_empty() {
                "write a number".to_string()
            } else {
                suggest(&value.it, levels.iter().copied())
            };
            self.report(Code::UnknownFact, value.span, message, remedy);
            return None;
        };
        Some(Comparison { fact, order: *order, value: number })
    }

    fn artifacts(&mut self, names: &[At<String>]) -> Vec<ArtifactId> {
        names.iter().map(|name| ArtifactId(intern(&mut self.program.artifacts, &name.it))).collect()
    }

    fn signal(&mut self, name: &str) -> SignalId {
        SignalId(intern(&mut self.program.signals, name))
    }

    fn list(&mut self, name: &str) -> ListId {
        ListId(intern(&mut self.program.lists, name))
    }

    fn flag(&mut self, name: &At<String>) -> Option<FlagId> {
        let found = self.program.flag_named(&name.it);
        if found.is_none() {
            let remedy =
                suggest(&name.it, self.file.flags.iter().map(|flag| flag.it.as_str()).collect::<Vec<_>>());
            let message = format!("there is no flag `{}`", name.it);
            self.report(Code::UnknownFact, name.span, message, remedy);
        }
        found
    }

    fn contract(&mut self, role: &At<String>) -> ContractId {
        let known = self.program.contracts.iter().position(|contract| contract.title() == role.it);
        if let Some(at) = known {
            return ContractId(narrow(at));
        }
        let spec = self.roles.get(&role.it);
        if spec.is_none() {
            let remedy = suggest(&role.it, self.roles.titles().collect::<Vec<_>>());
            self.report(Code::UnknownRole, role.span, format!("there is no role `{}`", role.it), remedy);
        }
        let contract = self.contract_of(&role.it, spec);
        self.program.contracts.push(contract);
        ContractId(narrow(self.program.contracts.len() - 1))
    }

    fn contract_of(&mut self, title: &str, spec: Option<&RoleSpec>) -> Contract {
        let (role, mode) = title.split_once('/').unwrap_or((title, ""));
        let mut contract = Contract {
            role: role.to_string(),
            mode: mode.to_string(),
            says: Vec::new(),
            mild: None,
            findings: false,
            by_kind: false,
            changes: Vec::new(),
            states_approach: false,
            guarded: false,
            lists: Vec::new(),
        };
        if let Some(spec) = spec {
            contract.says = spec.says.iter().map(|verdict| self.signal(verdict)).collect();
            contract.mild = spec.mild.as_ref().map(|verdict| self.signal(verdict));
            contract.findings = spec.findings;
            contract.by_kind = spec.by_kind;
            contract.changes = spec
                .changes
                .iter()
                .map(|name| ArtifactId(intern(&mut self.program.artifacts, name)))
                .collect();
            contract.states_approach = spec.states_approach;
            contract.guarded = spec.guarded;
            contract.lists = spec.lists.iter().map(|name| self.list(name)).collect();
        }
        contract
    }

    fn operation(&mut self, name: &At<String>) -> Option<OperationId> {
        if let Some(at) = self.program.operations.iter().position(|known| known.name == name.it) {
            return Some(OperationId(narrow(at)));
        }
        let spec = operation(&name.it)?;
        let compiled = Operation {
            name: spec.name.to_string(),
            results: spec.results.iter().map(|result| self.signal(result)).collect(),
            judges: spec.judges,
            changes: spec
                .changes
                .iter()
                .map(|name| ArtifactId(intern(&mut self.program.artifacts, name)))
                .collect(),
            idempotent: spec.idempotent,
            records_approach: spec.records_approach,
            gives_up: spec.gives_up,
            lists: spec.lists.iter().map(|name| self.list(name)).collect(),
        };
        self.program.operations.push(compiled);
        Some(OperationId(narrow(self.program.operations.len() - 1)))
    }
}

fn intern(names: &mut Vec<String>, name: &str) -> u16 {
    let at = names.iter().position(|known| known == name).unwrap_or_else(|| {
        names.push(name.to_string());
        names.len() - 1
    });
    narrow(at)
}

/// A workflow of 512 KiB cannot name as many things as fit into 16 bits.
fn narrow(at: usize) -> u16 {
    u16::try_from(at).unwrap_or(u16::MAX)
}
