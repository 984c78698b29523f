//! Resolves names to ids: artifacts, signals, lists, flags, contracts, operations, and the facts of conditions.

use super::{Compiler, narrow};
use crate::diagnostic::{Code, suggest};
use crate::file::{ComparisonDecl, ConditionDecl};
use crate::operations::operation;
use crate::roles::RoleSpec;
use crate::source::Spanned;
use remand_kernel::ids::{ArtifactId, ContractId, FlagId, ListId, OperationId, SignalId};
use remand_kernel::program::{Comparison, Condition, Contract, Fact, Operation, Order};

impl Compiler<'_> {
    pub(super) fn condition(&mut self, decl: &ConditionDecl) -> Condition {
        Condition { all: decl.all.iter().filter_map(|comparison| self.comparison(comparison)).collect() }
    }

    pub(super) fn comparison(&mut self, decl: &ComparisonDecl) -> Option<Comparison> {
        let name = decl.fact.value.as_str();
        if let Some(flag) = self.program.flag_named(name) {
            if let Some((_, operand)) = &decl.compared {
                let message = format!("`{name}` is a flag and cannot be compared");
                self.report(Code::Phrase, operand.span, message, format!("write `{name}` or `not {name}`"));
                return None;
            }
            return Some(Comparison {
                fact: Fact::Flag(flag),
                order: Order::Equal,
                value: u16::from(!decl.negated),
            });
        }
        let Some((order, operand)) = &decl.compared else {
            let mut known: Vec<&str> = self.file.flags.iter().map(|flag| flag.value.as_str()).collect();
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
        let number = match levels.iter().position(|level| *level == operand.value) {
            Some(level) => Some(narrow(level)),
            None if levels.is_empty() => operand.value.parse().ok(),
            None => None,
        };
        let Some(number) = number else {
            let message = format!("`{}` is not a value of `{name}`", operand.value);
            let remedy = if levels.is_empty() {
                "write a number".to_string()
            } else {
                suggest(&operand.value, levels.iter().copied())
            };
            self.report(Code::UnknownFact, operand.span, message, remedy);
            return None;
        };
        Some(Comparison { fact, order: *order, value: number })
    }

    pub(super) fn artifacts(&mut self, names: &[Spanned<String>]) -> Vec<ArtifactId> {
        names.iter().map(|name| ArtifactId(intern(&mut self.program.artifacts, &name.value))).collect()
    }

    pub(super) fn signal(&mut self, name: &str) -> SignalId {
        SignalId(intern(&mut self.program.signals, name))
    }

    pub(super) fn list(&mut self, name: &str) -> ListId {
        ListId(intern(&mut self.program.lists, name))
    }

    pub(super) fn flag(&mut self, name: &Spanned<String>) -> Option<FlagId> {
        let found = self.program.flag_named(&name.value);
        if found.is_none() {
            let remedy = suggest(
                &name.value,
                self.file.flags.iter().map(|flag| flag.value.as_str()).collect::<Vec<_>>(),
            );
            let message = format!("there is no flag `{}`", name.value);
            self.report(Code::UnknownFact, name.span, message, remedy);
        }
        found
    }

    pub(super) fn contract(&mut self, role: &Spanned<String>) -> ContractId {
        let known = self.program.contracts.iter().position(|contract| contract.title() == role.value);
        if let Some(index) = known {
            return ContractId(narrow(index));
        }
        let spec = self.roles.get(&role.value);
        if spec.is_none() {
            let remedy = suggest(&role.value, self.roles.titles().collect::<Vec<_>>());
            self.report(Code::UnknownRole, role.span, format!("there is no role `{}`", role.value), remedy);
        }
        let contract = self.build_contract(&role.value, spec);
        self.program.contracts.push(contract);
        ContractId(narrow(self.program.contracts.len() - 1))
    }

    pub(super) fn build_contract(&mut self, title: &str, spec: Option<&RoleSpec>) -> Contract {
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

    pub(super) fn operation(&mut self, name: &Spanned<String>) -> Option<OperationId> {
        if let Some(index) = self.program.operations.iter().position(|known| known.name.name() == name.value)
        {
            return Some(OperationId(narrow(index)));
        }
        let spec = operation(&name.value)?;
        let compiled = Operation {
            name: spec.operation,
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

/// The index of a name, which is added if it is new.
fn intern(names: &mut Vec<String>, name: &str) -> u16 {
    let index = names.iter().position(|known| known == name).unwrap_or_else(|| {
        names.push(name.to_string());
        names.len() - 1
    });
    narrow(index)
}
