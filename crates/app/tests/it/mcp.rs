//! `remand mcp`, driven by the client of rmcp: runs that outlive the server, and gates that it must not answer.

use crate::place::Place;
use crate::rehearsed::{REQUEST, Script, TRIVIAL, research, role, subtracting, task};
use remand_kernel::Event;
use remand_ledger::query::RunStage;
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, GetPromptRequestParams, Implementation,
    ReadResourceRequestParams,
};
use rmcp::service::{RoleClient, RunningService};
use rmcp::{Peer, ServiceExt};
use serde_json::{Value, json};
use std::future::Future;
use std::process::Stdio;

/// A server and its client.
struct Session {
    server: tokio::process::Child,
    client: RunningService<RoleClient, ClientConfig>,
}

impl Session {
    async fn open(place: &Place, more: &[&str]) -> Session {
        let mut arguments = vec!["mcp"];
        arguments.extend(more);
        let mut command = tokio::process::Command::from(place.command(&arguments));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).kill_on_drop(true);
        let mut server = command.spawn().expect("the server starts");
        let pipes = (server.stdout.take().expect("a pipe"), server.stdin.take().expect("a pipe"));
        let info = ClientConfig::new(ClientCapabilities::default(), Implementation::new("tester", "7"));
        let client = info.serve(pipes).await.expect("a session");
        Session { server, client }
    }

    /// Calls a tool that must succeed.
    async fn call(&self, tool: &str, arguments: Value) -> Value {
        call(self.client.peer(), tool, arguments).await.unwrap_or_else(|why| panic!("{tool}: {why}"))
    }

    /// Calls a tool that must fail, and returns why.
    async fn refused(&self, tool: &str, arguments: Value) -> String {
        call(self.client.peer(), tool, arguments).await.expect_err("refused")
    }

    async fn kill(mut self) {
        self.server.kill().await.expect("killed");
    }
}

async fn call(peer: &Peer<RoleClient>, tool: &str, arguments: Value) -> Result<Value, String> {
    let arguments = arguments.as_object().cloned().expect("an object");
    let request = CallToolRequestParams::new(tool.to_string()).with_arguments(arguments);
    let result = peer.call_tool(request).await.expect("an answer");
    let text = result.content[0].as_text().expect("text").text.clone();
    match result.is_error {
        Some(true) => Err(text),
        Some(false) | None => Ok(serde_json::from_str(&text).expect("JSON")),
    }
}

fn with_runtime(work: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(work);
}

/// Arguments that start the usual run with a script.
fn starting(place: &Place, script: &Script, workflow: &str) -> Value {
    let script = place.write_outside("rehearsal.yaml", &script.text());
    place.set_user_agent(&format!("rehearsal:{script}"));
    json!({"request": REQUEST, "workflow": workflow})
}

/// Waits until the run rests.
async fn wait(session: &Session, run: &str) -> Value {
    let mut cursor = json!(0);
    loop {
        let news = session.call("wait", json!({"run": run, "since": cursor})).await;
        if news["over"] == true || news["needs_you"] == true {
            return news;
        }
        cursor = news["cursor"].clone();
    }
}

// BY-10
#[test]
fn a_run_outlives_the_server_that_started_it_and_another_reads_its_evidence() {
    let place = Place::configured(TRIVIAL);
    with_runtime(async {
        let first = Session::open(&place, &[]).await;
        let tools = first.client.list_all_tools().await.expect("tools");
        let names: Vec<_> = tools.iter().map(|tool| tool.name.to_string()).collect();
        let expected =
            ["start", "wait", "status", "findings", "evidence", "brief", "gates", "answer", "vet", "cancel"];
        assert_eq!(names, expected);

        // The implementer goes on only when the server is gone.
        let go = place.visible_file("go");
        let held = role("implementer")
            .runs(&format!("until test -e '{}'; do sleep 0.05; done", go.display()))
            .writes("sums/sub.py", crate::rehearsed::SUB)
            .writes("tests/test_sub.py", crate::rehearsed::TEST_SUB)
            .says(crate::rehearsed::implemented(""));
        let started = first.call("start", starting(&place, &Script::quick().with(held), "quick")).await;
        let run = started["run"].as_str().expect("an id").to_string();
        assert!(started["by"].as_str().expect("who").contains("tester 7"), "{started}");
        let recorded = place.reader().run_view(&place.latest().run).expect("the run").by;
        assert_eq!(recorded.as_deref(), started["by"].as_str(), "the ledger names who asked");
        let news = first.call("wait", json!({"run": run, "since": 0, "until": "change"})).await;
        assert!(news["cursor"].as_u64() > Some(0) && news["over"] == false, "{news}");
        first.kill().await;
        std::fs::write(&go, "").expect("a file");

        let second = Session::open(&place, &[]).await;
        let news = wait(&second, &run).await;
        assert_eq!((&news["over"], &news["stage"]), (&json!(true), &json!("committed")), "{news}");
        let later = second.call("wait", json!({"run": run, "since": news["cursor"]})).await;
        assert_eq!(later["changes"], json!([]), "only what is new");

        let evidence = second.call("evidence", json!({"run": run})).await;
        assert!(evidence["evidence"].as_str().expect("text").contains("shape"), "{evidence}");
        let briefs = second.call("brief", json!({"run": run})).await;
        let id = briefs["dispatches"][0]["dispatch"].clone();
        let given = second.call("brief", json!({"run": run, "dispatch": id})).await;
        assert!(given["given"].as_str().expect("a prompt").contains(REQUEST), "{given}");
        assert_eq!(second.call("findings", json!({})).await["findings"], json!([]));
        assert_eq!(second.call("status", json!({"run": run})).await["run"]["stage"], "committed");

        let listed = second.client.list_all_resources().await.expect("resources");
        for resource in &listed {
            let read =
                second.client.read_resource(ReadResourceRequestParams::new(resource.uri.clone())).await;
            assert_eq!(read.expect("its content").contents.len(), 1, "{}", resource.uri);
        }
        assert!(listed.iter().any(|it| it.uri.ends_with("/evidence")), "{listed:?}");
        assert!(listed.iter().any(|it| it.uri.contains("/artifacts/")), "{listed:?}");
        let prompts = second.client.list_all_prompts().await.expect("prompts");
        assert!(prompts.iter().any(|prompt| prompt.name == "tsp"), "{prompts:?}");
        let arguments = json!({"request": "Be kind"}).as_object().cloned().expect("an object");
        let asked = GetPromptRequestParams::new("quick").with_arguments(arguments);
        let prompt = second.client.get_prompt(asked).await.expect("a prompt");
        assert!(format!("{prompt:?}").contains("Be kind"), "{prompt:?}");
    });
    assert_eq!(place.latest().stage, RunStage::Committed);
}

/// What was refused over MCP: the option, who asked, and why.
fn refused(place: &Place) -> Vec<(String, String, String)> {
    let rows = place.reader().refused_requests(&place.latest().run).expect("requests");
    let fields = |row: remand_ledger::query::RefusedRequest| match row.request.event {
        Event::Answered { option, by, .. } => (option, by, row.why),
        other => panic!("{other:?}"),
    };
    rows.into_iter().map(fields).collect()
}

// BY-10
#[test]
fn a_gate_is_answered_only_if_the_user_named_it_and_as_it_was_seen() {
    let place = Place::configured(&format!("mode = \"interactive\"\n{TRIVIAL}"));
    let large = task("task-1", &[("sums/sub.py", "green"), ("tests/test_sub.py", "green")], &[]);
    let script =
        ["case-1", "case-2"].iter().fold(Script::feature(&[large]).with(subtracting()), |script, area| {
            script.with(role("researcher").item(area).says(research(area)))
        });
    with_runtime(async {
        let session = Session::open(&place, &[]).await;
        let run = session.call("start", starting(&place, &script, "feature")).await["run"].clone();
        let news = wait(&session, run.as_str().expect("an id")).await;
        let gate = news["gates"][0].clone();
        assert_eq!((&gate["phase"], &gate["you_may_answer"]), (&json!("approve-research"), &json!(false)));
        let answer = |digest: &Value| json!({"run": run, "gate": gate["gate"], "digest": digest, "option": "proceed", "note": "Go."});
        let why = session.refused("answer", answer(&gate["digest"])).await;
        assert!(why.contains("refused, and recorded") && why.contains("remand answer"), "{why}");
        session.kill().await;

        // Named, but another question.
        let session = Session::open(&place, &["--may-answer", "approve-research"]).await;
        let why = session.refused("answer", answer(&json!("0000"))).await;
        assert!(why.contains("not the one that was seen"), "{why}");
        assert_eq!(session.call("gates", json!({})).await["gates"][0]["you_may_answer"], true);
        session.call("answer", answer(&gate["digest"])).await;
        let news = wait(&session, run.as_str().expect("an id")).await;
        assert_ne!(news["gates"][0]["phase"], "approve-research", "{news}");
        session.call("cancel", json!({"run": run})).await;
    });
    let rows = refused(&place);
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert!(rows.iter().all(|(option, by, _)| option == "proceed" && by == "ada, through tester 7 over MCP"));
    assert!(rows[0].2.contains("has not named the gate `approve-research`"), "{rows:?}");
    let run = place.latest();
    assert_eq!(run.stage, RunStage::Stopped);
    let gates = place.reader().gates(&run.run).expect("gates");
    let answered = (gates[0].option.as_deref(), gates[0].by.as_deref(), gates[0].note.as_deref());
    assert_eq!(answered, (Some("proceed"), Some("ada, through tester 7 over MCP"), Some("Go.")));
    let shown = place.remand(&["gates", "--all"]);
    assert!(shown.out.contains("refused") && shown.out.contains("tester 7"), "{}", shown.out);
}

// BY-10
#[test]
fn a_mandatory_gate_is_never_answered_whoever_named_it() {
    let place = Place::configured(&format!("[limits]\ndispatches = 1\n\n{TRIVIAL}"));
    with_runtime(async {
        let session = Session::open(&place, &["--may-answer", "implement", "--may-answer", "verify"]).await;
        let run = session.call("start", starting(&place, &Script::quick(), "quick")).await["run"].clone();
        let news = wait(&session, run.as_str().expect("an id")).await;
        let gate = &news["gates"][0];
        assert_eq!(gate["mandatory"], true, "{news}");
        place.add_user_settings(&format!("[mcp]\nmay-answer = [{}]\n", gate["phase"]));
        let answer = json!({"run": run, "digest": gate["digest"], "option": "go-on"});
        let why = session.refused("answer", answer).await;
        assert!(why.contains("only a person may answer it"), "{why}");
    });
    let rows = refused(&place);
    assert_eq!((rows.len(), rows[0].0.as_str()), (1, "go-on"), "{rows:?}");
    assert_eq!(place.latest().stage, RunStage::Waiting);
}

// BY-10
#[test]
fn a_change_is_vetted_and_trouble_is_explained() {
    let place = Place::configured(TRIVIAL);
    place.write("sums/sub.py", crate::rehearsed::SUB);
    with_runtime(async {
        let session = Session::open(&place, &[]).await;
        let mut vetted = session.call("vet", json!({})).await;
        while vetted["done"] == false {
            vetted = session.call("vet", json!({"vet": vetted["vet"]})).await;
        }
        assert!(vetted["report"]["verdict"].is_string(), "{vetted}");
        let recorded = place.reader().run_view(&place.latest().run).expect("the run").by.expect("who asked");
        assert!(recorded.contains("over MCP"), "{recorded}");
        let secret = place.write_outside("netrc", "machine x login y password hunter2\n");
        for (argument, value) in [("workflow", secret.clone()), ("agent", format!("rehearsal:{secret}"))] {
            let why = session.refused("start", json!({"request": "x", argument: value})).await;
            assert!(why.contains(&format!("is not the name of a known {argument}")), "{why}");
            assert!(!why.contains("hunter2"), "{why}");
        }
        let why = session.refused("start", json!({"request": "x", "workflow": "nonsense"})).await;
        assert!(why.contains("nonsense"), "{why}");
        let why = session.refused("start", json!({})).await;
        assert!(why.contains("`request` is missing"), "{why}");
        let why = session.refused("vet", json!({"change": "no-such-branch"})).await;
        assert!(why.contains("was not judged") && why.contains("no-such-branch"), "{why}");
        let why = session.refused("start", json!({"starting": "../../x"})).await;
        assert!(why.contains("nothing is starting"), "{why}");
        let why = session.refused("vet", json!({"vet": "../../x"})).await;
        assert!(why.contains("there is no vetting"), "{why}");
    });
}

// BY-10
#[test]
fn an_agent_that_remand_runs_gets_no_server() {
    let place = Place::configured(TRIVIAL);
    let mut command = place.command(&["mcp"]);
    command.env("REMAND_AGENT", "implementer");
    let shown = crate::place::shown(command);
    assert!(shown.code == 1 && shown.err.contains("agents cannot run remand"), "{shown:?}");
}

// BY-10
#[test]
fn the_set_up_for_agent_programs_is_written() {
    let place = Place::configured(TRIVIAL);
    let folder = place.write_outside("x", "").replace("/x", "/plugin");
    let shown = place.remand(&["export", "--mcp", &folder]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let read = |path: &str| std::fs::read_to_string(format!("{folder}/{path}")).expect("a file");
    let json = |path: &str| serde_json::from_str::<Value>(&read(path)).expect("JSON");
    assert_eq!(json(".mcp.json")["mcpServers"]["remand"]["args"], json!(["mcp"]));
    assert_eq!(json(".claude-plugin/plugin.json")["name"], "remand");
    assert_eq!(json("opencode/opencode.json")["mcp"]["remand"]["command"], json!(["remand", "mcp"]));
    for extension in ["gemini/gemini-extension.json", "qwen/qwen-extension.json"] {
        assert_eq!(json(extension)["mcpServers"]["remand"]["command"], "remand");
    }
    assert!(read("codex/config.toml").contains("[mcp_servers.remand]"));
    assert!(read("commands/remand.md").contains("$ARGUMENTS"));
}
