//! The tool names in foreign role files, with the purpose of each tool.
//!
//! Claude Code names tools such as `Edit` and `Bash`; GitHub's aliases are `read`, `edit`, `search`, `execute`, `web`,
//! `agent`, `todo`, in upper or lower case, and VS Code adds names such as `edit/editFiles`; opencode's permissions are
//! `edit`, `bash` (`shell` since version 2), `webfetch`, `websearch`, `task` (`subagent`).

use super::Foreign;
use super::grants::{Grant, ToolGrants, ToolPurpose};
use super::unused::Unused;
use crate::source::Spanned;

/// The purpose of a tool by its name, which may include a group: `edit/editFiles`.
pub(super) fn purpose(name: &str) -> ToolPurpose {
    let name = name.to_ascii_lowercase();
    let group = name.split('/').next().unwrap_or_default();
    match group {
        "edit"
        | "write"
        | "multiedit"
        | "notebookedit"
        | "editfiles"
        | "editnotebook"
        | "create_file"
        | "createfile"
        | "replace_string_in_file"
        | "multi_replace_string_in_file"
        | "insert_edit_into_file"
        | "str_replace"
        | "str_replace_editor"
        | "patch"
        | "apply_patch"
        | "new" => ToolPurpose::Edit,
        "bash" | "shell" | "powershell" | "execute" | "runcommands" | "runinterminal" | "run_in_terminal"
        | "runtasks" | "runtests" | "runnotebooks" | "monitor" => ToolPurpose::Shell,
        "web" | "webfetch" | "websearch" | "fetch" | "fetch_webpage" | "codesearch" | "githubrepo"
        | "opensimplebrowser" => ToolPurpose::Network,
        "read"
        | "view"
        | "notebookread"
        | "grep"
        | "glob"
        | "ls"
        | "list"
        | "search"
        | "codebase"
        | "usages"
        | "problems"
        | "changes"
        | "findtestfiles"
        | "testfailure"
        | "searchresults"
        | "terminallastcommand"
        | "terminalselection"
        | "read_file"
        | "list_dir"
        | "grep_search"
        | "file_search"
        | "semantic_search"
        | "get_errors"
        | "get_terminal_output"
        | "list_code_usages"
        | "bashoutput"
        | "killshell"
        | "lsp"
        | "todo"
        | "todos"
        | "todowrite"
        | "todoread"
        | "think" => ToolPurpose::Read,
        "agent" | "custom-agent" | "task" | "subagent" | "runsubagent" => ToolPurpose::Agents,
        "askuserquestion" | "question" | "ask_questions" => ToolPurpose::Ask,
        "skill" => ToolPurpose::Skill,
        _ => ToolPurpose::Unknown,
    }
}

/// Whether other tools can still do the same if this one is denied.
fn is_replaceable(name: &str) -> bool {
    let replaceable = ["multiedit", "notebookedit", "editnotebook", "powershell", "monitor", "runnotebooks"];
    replaceable.contains(&name.to_ascii_lowercase().as_str())
}

/// Splits off a restriction in parentheses: `Bash(git diff:*)`.
fn split_restriction(word: &str) -> (&str, Option<&str>) {
    match word.split_once('(') {
        Some((name, rest)) => (name.trim(), Some(rest.trim_end_matches(')').trim())),
        None => (word.trim(), None),
    }
}

/// Grants only the listed tools. `*` changes nothing.
pub(super) fn allow(foreign: &mut Foreign, words: &[Spanned<String>]) {
    if words.iter().any(|word| word.value == "*") {
        return;
    }
    foreign.grants = ToolGrants::NONE;
    for word in words {
        let (name, restriction) = split_restriction(&word.value);
        let purpose = purpose(name);
        match (foreign.grants.grant_for(purpose), restriction) {
            (Some(grant), None) => *grant = Grant::Given(word.clone()),
            (Some(grant), Some(_)) => {
                *grant = Grant::Given(word.clone());
                let reason = format!("`{name}` is granted as a whole; the sandbox limits what it can do");
                foreign.unused.push(Unused::new(&word.value, reason, word.span));
            }
            (None, _) => foreign.unused.extend(unused_tool(purpose, word)),
        }
    }
}

/// Denies a list of tools, even if the file grants them elsewhere.
pub(super) fn deny(foreign: &mut Foreign, words: &[Spanned<String>]) {
    for word in words {
        let (name, restriction) = split_restriction(&word.value);
        match (foreign.grants.grant_for(purpose(name)), restriction) {
            (Some(grant), None) if !is_replaceable(name) => *grant = Grant::Denied,
            (Some(_), None) => {
                let reason = "other tools can do the same; deny them too, or rely on the role";
                foreign.unused.push(Unused::new(&word.value, reason, word.span));
            }
            (Some(_), Some(_)) => {
                let reason =
                    format!("`{name}` is granted or denied as a whole; deny it, or rely on the sandbox");
                foreign.unused.push(Unused::new(&word.value, reason, word.span));
            }
            (None, _) if purpose(name) == ToolPurpose::Read => {
                foreign.unused.push(Unused::new(
                    &word.value,
                    "every role may read, search and keep to-do lists",
                    word.span,
                ));
            }
            (None, _) if purpose(name) == ToolPurpose::Unknown => {
                foreign.unused.extend(unused_tool(ToolPurpose::Unknown, word));
            }
            // No agent gets other agents, questions or skills, so denying them changes nothing.
            (None, _) => {}
        }
    }
}

/// The entry for a tool that is not used, with the reason; `None` if the tool is used.
pub(super) fn unused_tool(purpose: ToolPurpose, word: &Spanned<String>) -> Option<Unused> {
    let is_from_server = word.value.starts_with("mcp_") || word.value.contains('/');
    let reason = match purpose {
        ToolPurpose::Edit | ToolPurpose::Shell | ToolPurpose::Network | ToolPurpose::Read => return None,
        ToolPurpose::Agents => "a dispatch cannot start other agents",
        ToolPurpose::Ask => "there is nobody to ask; a role reports what it lacks by its verdict",
        ToolPurpose::Skill => "skills are not loaded; put what is needed into the text",
        ToolPurpose::Unknown if is_from_server => "an agent gets no servers other than the engine's",
        ToolPurpose::Unknown => "Remand does not know this tool",
    };
    Some(Unused::new(&word.value, reason, word.span))
}
