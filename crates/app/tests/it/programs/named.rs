//! Each program reaches its model on a host with a name, and nothing else. While it works, people who watch see which tool it
//! uses, on what, and the tokens so far.

use super::desk::{CLAUDE, CODEX, Desk, GEMINI, OPENCODE, Program, QWEN};
use crate::place::Place;
use crate::rehearsed::TRIVIAL;
use remand_agents::driver::AgentRows;
use remand_agents::output::OutputReader;
use remand_ledger::fact::NoteKind;
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;

const HOST: &str = "model.test";

const SCRIPT: &str = r#"
rehearsal: 1
dispatches:
  - role: implementer
    usage: {tokens: {input: 301, output: 27}}
    do:
      # Qwen Code refuses a plain `curl` by its own rules.
      - run: >-
          python3 -c "import subprocess as s;
          print('reached', sum(s.run(['curl', '-sS', '-m', '5', 'http://' + host + '/']).returncode == 0
          for host in ['other.test', '192.0.2.7', 'model.test:81']))"
      - write: {path: sums/sub.py, text: "def sub(a, b):\n    return a - b\n"}
      - result:
          payload:
            verdict: done
            hypothesis: A function is enough.
            changes: [{file: sums/sub.py, what: Subtraction., why: the request}]
  - role: reviewer
    do:
      - result:
          payload: {verdict: approve, summary: It does what was asked for.}
"#;

/// When a program reports its tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counts {
    AfterEachCall,
    AtTheEnd,
}

/// A proxy that knows one host, which is this machine. Returns its address.
fn proxy() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            thread::spawn(move || serve(client));
        }
    });
    format!("http://{address}")
}

fn serve(mut client: TcpStream) -> io::Result<()> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        client.read_exact(&mut byte)?;
        request.push(byte[0]);
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    let port = request.split_whitespace().nth(1).and_then(|wanted| wanted.strip_prefix("model.test:"));
    let Some(port) = port.and_then(|port| port.parse::<u16>().ok()) else {
        return client.write_all(b"HTTP/1.1 403 Forbidden\r\n\r\n");
    };
    let mut server = TcpStream::connect(("127.0.0.1", port))?;
    client.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
    let (mut from, mut to) = (server.try_clone()?, client.try_clone()?);
    thread::spawn(move || {
        let _ = io::copy(&mut from, &mut to);
        to.shutdown(Shutdown::Write)
    });
    io::copy(&mut client, &mut server)?;
    server.shutdown(Shutdown::Write)
}

/// `file` is what people see while the program writes the file; the model of Codex writes it with a command.
fn reaches_only_its_model_and_shows_its_tools(program: Program, file: &str, counts: Counts) {
    let Some(desk) = Desk::named(Place::configured(TRIVIAL), SCRIPT, HOST, proxy()) else { return };
    let shown = desk.quick(program);
    assert_eq!(shown.code, 0, "{shown:?}");
    let output = desk.output_of(&desk.dispatches()[0]);
    assert!(output.contains("reached 0"), "{output}");
    assert_shows_its_tools(program, &output, file, counts);
    let notes = desk.notes();
    let is_refused = |host: &str| {
        let says = |text: &str| text.contains("tried to reach ") && text.contains(host);
        notes.iter().any(|note| note.kind == NoteKind::Warning && says(&note.text))
    };
    for host in ["other.test", "192.0.2.7:80 (TCP)", "model.test:81"] {
        assert!(is_refused(host), "{host}: {notes:?}");
    }
    let port = desk.standin.url().rsplit(':').next().expect("a port").to_string();
    let evidence = desk.place.remand(&["evidence"]).out;
    let row = evidence.lines().find(|line| line.starts_with(&format!("| {HOST}:{port} | ")));
    assert!(row.is_some_and(|row| !row.contains("refused")), "{evidence}");
}

/// Reads the program's output as the engine does.
fn assert_shows_its_tools(program: Program, output: &str, file: &str, counts: Counts) {
    let rows = AgentRows::from_config(&BTreeMap::new()).and_then(|rows| rows.all()).expect("the rows");
    let row = rows.into_iter().find(|row| row.name == program.name).expect("its row").row;
    let mut reader = OutputReader::new(&row.output_rules);
    let mut activities = Vec::new();
    for line in output.lines() {
        reader.line(line.as_bytes());
        if reader.ended {
            break;
        }
        activities.push(reader.activity().to_string());
    }
    let is_seen = |what: &str| activities.iter().any(|activity| activity.contains(what));
    assert!(is_seen("other.test"), "the command: {activities:#?}\n{output}");
    assert!(is_seen(file), "the file: {activities:#?}\n{output}");
    assert_eq!(is_seen("tokens so far"), counts == Counts::AfterEachCall, "{activities:#?}\n{output}");
}

// BX-02 BX-05 UP-09 UP-11
each! { reaches_only_its_model_and_shows_its_tools:
    claude = CLAUDE, "sums/sub.py", Counts::AfterEachCall;
    codex = CODEX, "command_execution /bin/bash -lc \"mkdir -p ", Counts::AtTheEnd;
    opencode = OPENCODE, "sums/sub.py", Counts::AfterEachCall;
    gemini = GEMINI, "sums/sub.py", Counts::AtTheEnd;
    qwen = QWEN, "sums/sub.py", Counts::AfterEachCall;
}
