//! Nobody else reads the page or answers on it: other names, other sites, other windows.

use super::browser::Browser;
use super::live::path_of;
use super::served::Served;
use crate::place::Place;
use crate::rehearsed::{Script, TRIVIAL};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;

/// A place whose run waits at a gate.
fn waiting() -> Place {
    let place = Place::configured(TRIVIAL);
    let shown = place.feature(&Script::subtraction(), &["--interactive"]);
    assert_eq!(shown.code, 5, "{}{}", shown.out, shown.err);
    place
}

/// The address to which an answer is sent.
fn gate_path(place: &Place) -> String {
    let gate = place.reader().open_gates().expect("gates").remove(0);
    format!("{}/gates/{}", path_of(place), gate.command)
}

fn is_unanswered(place: &Place) -> bool {
    let reader = place.reader();
    reader.all_requests().expect("requests").is_empty() && reader.open_gates().expect("gates").len() == 1
}

// BY-11
#[test]
fn requests_by_another_name_without_a_session_or_from_another_site_are_refused() {
    let place = waiting();
    let served = Served::start(&place, &[]);
    let port = served.port;
    let get = |path: &str, host: &str, more: &str| {
        served.send(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n"))
    };
    let own = format!("127.0.0.1:{port}");
    let status = |answer: &str| answer.split(' ').nth(1).unwrap_or_default().to_string();

    for host in ["evil.test", "evil.test:80", &format!("evil.test:{port}"), "127.0.0.1:1"] {
        for path in ["/", "/assets/page.css", "/login?key=x", "/events"] {
            assert_eq!(status(&get(path, host, "")), "421", "{host} {path}");
        }
    }
    for path in ["/", "/events", &path_of(&place)] {
        let answer = get(path, &own, "");
        assert_eq!(status(&answer), "401", "{path}");
        assert!(!answer.contains("Is this the right direction?"), "{answer}");
    }

    let file = place.state().join(format!("page-{port}.link"));
    let mode = std::fs::metadata(&file).expect("the link").permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    let path = served.link.split_once(&own).expect("a path").1;
    let opened = get(path, &own, "");
    assert_eq!(status(&opened), "200", "{opened}");
    let cookie = opened.lines().find_map(|line| line.strip_prefix("set-cookie: ")).expect("a cookie");
    assert!(cookie.contains("; HttpOnly; SameSite=Strict"), "{cookie}");
    assert!(cookie.starts_with(&format!("remand-{port}=")), "{cookie}");
    assert_eq!(status(&get(path, &own, "")), "403", "a link opens one window");

    let cookie = format!("Cookie: {}\r\n", cookie.split(';').next().expect("a pair"));
    let answer = get(&path_of(&place), &own, &cookie);
    assert_eq!(status(&answer), "200", "{answer}");
    assert!(answer.contains("Is this the right direction?"), "{answer}");
    assert!(answer.contains("content-security-policy: default-src 'none'; script-src 'self'"), "{answer}");
    let inline =
        regex::Regex::new("<script(?: [^>]*)?>[^<]|<style|\\sstyle=|\\son[a-z]+=").expect("a pattern");
    assert!(!inline.is_match(answer.split_once("\r\n\r\n").expect("a body").1), "{answer}");

    let body = r#"{"option":"proceed"}"#;
    let post = |headers: &str| {
        served.send(&format!(
            "POST {} HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\nContent-Length: {}\r\n{headers}\r\n{body}",
            gate_path(&place),
            body.len()
        ))
    };
    let json_type = "Content-Type: application/json\r\n";
    let ours = format!("Origin: http://{own}\r\n");
    let ask = |request: &str, headers: &str| {
        let path = path_of(&place);
        served.send(&format!(
            "POST {path}/{request} HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\nContent-Length: 2\r\n{headers}\r\n{{}}",
        ))
    };
    for request in ["cancel", "resume"] {
        assert_eq!(status(&ask(request, &format!("{cookie}{json_type}"))), "403", "{request}");
        let foreign = format!("{cookie}{json_type}Origin: http://evil.test\r\n");
        assert_eq!(status(&ask(request, &foreign)), "403", "{request}");
        assert_eq!(status(&ask(request, &format!("{ours}{json_type}"))), "401", "{request}");
    }
    assert_eq!(status(&ask("delete", &format!("{cookie}{ours}{json_type}"))), "404");
    assert_eq!(status(&post(&format!("{cookie}{json_type}"))), "403");
    assert_eq!(status(&post(&format!("{cookie}{json_type}Origin: http://evil.test\r\n"))), "403");
    assert_eq!(status(&post(&format!("{cookie}{ours}Content-Type: text/plain\r\n"))), "415");
    assert_eq!(status(&post(&format!("{ours}{json_type}"))), "401");
    assert!(is_unanswered(&place));
    let taken = post(&format!("{cookie}{ours}{json_type}"));
    assert_eq!(status(&taken), "200", "{taken}");
    assert_eq!(place.reader().all_requests().expect("requests").len(), 1);
    let twice = post(&format!("{cookie}{ours}{json_type}"));
    assert!(status(&twice) == "409" && twice.contains("already has an answer"), "{twice}");
}

// BY-11
#[test]
fn a_page_that_only_shows_answers_nothing() {
    let place = waiting();
    let served = Served::start(&place, &["--read-only"]);
    let Some(browser) = Browser::start() else { return };
    let window = browser.profile(json!({}));
    window.goto(&served.link);
    window.wait_for("Is this the right direction?");
    window.click("a.title");
    window.wait_for("This page only shows.");
    let address = served.address(&gate_path(&place));
    let sent = format!(
        "fetch('{address}', {{ method: 'POST', headers: {{ 'Content-Type': 'application/json' }}, \
         body: '{{\"option\":\"proceed\"}}' }}).then((response) => response.status)"
    );
    assert_eq!(window.evaluate(&sent), 403);
    let sent = sent.replace(&address, &served.address(&format!("{}/cancel", path_of(&place))));
    assert_eq!(window.evaluate(&sent), 403);
    assert!(!window.text("main").contains("Cancel the run"), "{}", window.text("main"));
    assert!(is_unanswered(&place));
}

// BY-11
#[test]
fn a_foreign_site_neither_reads_nor_answers_and_a_stolen_link_is_worthless() {
    let Some(browser) = Browser::start() else { return };
    let place = waiting();
    let served = Served::start(&place, &[]);
    let window = browser.profile(json!({}));
    window.goto(&served.link);
    window.wait_for("Is this the right direction?");

    // The browser resolves this name to the loopback interface, as after DNS rebinding.
    let rebound = window.another();
    assert_eq!(rebound.goto(&format!("http://evil.test:{}/", served.port)), 421);
    assert!(!rebound.text("body").contains("Is this the right direction?"));

    // A site that knows every address sends an answer with the user's cookies.
    let foreign = window.another();
    foreign.foreign("http://foreign.example/**", "<title>foreign</title>");
    foreign.goto("http://foreign.example/");
    let address = served.address(&gate_path(&place));
    for kind in ["text/plain", "application/json"] {
        let write = format!(
            "fetch('{address}', {{ method: 'POST', mode: 'no-cors', credentials: 'include', \
             headers: {{ 'Content-Type': '{kind}' }}, body: '{{\"option\":\"proceed\"}}' }})\
             .then(() => 'sent', () => 'not sent')"
        );
        foreign.evaluate(&write);
    }
    let read = format!(
        "fetch('{}', {{ credentials: 'include' }}).then((response) => response.text(), () => 'nothing')",
        served.address("/")
    );
    assert_eq!(foreign.evaluate(&read), "nothing");
    assert!(is_unanswered(&place));

    let thief = browser.profile(json!({}));
    assert_eq!(thief.goto(&served.link), 403);
    assert!(thief.text("body").contains("This link was used before"), "{}", thief.text("body"));
    assert_eq!(thief.goto(&served.address("/")), 401);
    // The user opens another window with the next link, which only the user can read.
    assert_eq!(thief.goto(&served.next_link(&place)), 200);
}
