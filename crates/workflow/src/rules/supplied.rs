//! A406: on every way into a phase, its role is given what it needs.

use crate::compile::Compiled;
use crate::diagnostic::{Code, Diagnostic};
use crate::explore::Scenario;
use crate::explore::guarantee::{Atom, Claim, Counterexample, refute};
use crate::explore::ways::{WayGraph, WayIn};
use crate::needs::{AUTHOR, Need};
use remand_kernel::brief::{is_author, is_tree};
use remand_kernel::ids::{ArtifactId, PhaseId, SignalId};
use remand_kernel::program::{Phase, Program, Work};

pub fn check(compiled: &Compiled, problems: &mut Vec<Diagnostic>) {
    let program = &compiled.program;
    let graph = WayGraph::new(program);
    for id in program.phase_ids() {
        let contracts = program.phase(id).contracts();
        let mut ways: Option<Vec<WayIn>> = None;
        for contract in contracts {
            let needs = compiled.needs.get(&program.contract(*contract).title());
            for need in needs.into_iter().flatten() {
                let ways = ways.get_or_insert_with(|| graph.ways_in(id));
                let gap = match need {
                    Need::Evidence => evidence_gap(program, id),
                    // A path on which the phase runs again shows best what is lost.
                    Need::OwnWork => ways.iter().rev().find_map(|way| gap(&graph, program, id, way, need)),
                    _ => ways.iter().find_map(|way| gap(&graph, program, id, way, need)),
                };
                if let Some(gap) = gap {
                    problems.push(diagnostic(compiled, id, need, &gap));
                }
            }
        }
    }
}

/// A path on which a need is not supplied.
struct Gap {
    path: Vec<(PhaseId, Option<SignalId>)>,
    remedy: String,
}

fn diagnostic(compiled: &Compiled, id: PhaseId, need: &Need, gap: &Gap) -> Diagnostic {
    let program = &compiled.program;
    let steps: Vec<String> = gap
        .path
        .iter()
        .map(|(phase, signal)| {
            let name = &program.phase(*phase).name;
            signal.map_or_else(|| name.clone(), |signal| format!("{name}: {}", program.signal(signal)))
        })
        .chain([program.phase(id).name.clone()])
        .collect();
    let roles: Vec<String> =
        program.phase(id).contracts().iter().map(|contract| program.contract(*contract).title()).collect();
    let message = format!(
        "the role `{}` of `{}` needs `{need}` and is not given it",
        roles.join(", "),
        program.phase(id).name
    );
    let span = compiled.spans.phase(id);
    Diagnostic::error(Code::Unsupplied, span, message, gap.remedy.clone()).with_path(steps)
}

/// The first path by this way on which a need is not supplied.
fn gap(graph: &WayGraph<'_>, program: &Program, id: PhaseId, way: &WayIn, need: &Need) -> Option<Gap> {
    let phase = program.phase(id);
    // Different paths may supply different results, so the search looks for a path that supplies none.
    let gap = |supplies: &dyn Fn(PhaseId, SignalId) -> bool, remedy: String| {
        let path = graph.path_without(id, way, supplies)?;
        Some(Gap { path: path.into_iter().map(|(phase, signal)| (phase, Some(signal))).collect(), remedy })
    };
    let nobody = |_, _| false;
    match need {
        Need::Document(names) => {
            let remedy = format!("add `{}` to the `reads` of `{}`", names[0], phase.name);
            if is_given(program, phase, names) { None } else { gap(&nobody, remedy) }
        }
        Need::IfAny(name) => {
            let supplied =
                may_read(program, phase, name) || reads(program, phase, name) || !is_written(program, name);
            let remedy = format!("add `{name}` to the `may-read` of `{}`", phase.name);
            if supplied { None } else { gap(&nobody, remedy) }
        }
        Need::Report(roles) => {
            let speaks = |other: PhaseId| {
                let contracts = program.phase(other).contracts();
                contracts.iter().any(|contract| roles.contains(&program.contract(*contract).title()))
                    || (roles.iter().any(|role| role == AUTHOR) && is_author(program, other, id))
            };
            let is_given = |other: &PhaseId| {
                speaks(*other)
                    && (is_author(program, *other, id) || is_read(program, *other, phase) || phase.everything)
            };
            let needs_author = roles.iter().any(|role| role == AUTHOR);
            let has_author = program.phase_ids().any(|other| is_author(program, other, id));
            let supplied = way.ran.iter().any(is_given) || (needs_author && !has_author);
            let remedy = if needs_author {
                format!("lead through a phase that changes what `{}` reads on this path", phase.name)
            } else {
                format!(
                    "lead through a phase with the role `{}` on this path, or let `{}` read what that role writes",
                    roles[0], phase.name
                )
            };
            if supplied { None } else { gap(&|other, _| speaks(other), remedy) }
        }
        Need::OwnWork => {
            let lost = way.back && phase.discards.iter().any(|artifact| phase.writes.contains(artifact));
            let remedy = if phase.afresh {
                format!("remove `afresh` from `{}`", phase.name)
            } else {
                format!("do not discard what `{}` writes", phase.name)
            };
            if phase.afresh || (way.again && lost) { gap(&nobody, remedy) } else { None }
        }
        Need::Reason => {
            let remedy = format!(
                "enter `{}` from a phase that reports something, by `to`, by `remand` or with an effect",
                phase.name
            );
            // In an autonomous run the default applies without a human, so it gives no reason.
            let speaks = |other: PhaseId, signal: SignalId| match &program.phase(other).work {
                Work::Flow { .. } => false,
                Work::Ask { default, .. } => *default != Some(signal),
                Work::Role { .. } | Work::Each { .. } | Work::Panel { .. } | Work::Operation { .. } => true,
            };
            gap(&speaks, remedy)
        }
        Need::Everything => {
            let remedy = format!("write `reads: everything` in `{}`", phase.name);
            if phase.everything { None } else { gap(&nobody, remedy) }
        }
        Need::Evidence => None,
    }
}

/// A path on which a tree that the phase reads has changed since the engine last checked it.
fn evidence_gap(program: &Program, id: PhaseId) -> Option<Gap> {
    let phase = program.phase(id);
    let judges = |other: &PhaseId, artifact: ArtifactId| match &program.phase(*other).work {
        Work::Operation { operation } => {
            program.operation(*operation).judges && program.phase(*other).reads.contains(&artifact)
        }
        Work::Role { .. } | Work::Each { .. } | Work::Panel { .. } | Work::Flow { .. } | Work::Ask { .. } => {
            false
        }
    };
    for artifact in phase.reads.iter().copied().filter(|artifact| is_tree(program, *artifact)) {
        let checks: Vec<Atom> =
            program.phase_ids().filter(|other| judges(other, artifact)).map(Atom::Phase).collect();
        let claim = Claim::Unless {
            never: vec![Atom::Phase(id)],
            unless: checks,
            since: vec![Atom::Change(artifact)],
        };
        // If there are too many states, the rule about bounds reports that.
        let refuted: Option<Counterexample> = refute(program, &Scenario::all(program), &claim).ok().flatten();
        if let Some(mut path) = refuted {
            if path.last().is_some_and(|(last, _)| *last == id) {
                path.pop();
            }
            let name = &program.artifacts[artifact.index()];
            let remedy = format!("let an operation that checks `{name}` run after it changes on this path");
            return Some(Gap { path, remedy });
        }
    }
    None
}

/// Whether a needed document is the subject of the run, which every dispatch is given.
fn is_subject(program: &Program, name: &str) -> bool {
    name == "subject" || *name == program.subject
}

/// Whether a phase is given one of these documents. The subject counts only if no phase writes any of the other
/// documents: otherwise the work is in those documents, not in the subject.
fn is_given(program: &Program, phase: &Phase, names: &[String]) -> bool {
    let (subjects, others): (Vec<&String>, Vec<&String>) =
        names.iter().partition(|name| is_subject(program, name));
    let subject_counts = !subjects.is_empty() && !others.iter().any(|name| is_written(program, name));
    let is_read = |name: &&String| {
        // While this document does not exist, the subject takes its place.
        reads(program, phase, name) || (!subjects.is_empty() && may_read(program, phase, name))
    };
    subject_counts || others.iter().any(is_read)
}

fn is_written(program: &Program, name: &str) -> bool {
    let is_named = |id: &ArtifactId| program.artifacts[id.index()] == name;
    program.phases.iter().any(|phase| phase.writes.iter().any(is_named))
}

fn reads(program: &Program, phase: &Phase, name: &str) -> bool {
    phase.everything || phase.reads.iter().any(|id| program.artifacts[id.index()] == name)
}

fn may_read(program: &Program, phase: &Phase, name: &str) -> bool {
    phase.may_read.iter().any(|id| program.artifacts[id.index()] == name)
}

/// Whether a phase reads everything that another one writes.
fn is_read(program: &Program, writer: PhaseId, reader: &Phase) -> bool {
    let written = &program.phase(writer).writes;
    !written.is_empty() && written.iter().all(|artifact| reader.reads.contains(artifact))
}
