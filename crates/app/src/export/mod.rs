//! A workflow and its roles as agent files of other tools (BY-08).
//!
//! Pure but for `files.rs`: a workflow, roles and a tool in, files out. All words come from where they are kept: role
//! files, schemas, the program, the operations. One file of this folder makes one kind of file of theirs.

pub mod files;

mod artifacts;
mod target;

mod agent;
mod orchestrator;

mod patterns;
mod schemas;
mod severity;

mod entry;
mod overview;

pub use overview::MARK;
pub use target::name_of;

use files::File;
use remand_kernel::ids::PhaseId;
use remand_kernel::program::{Phase, Program};
use remand_workflow::foreign::Tool;
use remand_workflow::roles::{RoleSpec, Roles};
use std::path::PathBuf;

/// What is exported, and for whom.
pub struct Export<'e> {
    pub program: &'e Program,
    pub roles: &'e Roles,
    /// As the workflow file states them.
    pub guarantees: &'e [String],
    pub tool: Tool,
    /// Where the overview goes, from the folder of the export.
    pub overview: PathBuf,
}

impl Export<'_> {
    /// Every file, in the order of their paths.
    pub fn files(&self) -> Vec<File> {
        let mut files: Vec<File> = self.used().iter().map(|spec| agent::file(self, spec)).collect();
        files.push(orchestrator::file(self));
        files.extend(schemas::files(self));
        files.push(patterns::file(self));
        files.push(severity::file(self));
        files.push(entry::file(self));
        files.push(overview::file(self));
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files
    }

    /// The roles of the program, in the order in which it names them.
    fn used(&self) -> Vec<&RoleSpec> {
        self.program.contracts.iter().filter_map(|contract| self.roles.get(&contract.title())).collect()
    }

    /// The phases that a role works in.
    fn phases(&self, title: &str) -> Vec<(PhaseId, &Phase)> {
        let works =
            |phase: &Phase| phase.contracts().iter().any(|id| self.program.contract(*id).title() == title);
        let all = self.program.phase_ids().map(|id| (id, self.program.phase(id)));
        all.filter(|(_, phase)| works(phase)).collect()
    }
}

/// Names in the way of code, with commas.
fn coded<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// A text as a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
