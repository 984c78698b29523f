//! Variants of a workflow: a changed file, compiled and proven again, or the reason why there is none.

use crate::edits::{EditError, edit, remove_phase};
use crate::parameters::{ParameterBasis, ParameterError, ParameterSet};
use crate::variation::VariantChange;
use remand_kernel::Program;
use remand_workflow::compile::Compiled;
use remand_workflow::diagnostic::{Code, DiagnosticSeverity};
use remand_workflow::file::{ClaimDecl, KindDecl, PhaseDecl, WorkflowFile};
use remand_workflow::roles::Roles;
use remand_workflow::source::{SourceText, Span};
use remand_workflow::{CheckedWorkflow, check_changed};

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

/// Proves a file, without phases that nothing leads to and without the guarantees that it breaks; these are returned.
fn prove(
    mut file: WorkflowFile,
    source: &SourceText,
    roles: &Roles,
) -> Result<(Program, Vec<String>), VariantError> {
    let mut broken = Vec::new();
    loop {
        let checked = check_changed(&file, source.clone(), roles);
        let accepted = checked.accepted();
        let refuted = superfluous(&checked)?;
        match checked.compiled {
            Some(compiled) if accepted => return Ok((compiled.program, broken)),
            _ => {}
        }
        let unreachable: Vec<String> = names_at(&file, &refuted);
        for phase in &unreachable {
            remove_phase(&mut file, phase)?;
        }
        let before = file.guarantees.len() + unreachable.len();
        file.guarantees.retain(|guarantee| {
            let is_kept = !refuted.iter().any(|span| is_within(*span, guarantee.span));
            if !is_kept {
                broken.push(guarantee.text.clone());
            }
            is_kept
        });
        if before == file.guarantees.len() {
            return Err(VariantError::Refused("a guarantee cannot be proven".to_string()));
        }
    }
}

fn is_within(inner: Span, outer: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// The phases that are declared at one of these positions.
fn names_at(file: &WorkflowFile, spans: &[Span]) -> Vec<String> {
    let declared = file.phases.iter().flat_map(|phase| match &phase.kind {
        KindDecl::Flow { phases, .. } => [vec![phase], phases.iter().collect()].concat(),
        _ => vec![phase],
    });
    let is_wanted = |phase: &&PhaseDecl| spans.contains(&phase.name.span);
    declared.filter(is_wanted).map(|phase| phase.name.value.clone()).collect()
}

/// The positions of guarantees that do not hold and of phases that nothing leads to anymore, or the first other problem.
fn superfluous(checked: &CheckedWorkflow) -> Result<Vec<Span>, VariantError> {
    let errors = checked.diagnostics.iter().filter(|problem| problem.severity == DiagnosticSeverity::Error);
    errors
        .map(|problem| match problem.code {
            Code::Refuted | Code::Vacuous | Code::Unreachable => Ok(problem.span),
            _ => Err(VariantError::Refused(problem.message.clone())),
        })
        .collect()
}
