//! Compiles the routes of phases: resolves the written ones and fills in the defaults.

use super::producible::{Producible, producible_signals};
use super::{Compiler, ROUND, narrow};
use crate::diagnostic::{Code, suggest};
use crate::file::{ActionDecl, KindDecl, PhaseDecl, RouteDecl};
use crate::operations::operation;
use crate::source::Spanned;
use remand_kernel::ids::{BudgetId, PhaseId, SignalId};
use remand_kernel::program::{Action, Route};
use std::collections::BTreeMap;

impl Compiler<'_> {
    /// Defines the routes in a phase's `on`, then applies the defaults, then reports signals that still have no route.
    pub(super) fn define_routes(&mut self, index: usize) {
        let decl = self.decls[index];
        if !self.is_known(&decl.kind) {
            return;
        }
        let id = PhaseId(narrow(index));
        let producible = producible_signals(&mut self.program, id, decl);
        let mut routes: BTreeMap<SignalId, Route> = BTreeMap::new();
        for (name, route) in &decl.on {
            let Some(signal) = producible.by_name(&self.program, &name.value) else {
                self.unknown_signal(decl, name, &producible);
                continue;
            };
            let default = self.file.defaults.iter().find(|default| default.signal.value == name.value);
            if let Some(default) = default
                && !default.except.iter().any(|except| except.value == decl.name.value)
            {
                let message = format!(
                    "`{}` has a default route, and this phase is not one of its exceptions",
                    name.value
                );
                let line = self.source.line_of(default.signal.span);
                let remedy = format!(
                    "add `{}` to the exceptions in line {line}, or remove this route",
                    decl.name.value
                );
                self.report(Code::Exception, name.span, message, remedy);
            }
            self.spans.routes.insert((id, signal), route.span);
            if let Some(route) = self.route(route, Some(id), &decl.on) {
                routes.insert(signal, route);
            }
        }
        for signal in producible.required(&self.program, &decl.on) {
            if routes.contains_key(&signal) {
                continue;
            }
            let name = self.program.signal(signal).to_string();
            let is_written =
                decl.on.iter().any(|(signal, _)| signal.value == name) || decl.unreadable.contains(&name);
            if is_written {
                // The route could not be read or resolved, which is already reported.
                continue;
            }
            let default = self.file.defaults.iter().find(|default| default.signal.value == name);
            match default {
                Some(default) if !default.except.iter().any(|except| except.value == decl.name.value) => {
                    if let Some(route) = self.route(&default.route, Some(id), &[]) {
                        self.spans.routes.insert((id, signal), default.route.span);
                        routes.insert(signal, route);
                    }
                }
                Some(_) | None => {
                    let message =
                        format!("phase `{}` can end with `{name}`, but has no route for it", decl.name.value);
                    let remedy = format!("add `{name}: ROUTE` to its `on`, or to `defaults`");
                    self.report(Code::NoRoute, self.spans.on_keys[index], message, remedy);
                }
            }
        }
        self.program.phases[index].routes = routes.into_iter().collect();
    }

    /// Whether the role or operation is known. If not, its signals are unknown too.
    pub(super) fn is_known(&self, kind: &KindDecl) -> bool {
        match kind {
            KindDecl::Role { role, .. } | KindDecl::Each { role, .. } => {
                self.roles.get(&role.value).is_some()
            }
            KindDecl::Panel { members, .. } => {
                members.iter().all(|role| self.roles.get(&role.value).is_some())
            }
            KindDecl::Do { operation: name } => operation(&name.value).is_some(),
            KindDecl::Flow { .. } | KindDecl::Ask { .. } => true,
            KindDecl::Unknown => false,
        }
    }

    pub(super) fn unknown_signal(
        &mut self,
        decl: &PhaseDecl,
        name: &Spanned<String>,
        producible: &Producible,
    ) {
        let known: Vec<String> =
            producible.all().iter().map(|signal| self.program.signal(*signal).to_string()).collect();
        let message = format!("phase `{}` cannot end with `{}`", decl.name.value, name.value);
        let remedy = suggest(&name.value, known.iter().map(String::as_str));
        self.report(Code::UnknownSignal, name.span, message, remedy);
    }

    /// Resolves the names of a route. An unknown name is reported, and gives `None`.
    pub(super) fn route(
        &mut self,
        decl: &RouteDecl,
        phase: Option<PhaseId>,
        on: &[(Spanned<String>, RouteDecl)],
    ) -> Option<Route> {
        let mut decl = decl;
        for _ in 0..=on.len() {
            let ActionDecl::As(signal) = &decl.action else {
                break;
            };
            let Some((_, other)) = on.iter().find(|(name, _)| name.value == signal.value) else {
                let message = format!("this phase has no route for `{}`", signal.value);
                let remedy = suggest(
                    &signal.value,
                    on.iter().map(|(name, _)| name.value.as_str()).collect::<Vec<_>>(),
                );
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
            ActionDecl::Raise(signal) => Action::Raise(self.signal(&signal.value)),
            ActionDecl::Done => Action::Done,
            ActionDecl::Fail => Action::Fail,
            ActionDecl::Stop(why) => Action::Stop(why.clone()),
            ActionDecl::Hold => Action::Hold,
            ActionDecl::Ignore => Action::Ignore,
            ActionDecl::As(signal) => {
                let message = format!("`as {}` refers to itself", signal.value);
                self.report(Code::Chain, signal.span, message, "write out one of the routes");
                return None;
            }
        };
        let mut spends = Vec::new();
        for name in &decl.spends {
            spends.push(self.budget(name, phase)?);
        }
        let otherwise = match &decl.otherwise {
            Some(other) => Some(Box::new(self.route(other, phase, on)?)),
            None => None,
        };
        Some(Route { action, spends, otherwise, effect: decl.effect, line: self.source.line_of(decl.span) })
    }

    pub(super) fn phase(&mut self, name: &Spanned<String>) -> Option<PhaseId> {
        let found = self.program.phase_named(&name.value);
        if found.is_none() {
            self.unknown_phase(name);
        }
        found
    }

    pub(super) fn budget(&mut self, name: &Spanned<String>, phase: Option<PhaseId>) -> Option<BudgetId> {
        if name.value == ROUND {
            let round = phase.and_then(|id| self.program.phase(id).round);
            if round.is_none() {
                let message = "this spends `round`, but the phase has no `rounds`".to_string();
                self.report(Code::UnknownBudget, name.span, message, "add `rounds: N` to the phase");
            }
            return round;
        }
        let found = self.program.budget_named(&name.value);
        if found.is_none() {
            let known: Vec<String> =
                self.file.budgets.iter().map(|budget| budget.name.value.clone()).collect();
            let known = known.iter().map(String::as_str).chain([ROUND]).collect::<Vec<_>>();
            let remedy = suggest(&name.value, known);
            self.report(
                Code::UnknownBudget,
                name.span,
                format!("there is no budget `{}`", name.value),
                remedy,
            );
        }
        found
    }
}
