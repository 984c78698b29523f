//! A receiver on the loopback interface that answers as told and keeps what it got.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// One request that was received.
#[derive(Clone, Debug)]
pub struct Received {
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// Listens until the process ends.
pub struct LocalReceiver {
    pub address: String,
    received: Receiver<Received>,
}

/// A bound for the time until something arrives; only a failing test waits this long.
const BOUND: Duration = Duration::from_secs(60);

impl LocalReceiver {
    /// Answers the first requests with these statuses, and every other with 200.
    pub fn answering(first: &'static [u16]) -> LocalReceiver {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let (sender, received) = channel();
        let mut statuses = first.iter().copied();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let Some(request) = read(&stream) else { continue };
                let status = statuses.next().unwrap_or(200);
                let _ =
                    write!(&stream, "HTTP/1.1 {status} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
                if sender.send(request).is_err() {
                    return;
                }
            }
        });
        LocalReceiver { address, received }
    }

    /// The next request.
    pub fn next(&self) -> Received {
        self.received.recv_timeout(BOUND).expect("a request arrives")
    }

    /// What has arrived and was not read.
    pub fn rest(&self) -> Vec<Received> {
        self.received.try_iter().collect()
    }
}

impl Received {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }
}

fn read(stream: &TcpStream) -> Option<Received> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_string();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.push((name.to_string(), value.to_string()));
    }
    let mut received = Received { path, headers, body: Vec::new() };
    let length = received.header("content-length").and_then(|it| it.parse().ok()).unwrap_or(0);
    received.body = vec![0; length];
    reader.read_exact(&mut received.body).ok()?;
    Some(received)
}
