//! Exports a workflow and its roles as agent files of other tools, and the set-up of the MCP server.
//!
//! Except for `files.rs`, the code is pure: it turns a workflow, roles and a tool into files. All text comes from role
//! files, schemas, the program and the operations. Each module here makes one kind of file.

pub mod files;
pub mod mcp_client;

mod artifacts;
mod target;

mod agent;
mod orchestrator;

mod patterns;
mod schemas;
mod severity;

mod entry;
mod overview;

pub use overview::EXPORT_MARKER;
pub use target::name_of;

use files::ExportedFile;
use remand_kernel::ids::PhaseId;
use remand_kernel::program::{Phase, Program};
use remand_workflow::foreign::AgentTool;
use remand_workflow::roles::{RoleSpec, Roles};
use std::path::PathBuf;

/// What to export, and for which tool.
pub struct Export<'e> {
    pub program: &'e Program,
    pub roles: &'e Roles,
    /// The guarantees, as the workflow file states them.
    pub guarantees: &'e [String],
    pub tool: AgentTool,
    /// The path of the overview, relative to the folder of the export.
    pub overview: PathBuf,
}

impl Export<'_> {
    /// Every file, in the order of their paths.
    pub fn files(&self) -> Vec<ExportedFile> {
        let mut files: Vec<ExportedFile> = self.used().iter().map(|spec| agent::file(self, spec)).collect();
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

/// Names in backticks, separated by commas.
fn coded<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// A string as a cell of a Markdown table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
