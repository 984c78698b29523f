//! A test project with a stand-in for the model, and an account for every agent program in the user's home.

use crate::place::{Place, Shown, shown, with_rust};
use crate::rehearsed::REQUEST;
use remand_agents::rehearsal::Script;
use remand_ledger::query::{DispatchRow, NoteRow};
use remand_standin::{Request, Standin};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The key that programs sign in with; it must not turn up anywhere else.
pub const KEY: &str = "standin-key-0123456789";

/// One agent program.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    pub name: &'static str,
    /// The program's name for the model.
    pub model: &'static str,
}

pub const CLAUDE: Program = Program { name: "claude", model: "claude-sonnet-4-5" };
pub const CODEX: Program = Program { name: "codex", model: "stand-in" };
pub const OPENCODE: Program = Program { name: "opencode", model: "standin/stand-in" };
pub const GEMINI: Program = Program { name: "gemini", model: "gemini-2.5-flash" };
pub const QWEN: Program = Program { name: "qwen", model: "stand-in" };

// The same programs, driven over ACP.
pub const CLAUDE_ACP: Program = Program { name: "claude-acp", ..CLAUDE };
pub const CODEX_ACP: Program = Program { name: "codex-acp", model: KNOWN };
pub const OPENCODE_ACP: Program = Program { name: "opencode-acp", ..OPENCODE };
pub const GEMINI_ACP: Program = Program { name: "gemini-acp", ..GEMINI };
pub const QWEN_ACP: Program = Program { name: "qwen-acp", ..QWEN };

/// A model that Codex knows, which its adapter requires. With such models, Codex offers MCP tools only through a search
/// tool.
pub const KNOWN: &str = "gpt-5.5";

/// Everything that a run with agent programs needs.
pub struct Desk {
    pub place: Place,
    pub standin: Standin,
    /// The address of the model, as the settings of the programs name it.
    url: String,
    /// The user's HTTP proxy.
    proxy: Option<String>,
}

/// The folder with all tools that tests need in addition to Rust.
pub fn tools() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/test-tools");
    std::env::var_os("REMAND_TEST_TOOLS").map_or(root, PathBuf::from)
}

/// The folder of the programs; `None`, with a message, when the tests run without them.
fn programs() -> Option<PathBuf> {
    let without = std::env::var("REMAND_TEST_WITHOUT").unwrap_or_default();
    if without.split(',').any(|name| name == "agents") {
        eprintln!("NOT TESTED: agent programs, since REMAND_TEST_WITHOUT names agents");
        return None;
    }
    let tools = tools();
    let folder = tools.join("agents/node_modules/.bin");
    assert!(
        folder.is_dir(),
        "the agent programs are missing: `tools/agents {}` installs them; REMAND_TEST_WITHOUT=agents goes without",
        tools.join("agents").display()
    );
    Some(folder)
}

impl Desk {
    /// A desk with a model that plays this script; `None` if the tests run without agent programs.
    pub fn new(script: &str) -> Option<Desk> {
        Desk::at(Place::new(), script)
    }

    pub fn at(place: Place, script: &str) -> Option<Desk> {
        programs()?;
        let script = Script::parse(script, "script").expect("a script");
        let standin = Standin::start(script).expect("a stand-in");
        let url = standin.url();
        Some(Desk { place, standin, url, proxy: None }.with_accounts())
    }

    /// A desk whose model is on a host with this name, which the user's proxy leads to.
    pub fn named(place: Place, script: &str, host: &str, proxy: String) -> Option<Desk> {
        let desk = Desk::at(place, script)?;
        let url = desk.standin.url().replace("127.0.0.1", host);
        Some(Desk { url, proxy: Some(proxy), ..desk }.with_accounts())
    }

    fn with_accounts(self) -> Desk {
        let (url, desk) = (self.url.clone(), self);
        desk.write_in_home(
            ".codex/config.toml",
            &format!(
                "model = \"{KNOWN}\"\nmodel_provider = \"standin\"\n[model_providers.standin]\nname = \"Stand-in\"\nbase_url = \"{url}/v1\"\n\
                 env_key = \"OPENAI_API_KEY\"\nwire_api = \"responses\"\nrequest_max_retries = 1\nstream_max_retries = 1\n"
            ),
        );
        desk.write_in_home(
            ".config/opencode/opencode.json",
            &format!(
                r#"{{"model":"standin/stand-in","small_model":"standin/stand-in","enabled_providers":["standin"],"provider":{{"standin":{{
                "npm":"@ai-sdk/openai-compatible","options":{{"baseURL":"{url}/v1","apiKey":"{KEY}"}},
                "models":{{"stand-in":{{"tool_call":true,"limit":{{"context":128000,"output":4096}},
                "cost":{{"input":1,"output":2}}}}}}}}}}}}"#
            ),
        );
        desk
    }

    /// Writes a file below the user's home.
    pub fn write_in_home(&self, path: &str, text: &str) {
        let path = self.place.user_home().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folder");
        fs::write(path, text).expect("file");
    }

    /// The binary, with the programs on its path and the accounts in its environment.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.place.command(arguments);
        let usual = std::env::var_os("PATH").expect("PATH");
        let folders = programs().into_iter().chain(std::env::split_paths(&usual));
        command.env("PATH", std::env::join_paths(folders).expect("a path"));
        let url = self.url.clone();
        command.envs(self.proxy.iter().map(|proxy| ("http_proxy", proxy)));
        for (name, value) in [
            ("ANTHROPIC_API_KEY", KEY.to_string()),
            ("ANTHROPIC_BASE_URL", url.clone()),
            ("OPENAI_API_KEY", KEY.to_string()),
            ("OPENAI_BASE_URL", format!("{url}/v1")),
            ("OPENAI_MODEL", "stand-in".to_string()),
            ("GEMINI_API_KEY", KEY.to_string()),
            ("GOOGLE_GEMINI_BASE_URL", url.clone()),
        ] {
            command.env(name, value);
        }
        with_rust(&mut command);
        command
    }

    fn quick_command(&self, program: Program) -> Command {
        let Program { name, model } = program;
        self.command(&["run", REQUEST, "--workflow", "quick", "--agent", name, "--model", model])
    }

    /// Runs `quick` with one program for all roles.
    pub fn quick(&self, program: Program) -> Shown {
        shown(self.quick_command(program))
    }

    /// Starts `quick` and leaves it running.
    pub fn start_quick(&self, program: Program) -> Child {
        let mut command = self.quick_command(program);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts")
    }

    pub fn run(&self, more: &[&str]) -> Shown {
        let mut arguments = vec!["run", REQUEST];
        arguments.extend(more);
        shown(self.command(&arguments))
    }

    pub fn dispatches(&self) -> Vec<DispatchRow> {
        self.place.reader().dispatches(&self.place.latest().run).expect("dispatches")
    }

    /// The output of a program.
    pub fn output_of(&self, row: &DispatchRow) -> String {
        let blob = self.place.reader().blob(row.output.expect("its output")).expect("a blob");
        String::from_utf8_lossy(&blob).into_owned()
    }

    pub fn notes(&self) -> Vec<NoteRow> {
        self.place.reader().notes(&self.place.latest().run).expect("notes")
    }

    /// The requests of the programs to the model for dispatches of a role.
    pub fn asked(&self, role: &str) -> Vec<Request> {
        let of_role =
            |request: &Request| request.dispatch.as_deref().is_some_and(|about| about.starts_with(role));
        self.standin.requests().into_iter().filter(of_role).collect()
    }

    /// The requests to the model for all dispatches.
    pub fn turns(&self) -> Vec<Request> {
        self.asked("")
    }

    /// The number of turns in which the model submitted a result with the tool.
    pub fn submissions(&self) -> usize {
        self.turns().iter().filter(|turn| turn.answered.contains("submit_result")).count()
    }

    /// A file in the commit of the newest run.
    pub fn committed(&self, file: &str) -> String {
        let branch = format!("remand/{}", self.place.latest().run);
        self.place.git(&["show", &format!("{branch}:{file}")])
    }

    /// The names of all files in the commit of the newest run.
    pub fn files(&self) -> String {
        let branch = format!("remand/{}", self.place.latest().run);
        self.place.git(&["ls-tree", "-r", "--name-only", &branch])
    }
}
