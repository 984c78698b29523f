//! Plain HTTP requests without a library.

use remand_standin::Standin;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;

pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// The events of a stream, each with its name or an empty string.
    pub fn events(&self) -> Vec<(String, Value)> {
        assert!(self.head.contains("text/event-stream"), "{}", self.head);
        let events = self.body.split("\n\n").filter(|event| !event.is_empty() && *event != "data: [DONE]");
        events
            .map(|event| {
                let line = |name: &str| event.lines().find_map(|line| line.strip_prefix(name));
                let data = line("data: ").unwrap_or_else(|| panic!("{event}"));
                (line("event: ").unwrap_or_default().to_owned(), serde_json::from_str(data).unwrap())
            })
            .collect()
    }
}

pub fn post(standin: &Standin, path: &str, body: &Value) -> Reply {
    ask(standin, "POST", path, &body.to_string())
}

pub fn ask(standin: &Standin, method: &str, path: &str, body: &str) -> Reply {
    let mut stream = connect(standin);
    send(&mut stream, method, path, body);
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Reply { status, head: head.to_owned(), body: body.to_owned() }
}

pub fn connect(standin: &Standin) -> TcpStream {
    TcpStream::connect(("127.0.0.1", standin.port())).unwrap()
}

pub fn send(stream: &mut TcpStream, method: &str, path: &str, body: &str) {
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
}
