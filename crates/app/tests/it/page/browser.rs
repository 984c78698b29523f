//! Debian's Chromium, driven through playwright-core by a small script.

use serde_json::{Value, json};
use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A browser that runs.
pub struct Browser {
    driver: Child,
    lines: RefCell<(ChildStdin, BufReader<ChildStdout>)>,
}

/// One window of it.
#[derive(Clone, Copy)]
pub struct Window<'b> {
    browser: &'b Browser,
    page: u64,
}

impl Browser {
    /// Starts the browser; `None`, with a message, when the tests run without it.
    pub fn start() -> Option<Browser> {
        let without = std::env::var("REMAND_TEST_WITHOUT").unwrap_or_default();
        if without.split(',').any(|name| name == "chromium") {
            eprintln!("NOT TESTED: the page in a browser, since REMAND_TEST_WITHOUT names chromium");
            return None;
        }
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let built = folder.join("../../target/test-tools");
        let tools = std::env::var_os("REMAND_TEST_TOOLS").map_or(built, PathBuf::from);
        let core = tools.join("browser/node_modules/playwright-core");
        assert!(core.is_dir(), "{} is missing; tools/toolchains FOLDER installs it", core.display());
        let mut driver = Command::new("node")
            .arg(folder.join("tests/it/page/browser.mjs"))
            .arg(&tools)
            .arg("/usr/bin/chromium")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("node runs");
        let input = driver.stdin.take().expect("its input");
        let output = BufReader::new(driver.stdout.take().expect("its output"));
        Some(Browser { driver, lines: RefCell::new((input, output)) })
    }

    /// A window with cookies of its own.
    pub fn profile(&self, options: Value) -> Window<'_> {
        let page = self.ask(json!({ "name": "profile", "options": options })).as_u64().expect("a number");
        Window { browser: self, page }
    }

    /// What scripts reported as errors since the last question.
    pub fn errors(&self) -> Vec<String> {
        serde_json::from_value(self.ask(json!({ "name": "errors" }))).expect("texts")
    }

    fn ask(&self, command: Value) -> Value {
        let (input, output) = &mut *self.lines.borrow_mut();
        writeln!(input, "{command}").expect("the driver listens");
        let mut line = String::new();
        output.read_line(&mut line).expect("the driver answers");
        let answer: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{command}: {line}"));
        assert!(answer.get("error").is_none(), "{command}: {answer}");
        answer["value"].clone()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

impl<'b> Window<'b> {
    /// A second window of the same profile.
    pub fn another(&self) -> Window<'b> {
        let page = self.browser.ask(json!({ "name": "window", "page": self.page }));
        Window { page: page.as_u64().expect("a number"), ..*self }
    }

    /// Calls a method of the page.
    pub fn call(&self, method: &str, arguments: Value) -> Value {
        self.browser.ask(json!({ "name": "call", "page": self.page, "method": method, "args": arguments }))
    }

    /// Goes to an address and returns the status.
    pub fn goto(&self, address: &str) -> u64 {
        self.call("goto", json!([address])).as_u64().expect("a status")
    }

    pub fn click(&self, selector: &str) {
        self.call("click", json!([selector]));
    }

    /// The text of the first element, as people see it.
    pub fn text(&self, selector: &str) -> String {
        self.call("innerText", json!([selector])).as_str().expect("a text").to_string()
    }

    pub fn evaluate(&self, script: &str) -> Value {
        self.call("evaluate", json!([script]))
    }

    /// Waits until an expression of the page is true.
    pub fn wait(&self, script: &str) {
        self.browser.ask(json!({ "name": "wait", "page": self.page, "script": script }));
    }

    /// Waits until the page shows a text.
    pub fn wait_for(&self, text: &str) {
        self.wait(&format!("document.body.innerText.includes({})", json!(text)));
    }

    pub fn set_offline(&self, is: bool) {
        self.browser.ask(json!({ "name": "offline", "page": self.page, "is": is }));
    }

    /// Lets an address be that of a foreign site.
    pub fn foreign(&self, address: &str, html: &str) {
        self.browser.ask(json!({ "name": "foreign", "page": self.page, "address": address, "html": html }));
    }

    /// What a screen reader or a keyboard user could not use.
    pub fn axe(&self) -> Vec<String> {
        serde_json::from_value(self.browser.ask(json!({ "name": "axe", "page": self.page }))).expect("texts")
    }

    /// Keeps a picture of the window below REMAND_TEST_PICTURES, if that is set.
    pub fn picture(&self, name: &str) {
        if let Some(folder) = std::env::var_os("REMAND_TEST_PICTURES") {
            let path = Path::new(&folder).join(format!("{name}.png"));
            self.call("screenshot", json!([{ "path": path }]));
        }
    }
}
