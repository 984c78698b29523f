//! Traces and metrics: the same in every export, without text, and read by definitions that are not ours.

use crate::place::Place;
use crate::programs::desk::tools;
use crate::receiver::LocalReceiver;
use crate::rehearsed::{REQUEST, Script, TRIVIAL, implemented, role};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::process::Command;

/// Parses each line with the definitions of OpenTelemetry, and prints names and ids of spans and names of metrics.
const READER: &str = r#"
import base64, json, sys
from google.protobuf import json_format
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

def ids(value):
    # OTLP writes ids in hexadecimal, unlike other JSON of protocol buffers.
    for key in ("traceId", "spanId", "parentSpanId"):
        if key in value:
            value[key] = base64.b64encode(bytes.fromhex(value[key])).decode()
    return value

for line in open(sys.argv[1]):
    value = json.loads(line)
    if "resourceSpans" in value:
        for resource in value["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                scope["spans"] = [ids(span) for span in scope["spans"]]
        data = json_format.ParseDict(value, TracesData())
        for span in data.resource_spans[0].scope_spans[0].spans:
            assert len(span.trace_id) == 16 and len(span.span_id) == 8 and span.kind == 1
            assert span.end_time_unix_nano >= span.start_time_unix_nano > 10**18
            print("span", span.span_id.hex(), span.parent_span_id.hex() or "-", span.name)
    else:
        data = json_format.ParseDict(value, MetricsData())
        for metric in data.resource_metrics[0].scope_metrics[0].metrics:
            kind = metric.WhichOneof("data")
            for point in getattr(metric, kind).data_points:
                if kind == "histogram":
                    assert sum(point.bucket_counts) == point.count
                    assert len(point.bucket_counts) == len(point.explicit_bounds) + 1
            print("metric", kind, "-", metric.name)
"#;

/// What the definitions of OpenTelemetry read in a file: kind, id, parent and name.
fn read(file: &str) -> Vec<[String; 4]> {
    let output =
        Command::new(tools().join("venv/bin/python")).args(["-c", READER, file]).output().expect("python");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let words = |line: &str| {
        let mut words = line.splitn(4, ' ').map(str::to_string);
        std::array::from_fn(|_| words.next().unwrap_or_default())
    };
    text.lines().map(words).collect()
}

fn spans(body: &Value) -> Vec<Value> {
    let list = &body["resourceSpans"][0]["scopeSpans"][0]["spans"];
    list.as_array().cloned().unwrap_or_default()
}

fn attribute<'s>(span: &'s Value, name: &str) -> Option<&'s Value> {
    let attributes = span["attributes"].as_array()?;
    attributes.iter().find(|it| it["key"] == name).map(|it| &it["value"])
}

// BY-09
#[test]
fn an_export_is_read_by_the_definitions_of_opentelemetry_and_is_the_same_twice() {
    let place = Place::configured(TRIVIAL);
    let unknown = role("implementer")
        .used(json!({}))
        .writes("sums/sub.py", crate::rehearsed::SUB)
        .writes("tests/test_sub.py", crate::rehearsed::TEST_SUB)
        .says(implemented("SECRETLY"));
    let known = role("reviewer")
        .used(json!({"tokens": {"input": 80, "output": 20, "cached": 5}, "money": "0.01"}))
        .says(crate::rehearsed::review("code", "general", "approve", &[]));
    let shown = place.quick(&Script::quick().with(unknown).with(known), &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let files = ["one.jsonl", "two.jsonl"].map(|name| place.write_outside(name, ""));
    for file in &files {
        let shown = place.remand(&["export", "--otlp", file]);
        assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    }
    let texts = files.each_ref().map(|file| std::fs::read_to_string(file).expect("a file"));
    assert_eq!(texts[0], texts[1]);
    assert!(!texts[0].contains("subtraction") && !texts[0].contains("SECRETLY"), "no text of the run");

    let rows = read(&files[0]);
    let names: BTreeSet<&str> = rows.iter().map(|row| row[3].as_str()).collect();
    for name in [
        "invoke_workflow quick",
        "phase implement",
        "invoke_agent implementer",
        "invoke_agent reviewer",
        "check shape",
        "gen_ai.client.token.usage",
        "gen_ai.client.operation.duration",
        "remand.run.checks",
    ] {
        assert!(names.contains(name), "{name}: {names:?}");
    }
    let ids: BTreeSet<&str> = rows.iter().filter(|row| row[0] == "span").map(|row| row[1].as_str()).collect();
    let parents = rows.iter().filter(|row| row[0] == "span").map(|row| row[2].as_str());
    assert_eq!(ids.len(), rows.iter().filter(|row| row[0] == "span").count(), "every span has its own id");
    assert_eq!(parents.clone().filter(|parent| *parent == "-").count(), 1);
    assert!(parents.clone().all(|parent| parent == "-" || ids.contains(parent)), "{rows:?}");

    let trace: Value = serde_json::from_str(texts[0].lines().next().expect("a line")).expect("JSON");
    let agent = |name: &str| {
        let name = format!("invoke_agent {name}");
        spans(&trace).into_iter().find(|span| span["name"] == *name).expect("a span")
    };
    let (implementer, reviewer) = (agent("implementer"), agent("reviewer"));
    assert_eq!(attribute(&implementer, "gen_ai.usage.input_tokens"), None, "unknown tokens are left out");
    let tokens = |name: &str| attribute(&reviewer, &format!("gen_ai.usage.{name}")).cloned();
    assert_eq!(
        tokens("input_tokens"),
        Some(json!({"intValue": "85"})),
        "with those of the cache: {reviewer}"
    );
    assert_eq!(tokens("cache_read.input_tokens"), Some(json!({"intValue": "5"})));
    assert_eq!(tokens("output_tokens"), Some(json!({"intValue": "20"})));
    assert_eq!(attribute(&reviewer, "gen_ai.operation.name"), Some(&json!({"stringValue": "invoke_agent"})));
}

// BY-09
#[test]
fn a_collector_gets_each_span_once_while_runs_are_driven_and_the_whole_on_request() {
    let receiver = LocalReceiver::answering(&[]);
    let place = Place::configured(TRIVIAL);
    let headers = place.write_outside("headers", "X-Key: mine\n");
    let settings = format!("endpoint = \"{}/\"\nheaders-file = \"{headers}\"\n", receiver.address);
    place.add_user_settings(&format!("[telemetry]\n{settings}"));
    let shown = place.quick(&Script::quick(), &["--budget-dispatches", "1"]);
    assert_eq!(shown.code, 5, "{}{}", shown.out, shown.err);
    let run = place.latest().run.0;
    let next_spans = || loop {
        let received = receiver.next();
        assert_eq!(received.header("X-Key"), Some("mine"));
        assert_eq!(received.header("Content-Type"), Some("application/json"));
        match received.path.as_str() {
            "/v1/traces" => return spans(&received.json()),
            other => assert_eq!(other, "/v1/metrics"),
        }
    };
    let id = |span: &Value| span["spanId"].as_str().expect("an id").to_string();
    let first = next_spans();
    let is_root = |span: &Value| span["name"] == "invoke_workflow quick";
    assert!(!first.iter().any(is_root), "the run goes on");
    let mut seen: BTreeSet<String> = first.iter().map(id).collect();
    let ended = (0..5).map(|_| place.remand(&["answer", &run, "go-on"]).code).find(|code| *code != 5);
    assert_eq!(ended, Some(0));
    let mut is_over = false;
    while !is_over {
        for span in next_spans() {
            assert!(seen.insert(id(&span)), "sent twice: {span}");
            is_over |= is_root(&span);
        }
    }

    let whole = place.remand(&["export", "--otlp", &receiver.address, "--run", &run]);
    assert_eq!(whole.code, 0, "{}{}", whole.out, whole.err);
    assert_eq!(next_spans().iter().map(id).collect::<BTreeSet<_>>(), seen, "the same ids as before");
}

// BY-09
#[test]
fn without_a_setting_nothing_is_sent() {
    let receiver = LocalReceiver::answering(&[]);
    let place = Place::configured(TRIVIAL);
    // What other programs obey.
    let script = place.write_outside("rehearsal.yaml", &Script::quick().text());
    let agent = format!("rehearsal:{script}");
    let mut command = place.command(&["run", REQUEST, "--workflow", "quick", "--agent", &agent]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &receiver.address);
    let shown = crate::place::shown(command);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let folder = place.home().join("runs").join(&place.latest().run.0);
    assert!(!folder.join("notices").exists() && !folder.join("telemetry.sent").exists());
    assert!(receiver.rest().is_empty());
}
