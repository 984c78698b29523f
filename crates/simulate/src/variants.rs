//! Variants of a workflow: a changed file, compiled and proven again, or the reason why there is none.

use crate::edits::{EditError, edit, remove_phase};
use crate::parameters::{ParameterBasis, ParameterError, ParameterSet};
use crate::variation::VariantChange;
use remand_kernel::Program;
use remand_workflow::check_changed;
use remand_workflow::compile::Compiled;
use remand_workflow::diagnostic::{Code, Diagnostic, DiagnosticSeverity};
use remand_workflow::file::{ClaimDecl, KindDecl, WorkflowFile};
use remand_workflow::roles::Roles;
use remand_workflow::source::{SourceText, Span};

/// A variant that can be simulated.
#[derive(Clone, Debug)]
pub struct SimulationVariant {
    /// The changes as the user wrote them; empty for the workflow as it is.
    pub label: String,
    pub program: Program,
    pub parameters: ParameterSet,
    /// Guarantees of the workflow that the variant does not keep.
    pub broken: Vec<String>,
}

/// Why a variant cannot be simulated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum VariantError {
    #[error(transparent)]
    Edit(#[from] EditError),
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    #[error("the checker refuses it: {0}")]
    Refused(String),
}

impl SimulationVariant {
    /// Applies changes to a workflow, and proves the result again. Stated numbers of dispatches are not compared, because
    /// changes are made to change them.
    pub fn new(
        compiled: &Compiled,
        source: &SourceText,
        roles: &Roles,
        changes: &[VariantChange],
        parameters: &ParameterSet,
    ) -> Result<SimulationVariant, VariantError> {
        let mut parameters = parameters.clone();
        let mut file = compiled.file.clone();
        let mut changes_file = false;
        for change in changes {
            if let VariantChange::Parameter { key, value } = change {
                parameters.set(key, *value, ParameterBasis::Set)?;
            } else {
                edit(&mut file, &compiled.program, change)?;
                changes_file = true;
            }
        }
        let label = changes.iter().map(VariantChange::label).collect::<Vec<_>>().join(" ");
        if !changes_file {
            let program = compiled.program.clone();
            return Ok(SimulationVariant { label, program, parameters, broken: Vec::new() });
        }
        file.guarantees.retain(|guarantee| {
            !matches!(guarantee.claim, ClaimDecl::Happy { .. } | ClaimDecl::AtMost { .. })
        });
        let (program, broken) = prove(file, source, roles)?;
        Ok(SimulationVariant { label, program, parameters, broken })
    }
}

/// Proves a file. What the changes made superfluous is removed: phases that nothing leads to, defaults for signals that no
/// phase has, and guarantees that do not hold; the latter are returned.
fn prove(
    mut file: WorkflowFile,
    source: &SourceText,
    roles: &Roles,
) -> Result<(Program, Vec<String>), VariantError> {
    // Each pass removes something, so this many passes are enough for any file.
    const PASSES: usize = 100;
    let mut broken = Vec::new();
    for _ in 0..PASSES {
        let checked = check_changed(&file, source.clone(), roles);
        let accepted = checked.accepted();
        let errors: Vec<Diagnostic> = checked
            .diagnostics
            .into_iter()
            .filter(|problem| problem.severity == DiagnosticSeverity::Error)
            .collect();
        if let Some(compiled) = checked.compiled.filter(|_| accepted) {
            return Ok((compiled.program, broken));
        }
        for problem in &errors {
            if !remove_superfluous(&mut file, problem, &mut broken)? {
                return Err(VariantError::Refused(problem.message.clone()));
            }
        }
    }
    Err(VariantError::Refused("it has too many problems".to_string()))
}

/// Removes what a problem is about, if the changes made it superfluous.
fn remove_superfluous(
    file: &mut WorkflowFile,
    problem: &Diagnostic,
    broken: &mut Vec<String>,
) -> Result<bool, VariantError> {
    let span = problem.span;
    match problem.code {
        Code::Refuted | Code::Vacuous => {
            let is_within = |outer: Span| outer.start <= span.start && span.end <= outer.end;
            let at = file.guarantees.iter().position(|guarantee| is_within(guarantee.span));
            // Two problems may be about the same guarantee.
            broken.extend(at.map(|at| file.guarantees.remove(at).text));
            Ok(at.is_some() || !broken.is_empty())
        }
        Code::Unreachable => {
            let name = name_at(file, span);
            name.iter().try_for_each(|name| remove_phase(file, name))?;
            Ok(name.is_some())
        }
        Code::Unused | Code::UnknownSignal => {
            let before = file.defaults.len();
            file.defaults.retain(|default| default.signal.span != span);
            Ok(file.defaults.len() < before)
        }
        _ => Ok(false),
    }
}

/// The phase that is declared at a position.
fn name_at(file: &WorkflowFile, span: Span) -> Option<String> {
    let declared = file.phases.iter().flat_map(|phase| match &phase.kind {
        KindDecl::Flow { phases, .. } => [vec![phase], phases.iter().collect()].concat(),
        _ => vec![phase],
    });
    let mut wanted = declared.filter(|phase| phase.name.span == span);
    wanted.next().map(|phase| phase.name.value.clone())
}
