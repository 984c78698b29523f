//! Changes of a workflow file that make a variant of it. The checker proves the variant again.

use crate::variation::{FeedbackPolicy, VariantChange};
use remand_kernel::Program;
use remand_kernel::program::Contract;
use remand_workflow::file::{
    ActionDecl, AtomDecl, BudgetDecl, ClaimDecl, ItemsDecl, KindDecl, PhaseDecl, RouteDecl, TallyDecl,
    TallyTestDecl, WorkflowFile,
};
use remand_workflow::source::Spanned;

/// The name under which routes spend the rounds of their phase, and the signal when none is left.
const ROUND: &str = "round";
const SPENT: &str = "spent";

/// Why a workflow cannot be changed like this.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("the workflow has no budget `{0}`")]
    NoBudget(String),
    #[error("the workflow has no phase `{0}` with rounds")]
    NoRounds(String),
    #[error("the workflow has no phase `{0}` in which a fixed number of roles only review")]
    NoReviewers(String),
    #[error("the workflow has no phase `{0}`")]
    NoPhase(String),
    #[error("nothing says what happens without `{0}`: a route spends it and has no replacement")]
    NoReplacement(String),
    #[error("work is sent back to `{0}`, so the workflow needs it")]
    Needed(String),
    #[error("a review needs 1 to 12 reviewers")]
    Reviewers,
}

/// Changes a file. `program` is what the file compiles to.
pub(crate) fn edit(
    file: &mut WorkflowFile,
    program: &Program,
    change: &VariantChange,
) -> Result<(), EditError> {
    match change {
        VariantChange::Budget { name, size } => set_budget(file, name, *size),
        VariantChange::Rounds { phase, size } => set_rounds(file, phase, *size),
        VariantChange::Retries { retries } => {
            file.retries = file.retries.take().map(|old| Spanned::new(*retries, old.span));
            each_phase(&mut file.phases, &mut |phase| phase.retries = None);
            Ok(())
        }
        VariantChange::Reviewers { phase, count } => set_reviewers(file, program, phase.as_deref(), *count),
        VariantChange::Feedback(FeedbackPolicy::SingleStep) => {
            send_one_phase_back(file, program);
            Ok(())
        }
        VariantChange::Without { phase: Some(phase) } => remove_phase(file, phase),
        VariantChange::Feedback(FeedbackPolicy::PhaseAware)
        | VariantChange::Without { phase: None }
        | VariantChange::Parameter { .. } => Ok(()),
    }
}

fn each_phase(phases: &mut [PhaseDecl], act: &mut impl FnMut(&mut PhaseDecl)) {
    for phase in phases {
        act(phase);
        if let KindDecl::Flow { phases, .. } = &mut phase.kind {
            each_phase(phases, act);
        }
    }
}

fn each_route(file: &mut WorkflowFile, act: &mut impl FnMut(&mut RouteDecl)) {
    let mut with_replacements = |route: &mut RouteDecl| {
        let mut next = Some(route);
        while let Some(route) = next {
            act(route);
            next = route.otherwise.as_deref_mut();
        }
    };
    each_phase(&mut file.phases, &mut |phase| {
        phase.on.iter_mut().for_each(|(_, route)| with_replacements(route));
    });
    file.defaults.iter_mut().for_each(|default| with_replacements(&mut default.route));
    file.budgets.iter_mut().filter_map(|budget| budget.then.as_mut()).for_each(with_replacements);
}

fn set_budget(file: &mut WorkflowFile, name: &str, size: u16) -> Result<(), EditError> {
    let Some(at) = file.budgets.iter().position(|budget| budget.name.value == name) else {
        return Err(EditError::NoBudget(name.to_string()));
    };
    if size > 0 {
        file.budgets[at].size = size;
        file.budgets[at].share = None;
        return Ok(());
    }
    let BudgetDecl { then, .. } = file.budgets.remove(at);
    replace_spending(file, name, then.as_ref())
}

/// Replaces every route that spends a budget with the route that is followed when the budget is empty.
fn replace_spending(file: &mut WorkflowFile, name: &str, then: Option<&RouteDecl>) -> Result<(), EditError> {
    let mut has_replacement = true;
    each_route(file, &mut |route| {
        if route.spends.iter().any(|spent| spent.value == name) {
            match route.otherwise.as_deref().or(then).cloned() {
                Some(replacement) => *route = replacement,
                None => has_replacement = false,
            }
        }
    });
    if has_replacement { Ok(()) } else { Err(EditError::NoReplacement(name.to_string())) }
}

fn set_rounds(file: &mut WorkflowFile, name: &str, size: u16) -> Result<(), EditError> {
    let mut result = Err(EditError::NoRounds(name.to_string()));
    each_phase(&mut file.phases, &mut |phase| {
        if phase.name.value != name {
            return;
        }
        if let Some(rounds) = &mut phase.rounds {
            rounds.value = size;
            result = if size > 1 { Ok(()) } else { without_rounds(phase) };
        }
    });
    result
}

fn without_rounds(phase: &mut PhaseDecl) -> Result<(), EditError> {
    phase.rounds = None;
    let at = phase.on.iter().position(|(signal, _)| signal.value == SPENT);
    let spent = at.map(|at| phase.on.remove(at).1);
    for (_, route) in &mut phase.on {
        if route.spends.iter().any(|name| name.value == ROUND) {
            let replacement = route.otherwise.as_deref().or(spent.as_ref()).cloned();
            *route = replacement.ok_or_else(|| EditError::NoReplacement(ROUND.to_string()))?;
        }
    }
    Ok(())
}

/// Whether a phase only reviews: its roles judge, and it writes nothing.
fn only_reviews(program: &Program, phase: &PhaseDecl) -> bool {
    let compiled = program.phase_named(&phase.name.value).map(|id| program.phase(id));
    let judges = |contracts: &[remand_kernel::ids::ContractId]| {
        !contracts.is_empty() && contracts.iter().all(|id| Contract::judges(program.contract(*id)))
    };
    phase.writes.is_empty() && compiled.is_some_and(|phase| judges(phase.contracts()))
}

fn set_reviewers(
    file: &mut WorkflowFile,
    program: &Program,
    name: Option<&str>,
    count: u16,
) -> Result<(), EditError> {
    if !(1..=12).contains(&count) {
        return Err(EditError::Reviewers);
    }
    let mut changed = Vec::new();
    each_phase(&mut file.phases, &mut |phase| {
        let is_wanted = name.is_none_or(|name| name == phase.name.value);
        if is_wanted && only_reviews(program, phase) {
            let before: Vec<String> = phase.on.iter().map(|(signal, _)| signal.value.clone()).collect();
            if resize(phase, count) {
                let kept = |signal: &String| phase.on.iter().any(|(on, _)| on.value == *signal);
                let gone = before.iter().filter(|signal| !kept(signal)).cloned();
                changed.push((phase.name.value.clone(), gone.collect::<Vec<String>>()));
            }
        }
    });
    if changed.is_empty() {
        return Err(EditError::NoReviewers(name.unwrap_or("").to_string()));
    }
    for (phase, signals) in changed {
        file.guarantees.retain_mut(|guarantee| {
            atoms_of(&mut guarantee.claim).into_iter().all(|atoms| {
                atoms.retain(|atom| match atom {
                    AtomDecl::Pair(named, signal) => named.value != phase || !signals.contains(&signal.value),
                    AtomDecl::Change(_) | AtomDecl::Word(_) => true,
                });
                !atoms.is_empty()
            })
        });
    }
    Ok(())
}

fn atoms_of(claim: &mut ClaimDecl) -> Vec<&mut Vec<AtomDecl>> {
    match claim {
        ClaimDecl::Unless { never, unless, since } => vec![never, unless, since],
        ClaimDecl::After { never, after, unless } => [never, after].into_iter().chain(unless).collect(),
        ClaimDecl::Leads { from, to } => vec![from, to],
        ClaimDecl::Happy { .. } | ClaimDecl::AtMost { .. } => Vec::new(),
    }
}

/// Gives a review this number of reviewers. Returns whether the phase has reviewers that can be counted.
fn resize(phase: &mut PhaseDecl, count: u16) -> bool {
    let members = usize::from(count);
    match &mut phase.kind {
        KindDecl::Each { items: ItemsDecl::Fixed(names), tally, quorum, .. } => {
            let before = u16::try_from(names.len()).unwrap_or(u16::MAX);
            let span = names.first().map(|name| name.span).unwrap_or_default();
            names.truncate(members);
            while names.len() < members {
                names.push(Spanned::new(format!("review-{}", names.len() + 1), span));
            }
            if let Some(quorum) = quorum {
                quorum.value = quorum.value.min(count);
            }
            let gone = resize_tally(tally, before, count);
            phase.on.retain(|(signal, _)| !gone.contains(&signal.value));
            true
        }
        KindDecl::Role { role, nearest_caller: false } if count > 1 => {
            let members = vec![role.clone(); members];
            phase.kind = KindDecl::Panel { members, advisors: Vec::new() };
            true
        }
        KindDecl::Panel { members: roles, .. } if !roles.is_empty() => {
            let first = roles[0].clone();
            roles.resize(members, first);
            true
        }
        KindDecl::Role { .. } => true,
        KindDecl::Each { .. }
        | KindDecl::Panel { .. }
        | KindDecl::Flow { .. }
        | KindDecl::Do { .. }
        | KindDecl::Ask { .. }
        | KindDecl::Unknown => false,
    }
}

/// Changes the numbers of a tally: all stay all, one less stays one less, but at least a majority. A row that another one
/// makes superfluous goes; its signal is returned.
fn resize_tally(tally: &mut Vec<TallyDecl>, before: u16, after: u16) -> Vec<String> {
    for row in tally.iter_mut() {
        if let TallyTestDecl::AtLeast { count, members, .. } = &mut row.test {
            let missing = before.saturating_sub(*count);
            *count = after.saturating_sub(missing).max(after / 2 + 1).min(after);
            *members = after;
        }
    }
    let mut seen: Vec<(u16, String)> = Vec::new();
    let mut gone = Vec::new();
    tally.retain(|row| match &row.test {
        TallyTestDecl::AtLeast { count, verdict, .. } => {
            let test = (*count, verdict.value.clone());
            let is_new = !seen.contains(&test);
            if is_new {
                seen.push(test);
            } else {
                gone.push(row.signal.value.clone());
            }
            is_new
        }
        TallyTestDecl::Any(_) | TallyTestDecl::All(_) | TallyTestDecl::Otherwise => true,
    });
    gone
}

/// Sends what a review, check or sub-flow rejects to the last phase before it that produces something.
fn send_one_phase_back(file: &mut WorkflowFile, program: &Program) {
    let order: Vec<String> = file.phases.iter().map(|phase| phase.name.value.clone()).collect();
    let at = |name: &str| order.iter().position(|known| known == name);
    let producers: Vec<bool> = file.phases.iter().map(|phase| produces(program, phase)).collect();
    let last_before = |index: usize| (0..index).rev().find(|before| producers[*before]);
    for (index, phase) in file.phases.iter_mut().enumerate() {
        let is_flow = matches!(phase.kind, KindDecl::Flow { .. });
        let Some(last) = (if is_flow { Some(index) } else { last_before(index) }) else { continue };
        for (_, route) in &mut phase.on {
            let mut next = Some(route);
            while let Some(route) = next {
                let is_far = match &route.action {
                    ActionDecl::Remand(target) => {
                        !phase.aside && at(&target.value).is_some_and(|to| to < last)
                    }
                    ActionDecl::RemandInjector => true,
                    _ => false,
                };
                if is_far {
                    let span = route.span;
                    route.action = ActionDecl::Remand(Spanned::new(order[last].clone(), span));
                }
                next = route.otherwise.as_deref_mut();
            }
        }
    }
    // The origin of a defect decides nothing anymore, so nobody names or confirms it.
    file.injects.clear();
    file.confirms_origin = false;
}

/// Whether a phase of the main flow produces what later phases review.
fn produces(program: &Program, phase: &PhaseDecl) -> bool {
    let id = program.phase_named(&phase.name.value);
    let judges = |id| program.phase(id).contracts().iter().any(|id| program.contract(*id).judges());
    match &phase.kind {
        KindDecl::Flow { .. } => true,
        KindDecl::Role { .. } | KindDecl::Each { .. } | KindDecl::Panel { .. } => {
            !phase.aside && !phase.writes.is_empty() && !id.is_some_and(judges)
        }
        KindDecl::Do { .. } | KindDecl::Ask { .. } | KindDecl::Unknown => false,
    }
}

/// Removes a phase, and the budgets that only it spends.
pub(crate) fn remove_phase(file: &mut WorkflowFile, name: &str) -> Result<(), EditError> {
    let mut is_needed = false;
    each_route(file, &mut |route| match &route.action {
        ActionDecl::Remand(target) | ActionDecl::Restore(target) if target.value == name => is_needed = true,
        ActionDecl::To(target) if target.value == name => route.action = ActionDecl::Next,
        _ => {}
    });
    if is_needed {
        return Err(EditError::Needed(name.to_string()));
    }
    if !remove_from(&mut file.phases, name) {
        return Err(EditError::NoPhase(name.to_string()));
    }
    for default in &mut file.defaults {
        default.except.retain(|except| except.value != name);
    }
    file.injects.retain(|phase| phase.value != name);
    let mut spent = Vec::new();
    each_route(file, &mut |route| spent.extend(route.spends.iter().map(|name| name.value.clone())));
    file.budgets.retain(|budget| spent.contains(&budget.name.value));
    Ok(())
}

fn remove_from(phases: &mut Vec<PhaseDecl>, name: &str) -> bool {
    let before = phases.len();
    phases.retain(|phase| phase.name.value != name);
    before != phases.len()
        || phases.iter_mut().any(|phase| match &mut phase.kind {
            KindDecl::Flow { phases, .. } => remove_from(phases, name),
            _ => false,
        })
}
