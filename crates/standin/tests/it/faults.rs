//! Outages, silence and a model that never answers.

use crate::wire::{connect, post, send};
use crate::workspace::{Workspace, standin};
use serde_json::{Value, json};
use std::io::Read;

/// The same request in each protocol, with the JSON pointers to the error's message and kind.
fn requests(workspace: &Workspace) -> [(&'static str, Value, &'static str, &'static str); 4] {
    let prompt = workspace.prompt();
    let messages = json!({"messages": [{"role": "user", "content": prompt}]});
    [
        ("/v1/chat/completions", messages.clone(), "/error/message", "/error/code"),
        ("/v1/responses", json!({"input": prompt}), "/error/message", "/error/code"),
        ("/v1/messages", messages, "/error/message", "/error/type"),
        (
            "/v1beta/models/m:streamGenerateContent",
            json!({"contents": [{"role": "user", "parts": [{"text": prompt}]}]}),
            "/error/message",
            "/error/status",
        ),
    ]
}

// CORE-10
#[test]
fn each_vendor_has_its_own_form_of_error() {
    for (status, kinds) in [
        (401, ["invalid_api_key", "invalid_api_key", "authentication_error", "UNAUTHENTICATED"]),
        (429, ["rate_limit_exceeded", "rate_limit_exceeded", "rate_limit_error", "RESOURCE_EXHAUSTED"]),
        (500, ["server_error", "server_error", "api_error", "INTERNAL"]),
    ] {
        let workspace = Workspace::new();
        let standin = standin(&format!("  do:\n  - service: {{status: {status}, retry-after: 7}}\n"));
        for ((path, body, message, kind), expected) in requests(&workspace).into_iter().zip(kinds) {
            let reply = post(&standin, path, &body);
            assert_eq!(reply.status, status, "{path}");
            assert!(reply.head.to_lowercase().contains("retry-after: 7"), "{}", reply.head);
            let body = reply.json();
            assert_eq!(body.pointer(message), Some(&json!(format!("scripted {status}"))));
            assert_eq!(body.pointer(kind), Some(&json!(expected)));
        }
    }
}

// CORE-10
#[test]
fn an_outage_ends_after_the_scripted_number_of_requests() {
    let workspace = Workspace::new();
    let standin =
        standin("  do:\n  - service: {status: 429, times: 2}\n  - service: {status: 500, times: 1}\n");
    let [(path, body, ..), ..] = requests(&workspace);
    let statuses = [(); 5].map(|()| post(&standin, path, &body).status);
    assert_eq!(statuses, [429, 429, 500, 200, 200]);
    let seen: Vec<Option<u16>> = standin.requests().iter().map(|request| request.status).collect();
    assert_eq!(seen, statuses.map(Some));
}

// CORE-10
#[test]
fn silence_is_a_reply_without_text() {
    let workspace = Workspace::new();
    let standin = standin("  do:\n  - silent: true\n");
    let [chat, responses, messages, gemini] = requests(&workspace).map(|(path, body, ..)| {
        post(&standin, &path.replace("stream", "").replace(":G", ":g"), &body).json()
    });
    assert_eq!(chat["choices"][0]["message"]["content"], "");
    assert_eq!(responses["output"], json!([]));
    assert_eq!(messages["content"], json!([]));
    assert_eq!(gemini["candidates"][0]["content"]["parts"], json!([]));
}

#[test]
fn a_hang_lasts_until_the_stand_in_stops() {
    let workspace = Workspace::new();
    let standin = standin("  do:\n  - hang: true\n");
    let [(path, body, ..), ..] = requests(&workspace);
    let mut stream = connect(&standin);
    send(&mut stream, "POST", path, &body.to_string());
    while standin.requests().first().is_none_or(|request| request.dispatch.is_none()) {
        std::thread::yield_now();
    }
    assert_eq!(standin.requests()[0].status, None);
    drop(standin);
    let mut answer = Vec::new();
    // A closed connection may look like a reset or an end; either way no byte arrives.
    let _ = stream.read_to_end(&mut answer);
    assert!(answer.is_empty());
}

#[test]
fn the_error_for_a_dispatch_without_entry_has_the_entry_to_add() {
    let workspace = Workspace::new();
    let text = "rehearsal: 1\ndispatches:\n- role: another\n";
    let script = remand_agents::rehearsal::Script::parse(text, "test").unwrap();
    let standin = remand_standin::Standin::start(script).unwrap();
    for (path, body, message, _) in requests(&workspace) {
        let reply = post(&standin, path, &body);
        assert_eq!(reply.status, 400);
        let said = reply.json().pointer(message).and_then(Value::as_str).unwrap().to_owned();
        assert!(said.contains("  - role: \"maker\"\n    phase: \"build\""), "{said}");
    }
}

#[test]
fn a_script_that_no_model_can_play_is_refused() {
    let text = "rehearsal: 1\ndispatches:\n- {role: maker, do: [exit: 3]}\n";
    let script = remand_agents::rehearsal::Script::parse(text, "test").unwrap();
    let error = remand_standin::Standin::start(script).unwrap_err().to_string();
    assert!(error.contains("entry 1 (role `maker`), action 1: `exit`"), "{error}");
}
