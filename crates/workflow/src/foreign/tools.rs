//! The tool names in foreign role files, by what the tools can do.
//!
//! Claude Code names tools such as `Edit` and `Bash`; GitHub's aliases are `read`, `edit`, `search`, `execute`, `web`,
//! `agent`, `todo`, in any case, and VS Code adds names such as `edit/editFiles`; opencode's permissions are
//! `edit`, `bash` (`shell` since version 2), `webfetch`, `websearch`, `task` (`subagent`).

use super::Foreign;
use super::grants::{Grant, Kind, ToolGrants};
use super::unused::Unused;
use crate::source::Spanned;

/// The kind of a tool by its name, which may include a group: `edit/editFiles`.
pub(super) fn kind(name: &str) -> Kind {
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
        | "new" => Kind::Edit,
        "bash" | "shell" | "powershell" | "execute" | "runcommands" | "runinterminal" | "run_in_terminal"
        | "runtasks" | "runtests" | "runnotebooks" | "monitor" => Kind::Shell,
        "web" | "webfetch" | "websearch" | "fetch" | "fetch_webpage" | "codesearch" | "githubrepo"
        | "opensimplebrowser" => Kind::Network,
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
        | "think" => Kind::Look,
        "agent" | "custom-agent" | "task" | "subagent" | "runsubagent" => Kind::Agents,
        "askuserquestion" | "question" | "ask_questions" => Kind::Ask,
        "skill" => Kind::Skill,
        _ => Kind::Unknown,
    }
}

/// Whether other tools still provide the ability if this one is denied.
fn is_special(name: &str) -> bool {
    let special = ["multiedit", "notebookedit", "editnotebook", "powershell", "monitor", "runnotebooks"];
    special.contains(&name.to_ascii_lowercase().as_str())
}

/// Splits off a restriction in parentheses: `Bash(git diff:*)`.
fn restricted(word: &str) -> (&str, Option<&str>) {
    match word.split_once('(') {
        Some((name, rest)) => (name.trim(), Some(rest.trim_end_matches(')').trim())),
        None => (word.trim(), None),
    }
}

/// Grants the listed tools and nothing else; `*` changes nothing.
pub(super) fn allow(foreign: &mut Foreign, words: &[Spanned<String>]) {
    if words.iter().any(|word| word.it == "*") {
        return;
    }
    foreign.grants = ToolGrants::NONE;
    for word in words {
        let (name, only) = restricted(&word.it);
        let kind = kind(name);
        match (foreign.grants.of(kind), only) {
            (Some(grant), None) => *grant = Grant::Given(word.clone()),
            (Some(grant), Some(_)) => {
                *grant = Grant::Given(word.clone());
                let reason = format!("`{name}` is granted as a whole; the sandbox limits what it can do");
                foreign.unused.push(Unused::new(&word.it, reason, word.span));
            }
            (None, _) => foreign.unused.extend(unused_tool(kind, word)),
        }
    }
}

/// Denies a list of tools, whatever else the file says.
pub(super) fn deny(foreign: &mut Foreign, words: &[Spanned<String>]) {
    for word in words {
        let (name, only) = restricted(&word.it);
        match (foreign.grants.of(kind(name)), only) {
            (Some(grant), None) if !is_special(name) => *grant = Grant::Denied,
            (Some(_), None) => {
                let reason = "other tools can do the same; deny them too, or rely on the role";
                foreign.unused.push(Unused::new(&word.it, reason, word.span));
            }
            (Some(_), Some(_)) => {
                let reason =
                    format!("`{name}` is granted or denied as a whole; deny it, or rely on the sandbox");
                foreign.unused.push(Unused::new(&word.it, reason, word.span));
            }
            // No agent gets other agents, questions, skills or servers, so denying them changes nothing.
            (None, _) if kind(name) == Kind::Look => {
                foreign.unused.push(Unused::new(
                    &word.it,
                    "every role may read, search and keep to-do lists",
                    word.span,
                ));
            }
            (None, _) => {}
        }
    }
}

/// Why a tool that corresponds to no permission has no meaning here.
pub(super) fn unused_tool(kind: Kind, word: &Spanned<String>) -> Option<Unused> {
    let is_served = word.it.starts_with("mcp_") || word.it.contains('/');
    let reason = match kind {
        Kind::Edit | Kind::Shell | Kind::Network | Kind::Look => return None,
        Kind::Agents => "a dispatch cannot start other agents",
        Kind::Ask => "there is nobody to ask; a role reports what it lacks by its verdict",
        Kind::Skill => "skills are not loaded; put what is needed into the text",
        Kind::Unknown if is_served => "an agent gets no servers other than the engine's",
        Kind::Unknown => "remand does not know this tool",
    };
    Some(Unused::new(&word.it, reason, word.span))
}
