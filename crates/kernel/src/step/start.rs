//! Starts a run.

use super::{Refusal, Stepper};
use crate::change::Digest;
use crate::event::{Item, Start};
use crate::ids::{BudgetId, Lane, ListId};
use crate::program::{BudgetSize, Confidence, Scope};
use crate::resolve;
use crate::state::{End, Stage};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The maximum length of a list: nobody reads a plan of a thousand tasks.
const MAX_ITEMS: usize = 1000;

impl Stepper<'_> {
    pub(super) fn start(&mut self, start: &Start) -> Result<(), Refusal> {
        if self.state.stage != Stage::Fresh {
            return Err(Refusal::AlreadyStarted);
        }
        let flags = self.read_flags(&start.flags)?;
        let lists = self.read_lists(&start.lists)?;
        for (name, _) in &start.spent {
            if self.program.budget_named(name).is_none() {
                return Err(Refusal::UnknownName { what: "a budget of the workflow", name: name.clone() });
            }
        }

        self.state.stage = Stage::Running;
        self.state.mode = start.mode;
        self.state.unproven = start.unproven;
        if start.unproven {
            self.cap_confidence(Confidence::Low);
        }
        self.state.limits = start.limits;
        self.state.approaches = start.approaches.clone();
        if let Some(subject) = self.program.artifact_named(&self.program.subject) {
            self.state.versions[subject.index()] =
                if start.subject == Digest::default() { Digest(1) } else { start.subject };
        }
        for (flag, value) in flags {
            self.state.flags[flag.index()] = value;
        }
        self.set_lists(lists);
        self.fill_budgets(start);
        let first = resolve::first_phase(self.program, None, |condition| self.holds(Lane::Main, condition));
        match first {
            Some(first) => self.enter(Lane::Main, first),
            None => self.end(End::Done),
        }
        Ok(())
    }

    fn fill_budgets(&mut self, start: &Start) {
        let all = (0..self.program.budgets.len()).filter_map(|at| u16::try_from(at).ok()).map(BudgetId);
        self.state.full = all.map(|id| self.program.capacity(id, |list| self.state.count(list))).collect();
        self.state.left = self
            .program
            .budgets
            .iter()
            .zip(&self.state.full)
            .map(|(budget, full)| {
                let earlier = start
                    .spent
                    .iter()
                    .filter(|(name, _)| budget.scope == Scope::Subject && *name == budget.name)
                    .map(|(_, spent)| *spent)
                    .max();
                full.saturating_sub(earlier.unwrap_or(0))
            })
            .collect();
    }

    /// Checks the names, ids and needs in the lists of an event, and sorts the items by their needs.
    pub(super) fn read_lists(
        &self,
        lists: &[(String, Vec<Item>)],
    ) -> Result<Vec<(ListId, Vec<Item>)>, Refusal> {
        lists
            .iter()
            .map(|(name, items)| {
                let list = self.program.list_named(name).ok_or_else(|| Refusal::UnknownName {
                    what: "a list of the workflow",
                    name: name.clone(),
                })?;
                let ordered = in_dependency_order(items)
                    .map_err(|problem| Refusal::BadList { list: name.clone(), problem })?;
                Ok((list, ordered))
            })
            .collect()
    }

    /// Sets lists; a budget sized by a list grows once, when the list is first known.
    pub(super) fn set_lists(&mut self, lists: Vec<(ListId, Vec<Item>)>) {
        for (list, items) in lists {
            let first = !items.is_empty() && !self.state.listed[list.index()];
            self.state.listed[list.index()] |= first;
            self.state.lists[list.index()] = items;
            for at in 0..self.state.left.len() {
                let BudgetSize::Share { list: sized_by, .. } = self.program.budgets[at].size else {
                    continue;
                };
                let id = BudgetId(u16::try_from(at).unwrap_or(u16::MAX));
                let full = self.program.capacity(id, |list| self.state.count(list));
                if sized_by == list && first {
                    self.state.left[at] += full.saturating_sub(self.state.full[at]);
                    self.state.full[at] = full;
                }
            }
        }
    }
}

/// Sorts items so each comes after the items it needs, and otherwise keeps the order.
fn in_dependency_order(items: &[Item]) -> Result<Vec<Item>, String> {
    if items.len() > MAX_ITEMS {
        return Err(format!("it has {} items, but at most {MAX_ITEMS} are allowed", items.len()));
    }
    let mut known = BTreeMap::new();
    for item in items {
        if known.insert(item.id.as_str(), item).is_some() {
            return Err(format!("`{}` occurs twice", item.id));
        }
    }
    if let Some((item, need)) = items
        .iter()
        .flat_map(|item| item.needs.iter().map(move |need| (item, need)))
        .find(|(_, need)| !known.contains_key(need.as_str()))
    {
        return Err(format!("`{}` needs `{need}`, which is not in the list", item.id));
    }
    let mut done = BTreeSet::new();
    let mut ordered: Vec<Item> = Vec::with_capacity(items.len());
    while ordered.len() < items.len() {
        let ready = items.iter().find(|item| {
            !done.contains(item.id.as_str()) && item.needs.iter().all(|need| done.contains(need.as_str()))
        });
        let Some(item) = ready else {
            let stuck = items.iter().find(|item| !done.contains(item.id.as_str()));
            return Err(format!("the dependencies of `{}` form a cycle", stuck.map_or("", |item| &item.id)));
        };
        done.insert(item.id.as_str());
        ordered.push(item.clone());
    }
    Ok(ordered)
}
