//! Notices about runs: signed, tried again, once for each gate, and harmless when nobody takes them.

use crate::place::Place;
use crate::receiver::{LocalReceiver, Received};
use crate::rehearsed::{Script, TRIVIAL};
use remand_ledger::query::RunStage;
use serde_json::{Value, json};
use std::process::{Command, Stdio};

const KEY: &str = "a key of the user";

/// A place that sends notices to a webhook.
fn told(receiver: &LocalReceiver, more: &str) -> Place {
    let place = Place::configured(TRIVIAL);
    let key = place.write_outside("webhook.key", &format!("{KEY}\n"));
    let webhook = format!("webhook = \"{}/secret-path\"\nsecret-file = \"{key}\"\n", receiver.address);
    place.add_user_settings(&format!("[notify]\n{webhook}{more}\n"));
    place
}

/// The signature as Python computes it.
fn signature(body: &[u8]) -> String {
    let script = "import hmac,sys; print('sha256=' + hmac.new(sys.argv[1].encode(), sys.stdin.buffer.read(), 'sha256').hexdigest())";
    let mut python = Command::new("python3")
        .args(["-c", script, KEY])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3");
    std::io::Write::write_all(&mut python.stdin.take().expect("a pipe"), body).expect("written");
    let output = python.wait_with_output().expect("an end");
    String::from_utf8_lossy(&output.stdout).trim().to_string()
}

/// The notices of a run on disk, when each has been delivered or has failed.
fn stored(place: &Place) -> Vec<Value> {
    let folder = place.home().join("runs").join(&place.latest().run.0).join("notices");
    // The lock is free when the delivery has ended.
    let mut options = std::fs::OpenOptions::new();
    let lock = options.create(true).truncate(false).write(true).open(folder.join("lock")).expect("the lock");
    lock.lock().expect("locked");
    let files = std::fs::read_dir(folder).expect("notices").flatten().map(|entry| entry.path());
    let files = files.filter(|path| path.extension().is_some_and(|it| it == "json"));
    let mut all: Vec<Value> = files
        .map(|path| serde_json::from_slice(&std::fs::read(path).expect("a file")).expect("JSON"))
        .collect();
    all.sort_by_key(|stored| stored["notice"]["at"].as_i64());
    all
}

fn assert_signed(received: &Received) {
    assert_eq!(received.path, "/secret-path");
    assert_eq!(received.header("X-Remand-Signature-256"), Some(signature(&received.body).as_str()));
}

// BY-12
#[test]
fn a_gate_is_told_once_signed_and_tried_again_also_over_a_resume() {
    let receiver = LocalReceiver::answering(&[503]);
    let place = told(&receiver, "");
    let shown = place.quick(&Script::quick(), &["--budget-dispatches", "1"]);
    assert_eq!(shown.code, 5, "{}{}", shown.out, shown.err);
    let (first, second) = (receiver.next(), receiver.next());
    assert_eq!(first.body, second.body, "the refused one is sent again");
    assert_signed(&first);
    assert_signed(&second);
    let notice = second.json();
    let gate = place.reader().open_gates().expect("gates").remove(0);
    assert_eq!(notice["kind"], "gate");
    assert_eq!(notice["gate"]["gate"], gate.command);
    assert_eq!(notice["gate"]["options"], json!(["go-on", "stop"]));
    assert_eq!(second.header("Idempotency-Key"), notice["id"].as_str());
    let text = String::from_utf8_lossy(&second.body).into_owned();
    assert!(!text.contains("subtraction") && !text.contains(&gate.question), "no text of the run: {text}");
    assert_eq!(stored(&place).len(), 1);

    // The same gate, in another process.
    let run = place.latest().run.0;
    assert_eq!(place.remand(&["resume", &run]).code, 5);
    // Further gates and the end are told, each once.
    let ended = (0..5).map(|_| place.remand(&["answer", &run, "go-on"])).find(|shown| shown.code != 5);
    assert_eq!(ended.expect("an end").code, 0);
    let mut ids = vec![notice["id"].clone()];
    loop {
        let next = receiver.next();
        assert_signed(&next);
        let notice = next.json();
        assert!(!ids.contains(&notice["id"]), "told twice: {notice}");
        ids.push(notice["id"].clone());
        if notice["kind"] == "over" {
            assert_eq!(notice["stage"], "committed");
            break;
        }
    }
    let gates = place.reader().gates(&place.latest().run).expect("gates").len();
    assert_eq!(stored(&place).len(), ids.len());
    assert_eq!(ids.len(), gates + 1, "one for each gate, and the end");
    assert!(receiver.rest().is_empty());
}

// BY-12
#[test]
fn a_vetting_tells_that_it_is_over_like_any_run() {
    let receiver = LocalReceiver::answering(&[]);
    let place = told(&receiver, "");
    place.write("sums/sub.py", crate::rehearsed::SUB);
    let shown = place.remand(&["vet", "--uncommitted"]);
    assert_ne!(shown.out, "", "{}", shown.err);
    let notice = receiver.next().json();
    assert_eq!(notice["kind"], "over", "{notice}");
    assert_eq!(notice["run"], place.latest().run.0.as_str());
    assert_eq!(stored(&place).len(), 1);
}

// BY-12
#[test]
fn a_receiver_that_is_gone_harms_no_run_and_is_seen_in_doctor_and_log() {
    let place = Place::configured(TRIVIAL);
    // Nothing listens here any more.
    let gone = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let command = "command = \"cat > told.json; exit 3\"\non = [\"over\"]\n";
    let webhook = format!("webhook = \"http://{gone}/T0/SECRET\"\n");
    place.add_user_settings(&format!("[notify]\n{webhook}{command}"));
    let shown = place.quick(&Script::quick(), &[]);
    assert_eq!((shown.code, place.latest().stage), (0, RunStage::Committed), "{}{}", shown.out, shown.err);
    let run = place.latest().run;
    let log = place.home().join("runs").join(&run.0).join("engine.log");
    // The delivery is a process of its own; its last word is in the outbox.
    let failed = std::iter::repeat_with(|| stored(&place))
        .find(|all| all[0]["channels"]["webhook"].is_object())
        .expect("an outcome");
    assert!(failed[0]["channels"]["command"]["failed"]["why"].is_string(), "{failed:?}");
    let log = std::fs::read_to_string(log).expect("the log");
    assert!(log.contains("not delivered") && !log.contains("SECRET"), "{log}");
    let doctor = place.remand(&["doctor"]);
    let said = doctor.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("notify") && said.contains("could not be told"), "{said}");
    assert!(!said.contains("SECRET"), "{said}");
    let listed = place.remand(&["notify"]);
    assert!(listed.out.contains(&format!("of run {run} to webhook: http://{gone}/…")), "{}", listed.out);
    let told = std::fs::read_to_string(place.project().join("told.json")).expect("the command's input");
    let told: Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!((&told["kind"], &told["run"]), (&json!("over"), &json!(run.0)));
}

// BY-12
#[test]
fn every_channel_can_be_tried_in_the_form_that_it_expects() {
    for form in ["slack", "ntfy"] {
        let receiver = LocalReceiver::answering(&[]);
        let place = told(&receiver, &format!("form = \"{form}\"\ntexts = true\n"));
        let shown = place.remand(&["notify", "--test"]);
        assert_eq!((shown.code, shown.out.as_str()), (0, "webhook: delivered\n"), "{}", shown.err);
        let received = receiver.next();
        assert_signed(&received);
        match form {
            "slack" => {
                let text = received.json()["text"].as_str().expect("a text").to_string();
                assert!(text.starts_with("*Remand can reach you*\n"), "{text}");
            }
            _ => {
                assert_eq!(received.header("Title"), Some("Remand can reach you"));
                assert!(String::from_utf8_lossy(&received.body).starts_with("project · test"));
            }
        }
    }
    let receiver = LocalReceiver::answering(&[404]);
    let place = told(&receiver, "");
    let shown = place.remand(&["notify", "--test"]);
    assert!(shown.code == 1 && shown.err.contains("answered with status 404"), "{shown:?}");
    assert_eq!(Place::configured(TRIVIAL).remand(&["notify", "--test"]).code, 1, "nothing is configured");
}

// BY-12
#[test]
fn the_desktop_gets_title_and_text_as_they_are() {
    let place = Place::configured(TRIVIAL);
    let folder = place.user_home().join("bin");
    std::fs::create_dir(&folder).expect("a folder");
    let shown = place.user_home().join("shown");
    let script = format!("#!/bin/sh\nprintf '%s|' \"$@\" > {}\n", shown.display());
    std::fs::rename(place.write_program("notify-send", &script), folder.join("notify-send")).expect("moved");
    place.add_user_settings("[notify]\ndesktop = true\n");
    let mut command = place.command(&["notify", "--test"]);
    let usual = std::env::var_os("PATH").expect("PATH");
    let path = std::env::join_paths(std::iter::once(folder).chain(std::env::split_paths(&usual)));
    command.env("PATH", path.expect("a path"));
    let told = crate::place::shown(command);
    assert_eq!((told.code, told.out.as_str()), (0, "desktop: delivered\n"), "{}", told.err);
    let text = std::fs::read_to_string(shown).expect("the arguments");
    assert_eq!(text, "--app-name=Remand|--|Remand can reach you|project · test · run test|");
}

// BY-12
#[test]
fn a_notice_that_nobody_took_is_told_when_the_run_goes_on() {
    let place = Place::configured(TRIVIAL);
    let gone = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    place.add_user_settings(&format!("[notify]\nwebhook = \"http://{gone}/\"\n"));
    let shown = place.quick(&Script::quick(), &["--budget-dispatches", "1"]);
    assert_eq!(shown.code, 5, "{}{}", shown.out, shown.err);
    let has_failed = |all: &Vec<Value>| all[0]["channels"]["webhook"]["failed"].is_object();
    std::iter::repeat_with(|| stored(&place)).find(has_failed).expect("a failure");

    let receiver = LocalReceiver::answering(&[]);
    let mut command = place.command(&["resume", &place.latest().run.0]);
    command.env("REMAND_NOTIFY_WEBHOOK", &receiver.address);
    assert_eq!(crate::place::shown(command).code, 5);
    let gate = place.reader().open_gates().expect("gates").remove(0);
    assert_eq!(receiver.next().json()["gate"]["gate"], gate.command);
    let is_delivered = |all: &Vec<Value>| all[0]["channels"]["webhook"]["delivered"].is_object();
    std::iter::repeat_with(|| stored(&place)).find(is_delivered).expect("a delivery");
}

// BY-12
#[test]
fn a_limit_that_is_near_and_a_silent_agent_are_told() {
    let receiver = LocalReceiver::answering(&[]);
    let place = told(&receiver, "on = [\"limit\", \"silent\"]\nsilent-after = \"1s\"\n");
    let go = place.visible_file("go");
    let held = crate::rehearsed::role("reviewer")
        .runs(&format!("until test -e '{}'; do sleep 0.05; done", go.display()))
        .says(crate::rehearsed::review("code", "general", "approve", &[]));
    let script = place.write_outside("rehearsal.yaml", &Script::quick().with(held).text());
    let agent = format!("rehearsal:{script}");
    // The implementer's 100 tokens are most of the limit.
    let line = ["run", "Add subtraction", "--workflow", "quick", "--agent", &agent, "--budget-tokens", "120"];
    let run = place.start(&line);
    let (mut near, mut is_silent) = (None, false);
    while near.is_none() || !is_silent {
        let notice = receiver.next().json();
        match notice["kind"].as_str() {
            Some("limit") => assert_eq!(near.replace(notice["limit"].clone()), None, "told once"),
            Some("silent") => is_silent |= notice["agent"]["role"] == "reviewer",
            other => panic!("{other:?} is not wanted"),
        }
    }
    std::fs::write(&go, "").expect("a file");
    run.wait_with_output().expect("an end");
    assert_eq!(near, Some(json!({"limit": "tokens", "used": 100, "amount": 120})));
}
