//! What is around every page: the head with its trail, the line about the stream, and the script.

use crate::problem::PageProblem;
use maud::{DOCTYPE, Markup, html};

/// What an address shows.
pub enum Shown {
    Page(Drawn),
    /// A text as it was recorded.
    Text(Vec<u8>),
}

/// A page.
#[derive(Default)]
pub struct Drawn {
    pub title: String,
    /// Names and addresses of the pages above.
    pub trail: Vec<(String, String)>,
    pub body: String,
    /// The address of the stream that says when the page has changed; empty if it never does.
    pub stream: String,
    /// The state that the page shows, as the stream names it.
    pub state: String,
}

impl Drawn {
    pub fn html(&self) -> String {
        let trail = html! {
            @for (name, address) in &self.trail { span.slash aria-hidden="true" { "/" } a href=(address) { (name) } }
        };
        let main = html! {
            main id="main" data-stream=(self.stream) data-state=(self.state) tabindex="-1" {
                (maud::PreEscaped(&self.body))
            }
        };
        document(&self.title, &trail, !self.stream.is_empty(), &main)
    }
}

fn document(title: &str, trail: &Markup, is_live: bool, main: &Markup) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                link rel="icon" href="/assets/icon.svg" type="image/svg+xml";
                link rel="stylesheet" href="/assets/page.css";
                script src="/assets/idiomorph.min.js" defer {}
                script src="/assets/page.js" defer {}
            }
            body {
                a.skip href="#main" { "Skip to the content" }
                header.top {
                    nav.trail aria-label="Trail" {
                        a.brand href="/" { span.turn aria-hidden="true" { "↩" } "remand" }
                        (trail)
                    }
                    @if is_live { p.stream id="stream" role="status" data-is="connecting" { "connecting" } }
                }
                (main)
            }
        }
    }
    .into_string()
}

/// The page for a window without a session.
pub fn closed(why: &str) -> String {
    let main = html! {
        main id="main" tabindex="-1" {
            section.notice {
                h1 { "Not signed in" }
                p { (why) }
                p { "Run " code { "remand serve" } " in a terminal; it prints a link that opens this page once." }
            }
        }
    };
    document("Not signed in · remand", &html! {}, false, &main)
}

/// The page that a login link opens. It leads on by itself.
pub fn opened(to: &str) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="refresh" content={ "0;url=" (to) };
                title { "remand" }
                link rel="icon" href="/assets/icon.svg" type="image/svg+xml";
                link rel="stylesheet" href="/assets/page.css";
            }
            body { main id="main" { section.notice { h1 { "Signed in" } p { a href=(to) { "Continue" } } } } }
        }
    }
    .into_string()
}

/// The page for an address that cannot be shown.
pub fn problem(problem: &PageProblem) -> String {
    let title = if problem.is_missing() { "Not here" } else { "This cannot be shown" };
    let main = html! {
        main id="main" tabindex="-1" {
            section.notice {
                h1 { (title) }
                p { (problem) }
                @let hint = problem.hint();
                @if !hint.is_empty() { p { (hint) } }
                p { a href="/" { "All runs" } }
            }
        }
    };
    document(&format!("{title} · remand"), &html! {}, false, &main)
}
