//! Which of a program's tools do what an action asks for.

use crate::conversation::{Kind, Tool};
use crate::gesture::{Change, Gesture, Purpose};
use crate::shell;
use remand_runtime::rehearsal::{Action, Content, DispatchInfo, FileContent, Replacement};
use serde_json::Value;
use std::path::{Path, PathBuf};

const WRITE: &[&str] = &["write", "Write", "write_file"];
const EDIT: &[&str] = &["edit", "Edit", "replace"];
const READ: &[&str] = &["read", "Read", "read_file"];
const SHELL: &[&str] =
    &["bash", "Bash", "run_shell_command", "exec_command", "shell_command", "shell", "local_shell"];
const PATCH: &[&str] = &["apply_patch"];
const SUBMIT: &str = "submit_result";

/// The tools of a program, used for one dispatch.
#[derive(Clone, Copy, Debug)]
pub struct Toolbox<'a> {
    pub tools: &'a [Tool],
    pub info: &'a DispatchInfo,
}

impl Toolbox<'_> {
    /// The calls that do what an action asks for; none where no tool can.
    pub fn gestures(&self, action: &Action) -> Option<Vec<Gesture>> {
        let place = |path: &str| self.info.tree.join(path);
        match action {
            Action::Write(file) => self.write(&place(&file.path), &file.content),
            Action::Append(file) => self.append(&place(&file.path), file),
            Action::Patch(replacement) => self.replace(&place(&replacement.path), replacement),
            Action::Delete(path) => self.delete(&place(path)),
            Action::Mkdir(path) => self.run(shell::mkdir(&place(path))),
            Action::Symlink(link) => self.run(shell::symlink(&place(&link.path), &link.target)),
            Action::Chmod(change) => self.run(shell::chmod(&place(&change.path), change.mode.0)),
            Action::Run(command) => self.run(command.clone()),
            Action::Spawn(command) => self.run(shell::spawn(command)),
            Action::Connect(address) => self.run(shell::connect(address)),
            Action::Read(path) => self.read(&place(path)),
            Action::ResultText(text) => self.write(&self.result(), &Content::Text(text.clone())),
            Action::ResultBase64(bytes) => self.write(&self.result(), &Content::Bytes(bytes.0.clone())),
            Action::Result(_)
            | Action::Print(_)
            | Action::Error(_)
            | Action::Answer(_)
            | Action::Sleep(_)
            | Action::Hang(_)
            | Action::Exit(_)
            | Action::Crash(_)
            | Action::Service(_)
            | Action::Silent(_) => None,
        }
    }

    /// Hands in a result: to the tool made for it, else to the file.
    pub fn submit(&self, result: &Value) -> Option<Vec<Gesture>> {
        let made_for_it = self.tools.iter().find(|tool| tool.name.ends_with(SUBMIT));
        match made_for_it {
            Some(tool) => Some(vec![gesture(tool, Purpose::Submit(result.clone()))]),
            None => self.write(&self.result(), &Content::Text(format!("{result:#}\n"))),
        }
    }

    fn result(&self) -> PathBuf {
        self.info.tree.join(&self.info.result)
    }

    fn named(&self, names: &[&str]) -> Option<&Tool> {
        names
            .iter()
            .find_map(|name| self.tools.iter().find(|tool| tool.name == *name && tool.namespace.is_none()))
    }

    fn run(&self, command: String) -> Option<Vec<Gesture>> {
        Some(vec![gesture(self.named(SHELL)?, Purpose::Run(command))])
    }

    fn read(&self, path: &Path) -> Option<Vec<Gesture>> {
        match self.named(READ) {
            Some(tool) if !path.is_dir() => Some(vec![gesture(tool, Purpose::Read(path.to_owned()))]),
            Some(_) | None => self.run(shell::read(path)),
        }
    }

    fn write(&self, path: &Path, content: &Content) -> Option<Vec<Gesture>> {
        let by_shell = || self.run(shell::write(path, content.bytes()));
        let Ok(text) = std::str::from_utf8(content.bytes()) else { return by_shell() };
        if let Some(tool) = self.named(WRITE) {
            let write = Purpose::Write { path: path.to_owned(), text: text.to_owned() };
            return Some(self.after_reading(path, gesture(tool, write)));
        }
        // A patch cannot say that the last line has no end.
        match self.patch() {
            Some(tool) if text.ends_with('\n') => {
                Some(vec![gesture(tool, self.patched(path, Change::Add(text.to_owned())))])
            }
            Some(_) | None => by_shell(),
        }
    }

    fn append(&self, path: &Path, file: &FileContent) -> Option<Vec<Gesture>> {
        self.run(shell::append(path, file.content.bytes())).or_else(|| {
            let text = std::str::from_utf8(file.content.bytes()).ok()?.to_owned();
            let extend = Purpose::Extend { path: path.to_owned(), text };
            Some(self.after_reading(path, gesture(self.named(WRITE)?, extend)))
        })
    }

    fn replace(&self, path: &Path, replacement: &Replacement) -> Option<Vec<Gesture>> {
        let (path, find, replace) = (path.to_owned(), replacement.find.clone(), replacement.replace.clone());
        if let Some(tool) = self.named(EDIT) {
            let edit = Purpose::Replace { path: path.clone(), find, replace };
            return Some(self.after_reading(&path, gesture(tool, edit)));
        }
        if let Some(tool) = self.patch() {
            return Some(vec![gesture(tool, self.patched(&path, Change::Replace { find, replace }))]);
        }
        if let Some(tool) = self.named(WRITE) {
            let rewrite = Purpose::Rewrite { path: path.clone(), find, replace };
            return Some(self.after_reading(&path, gesture(tool, rewrite)));
        }
        self.run(shell::replace(&path, &find, &replace))
    }

    fn delete(&self, path: &Path) -> Option<Vec<Gesture>> {
        match self.patch() {
            Some(tool) if path.is_file() => Some(vec![gesture(tool, self.patched(path, Change::Delete))]),
            Some(_) | None => self.run(shell::delete(path)),
        }
    }

    fn patch(&self) -> Option<&Tool> {
        self.named(PATCH).filter(|tool| tool.kind != Kind::LocalShell)
    }

    fn patched(&self, path: &Path, change: Change) -> Purpose {
        Purpose::Patch { tree: self.info.tree.clone(), path: path.to_owned(), change }
    }

    /// Programs let a file that is there be changed only after it was read.
    fn after_reading(&self, path: &Path, change: Gesture) -> Vec<Gesture> {
        let read = self.named(READ).filter(|_| path.is_file());
        let read = read.map(|tool| gesture(tool, Purpose::Read(path.to_owned())));
        read.into_iter().chain([change]).collect()
    }
}

fn gesture(tool: &Tool, purpose: Purpose) -> Gesture {
    Gesture { tool: tool.clone(), purpose }
}
