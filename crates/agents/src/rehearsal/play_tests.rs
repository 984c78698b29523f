//! Scripted agents as real processes: this test binary plays a script if an environment variable is set.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::*;
use remand_contract::{Expectation, SchemaId};
use remand_process::{Cancel, Exit, JobEnd, ProcessJob, run};
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

const SCRIPT_VARIABLE: &str = "REMAND_TEST_SCRIPT";

/// Acts as the agent if the variable is set, and does nothing otherwise.
#[test]
fn plays_the_script_if_the_variable_is_set() {
    let Some(script) = std::env::var_os(SCRIPT_VARIABLE) else { return };
    let script = Script::load(Path::new(&script)).expect("a script");
    std::process::exit(play(&script, &DispatchInfo::load().expect("a dispatch")));
}

struct Stage {
    folder: tempfile::TempDir,
}

impl Stage {
    fn new() -> Stage {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("tree")).unwrap();
        Stage { folder }
    }

    fn tree(&self, path: &str) -> PathBuf {
        self.folder.path().join("tree").join(path)
    }

    fn info(&self) -> DispatchInfo {
        DispatchInfo {
            run: "run-1".to_owned(),
            phase: "build".to_owned(),
            role: "maker".to_owned(),
            task: None,
            item: Some("t1".to_owned()),
            instance: None,
            round: 1,
            attempt: 2,
            result: self.folder.path().join("result.json"),
            tree: self.folder.path().join("tree"),
            folder: self.folder.path().to_owned(),
        }
    }

    fn result(&self) -> String {
        fs::read_to_string(self.folder.path().join("result.json")).expect("a result")
    }

    fn job(&self, entry: &str) -> ProcessJob {
        let script = self.folder.path().join("script.yaml");
        fs::write(&script, format!("rehearsal: 1\nabout: a test\ndispatches:\n- role: maker\n{entry}"))
            .unwrap();
        let info = self.folder.path().join("dispatch.json");
        fs::write(&info, serde_json::to_vec(&self.info()).unwrap()).unwrap();
        let exe = std::env::current_exe().unwrap();
        let arguments = [
            "--exact",
            "rehearsal::play_tests::plays_the_script_if_the_variable_is_set",
            "--nocapture",
            "--quiet",
        ];
        let marker = format!("play-{}", self.folder.path().display());
        let mut job = ProcessJob::new([exe.as_os_str()], self.folder.path(), marker).inherit(&["PATH"]);
        job.argv.extend(arguments.map(Into::into));
        job.environment.insert(SCRIPT_VARIABLE.into(), script.into());
        job.environment.insert(DISPATCH.into(), info.into());
        job.limits.grace = Duration::from_millis(200);
        job.limits.time = Duration::from_secs(60);
        job
    }

    fn play(&self, entry: &str) -> JobEnd {
        run(&self.job(entry), &Cancel::new()).expect("starts")
    }
}

#[test]
fn files_are_written_changed_and_removed() {
    let stage = Stage::new();
    fs::write(stage.tree("old.txt"), "one two three").unwrap();
    fs::create_dir(stage.tree("gone")).unwrap();
    fs::write(stage.tree("gone/inner"), "").unwrap();
    let done = stage.play(
        "  do:\n\
         \x20 - write: {path: src/new.rs, text: \"fn main() {}\\n\"}\n\
         \x20 - append: {path: src/new.rs, text: \"// end\\n\"}\n\
         \x20 - write: {path: bytes, base64: AP8Q}\n\
         \x20 - patch: {path: old.txt, find: two, replace: 2}\n\
         \x20 - delete: gone\n\
         \x20 - mkdir: empty/folder\n\
         \x20 - symlink: {path: link, target: old.txt}\n\
         \x20 - symlink: {path: link, target: src/new.rs}\n\
         \x20 - chmod: {path: src/new.rs, mode: 755}\n",
    );
    assert_eq!(done.exit, Exit::Code(0), "{}", done.stderr.text());
    assert_eq!(fs::read_to_string(stage.tree("src/new.rs")).unwrap(), "fn main() {}\n// end\n");
    assert_eq!(fs::read(stage.tree("bytes")).unwrap(), [0, 255, 16]);
    assert_eq!(fs::read_to_string(stage.tree("old.txt")).unwrap(), "one 2 three");
    assert!(!stage.tree("gone").exists() && stage.tree("empty/folder").is_dir());
    assert_eq!(fs::read_link(stage.tree("link")).unwrap(), Path::new("src/new.rs"));
    assert_eq!(fs::metadata(stage.tree("src/new.rs")).unwrap().permissions().mode() & 0o777, 0o755);
}

#[test]
fn paths_may_lead_out_of_the_tree_so_scripts_can_break_rules() {
    let stage = Stage::new();
    let absolute = stage.folder.path().join("absolute");
    let entry = format!(
        "  do:\n  - write: {{path: ../outside, text: x}}\n  - write: {{path: {}, text: y}}\n",
        absolute.display()
    );
    assert_eq!(stage.play(&entry).exit, Exit::Code(0));
    assert_eq!(fs::read_to_string(stage.folder.path().join("outside")).unwrap(), "x");
    assert_eq!(fs::read_to_string(absolute).unwrap(), "y");
}

#[test]
fn a_patch_whose_text_does_not_occur_exactly_once_stops_the_dispatch() {
    let stage = Stage::new();
    fs::write(stage.tree("a"), "x x").unwrap();
    let done =
        stage.play("  do:\n  - patch: {path: a, find: x, replace: y}\n  - write: {path: b, text: b}\n");
    assert_eq!(done.exit, Exit::Code(FAILED));
    assert_eq!(
        done.stderr.text().trim(),
        "rehearsal: patch a: the text to find occurs 2 times; it must occur exactly once"
    );
    assert!(!stage.tree("b").exists());
}

#[test]
fn an_entry_that_continues_after_failures_tries_every_action() {
    let stage = Stage::new();
    let done = stage.play(
        "  on-failure: go-on\n  do:\n  - read: missing\n  - delete: missing\n  - read: .\n  - write: {path: b, text: b}\n",
    );
    assert_eq!(done.exit, Exit::Code(0));
    let text = done.stderr.text().into_owned();
    assert!(
        text.contains("read missing: ") && text.contains("delete missing: ") && text.lines().count() == 2,
        "{text}"
    );
    assert!(stage.tree("b").exists());
}

#[test]
fn commands_run_in_the_tree_and_their_exit_status_is_printed() {
    let stage = Stage::new();
    let done =
        stage.play("  do:\n  - print: first\n  - run: 'pwd; echo x >made; exit 3'\n  - run: kill -9 $$\n");
    assert_eq!(done.exit, Exit::Code(0));
    let tree = stage.tree("").canonicalize().unwrap();
    let expected = format!("first\n{}\n", tree.display());
    assert!(done.stdout.text().ends_with(&expected), "{}", done.stdout.text());
    assert!(done.stderr.text().contains("exit 3") && done.stderr.text().contains("signal 9"));
    assert!(stage.tree("made").exists());
}

#[test]
fn printed_lines_errors_and_answers_go_to_their_streams() {
    let stage = Stage::new();
    let done = stage.play("  do:\n  - print: to out\n  - error: to err\n  - answer: |\n      done\n\n      ```json\n      {}\n      ```\n");
    assert!(done.stdout.text().ends_with("to out\ndone\n\n```json\n{}\n```\n"), "{}", done.stdout.text());
    assert_eq!(done.stderr.text(), "to err\n");
}

#[test]
fn a_result_gets_a_header_unless_it_is_raw() {
    let stage = Stage::new();
    stage.play("  do:\n  - result: {payload: {findings: [{id: F1}], verdict: needs-revision}}\n");
    let result: serde_json::Value = serde_json::from_str(&stage.result()).unwrap();
    assert_eq!(result["agent"], "maker");
    assert_eq!(result.get("instance"), None);
    assert_eq!(result["step"], "build");
    assert_eq!(result["completion"]["status"], "DONE");
    assert_eq!(result["completion"]["findings_count"], 1);
    assert_eq!(result["payload"]["verdict"], "needs-revision");
    stage.play("  raw-result: true\n  do:\n  - result: {payload: {}}\n");
    assert_eq!(stage.result(), "{\n  \"payload\": {}\n}\n");
}

#[test]
fn a_malformed_result_stays_malformed() {
    let stage = Stage::new();
    stage.play("  do:\n  - result-text: |\n      {\"payload\": \n");
    assert_eq!(stage.result(), "{\"payload\": \n");
    stage.play("  do:\n  - result-base64: //8=\n");
    assert_eq!(fs::read(stage.folder.path().join("result.json")).unwrap(), [255, 255]);
}

#[test]
fn usage_and_model_are_written_without_unknown_values() {
    let stage = Stage::new();
    stage.play("  usage: {tokens: 1200, money: 0.012}\n  model: m-1\n  do: []\n");
    let usage = fs::read_to_string(stage.folder.path().join("usage.json")).unwrap();
    assert_eq!(usage, "{\"model\":\"m-1\",\"money\":12000,\"tokens\":1200}");
    stage.play("  usage: {tokens: {input: 9, output: 2, cached: 1}}\n  do: []\n");
    let usage = fs::read_to_string(stage.folder.path().join("usage.json")).unwrap();
    assert_eq!(usage, "{\"kinds\":{\"cached\":1,\"input\":9,\"output\":2},\"tokens\":12}");
    stage.play("  usage: {tokens: 7}\n  do: [crash: true]\n");
    assert_eq!(fs::read_to_string(stage.folder.path().join("usage.json")).unwrap(), "{\"tokens\":7}");
}

#[test]
fn exit_crash_and_hang_end_the_process_accordingly() {
    let stage = Stage::new();
    assert_eq!(stage.play("  do:\n  - exit: 3\n").exit, Exit::Code(3));
    assert_eq!(stage.play("  do:\n  - crash: true\n").exit, Exit::Signal(6));
    let mut job = stage.job("  do:\n  - print: waiting\n  - hang: true\n");
    job.limits.time = Duration::from_millis(800);
    let done = run(&job, &Cancel::new()).unwrap();
    assert_eq!(done.exit, Exit::TimedOut);
    assert!(done.stdout.text().ends_with("waiting\n"));
    let left: Vec<_> = fs::read_dir(stage.tree("")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn an_outage_ends_the_process_unless_it_is_temporary() {
    let stage = Stage::new();
    let done = stage.play("  do:\n  - service: {status: 429, retry-after: 7}\n  - print: never\n");
    assert_eq!(done.exit, Exit::Code(OUTAGE));
    assert!(done.stderr.text().contains("service: 429, retry after 7 s\n"), "{}", done.stderr.text());
    assert!(!done.stdout.text().contains("never"));
    let done =
        stage.play("  do:\n  - service: {status: 500, times: 2}\n  - print: through\n  - silent: true\n");
    assert_eq!(done.exit, Exit::Code(0));
    assert!(done.stdout.text().contains("through"));
}

// CORE-17
#[test]
fn a_spawned_stray_is_found_and_killed() {
    let stage = Stage::new();
    let done = stage.play("  do:\n  - spawn: 'echo $$ >stray; exec sleep 1000'\n  - run: 'while [ ! -s stray ]; do sleep 0.01; done'\n");
    assert_eq!((done.exit, done.strays), (Exit::Code(0), 1));
    let pid = fs::read_to_string(stage.tree("stray")).unwrap();
    let state = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    assert!(state.is_empty() || state.contains(") Z "), "{state}");
}

#[test]
fn a_connection_succeeds_or_prints_the_reason() {
    let stage = Stage::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    assert_eq!(stage.play(&format!("  do:\n  - connect: {address}\n")).exit, Exit::Code(0));
    drop(listener);
    let done = stage.play(&format!("  do:\n  - connect: {address}\n"));
    assert_eq!(done.exit, Exit::Code(FAILED));
    assert!(done.stderr.text().contains(&format!("connect {address}: ")));
}

#[test]
fn a_sleep_lasts_at_least_as_long_as_given() {
    let stage = Stage::new();
    assert!(stage.play("  do:\n  - sleep: 300ms\n").duration >= Duration::from_millis(300));
}

#[test]
fn a_dispatch_without_an_entry_prints_a_matching_entry_to_add() {
    let stage = Stage::new();
    let script = Script::new("", Vec::new());
    let (mut out, mut err) = (Vec::new(), Vec::new());
    assert_eq!(perform(&script, &stage.info(), &mut out, &mut err), PlayEnding::Exit(NO_ENTRY));
    let text = String::from_utf8(err).unwrap();
    let (entry, last) = text.split_once("\n\n").expect("an entry");
    assert!(last.contains("no entry for this dispatch"), "the last line says what is wrong: {last}");
    let script = Script::parse(&format!("rehearsal: 1\ndispatches:\n{entry}"), "printed").expect("it parses");
    assert!(script.entry(&stage.info()).is_some());
    assert_eq!(perform(&script, &stage.info(), &mut out, &mut Vec::new()), PlayEnding::Exit(0));
}

#[test]
fn the_entry_to_add_is_valid_for_every_contract() {
    let stage = Stage::new();
    for id in SchemaId::ALL {
        let expected = Expectation::new(id, "maker", "build", &["done"]);
        let payload = expected.example_payload().expect("an example");
        let text = format!("rehearsal: 1\ndispatches:\n{}\n", missing_entry(&stage.info(), Some(&payload)));
        let script = Script::parse(&text, "printed").unwrap_or_else(|error| panic!("{error}\n{text}"));
        let entry = script.entry(&stage.info()).expect("it matches");
        assert_eq!(entry.actions, [ScriptAction::Result(json!({ "payload": payload }))], "{text}");
    }
}

#[test]
fn a_missing_or_malformed_dispatch_file_is_reported() {
    let stage = Stage::new();
    let path = stage.folder.path().join("dispatch.json");
    assert!(matches!(DispatchInfo::read(&path), Err(InfoError::Unreadable { .. })));
    fs::write(&path, "{}").unwrap();
    assert!(matches!(DispatchInfo::read(&path), Err(InfoError::Malformed { .. })));
    fs::write(&path, serde_json::to_vec(&stage.info()).unwrap()).unwrap();
    assert_eq!(DispatchInfo::read(&path).unwrap(), stage.info());
}
