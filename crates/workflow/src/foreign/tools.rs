//! The names of tools in role files of other tools, by what they can do.
//!
//! Claude Code names tools such as `Edit` and `Bash`; GitHub's aliases are `read`, `edit`, `search`, `execute`, `web`,
//! `agent`, `todo`, without regard to case, and VS Code adds names such as `edit/editFiles`; opencode's permissions are
//! `edit`, `bash` (`shell` since version 2), `webfetch`, `websearch`, `task` (`subagent`).

use super::Foreign;
use super::grants::{Grant, Grants};
use super::unused::Unused;
use crate::source::At;

/// What a tool is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Edit,
    Shell,
    Network,
    /// Reading and searching, and lists of things to do: every role may.
    Look,
    /// Other agents.
    Agents,
    /// Questions to a human.
    Ask,
    Skill,
    Unknown,
}

/// The kind of a tool by its name, which may be one of a group: `edit/editFiles`.
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

/// A tool without which the ability is still there.
fn is_special(name: &str) -> bool {
    let special = ["multiedit", "notebookedit", "editnotebook", "powershell", "monitor", "runnotebooks"];
    special.contains(&name.to_ascii_lowercase().as_str())
}

/// A tool with a restriction in brackets, taken apart: `Bash(git diff:*)`.
fn restricted(word: &str) -> (&str, Option<&str>) {
    match word.split_once('(') {
        Some((name, rest)) => (name.trim(), Some(rest.trim_end_matches(')').trim())),
        None => (word.trim(), None),
    }
}

/// Takes a list of tools that an agent is given; nothing else is.
pub(super) fn allow(foreign: &mut Foreign, words: &[At<String>]) {
    if words.iter().any(|word| word.it == "*") {
        return;
    }
    foreign.grants = Grants::NONE;
    for word in words {
        let (name, only) = restricted(&word.it);
        let kind = kind(name);
        match (foreign.grants.of(kind), only) {
            (Some(grant), None) => *grant = Grant::Given(word.clone()),
            (Some(grant), Some(_)) => {
                *grant = Grant::Given(word.clone());
                let reason = format!("`{name}` is given or not; what it is used for is held by the sandbox");
                foreign.unused.push(Unused::new(&word.it, reason, word.span));
            }
            (None, _) => foreign.unused.extend(pointless(kind, word)),
        }
    }
}

/// Takes a list of tools that an agent is not given, whatever else is said.
pub(super) fn deny(foreign: &mut Foreign, words: &[At<String>]) {
    for word in words {
        let (name, only) = restricted(&word.it);
        match (foreign.grants.of(kind(name)), only) {
            (Some(grant), None) if !is_special(name) => *grant = Grant::Denied,
            (Some(_), None) => {
                let reason = "others of its kind are left; deny them too, or rely on the role";
                foreign.unused.push(Unused::new(&word.it, reason, word.span));
            }
            (Some(_), Some(_)) => {
                let reason = format!("`{name}` is given or not; deny all of it, or rely on the sandbox");
                foreign.unused.push(Unused::new(&word.it, reason, word.span));
            }
            // Agents, questions, skills and servers are given to nobody, so taking them away is heeded.
            (None, _) if kind(name) == Kind::Look => {
                foreign.unused.push(Unused::new(
                    &word.it,
                    "every role may read, search and keep lists",
                    word.span,
                ));
            }
            (None, _) => {}
        }
    }
}

/// Why a tool that no permission stands for has no meaning here.
pub(super) fn pointless(kind: Kind, word: &At<String>) -> Option<Unused> {
    let is_served = word.it.starts_with("mcp_") || word.it.contains('/');
    let reason = match kind {
        Kind::Edit | Kind::Shell | Kind::Network | Kind::Look => return None,
        Kind::Agents => "a dispatch starts no other agents",
        Kind::Ask => "nobody is there to be asked; a role says what it lacks by its verdict",
        Kind::Skill => "skills are not loaded; write into the text what is needed",
        Kind::Unknown if is_served => "an agent is given no servers besides the engine's",
        Kind::Unknown => "remand does not know this tool",
    };
    Some(Unused::new(&word.it, reason, word.span))
}
