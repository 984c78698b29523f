//! Maps actions to the tools of a program.

use crate::conversation::{OfferedTool, ToolKind};
use crate::shell;
use crate::tool_use::{PatchChange, Purpose, ToolUse};
use remand_agents::rehearsal::{DispatchInfo, FileContent, Replacement, ScriptAction, ScriptedContent};
use serde_json::Value;
use std::path::{Path, PathBuf};

const WRITE: &[&str] = &["write", "Write", "write_file"];
const EDIT: &[&str] = &["edit", "Edit", "replace"];
const READ: &[&str] = &["read", "Read", "read_file"];
const SHELL: &[&str] =
    &["bash", "Bash", "run_shell_command", "exec_command", "shell_command", "shell", "local_shell"];
const PATCH: &[&str] = &["apply_patch"];
const SUBMIT: &str = "submit_result";

/// The tools of a program, for one dispatch.
#[derive(Clone, Copy, Debug)]
pub struct Toolbox<'a> {
    pub tools: &'a [OfferedTool],
    pub info: &'a DispatchInfo,
}

impl Toolbox<'_> {
    /// The tool uses that perform an action; `None` if no tool can.
    pub fn tool_uses(&self, action: &ScriptAction) -> Option<Vec<ToolUse>> {
        let in_tree = |path: &str| self.info.tree.join(path);
        match action {
            ScriptAction::Write(file) => self.write(&in_tree(&file.path), &file.content),
            ScriptAction::Append(file) => self.append(&in_tree(&file.path), file),
            ScriptAction::Patch(replacement) => self.replace(&in_tree(&replacement.path), replacement),
            ScriptAction::Delete(path) => self.delete(&in_tree(path)),
            ScriptAction::Mkdir(path) => self.run(shell::mkdir(&in_tree(path))),
            ScriptAction::Symlink(link) => self.run(shell::symlink(&in_tree(&link.path), &link.target)),
            ScriptAction::Chmod(change) => self.run(shell::chmod(&in_tree(&change.path), change.mode.0)),
            ScriptAction::Run(command) => self.run(command.clone()),
            ScriptAction::Spawn(command) => self.run(shell::spawn(command)),
            ScriptAction::Connect(address) => self.run(shell::connect(address)),
            ScriptAction::Read(path) => self.read(&in_tree(path)),
            ScriptAction::ResultText(text) => {
                self.write(&self.result_path(), &ScriptedContent::Text(text.clone()))
            }
            ScriptAction::ResultBase64(bytes) => {
                self.write(&self.result_path(), &ScriptedContent::Bytes(bytes.0.clone()))
            }
            ScriptAction::Result(_)
            | ScriptAction::Print(_)
            | ScriptAction::Error(_)
            | ScriptAction::Answer(_)
            | ScriptAction::Sleep(_)
            | ScriptAction::Hang(_)
            | ScriptAction::Exit(_)
            | ScriptAction::Crash(_)
            | ScriptAction::Service(_)
            | ScriptAction::Silent(_) => None,
        }
    }

    /// Submits a result with the tool for it, or writes the result file if there is no such tool.
    pub fn submit(&self, result: &Value) -> Option<Vec<ToolUse>> {
        let submit_tool = self.tools.iter().find(|tool| tool.name.ends_with(SUBMIT));
        match submit_tool {
            Some(tool) => Some(vec![tool_use(tool, Purpose::Submit(result.clone()))]),
            None => self.write(&self.result_path(), &ScriptedContent::Text(format!("{result:#}\n"))),
        }
    }

    fn result_path(&self) -> PathBuf {
        self.info.tree.join(&self.info.result)
    }

    fn find(&self, names: &[&str]) -> Option<&OfferedTool> {
        names
            .iter()
            .find_map(|name| self.tools.iter().find(|tool| tool.name == *name && tool.namespace.is_none()))
    }

    fn run(&self, command: String) -> Option<Vec<ToolUse>> {
        Some(vec![tool_use(self.find(SHELL)?, Purpose::Run(command))])
    }

    fn read(&self, path: &Path) -> Option<Vec<ToolUse>> {
        match self.find(READ) {
            Some(tool) if !path.is_dir() => Some(vec![tool_use(tool, Purpose::Read(path.to_owned()))]),
            Some(_) | None => self.run(shell::read(path)),
        }
    }

    fn write(&self, path: &Path, content: &ScriptedContent) -> Option<Vec<ToolUse>> {
        let by_shell = || self.run(shell::write(path, content.bytes()));
        let Ok(text) = std::str::from_utf8(content.bytes()) else { return by_shell() };
        if let Some(tool) = self.find(WRITE) {
            let write = Purpose::Write { path: path.to_owned(), text: text.to_owned() };
            return Some(self.after_reading(path, tool_use(tool, write)));
        }
        // A patch cannot express a missing final line break.
        match self.patch_tool() {
            Some(tool) if text.ends_with('\n') => {
                Some(vec![tool_use(tool, self.patch_purpose(path, PatchChange::Add(text.to_owned())))])
            }
            Some(_) | None => by_shell(),
        }
    }

    fn append(&self, path: &Path, file: &FileContent) -> Option<Vec<ToolUse>> {
        self.run(shell::append(path, file.content.bytes())).or_else(|| {
            let text = std::str::from_utf8(file.content.bytes()).ok()?.to_owned();
            let extend = Purpose::Extend { path: path.to_owned(), text };
            Some(self.after_reading(path, tool_use(self.find(WRITE)?, extend)))
        })
    }

    fn replace(&self, path: &Path, replacement: &Replacement) -> Option<Vec<ToolUse>> {
        let (path, find, replace) = (path.to_owned(), replacement.find.clone(), replacement.replace.clone());
        if let Some(tool) = self.find(EDIT) {
            let edit = Purpose::Replace { path: path.clone(), find, replace };
            return Some(self.after_reading(&path, tool_use(tool, edit)));
        }
        if let Some(tool) = self.patch_tool() {
            return Some(vec![tool_use(
                tool,
                self.patch_purpose(&path, PatchChange::Replace { find, replace }),
            )]);
        }
        if let Some(tool) = self.find(WRITE) {
            let rewrite = Purpose::Rewrite { path: path.clone(), find, replace };
            return Some(self.after_reading(&path, tool_use(tool, rewrite)));
        }
        self.run(shell::replace(&path, &find, &replace))
    }

    fn delete(&self, path: &Path) -> Option<Vec<ToolUse>> {
        match self.patch_tool() {
            Some(tool) if path.is_file() => {
                Some(vec![tool_use(tool, self.patch_purpose(path, PatchChange::Delete))])
            }
            Some(_) | None => self.run(shell::delete(path)),
        }
    }

    fn patch_tool(&self) -> Option<&OfferedTool> {
        self.find(PATCH).filter(|tool| tool.kind != ToolKind::LocalShell)
    }

    fn patch_purpose(&self, path: &Path, change: PatchChange) -> Purpose {
        Purpose::Patch { tree: self.info.tree.clone(), path: path.to_owned(), change }
    }

    /// Reads an existing file before it is changed, because programs require this.
    fn after_reading(&self, path: &Path, change: ToolUse) -> Vec<ToolUse> {
        let read = self.find(READ).filter(|_| path.is_file());
        let read = read.map(|tool| tool_use(tool, Purpose::Read(path.to_owned())));
        read.into_iter().chain([change]).collect()
    }
}

fn tool_use(tool: &OfferedTool, purpose: Purpose) -> ToolUse {
    ToolUse { tool: tool.clone(), purpose }
}
