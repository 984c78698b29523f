//! Role files of other tools: the parts that are used, the parts that stay Remand's, and the report of unused parts.

use remand_workflow::diagnostic::Diagnostic;
use remand_workflow::foreign::{self, AgentTool, RoleFormat, Unused};
use remand_workflow::permissions::Writable;
use remand_workflow::roles::{RoleSpec, Roles};
use remand_workflow::source::SourceText;
use std::collections::BTreeSet;
use std::path::Path;

fn fixture(name: &str) -> SourceText {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/roles/foreign").join(name);
    SourceText::new(name, std::fs::read_to_string(path).expect("a fixture"))
}

/// The shipped roles with a file for one of them, and the parts of the file that are not used.
fn adopt(title: &str, tool: AgentTool, source: &SourceText) -> Result<(Roles, Vec<Unused>), Vec<Diagnostic>> {
    let mut roles = Roles::shipped();
    let unused = roles.adopt(title, &foreign::read(tool, source)?, source)?;
    Ok((roles, unused))
}

fn render(unused: &[Unused]) -> String {
    unused.iter().map(|unused| format!("line {}: {unused}\n", unused.line)).collect()
}

fn snapshot(name: &str, unused: &[Unused]) {
    insta::with_settings!({ snapshot_path => "snapshots/foreign", prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(name, render(unused));
    });
}

fn permissions(spec: &RoleSpec) -> (BTreeSet<Writable>, bool, bool) {
    (spec.may_write.clone(), spec.shell, spec.network)
}

fn inline(front: &str) -> SourceText {
    SourceText::new("agent.md", format!("---\n{front}\n---\n\nDo it.\n"))
}

// BY-08
#[test]
fn a_subagent_of_claude_code_sets_prompt_and_model_and_narrows_permissions() {
    let (roles, unused) = adopt("reviewer", AgentTool::Claude, &fixture("claude.md")).expect("adopted");
    let (ours, theirs) =
        (Roles::shipped().get("reviewer").cloned().expect("ours"), roles.get("reviewer").expect("a role"));
    assert_eq!(theirs.model.as_deref(), Some("opus"));
    assert_eq!((&theirs.says, &theirs.result, theirs.time), (&ours.says, &ours.result, ours.time));
    assert_eq!(permissions(theirs), (BTreeSet::from([Writable::Report]), true, false));
    assert!(
        theirs.about.starts_with("Use this agent after a change: it looks for holes."),
        "{}",
        theirs.about
    );
    snapshot("claude", &unused);
    let prompt = roles.prompt("reviewer").expect("a prompt");
    assert!(prompt.starts_with("You look for holes in a change.\n"), "{prompt}");
    assert!(prompt.contains("## What you return\n\n- `approve`: nothing above minor."), "{prompt}");
    assert!(!prompt.contains("## Purpose"), "{prompt}");
    assert_eq!(roles.text("reviewer"), Some(fixture("claude.md").text.as_str()), "pinned as it is");
}

// BY-08
#[test]
fn a_custom_agent_of_copilot_grants_what_its_tools_can_do() {
    let (roles, unused) =
        adopt("implementer", AgentTool::Copilot, &fixture("copilot.agent.md")).expect("adopted");
    let ours = Roles::shipped().get("implementer").map(permissions);
    assert_eq!(roles.get("implementer").map(permissions), ours);
    assert_eq!(roles.get("implementer").and_then(|spec| spec.model.as_deref()), Some("GPT-5.2 (copilot)"));
    snapshot("copilot", &unused);
}

// BY-08
#[test]
fn an_agent_of_opencode_is_read_in_all_its_forms() {
    let (roles, unused) = adopt("reviewer", AgentTool::Opencode, &fixture("opencode.md")).expect("adopted");
    assert_eq!(
        roles.get("reviewer").map(permissions),
        Some((BTreeSet::from([Writable::Report]), false, false))
    );
    snapshot("opencode", &unused);
    let (roles, unused) =
        adopt("implementer", AgentTool::Opencode, &fixture("opencode-rules.md")).expect("adopted");
    let places = BTreeSet::from([Writable::Report, Writable::TaskFiles]);
    assert_eq!(roles.get("implementer").map(permissions), Some((places, false, false)));
    snapshot("opencode-rules", &unused);
}

// BY-08
#[test]
fn no_foreign_file_grants_more_than_the_role_has() {
    let everything = [
        (AgentTool::Claude, inline("name: all\ndescription: All.")),
        (AgentTool::Claude, inline("name: all\ntools: [Edit, Write, Bash, WebFetch, WebSearch]")),
        (AgentTool::Copilot, inline("tools: ['*']")),
        (AgentTool::Copilot, inline("tools: edit, execute, web")),
        (AgentTool::Opencode, inline("permission: allow")),
        (AgentTool::Opencode, inline("tools: {write: true, bash: true, webfetch: true}")),
    ];
    for (tool, source) in &everything {
        let names: Vec<String> = Roles::shipped().titles().map(str::to_string).collect();
        for title in names {
            let (roles, _) = adopt(&title, *tool, source).expect("adopted");
            let ours = Roles::shipped();
            for spec in roles.all() {
                let ours = ours.get(&spec.title).expect("ours");
                assert_eq!(permissions(spec), permissions(ours), "{title} by {}", tool.name());
                assert_eq!(
                    (&spec.says, &spec.changes, &spec.lists),
                    (&ours.says, &ours.changes, &ours.lists)
                );
            }
        }
    }
}

// BY-08
#[test]
fn a_file_without_a_tool_for_writing_is_refused_for_a_role_that_changes_code() {
    for (tool, front) in [
        (AgentTool::Claude, "tools: Read, Grep"),
        (AgentTool::Claude, "permissionMode: plan"),
        (AgentTool::Claude, "tools: Edit\ndisallowedTools: Edit"),
        (AgentTool::Claude, "disallowedTools: Edit\ntools: Edit"),
        (AgentTool::Copilot, "tools: []"),
        (AgentTool::Opencode, "permission: {edit: ask}"),
        (AgentTool::Opencode, "tools: {edit: false}"),
    ] {
        let problems = adopt("implementer", tool, &inline(front)).expect_err(front);
        let message = "`implementer` changes code, but the file gives it no tool that writes";
        assert_eq!(problems[0].message, message, "{front}");
    }
}

// BY-08
#[test]
fn a_role_with_modes_keeps_their_sections_and_narrows_each() {
    let source = inline("tools: [Read, Bash]");
    let (roles, unused) = adopt("check", AgentTool::Claude, &source).expect("adopted");
    let prompt = roles.prompt("check/code").expect("a prompt");
    assert!(prompt.starts_with("Do it.\n\n## What you return\n"), "{prompt}");
    assert!(prompt.contains("## Mode: code") && !prompt.contains("## Mode: split"), "{prompt}");
    assert!(roles.all().filter(|spec| spec.title.starts_with("check")).all(|spec| !spec.shell));
    assert_eq!(
        render(&unused),
        "line 2: `Bash` is not used: `check` may not start programs, and a file of another tool can only narrow that\n"
    );
    let (roles, _) = adopt("check/code", AgentTool::Claude, &source).expect("adopted");
    assert_eq!(roles.prompt("check"), Roles::shipped().prompt("check"), "other modes stay ours");
    assert!(roles.prompt("check/code").is_some_and(|prompt| prompt.starts_with("Do it.")));
}

// BY-08
#[test]
fn the_format_follows_from_the_path_or_the_keys() {
    let of = |name: &str, text: &str| foreign::format(&SourceText::new(name, text));
    for (name, tool) in [
        (".claude/agents/x.md", AgentTool::Claude),
        ("/home/a/.claude/agents/deep/x.md", AgentTool::Claude),
        (".github/agents/x.agent.md", AgentTool::Copilot),
        (".github/agents/x.md", AgentTool::Copilot),
        ("elsewhere/x.agent.md", AgentTool::Copilot),
        (".opencode/agent/x.md", AgentTool::Opencode),
        ("p/.opencode/agents/x.md", AgentTool::Opencode),
    ] {
        assert_eq!(of(name, "Do it."), Some(RoleFormat::Of(tool)), "{name}");
    }
    assert_eq!(of("x.md", "---\nabout: A.\nsays: [a]\n---\n"), Some(RoleFormat::Ours));
    assert_eq!(of("x.md", "---\ndisallowedTools: Edit\n---\n"), Some(RoleFormat::Of(AgentTool::Claude)));
    assert_eq!(of("x.md", "---\ntarget: vscode\n---\n"), Some(RoleFormat::Of(AgentTool::Copilot)));
    assert_eq!(of("x.md", "---\nmode: subagent\n---\n"), Some(RoleFormat::Of(AgentTool::Opencode)));
    assert_eq!(of("x.md", "---\nname: x\n---\n"), None);
}

// BY-08
#[test]
fn windows_line_ends_and_a_file_without_front_matter_are_read() {
    let source = fixture("claude.md");
    let windows = SourceText::new("claude.md", source.text.replace('\n', "\r\n"));
    assert_eq!(foreign::read(AgentTool::Claude, &windows), foreign::read(AgentTool::Claude, &source));
    let plain =
        foreign::read(AgentTool::Copilot, &SourceText::new("x.agent.md", "Just do it.\n")).expect("read");
    assert_eq!((plain.body.as_str(), plain.unused.len()), ("Just do it.\n", 0));
    let empty = foreign::read(AgentTool::Claude, &SourceText::new("x.md", "---\nname: x\n---\n"))
        .expect_err("no text");
    assert_eq!(empty[0].message, "the file has no text");
}

// BY-08
#[test]
fn the_effective_role_can_be_written_and_read_again() {
    for name in Roles::shipped().texts().map(|(name, _)| name.to_string()).collect::<Vec<_>>() {
        let roles = Roles::shipped();
        let mut again = Roles::default();
        let text = roles.to_file(&name).expect("a role");
        again.add(&name, &SourceText::new("again.md", text)).expect("accepted");
        let below = format!("{name}/");
        for spec in roles.all().filter(|spec| spec.title == name || spec.title.starts_with(&below)) {
            assert_eq!(again.get(&spec.title), Some(spec));
            assert_eq!(again.prompt(&spec.title), roles.prompt(&spec.title), "{}", spec.title);
        }
    }
    let (roles, _) = adopt("reviewer", AgentTool::Claude, &fixture("claude.md")).expect("adopted");
    let mut again = Roles::default();
    again
        .add("reviewer", &SourceText::new("again.md", roles.to_file("reviewer").expect("a role")))
        .expect("accepted");
    assert_eq!(
        (again.get("reviewer"), again.prompt("reviewer")),
        (roles.get("reviewer"), roles.prompt("reviewer"))
    );
}
