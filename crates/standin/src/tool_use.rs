//! One use of a tool. Its arguments are computed in the turn that uses it, from the files at that moment.

use crate::conversation::{OfferedTool, ToolKind};
use crate::schema;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const PATH: &[&str] = &["path", "filepath", "absolutepath"];
const CONTENT: &[&str] = &["content", "contents", "filetext"];
const COMMAND: &[&str] = &["command", "cmd"];
/// How long a shell waits for a command before it moves the command to the background.
const YIELD_TIME: &[&str] = &["yieldtimems"];
const OLD: &[&str] = &["oldstring", "oldstr", "oldtext"];
const NEW: &[&str] = &["newstring", "newstr", "newtext"];

/// A tool and its purpose.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolUse {
    pub tool: OfferedTool,
    pub purpose: Purpose,
}

/// What a tool is used for.
#[derive(Clone, Debug, PartialEq)]
pub enum Purpose {
    Run(String),
    Read(PathBuf),
    Write {
        path: PathBuf,
        text: String,
    },
    /// Writes the content of the file with a string appended.
    Extend {
        path: PathBuf,
        text: String,
    },
    Replace {
        path: PathBuf,
        find: String,
        replace: String,
    },
    /// Writes the content of the file with a string replaced.
    Rewrite {
        path: PathBuf,
        find: String,
        replace: String,
    },
    /// A patch in the format of Codex; paths inside the tree are relative to it.
    Patch {
        tree: PathBuf,
        path: PathBuf,
        change: PatchChange,
    },
    Submit(Value),
}

/// What a patch does to its file.
#[derive(Clone, Debug, PartialEq)]
pub enum PatchChange {
    Add(String),
    Replace { find: String, replace: String },
    Delete,
}

impl ToolUse {
    /// The arguments: an object that matches the tool's schema, or a string for a freeform tool.
    pub fn arguments(&self) -> Value {
        let arguments = |known: &[(&[&str], Value)]| schema::arguments(&self.tool.schema, known);
        match &self.purpose {
            Purpose::Run(command) if self.tool.kind == ToolKind::LocalShell => json!(["bash", "-c", command]),
            Purpose::Run(command) => arguments(&[(COMMAND, json!(command)), (YIELD_TIME, json!(30_000))]),
            Purpose::Read(path) => arguments(&[(PATH, json!(path))]),
            Purpose::Write { path, text } => arguments(&[(PATH, json!(path)), (CONTENT, json!(text))]),
            Purpose::Extend { path, text } => {
                arguments(&[(PATH, json!(path)), (CONTENT, json!(file_content(path) + text))])
            }
            Purpose::Replace { path, find, replace } => {
                arguments(&[(PATH, json!(path)), (OLD, json!(find)), (NEW, json!(replace))])
            }
            Purpose::Rewrite { path, find, replace } => {
                let text = file_content(path).replacen(find, replace, 1);
                arguments(&[(PATH, json!(path)), (CONTENT, json!(text))])
            }
            Purpose::Patch { tree, path, change } => patch_arguments(&self.tool, tree, path, change),
            Purpose::Submit(result) => submit_arguments(&self.tool.schema, result),
        }
    }
}

/// The content of a file. It is empty if the file is unreadable, so that the program reports the problem.
fn file_content(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

fn submit_arguments(schema: &Value, result: &Value) -> Value {
    match schema.pointer("/properties/result") {
        Some(_) => schema::arguments(schema, &[(&["result"], result.clone())]),
        None => result.clone(),
    }
}

fn patch_arguments(tool: &OfferedTool, tree: &Path, path: &Path, change: &PatchChange) -> Value {
    let name = path.strip_prefix(tree).unwrap_or(path).display();
    let lines =
        |sign: char, text: &str| -> String { text.lines().map(|line| format!("{sign}{line}\n")).collect() };
    let body = match change {
        PatchChange::Add(text) => format!("*** Add File: {name}\n{}", lines('+', text)),
        PatchChange::Delete => format!("*** Delete File: {name}\n"),
        PatchChange::Replace { find, replace } => {
            let (old, new) = whole_lines(&file_content(path), find, replace);
            format!("*** Update File: {name}\n@@\n{}{}", lines('-', &old), lines('+', &new))
        }
    };
    let text = format!("*** Begin Patch\n{body}*** End Patch\n");
    match tool.kind {
        ToolKind::Freeform => json!(text),
        ToolKind::Function | ToolKind::LocalShell => {
            schema::arguments(&tool.schema, &[(&["input", "patch"], json!(text))])
        }
    }
}

/// The whole lines around a string, before and after its replacement.
fn whole_lines(content: &str, find: &str, replace: &str) -> (String, String) {
    let Some(at) = content.find(find) else { return (find.to_owned(), replace.to_owned()) };
    let start = content[..at].rfind('\n').map_or(0, |line| line + 1);
    let after = at + find.len();
    let end = if find.ends_with('\n') {
        after
    } else {
        content[after..].find('\n').map_or(content.len(), |line| after + line)
    };
    let (head, tail) = (&content[start..at], &content[after..end]);
    (content[start..end].to_owned(), format!("{head}{replace}{tail}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_contains_whole_lines() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, "fn a() {\n    one();\n    two();\n}\n").unwrap();
        let tool = OfferedTool {
            name: "apply_patch".to_owned(),
            namespace: None,
            kind: ToolKind::Freeform,
            schema: Value::Null,
        };
        let change = PatchChange::Replace { find: "one();\n    t".to_owned(), replace: "T".to_owned() };
        let tree = file.path().parent().unwrap().to_owned();
        let purpose = Purpose::Patch { tree, path: file.path().to_owned(), change };
        let name = file.path().file_name().unwrap().display();
        let expected = format!(
            "*** Begin Patch\n*** Update File: {name}\n@@\n-    one();\n-    two();\n+    Two();\n*** End Patch\n"
        );
        assert_eq!(ToolUse { tool, purpose }.arguments(), json!(expected));
    }

    #[test]
    fn a_result_is_passed_as_the_argument_result_or_as_all_arguments() {
        let result = json!({"agent": "a"});
        let object = json!({"type": "object", "properties": {"result": {"type": "object"}}});
        assert_eq!(submit_arguments(&object, &result), json!({"result": {"agent": "a"}}));
        let string = json!({"type": "object", "properties": {"result": {"type": "string"}}});
        assert_eq!(submit_arguments(&string, &result), json!({"result": "{\"agent\":\"a\"}"}));
        assert_eq!(submit_arguments(&json!({"type": "object"}), &result), result);
    }
}
