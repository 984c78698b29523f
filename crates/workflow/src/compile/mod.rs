//! Compiles a workflow file to a program: resolves names to ids, expands defaults to routes, reports unknown names.

mod names;
mod producible;
mod routes;

use crate::diagnostic::{Code, Diagnostic, suggest};
use crate::file::{BudgetDecl, ItemsDecl, KindDecl, PhaseDecl, TallyDecl, TallyTestDecl, WorkflowFile};
use crate::needs::Need;
use crate::roles::Roles;
use crate::source::{SourceText, Span, Spanned};
use remand_kernel::EngineOperation;
use remand_kernel::ids::{ArtifactId, BudgetId, OperationId, PhaseId, SignalId};
use remand_kernel::program::{
    Budget, BudgetSize, Contract, Items, Nearest, Phase, Program, QuestionOption, Scope, TallyRow, TallyTest,
    Work,
};
use remand_kernel::signal::IMPLICIT;
use std::collections::BTreeMap;

/// The word for all artifacts, and for every result of the run.
const EVERYTHING: &str = "everything";

/// The name under which a route spends the rounds of its phase.
pub const ROUND: &str = "round";

/// A program and the positions of its parts in the file.
#[derive(Clone, Debug)]
pub struct Compiled {
    pub program: Program,
    pub spans: SourceSpans,
    /// The file as written, for the rules.
    pub file: WorkflowFile,
    /// What each role must be given, by title.
    pub needs: BTreeMap<String, Vec<Need>>,
}

/// Positions of declarations in the file.
#[derive(Clone, Debug, Default)]
pub struct SourceSpans {
    pub phases: Vec<Span>,
    /// The `on` key of each phase.
    pub on_keys: Vec<Span>,
    pub routes: BTreeMap<(PhaseId, SignalId), Span>,
    pub budgets: Vec<Span>,
}

impl SourceSpans {
    pub fn phase(&self, id: PhaseId) -> Span {
        self.phases.get(id.index()).copied().unwrap_or_default()
    }

    pub fn route(&self, id: PhaseId, signal: SignalId) -> Span {
        self.routes.get(&(id, signal)).copied().unwrap_or_else(|| self.phase(id))
    }
}

/// Compiles a file. The program is complete only if no problem is reported.
pub fn compile(
    file: &WorkflowFile,
    source: &SourceText,
    roles: &Roles,
    problems: &mut Vec<Diagnostic>,
) -> Compiled {
    let mut compiler = Compiler::new(file, source, roles, problems);
    compiler.declare_phases(&file.phases, None);
    compiler.declare_budgets();
    compiler.define_phases();
    compiler.define_budgets();
    compiler.define_rest();
    let Compiler { program, spans, .. } = compiler;
    let titles = program.contracts.iter().map(Contract::title);
    let needs =
        titles.filter_map(|title| roles.get(&title).map(|role| (title, role.needs.clone()))).collect();
    Compiled { program, spans, file: file.clone(), needs }
}

struct Compiler<'a> {
    file: &'a WorkflowFile,
    source: &'a SourceText,
    roles: &'a Roles,
    problems: &'a mut Vec<Diagnostic>,
    program: Program,
    spans: SourceSpans,
    /// The declaration of each phase, in order of id.
    decls: Vec<&'a PhaseDecl>,
}

impl<'a> Compiler<'a> {
    fn new(
        file: &'a WorkflowFile,
        source: &'a SourceText,
        roles: &'a Roles,
        problems: &'a mut Vec<Diagnostic>,
    ) -> Compiler<'a> {
        let program = Program {
            name: file.name.value.clone(),
            about: file.about.value.clone(),
            subject: file.subject.value.clone(),
            phases: Vec::new(),
            budgets: Vec::new(),
            artifacts: vec![file.subject.value.clone()],
            signals: IMPLICIT.iter().map(|(name, _)| (*name).to_string()).collect(),
            flags: file.flags.iter().map(|flag| flag.value.clone()).collect(),
            lists: Vec::new(),
            contracts: Vec::new(),
            operations: Vec::new(),
            injects: Vec::new(),
            confirms_origin: file.confirms_origin,
            failure: Vec::new(),
        };
        Compiler { file, source, roles, problems, program, spans: SourceSpans::default(), decls: Vec::new() }
    }

    fn report(&mut self, code: Code, span: Span, message: String, remedy: impl Into<String>) {
        self.problems.push(Diagnostic::error(code, span, message, remedy));
    }

    /// Assigns an id to every phase, so that routes can refer to all of them.
    fn declare_phases(&mut self, decls: &'a [PhaseDecl], owner: Option<PhaseId>) {
        for decl in decls {
            if self.program.phase_named(&decl.name.value).is_some() {
                let message = format!("the phase `{}` is defined twice", decl.name.value);
                self.report(Code::DuplicatePhase, decl.name.span, message, "rename one of them");
            }
            let id = PhaseId(narrow(self.program.phases.len()));
            self.program.phases.push(self.bare_phase(decl, owner));
            self.spans.phases.push(decl.name.span);
            self.spans.on_keys.push(decl.on_span);
            self.decls.push(decl);
            if let KindDecl::Flow { phases, .. } = &decl.kind {
                self.declare_phases(phases, Some(id));
            }
        }
    }

    fn bare_phase(&self, decl: &PhaseDecl, owner: Option<PhaseId>) -> Phase {
        let retries = decl.retries.as_ref().or(self.file.retries.as_ref()).map_or(0, |number| number.value);
        Phase {
            name: decl.name.value.clone(),
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
                .map_or(2, |number| u8::try_from(number.value).unwrap_or(u8::MAX))
                .max(2),
            status: decl.status.clone(),
            checkpoint: decl.checkpoint,
            everything: false,
            afresh: decl.afresh,
            line: self.source.line_of(decl.name.span),
        }
    }

    /// Assigns an id to every budget: the declared ones, then the rounds of phases.
    fn declare_budgets(&mut self) {
        let file = self.file;
        for decl in &file.budgets {
            if decl.name.value == ROUND {
                let message = format!("`{ROUND}` is reserved for the rounds of a phase");
                self.report(Code::Conflict, decl.name.span, message, "give the budget another name");
            }
            let scope = self.scope(decl);
            let size = self.size(decl);
            self.program.budgets.push(Budget {
                name: decl.name.value.clone(),
                size,
                scope,
                then: None,
                line: self.source.line_of(decl.name.span),
            });
            self.spans.budgets.push(decl.name.span);
        }
        for index in 0..self.decls.len() {
            let Some(rounds) = &self.decls[index].rounds else {
                continue;
            };
            let id = PhaseId(narrow(index));
            if rounds.value == 0 {
                let message = "a phase with 0 rounds never runs".to_string();
                self.report(Code::Shape, rounds.span, message, "write 1 or more, or remove `rounds`");
            }
            // For N runs of the phase, work is sent back N − 1 times.
            self.program.phases[index].round = Some(BudgetId(narrow(self.program.budgets.len())));
            self.program.budgets.push(Budget {
                name: format!("{}.{ROUND}", self.decls[index].name.value),
                size: BudgetSize::Fixed(rounds.value.saturating_sub(1)),
                scope: Scope::Entry(id),
                then: None,
                line: self.source.line_of(rounds.span),
            });
            self.spans.budgets.push(rounds.span);
        }
    }

    fn scope(&mut self, decl: &BudgetDecl) -> Scope {
        match decl.scope.value.as_str() {
            "run" => Scope::Run,
            "subject" => Scope::Subject,
            name => match self.program.phase_named(name) {
                Some(id) if self.program.phase(id).owner.is_none() => Scope::Phase(id),
                Some(_) | None => {
                    let message = format!("`{name}` is not `run`, `subject` or a phase of the main flow");
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
            .map(|(decl, _)| decl.name.value.as_str())
            .collect()
    }

    fn size(&mut self, decl: &BudgetDecl) -> BudgetSize {
        // In N rounds, work is sent back N − 1 times.
        let free = u16::from(decl.rounds);
        match &decl.share {
            None => BudgetSize::Fixed(decl.size.saturating_sub(free)),
            Some((list, divisor)) => BudgetSize::Share {
                floor: decl.size,
                list: self.list(&list.value),
                divisor: (*divisor).max(1),
                free,
            },
        }
    }

    fn define_budgets(&mut self) {
        let file = self.file;
        for (index, decl) in file.budgets.iter().enumerate() {
            if let Some(then) = &decl.then {
                // A budget's `then` belongs to no phase, so `round` and `as` have no meaning in it.
                self.program.budgets[index].then = self.route(then, None, &[]);
            }
        }
    }

    fn define_rest(&mut self) {
        let file = self.file;
        for name in &file.injects {
            match self.program.phase_named(&name.value) {
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

    fn unknown_phase(&mut self, name: &Spanned<String>) {
        let known: Vec<&str> = self.decls.iter().map(|decl| decl.name.value.as_str()).collect();
        let remedy = suggest(&name.value, known);
        self.report(Code::UnknownPhase, name.span, format!("there is no phase `{}`", name.value), remedy);
    }

    fn unknown_operation(&mut self, name: &Spanned<String>) {
        let remedy = suggest(&name.value, EngineOperation::ALL.iter().map(|operation| operation.name()));
        self.report(
            Code::UnknownOperation,
            name.span,
            format!("the engine has no operation `{}`", name.value),
            remedy,
        );
    }

    fn define_phases(&mut self) {
        for index in 0..self.decls.len() {
            let decl = self.decls[index];
            let work = self.work(decl);
            let when = decl.when.as_ref().map(|when| self.condition(when));
            let (everything, read): (Vec<_>, Vec<_>) =
                decl.reads.iter().cloned().partition(|name| name.value == EVERYTHING);
            let reads = self.artifacts(&read);
            let may_read = self.artifacts(&decl.may_read);
            let writes = self.artifacts(&decl.writes);
            let discards = self.artifacts(&decl.discards);
            let sets = decl.sets.iter().filter_map(|flag| self.flag(flag)).collect();
            let phase = &mut self.program.phases[index];
            phase.work = work;
            phase.when = when;
            phase.reads = reads;
            phase.may_read = may_read;
            phase.writes = writes;
            phase.discards = discards;
            phase.sets = sets;
            phase.everything = !everything.is_empty();
        }
        self.read_everything();
        for index in 0..self.decls.len() {
            self.define_routes(index);
        }
    }

    /// A phase that reads everything may read every artifact of the workflow, except those that it writes.
    fn read_everything(&mut self) {
        let all: Vec<ArtifactId> = (0..self.program.artifacts.len())
            .filter_map(|at| u16::try_from(at).ok())
            .map(ArtifactId)
            .collect();
        for phase in self.program.phases.iter_mut().filter(|phase| phase.everything) {
            let others = all.iter().filter(|id| !phase.reads.contains(id) && !phase.writes.contains(id));
            phase.may_read = others.copied().collect();
        }
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
                        Items::Fixed(names.iter().map(|name| name.value.clone()).collect())
                    }
                    ItemsDecl::Listed { list, up_to } => {
                        Items::Listed { list: self.list(&list.value), up_to: *up_to }
                    }
                };
                Work::Each {
                    contract: self.contract(role),
                    items,
                    tally: self.tally(tally),
                    quorum: quorum.as_ref().map(|quorum| quorum.value),
                    diverse: *diverse,
                }
            }
            KindDecl::Panel { members, advisors } => Work::Panel {
                members: members.iter().map(|role| self.contract(role)).collect(),
                advisors: advisors.iter().map(|role| self.contract(role)).collect(),
            },
            KindDecl::Flow { list, at_once, tally, .. } => {
                Work::Flow { list: self.list(&list.value), at_once: *at_once, tally: self.tally(tally) }
            }
            KindDecl::Do { operation } => {
                let found = self.operation(operation);
                if found.is_none() {
                    self.unknown_operation(operation);
                }
                Work::Operation { operation: found.unwrap_or(OperationId(0)) }
            }
            KindDecl::Ask { question, default, options, .. } => Work::Ask {
                question: question.value.clone(),
                default: default.as_ref().map(|default| self.signal(&default.value)),
                options: options
                    .iter()
                    .map(|option| QuestionOption {
                        signal: self.signal(&option.name.value),
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
                signal: self.signal(&row.signal.value),
                test: match &row.test {
                    TallyTestDecl::Any(verdict) => TallyTest::Any(self.signal(&verdict.value)),
                    TallyTestDecl::All(verdict) => TallyTest::All(self.signal(&verdict.value)),
                    TallyTestDecl::AtLeast { count, verdict, .. } => {
                        TallyTest::AtLeast(*count, self.signal(&verdict.value))
                    }
                    TallyTestDecl::Otherwise => TallyTest::Otherwise,
                },
            })
            .collect()
    }
}

/// Converts an index. It saturates, but no real workflow has 65535 names of one kind.
fn narrow(index: usize) -> u16 {
    u16::try_from(index).unwrap_or(u16::MAX)
}
