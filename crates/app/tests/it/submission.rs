//! Results that agents submit over MCP: real servers, driven by a client that speaks the protocol line by line.

use crate::place::Place;
use crate::rehearsed::{SUB, Script, TEST_SUB, TRIVIAL, implemented, role};
use remand_agents::submission::Terms;
use remand_contract::{Expectation, FindingsRule, SchemaId};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use tempfile::TempDir;

/// A server for one dispatch of a reviewer, and its client.
struct Server {
    folder: TempDir,
    process: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    asked: u64,
}

impl Server {
    fn start() -> Server {
        let folder = TempDir::new().expect("a folder");
        std::fs::create_dir(folder.path().join("out")).expect("a folder");
        let result = folder.path().join("out/result.yaml");
        let about = json!({
            "run": "r", "phase": "review", "role": "reviewer", "round": 1, "attempt": 1, "result": result,
            "tree": folder.path(), "folder": folder.path(),
        });
        let dispatch = folder.path().join("dispatch.json");
        std::fs::write(&dispatch, about.to_string()).expect("a file");
        let mut expected =
            Expectation::new(SchemaId::Verdict, "reviewer", "review", &["approved", "rejected"]);
        expected.findings = FindingsRule::Reports { needs: Vec::new() };
        let terms = serde_json::to_string(&Terms::new(&expected, 0)).expect("terms");
        std::fs::write(Terms::path(&dispatch), terms).expect("a file");
        // As in a dispatch: agents may start only this command.
        let mut process = Command::new(env!("CARGO_BIN_EXE_remand"))
            .args(["submit", "--dispatch"])
            .arg(&dispatch)
            .env_clear()
            .env("REMAND_AGENT", "reviewer")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let (to, from) = (process.stdin.take(), process.stdout.take().expect("a pipe"));
        let mut server = Server { folder, process, to, from: BufReader::new(from), asked: 0 };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let answer = server.ask("initialize", hello);
        assert_eq!(answer["result"]["serverInfo"]["name"], "remand");
        server.notify(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        server
    }

    fn result(&self) -> PathBuf {
        self.folder.path().join("out/result.yaml")
    }

    fn notify(&mut self, message: &Value) {
        let to = self.to.as_mut().expect("open");
        writeln!(to, "{message}").and_then(|()| to.flush()).expect("written");
    }

    fn ask(&mut self, method: &str, parameters: Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        self.notify(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}));
        let mut line = String::new();
        self.from.read_line(&mut line).expect("an answer");
        let answer: Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(answer["id"], json!(id), "{answer}");
        answer
    }

    /// Submits a result and returns the reply: whether it is an error, and the text.
    fn submit(&mut self, result: &Value) -> (bool, String) {
        let call = json!({"name": "submit_result", "arguments": {"result": result}});
        let said = self.ask("tools/call", call)["result"].take();
        let text = said["content"][0]["text"].as_str().expect("text").to_string();
        (said["isError"] == json!(true), text)
    }

    /// Closes the connection and waits for the end.
    fn close(mut self) {
        drop(self.to.take());
        assert!(self.process.wait().expect("an end").success());
        let left: Vec<_> =
            std::fs::read_dir(self.folder.path().join("out")).expect("out").flatten().collect();
        assert!(left.iter().all(|entry| entry.file_name() == "result.yaml"), "{left:?}");
    }
}

fn approved(summary: &str) -> Value {
    json!({
        "schema_version": "1.0",
        "completion": {"status": "DONE", "summary": summary, "findings_count": 0},
        "payload": {"verdict": "approved", "summary": "It is sound.", "checked": ["names"], "findings": []},
    })
}

// EP-06, CORE-15
#[test]
fn a_document_that_is_submitted_without_its_key_is_accepted() {
    let mut server = Server::start();
    let call = json!({"name": "submit_result", "arguments": approved("As it is.")});
    let said = server.ask("tools/call", call)["result"].take();
    assert_eq!(said["content"][0]["text"], "accepted", "{said}");
    assert!(server.result().is_file());
    let nothing =
        server.ask("tools/call", json!({"name": "submit_result", "arguments": {}}))["result"].take();
    assert_eq!(nothing["isError"], true, "{nothing}");
    server.close();
}

// EP-06, CORE-15
#[test]
fn the_tool_shows_the_contract_of_its_dispatch() {
    let mut server = Server::start();
    let tools = server.ask("tools/list", json!({}))["result"]["tools"].take();
    assert_eq!(tools.as_array().map(Vec::len), Some(1), "{tools}");
    assert_eq!(tools[0]["name"], "submit_result");
    let result = &tools[0]["inputSchema"]["properties"]["result"];
    assert_eq!(
        result["properties"]["payload"]["properties"]["verdict"]["enum"],
        json!(["approved", "rejected"])
    );
    assert!(!tools.to_string().contains("$ref"), "{tools}");
    server.close();
}

// EP-06, CORE-15
#[test]
fn errors_are_reported_immediately_and_the_last_good_result_counts() {
    let mut server = Server::start();
    let wrong =
        json!({"schema_version": "1.0", "completion": {"status": "DONE"}, "payload": {"verdict": "fine"}});
    let (is_error, text) = server.submit(&wrong);
    assert!(is_error, "{text}");
    for place in ["completion.summary: expected ", "payload.verdict: expected one of `approved`, `rejected`"]
    {
        assert!(text.contains(place), "{text}");
    }
    assert!(!server.result().exists(), "a bad result was written");
    assert_eq!(server.submit(&approved("First")), (false, "accepted".to_string()));
    assert_eq!(server.submit(&approved("Second")), (false, "accepted".to_string()));
    assert!(server.submit(&wrong).0);
    let kept = std::fs::read_to_string(server.result()).expect("a result");
    assert!(kept.contains("Second") && !kept.contains("First"), "{kept}");
    server.close();
}

// EP-06, CORE-15
#[test]
fn an_oversized_or_meaningless_result_is_refused_and_the_server_continues() {
    let mut server = Server::start();
    let large = approved(&"x".repeat(2 << 20));
    let (is_error, text) = server.submit(&large);
    assert!(is_error && text.contains("at most 1048576 bytes"), "{text}");
    for odd in [json!(null), json!(7), json!([]), json!("no: [document")] {
        assert!(server.submit(&odd).0, "{odd}");
    }
    let answer = server.ask("tools/call", json!({"name": "submit_result"}));
    assert_eq!(answer["result"]["isError"], json!(true), "{answer}");
    let answer = server.ask("tools/call", json!({"name": "merge", "arguments": {}}));
    assert!(answer["error"]["message"].as_str().is_some_and(|it| it.contains("submit_result")), "{answer}");
    assert!(!server.result().exists());
    // Some agents send the result as a JSON string.
    let text = Value::from(approved("As a text").to_string());
    assert_eq!(server.submit(&text), (false, "accepted".to_string()));
    server.close();
}

// CORE-15, EP-30
#[test]
fn a_dispatch_submits_its_result_by_the_tool_and_the_run_continues() {
    let place = Place::configured(TRIVIAL);
    let call = |id: u32, result: &Value| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "submit_result", "arguments": {"result": result}}});
    let good = json!({
        "schema_version": "1.0",
        "completion": {"status": "DONE", "summary": "Subtraction", "findings_count": 0},
        "payload": implemented(""),
    });
    let lines = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        call(2, &json!({"payload": {}})),
        call(3, &good),
    ];
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let binary = env!("CARGO_BIN_EXE_remand");
    let work = role("implementer")
        .writes("sums/sub.py", SUB)
        .writes("tests/test_sub.py", TEST_SUB)
        .runs(&format!("{binary} submit --dispatch \"$REMAND_DISPATCH\" >&2 <<'END'\n{lines}END"));
    let shown = place.quick(&Script::quick().with(work), &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let (run, reader) = (place.latest().run, place.reader());
    let first = reader.dispatches(&run).expect("dispatches").remove(0);
    assert_eq!((first.failure.as_deref(), first.attempt), (None, 1));
    let said = String::from_utf8(reader.blob(first.output.expect("output")).expect("blob")).expect("text");
    assert!(said.contains("Not accepted") && said.contains(r#""text":"accepted""#), "{said}");
    let folder = place.home().join("runs").join(&run.0).join("dispatches");
    let left: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("dispatches").flatten().map(|entry| entry.path()).collect();
    assert!(left.iter().all(|folder| !folder.join("contract.json").exists()), "{left:?}");
}
