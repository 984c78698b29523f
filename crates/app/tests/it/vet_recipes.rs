//! The recipes for `remand vet` in `examples/vet`, run as their users run them.

use crate::place::{Place, Shown, shown};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

pub fn recipe(name: &str) -> PathBuf {
    crate::root().join("examples/vet").join(name).canonicalize().expect("a recipe")
}

/// A repository whose branch `work` has a commit that breaks a test, and whose branch `fine` has none.
fn project() -> Place {
    let place = Place::new().without_agents();
    place.git(&["checkout", "-q", "-b", "fine"]);
    place.write("sums/add.py", "def add(a, b):\n    return b + a\n");
    place.git(&["commit", "-qam", "b + a"]);
    place.git(&["checkout", "-q", "work"]);
    place.write("sums/add.py", "def add(a, b):\n    return a - b\n");
    place.git(&["commit", "-qam", "a - b"]);
    place
}

/// A command that finds `remand` on its path, as after an installation.
pub fn with_remand(place: &Place, program: &str, arguments: &[&str]) -> Command {
    let folder = place.state().join("../bin");
    fs::create_dir_all(&folder).expect("a folder");
    let link = folder.join("remand");
    if !link.exists() {
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_remand"), &link).expect("a link");
    }
    // The environment of a command of `remand`, for another program.
    let template = place.command(&[]);
    let mut command = Command::new(program);
    command.env_clear().envs(template.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").expect("PATH"));
    command.env("PATH", path).args(arguments).current_dir(place.project());
    command
}

/// The shell lines of a step in a file of GitHub or GitLab: those after a key, indented deeper than it.
fn lines_after(file: &str, key: &str) -> String {
    let text = fs::read_to_string(recipe(file)).expect("a recipe");
    let mut lines = text.lines().skip_while(|line| line.trim() != key);
    let indent = |line: &str| line.len() - line.trim_start().len();
    let start = indent(lines.next().expect("the key"));
    let inside = lines.take_while(|line| line.trim().is_empty() || indent(line) > start);
    let commands = inside.map(|line| line.trim().strip_prefix("- ").unwrap_or(line.trim()).to_string());
    commands.filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n")
}

fn steps(place: &Place, script: &str, variables: &[(&str, String)]) -> Shown {
    let mut command = with_remand(place, "sh", &["-e", "-c", script]);
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    shown(command)
}

// BY-02
#[test]
fn the_pre_push_hook_judges_the_pushed_branch_and_not_the_checkout() {
    let place = project();
    let remote = place.state().join("../remote.git").display().to_string();
    place.git(&["init", "-q", "--bare", &remote]);
    place.git(&["remote", "add", "origin", &remote]);
    let hook = place.project().join(".git/hooks/pre-push");
    fs::copy(recipe("pre-push"), &hook).expect("a hook");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).expect("a program");
    let push = |arguments: &[&str]| {
        shown(with_remand(&place, "git", &[&["push", "-q", "origin"], arguments].concat()))
    };
    let main = push(&["main"]);
    assert_eq!(main.code, 0, "{}{}", main.out, main.err);
    let broken = push(&["work"]);
    assert_ne!(broken.code, 0, "{}{}", broken.out, broken.err);
    assert!(broken.out.contains("FAIL") || broken.err.contains("FAIL"), "{}{}", broken.out, broken.err);
    assert!(!place.git(&["ls-remote", &remote]).contains("refs/heads/work"), "nothing was pushed");
    let fine = push(&["fine"]);
    assert_eq!(
        fine.code, 0,
        "the checkout is broken, and the pushed branch is not: {}{}",
        fine.out, fine.err
    );
    place.git(&["branch", "-q", "-f", "fine", "work"]);
    assert_ne!(push(&["fine"]).code, 0, "an update of a branch is judged from its last push");
    assert_eq!(push(&["--delete", "fine"]).code, 0, "a deleted branch has nothing to judge");
    place.git(&["branch", "-q", "-f", "fine", "work~1"]);
    place.git(&["tag", "-a", "-m", "a tag", "broken", "work"]);
    for refs in [&["fine", "work"][..], &["work", "fine"], &["fine", "broken"]] {
        let several = push(refs);
        assert!(
            several.code != 0 && several.out.contains("FAIL"),
            "{refs:?}: {}{}",
            several.out,
            several.err
        );
    }
    assert_eq!(push(&["fine", "main"]).code, 0, "several branches of which none is broken");
    // A change that cannot be judged here is not a bad one.
    place.git(&["checkout", "-q", "main"]);
    place.write("remand.toml", "[checks.absent]\ncommand = \"absent-program --check\"\n");
    place.git(&["add", "-A"]);
    place.git(&["commit", "-qm", "A check that cannot run"]);
    place.git(&["push", "-q", "--no-verify", "origin", "main"]);
    place.git(&["checkout", "-q", "-b", "fresh"]);
    place.write("sums/add.py", "def add(a, b):\n    return 0 + a + b\n");
    place.git(&["commit", "-qam", "0 + a + b"]);
    let unjudged = push(&["fresh"]);
    assert!(unjudged.code == 0 && unjudged.out.contains("BLOCKED"), "{}{}", unjudged.out, unjudged.err);
}

// BY-02
#[test]
fn the_hook_works_in_a_linked_work_tree() {
    let place = project();
    let linked = place.state().join("../linked");
    place.git(&["worktree", "add", "-q", &linked.display().to_string(), "fine"]);
    let here = shown(with_remand(&place, "remand", &["vet"]));
    let there = shown(with_remand(&place, "remand", &["-C", &linked.display().to_string(), "vet"]));
    assert_eq!((here.code, there.code), (10, 0), "{}{}\n{}{}", here.out, here.err, there.out, there.err);
    fs::write(linked.join("sums/add.py"), "def add(a, b):\n    return 0\n").expect("a file");
    let uncommitted =
        shown(with_remand(&place, "remand", &["-C", &linked.display().to_string(), "vet", "--uncommitted"]));
    assert_eq!(uncommitted.code, 10, "{}{}", uncommitted.out, uncommitted.err);
}

// BY-02
#[test]
fn the_step_for_github_annotates_and_writes_its_reports() {
    let place = project();
    let script = lines_after("github-actions.yml", "run: |");
    let summary = place.state().join("../summary.md");
    for (head, code) in [("work", 10), ("fine", 0)] {
        let variables = [
            ("BASE", place.git(&["rev-parse", "main"]).trim().to_string()),
            ("HEAD", place.git(&["rev-parse", head]).trim().to_string()),
            ("GITHUB_STEP_SUMMARY", summary.display().to_string()),
        ];
        let ended = steps(&place, &script, &variables);
        assert_eq!(ended.code, code, "{}{}", ended.out, ended.err);
        assert!(ended.out.lines().all(|line| line.starts_with("::")), "{}", ended.out);
        assert!(fs::read_to_string(&summary).expect("a summary").starts_with("## Remand: "));
        let sarif = fs::read_to_string(place.project().join("vet.sarif")).expect("SARIF");
        let sarif: Value = serde_json::from_str(&sarif).expect("JSON");
        let results = sarif["runs"][0]["results"].as_array().expect("results").len();
        assert_eq!(results > 0, code == 10);
        assert!(place.project().join("vet.intoto.json").exists());
    }
}

// BY-02
#[test]
fn a_variable_of_the_pipeline_releases_tests() {
    let place = Place::new().without_agents();
    place.write("tests/test_add.py", "import unittest\n\n\nclass OtherTest(unittest.TestCase):\n    def test_other(self):\n        self.assertEqual(1 + 1, 2)\n");
    place.git(&["commit", "-qam", "Other tests"]);
    let commit = |revision: &str| place.git(&["rev-parse", revision]).trim().to_string();
    let (base, head) = (commit("main"), commit("HEAD"));
    let summary = place.state().join("../summary.md").display().to_string();
    for (file, key, variable) in
        [("github-actions.yml", "run: |", "RELEASES"), ("gitlab-ci.yml", "script:", "VET_RELEASES")]
    {
        for (releases, code) in [("", 10), ("docs/a b.txt;tests/test_add.py", 0)] {
            let variables = [
                ("BASE", base.clone()),
                ("HEAD", head.clone()),
                ("CI_MERGE_REQUEST_DIFF_BASE_SHA", base.clone()),
                ("CI_COMMIT_SHA", head.clone()),
                ("GITHUB_STEP_SUMMARY", summary.clone()),
                (variable, releases.to_string()),
            ];
            let ended = steps(&place, &lines_after(file, key), &variables);
            assert_eq!(ended.code, code, "{file} with `{releases}`: {}{}", ended.out, ended.err);
        }
    }
}

// BY-02
#[test]
fn the_step_for_gitlab_writes_its_reports() {
    let place = project();
    let script = lines_after("gitlab-ci.yml", "script:");
    let variables = [
        ("CI_MERGE_REQUEST_DIFF_BASE_SHA", place.git(&["rev-parse", "main"]).trim().to_string()),
        ("CI_COMMIT_SHA", place.git(&["rev-parse", "work"]).trim().to_string()),
    ];
    let ended = steps(&place, &script, &variables);
    assert_eq!(ended.code, 10, "{}{}", ended.out, ended.err);
    let junit = fs::read_to_string(place.project().join("vet.xml")).expect("JUnit");
    assert!(junit.contains("<testsuites name=\"remand vet\""), "{junit}");
}

// BY-02
#[test]
fn the_stop_hooks_of_claude_code_and_codex_run_the_same_command() {
    let place = project();
    for file in ["claude-settings.json", "codex-hooks.json"] {
        let text = fs::read_to_string(recipe(file)).expect("a recipe");
        let settings: Value = serde_json::from_str(&text).expect("JSON");
        let command =
            settings["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().expect("a command").to_string();
        let message =
            place.write_outside("message.json", r#"{"hook_event_name": "Stop", "stop_hook_active": false}"#);
        let ended = steps(&place, &format!("{command} < {message}"), &[]);
        let is_first = file == "claude-settings.json";
        assert_eq!(
            (ended.code, ended.out.contains("\"block\"")),
            (0, is_first),
            "{}{}",
            ended.out,
            ended.err
        );
    }
}

// BY-02
#[test]
fn the_plugin_of_opencode_prompts_the_session_once() {
    let place = project();
    let plugin =
        place.write_outside("vet.mjs", &fs::read_to_string(recipe("opencode-vet.js")).expect("a recipe"));
    let script = format!(
        "const {{ Vet }} = await import({:?});\nconst said = [];\n\
         const client = {{ session: {{ prompt: async (message) => said.push(message) }} }};\n\
         const hooks = await Vet({{ client, directory: process.cwd() }});\n\
         for (const type of [\"session.updated\", \"session.idle\", \"session.idle\", \"session.idle\"])\n  \
         await hooks.event({{ event: {{ type, properties: {{ sessionID: \"one\" }} }} }});\n\
         console.log(JSON.stringify(said));\n",
        Path::new(&plugin)
    );
    let driver = place.write_outside("driver.mjs", &script);
    let ended = shown(with_remand(&place, "node", &[&driver]));
    assert_eq!(ended.code, 0, "{}{}", ended.out, ended.err);
    let said: Value = serde_json::from_str(&ended.out).expect("JSON");
    assert_eq!(said.as_array().map(Vec::len), Some(1), "{said:#}");
    assert_eq!(said[0]["path"]["id"], "one");
    assert!(
        said[0]["body"]["parts"][0]["text"].as_str().is_some_and(|text| text.contains("Look at")),
        "{said:#}"
    );
}
