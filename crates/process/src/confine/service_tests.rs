//! Tests of programs that reach their services and nobody else, as agents do.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use super::confine_tests::{Lab, is_fully_enforced, python, successful_attacks};
use super::hello::tests::hello;
use super::*;
use crate::{Cancel, Exit, run};
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::thread;

/// The name of a service that exists nowhere; a proxy of the test answers for it.
const NAME: &str = "model.invalid";

/// A policy like that of an agent: hidden folders are denied, the network is private.
fn agent_policy(lab: &Lab, services: &[String]) -> Policy {
    let private = PrivateFolders { storage: lab.path("storage"), ..PrivateFolders::default() };
    Policy {
        hidden: vec![lab.path("outside")],
        private: Some(private),
        private_required: true,
        services: services.iter().map(|text| ServiceAddress::parse(text).expect("an address")).collect(),
        contacts: Some(lab.path("contacts.json")),
        ..lab.policy()
    }
}

fn contacts(lab: &Lab) -> Contacts {
    serde_json::from_slice(&fs::read(lab.path("contacts.json")).expect("a record")).expect("JSON")
}

/// A server that answers the first message of each connection with a greeting.
fn greeter() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let greet = |mut stream: TcpStream| {
        let mut said = [0; 4096];
        let length = stream.read(&mut said)?;
        stream.write_all(format!("heard {length}").as_bytes())
    };
    thread::spawn(move || listener.incoming().flatten().for_each(|stream| drop(greet(stream))));
    port
}

/// A proxy that greets in the name of every requested host.
fn proxy() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let serve = |mut stream: TcpStream| {
        let mut said = [0; 4096];
        let length = stream.read(&mut said)?;
        let request = String::from_utf8_lossy(&said[..length]).into_owned();
        let host = request.split_whitespace().nth(1).unwrap_or_default().to_string();
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
        let length = stream.read(&mut said)?;
        stream.write_all(format!("{host} heard {length}").as_bytes())
    };
    thread::spawn(move || listener.incoming().flatten().for_each(|stream| drop(serve(stream))));
    port
}

fn talk(host: &str, port: u16, bytes: &[u8]) -> String {
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    python(&format!(
        "import socket; s = socket.create_connection((\"{host}\", {port}), 5); \
         s.sendall(bytes.fromhex(\"{hex}\")); print(s.recv(99).decode(), flush=True)"
    ))
}

// BX-02
#[test]
fn a_service_on_loopback_is_reached_at_its_own_address() {
    let lab = Lab::new();
    let port = greeter();
    let policy = agent_policy(&lab, &[format!("http://127.0.0.1:{port}/v1")]);
    let done = lab.run(policy.clone(), &talk("127.0.0.1", port, b"hi"));
    assert!(done.stdout.text().ends_with("heard 2\n"), "{}{}", done.stdout.text(), done.stderr.text());
    let done = lab.run(policy, &talk("localhost", port, b"hello"));
    assert!(done.stdout.text().ends_with("heard 5\n"), "{}{}", done.stdout.text(), done.stderr.text());
    let traffic = Traffic { sent: 5, received: 7 };
    assert_eq!(contacts(&lab).reached, [(format!("127.0.0.1:{port}"), traffic)].into());
    assert_eq!(contacts(&lab).refused, [].into());
    assert_eq!(lab.report().network, EnforcementLevel::Full);
}

// BX-02
#[test]
fn a_service_is_reached_by_its_name_through_the_user_s_proxy_and_only_with_tls_for_that_name() {
    let lab = Lab::new();
    let start = hello(NAME);
    let script = format!(
        "env | grep -i _proxy\n({})\n({})\n({})\n({})",
        talk(NAME, 443, &start),
        talk(NAME, 443, &hello("other.example")),
        talk(NAME, 443, b"GET / HTTP/1.1\r\n\r\n"),
        talk(NAME, 444, &start),
    );
    let mut job = lab.job(agent_policy(&lab, &[NAME.to_string()]), &script);
    job.environment.insert("HTTPS_PROXY".into(), format!("http://127.0.0.1:{}", proxy()).into());
    let done = run(&job, &Cancel::new()).unwrap();
    let expected = format!("{NAME}:443 heard {}\n", start.len());
    assert!(done.stdout.text().ends_with(&expected), "{}{}", done.stdout.text(), done.stderr.text());
    assert!(!done.stdout.text().contains("_PROXY"), "{}", done.stdout.text());
    let contacts = contacts(&lab);
    assert!(contacts.reached.contains_key(&format!("{NAME}:443")), "{contacts:?}");
    let refused = [
        format!("{NAME}:444 (TCP)"),
        format!("other.example through {NAME}:443"),
        format!("something other than TLS through {NAME}:443"),
    ];
    assert_eq!(contacts.refused, refused.into());
}

// BX-02 BX-05
#[test]
fn every_other_way_out_leads_nowhere_and_is_recorded() {
    let lab = Lab::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
    let datagram_port = datagrams.local_addr().unwrap().port();
    let open = |call: &str| python(&format!("import socket as s; {call}"));
    let attacks = [
        open(&format!("s.create_connection((\"127.0.0.1\", {port}), 2)")),
        open(&format!("s.socket().sendto(b\"x\", 0x20000000, (\"127.0.0.1\", {port}))")),
        open(&format!("s.socket(2, 1, 262).connect((\"127.0.0.1\", {port}))")),
        open("s.create_connection((\"192.0.2.1\", 443), 2)"),
        open("s.socket().sendto(b\"x\", 0x20000000, (\"192.0.2.2\", 443))"),
        open("s.socket(2, 1, 262).connect((\"192.0.2.3\", 443))"),
        open("s.create_connection((\"2001:db8::1\", 443), 2)"),
        open("s.create_connection((\"elsewhere.invalid\", 443), 2)"),
        "curl -sS -m 5 https://curled.invalid/".to_string(),
    ];
    let attacks: Vec<&str> = attacks.iter().map(String::as_str).collect();
    let policy = agent_policy(&lab, &[NAME.to_string()]);
    assert_eq!(successful_attacks(&lab, policy.clone(), &attacks), Vec::<String>::new());
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err());
    let refused = contacts(&lab).refused;
    for expected in [
        &format!("127.0.0.1:{port} of this machine (TCP)"),
        "192.0.2.1:443 (TCP)",
        "192.0.2.2:443 (TCP)",
        "192.0.2.3:443 (TCP)",
        "[2001:db8::1]:443 (TCP)",
        "elsewhere.invalid",
        "curled.invalid",
    ] {
        assert!(refused.contains(expected), "{expected}: {refused:?}");
    }
    // Sending a datagram succeeds even if nothing receives it.
    let send = |host: &str, port: u16| {
        open(&format!("s.socket(s.AF_INET, s.SOCK_DGRAM).sendto(b\"x\", (\"{host}\", {port}))"))
    };
    let sends = [send("127.0.0.1", datagram_port), send("192.0.2.4", 99)];
    let sends: Vec<&str> = sends.iter().map(String::as_str).collect();
    successful_attacks(&lab, policy, &sends);
    datagrams.set_nonblocking(true).unwrap();
    assert!(datagrams.recv_from(&mut [0; 9]).is_err());
    let refused = contacts(&lab).refused;
    let expected =
        [format!("127.0.0.1:{datagram_port} of this machine (UDP)"), "192.0.2.4:99 (UDP)".to_string()];
    assert_eq!(refused, expected.into());
}

// UP-02
#[test]
fn a_program_that_talks_to_itself_is_not_recorded() {
    let lab = Lab::new();
    let script = [
        "import socket as s; a = s.create_server((\"127.0.0.1\", 0)); s.create_connection(a.getsockname())",
        "import socket as s; a = s.create_server((\"::1\", 0), family=s.AF_INET6); s.create_connection(a.getsockname()[:2])",
        "import os; os.openpty(); print(open(\"/dev/shm/x\", \"w\").write(\"x\"))",
        "import socket as s; a = s.socket(s.AF_UNIX); a.bind(\"own\"); a.listen(); s.socket(s.AF_UNIX).connect(\"own\")",
    ];
    let script: Vec<String> = script.iter().map(|body| python(body)).collect();
    let own: Vec<&str> = script.iter().map(String::as_str).collect();
    let policy = agent_policy(&lab, &[]);
    assert_eq!(successful_attacks(&lab, policy, &own), own);
    let text = fs::read_to_string(lab.path("contacts.json")).unwrap();
    assert_eq!(serde_json::from_str::<Contacts>(&text).unwrap(), Contacts::default());
}

// BX-05
#[test]
fn what_the_sandbox_denies_in_a_private_network_is_reported_as_denied() {
    let lab = Lab::new();
    let _named = std::os::unix::net::UnixListener::bind(lab.path("elsewhere.sock")).unwrap();
    let connect = python("import socket as s; s.socket(s.AF_UNIX).connect(\"../elsewhere.sock\")");
    let script = format!(
        "cat ../outside/file; echo x >../outside/file; echo x >../outside/new; echo x >../new; {}",
        connect.strip_prefix("exec ").unwrap()
    );
    let done = lab.run(agent_policy(&lab, &[]), &script);
    let errors = done.stderr.text().into_owned();
    assert_eq!(errors.to_lowercase().matches("permission denied").count(), 1, "{errors}");
    assert_eq!(errors.matches("Read-only file system").count(), 4, "{errors}");
    assert_ne!(done.exit, Exit::Code(0));
}

// BX-02 BX-06
#[test]
fn in_a_shared_network_a_program_with_a_service_has_only_tcp_and_name_resolution() {
    let lab = Lab::new();
    let port = greeter();
    let service = ServiceAddress::from_url(&format!("http://127.0.0.1:{port}"));
    let policy = Policy { services: service.into_iter().collect(), ..lab.policy() };
    let open = |call: &str| python(&format!("import socket as s; {call}"));
    let attacks = [
        open("s.socket(s.AF_INET, s.SOCK_STREAM, 262)"),
        open("s.socket(s.AF_INET, s.SOCK_DGRAM, 136)"),
        open("s.socket(s.AF_INET, s.SOCK_DGRAM, 1)"),
        open(&format!("s.socket().sendto(b\"x\", 0x20000000, (\"127.0.0.1\", {port}))")),
        open(&format!("s.socket().sendmsg([b\"x\"], [], 0x20000000, (\"127.0.0.1\", {port}))")),
        open("s.socket().setsockopt(6, 30, 1)"),
        open("s.create_connection((\"127.0.0.1\", 9), 2)"),
    ];
    let attacks: Vec<&str> = attacks.iter().map(String::as_str).collect();
    let succeeded = successful_attacks(&lab, policy.clone(), &attacks);
    assert!(succeeded.is_empty() || !is_fully_enforced(), "{succeeded:?}");
    let permitted = [talk("127.0.0.1", port, b"hi"), open("s.socket(s.AF_INET, s.SOCK_DGRAM)")];
    let permitted: Vec<&str> = permitted.iter().map(String::as_str).collect();
    assert_eq!(successful_attacks(&lab, policy, &permitted), permitted);
}
