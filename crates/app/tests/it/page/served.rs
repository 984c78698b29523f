//! `remand serve` for a place.

use crate::place::Place;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

/// A server that runs until it is dropped.
pub struct Served {
    server: Child,
    pub port: u16,
    /// The link that it printed.
    pub link: String,
}

impl Served {
    pub fn start(place: &Place, more: &[&str]) -> Served {
        Served::at(place, 0, more)
    }

    pub fn at(place: &Place, port: u16, more: &[&str]) -> Served {
        let port = port.to_string();
        let mut arguments = vec!["serve", "--port", port.as_str()];
        arguments.extend(more);
        let mut server = place.command(&arguments).stdout(Stdio::piped()).spawn().expect("the binary starts");
        let mut link = String::new();
        let out = server.stdout.take().expect("its output");
        BufReader::new(out).read_line(&mut link).expect("a link");
        let link = link.trim().to_string();
        let address = link.strip_prefix("http://127.0.0.1:").expect("a link");
        let port = address.split('/').next().and_then(|port| port.parse().ok()).expect("a port");
        Served { server, port, link }
    }

    /// The address of a page.
    pub fn address(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// The link for the next window.
    pub fn next_link(&self, place: &Place) -> String {
        let file = place.state().join(format!("page-{}.link", self.port));
        fs::read_to_string(file).expect("the link").trim().to_string()
    }

    /// Sends a request as it stands, and returns the whole answer.
    pub fn send(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        stream.write_all(request.as_bytes()).expect("sent");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer");
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Ends the server and waits until it is gone.
    pub fn stop(mut self) {
        self.server.kill().expect("it runs");
        self.server.wait().expect("an end");
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
