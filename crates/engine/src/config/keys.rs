//! Every key of the configuration, with its shape, its built-in value and its meaning.

use remand_checks::Parser;

/// One key. A `*` in the path means a name that the user chooses.
#[derive(Clone, Copy, Debug)]
pub struct ConfigKey {
    pub path: &'static str,
    pub shape: ValueShape,
    /// TOML text; empty if there is no built-in value.
    pub default: &'static str,
    /// TOML text, for the guide and the template.
    pub example: &'static str,
    pub meaning: &'static str,
}

/// The kind of value that a key takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueShape {
    Text,
    /// Absolute, or below the home folder with `~/`.
    Folder,
    /// Relative to the root of the repository, and never outside it.
    RepositoryPath,
    Choice(&'static [&'static str]),
    Flag,
    /// A whole number from 1, also as `200k` or `2M`.
    Count,
    Money,
    Time,
    Tier,
    Words,
    /// A list of words, or `false` for none.
    WordsOrFalse,
    /// A list of regular expressions.
    Patterns,
    /// A string for `sh -c`, or a list of words to run without a shell.
    Command,
    /// A list of words to run without a shell.
    Argv,
    /// Any value; the driver reads it.
    Free,
}

/// The values of `mode`.
pub const MODES: &[&str] = &["autonomous", "interactive"];

/// The values of `changes.names`.
pub const NAMES: &[&str] = &["plain", "any"];

/// The values of `notify.form`.
pub const NOTICE_FORMS: &[&str] = &["json", "slack", "ntfy"];

/// The values of `notify.terminal`.
pub const TERMINAL_NOTICES: &[&str] = &["off", "osc9", "osc777"];

/// The values of `checks.guards`.
pub const GUARDS: &[&str] = &["all", "syntax", "old-tests", "proof"];

/// The values of `reruns`.
pub const RERUNS: &[&str] = &["0", "1", "2", "3", "5"];

/// The tables in the order of the file, with their descriptions.
pub const SECTIONS: &[(&str, &str)] = &[
    ("", "Defaults for a run; command-line options override them."),
    ("limits", "Limits of one run. At a limit, the run stops and asks. Without a value there is no limit."),
    (
        "sandbox",
        "What agents may see and use. An agent that exceeds a limit is stopped, and its dispatch fails.",
    ),
    (
        "changes",
        "What one dispatch may add to its work tree. A dispatch that adds more fails, and its changes are undone. Files that \
         git ignores do not count. A check may add ten times as much.",
    ),
    ("rounds", "Rounds on a gap board, as in the workflow `spec`."),
    ("state", "Where Remand keeps the ledger and the work trees."),
    ("secrets", "What must never reach a prompt, an artifact or the ledger."),
    (
        "notify",
        "What a driven run tells you, and how. Nothing is sent unless you name a command, an address or a display. Only in \
         your own file.",
    ),
    (
        "telemetry",
        "Traces and metrics for OpenTelemetry. Off unless you name an address. Only in your own file.",
    ),
    ("mcp", "What clients of `remand mcp` may do. Only in your own file."),
    (
        "forges.*",
        "A service where issues and pull requests live: a new one, or changes to `github` or `gitlab`. \
         Only in your own file.",
    ),
    ("checks", "The checks that the engine runs."),
    ("checks.*", "One check: a new one, or changes to the detected check with this name."),
    (
        "checks.*.plant",
        "The failure that `remand doctor --checks` plants for a command that Remand does not know.",
    ),
    (
        "roles.*",
        "The agent and model of a role. Write the focus of a reviewer after a colon, as in \
         `[roles.\"reviewer:security\"]`.",
    ),
    (
        "agents.*",
        "How an agent program is driven: a new agent row, or changes to the known row with this name \
         (see `remand reference agents`). Rows with `credentials`, `copies`, `reads`, `keys`, `variables` or `hosts` are \
         only allowed in your own file, because anybody who can change a repository can change its `remand.toml`.",
    ),
    (
        "prices.*",
        "The price of a million tokens of a model, for agents that do not report their cost. A name that ends in \
         `*` matches all models with this prefix, as in `[prices.\"claude-sonnet-*\"]`.",
    ),
];

/// All keys, in the order of the file.
pub const KEYS: &[ConfigKey] = &[
    ConfigKey {
        path: "workflow",
        shape: ValueShape::Text,
        default: "",
        example: "\"feature\"",
        meaning: "The workflow of a request: the name of a shipped one, or a file. Without a value it is `quick` for one \
                  line, and `feature` for several lines or a file.",
    },
    ConfigKey {
        path: "mode",
        shape: ValueShape::Choice(MODES),
        default: "\"autonomous\"",
        example: "\"interactive\"",
        meaning: "`autonomous` uses the default of a gate that has one, and asks at the others. `interactive` asks at \
                  every gate.",
    },
    ConfigKey {
        path: "agent",
        shape: ValueShape::Text,
        default: "\"\"",
        example: "\"claude\"",
        meaning: "The agent: one that `remand agents` lists, or `rehearsal:FILE` for scripted agents. Default: the \
                  agent that is installed and signed in, if there is only one.",
    },
    ConfigKey {
        path: "model",
        shape: ValueShape::Text,
        default: "",
        example: "\"claude-sonnet-4-5\"",
        meaning: "The model for roles without a model, by the name that the agent uses. Default: the agent's choice.",
    },
    ConfigKey {
        path: "at-once",
        shape: ValueShape::Count,
        default: "4",
        example: "2",
        meaning: "Maximum number of parallel dispatches of one run.",
    },
    ConfigKey {
        path: "conventions",
        shape: ValueShape::WordsOrFalse,
        default: r#"["AGENTS.md", "CLAUDE.md", "GEMINI.md", "QWEN.md", "CONTEXT.md", "copilot-instructions.md"]"#,
        example: "[\"AGENTS.md\", \"docs/style.md\"]",
        meaning: "Files that say how code is written in this repository. Every agent that sees the work tree gets them, as \
                  they are in the base commit. A name without a slash matches in every folder, and applies to that \
                  folder. `false` gives agents none.",
    },
    ConfigKey {
        path: "limits.money",
        shape: ValueShape::Money,
        default: "",
        example: "12.50",
        meaning: "Money, in US dollars.",
    },
    ConfigKey {
        path: "limits.tokens",
        shape: ValueShape::Count,
        default: "",
        example: "\"5M\"",
        meaning: "Input and output tokens of all dispatches together.",
    },
    ConfigKey {
        path: "limits.time",
        shape: ValueShape::Time,
        default: "",
        example: "\"2h\"",
        meaning: "Wall-clock time during which the run is working. Parallel agents count once; waiting for a human \
                  does not count. At the limit, running agents are stopped.",
    },
    ConfigKey {
        path: "limits.dispatches",
        shape: ValueShape::Count,
        default: "",
        example: "60",
        meaning: "Number of dispatches.",
    },
    ConfigKey {
        path: "sandbox.required",
        shape: ValueShape::Flag,
        default: "false",
        example: "true",
        meaning: "Whether to refuse to run if the machine cannot enforce the whole sandbox. Otherwise the evidence \
                  lists what was not enforced.",
    },
    ConfigKey {
        path: "sandbox.environment",
        shape: ValueShape::Words,
        default: "[]",
        example: "[\"HTTPS_PROXY\"]",
        meaning: "Environment variables that agents get in addition to those of toolchains, such as an API key. \
                  Only in your own file.",
    },
    ConfigKey {
        path: "sandbox.checks-environment",
        shape: ValueShape::Words,
        default: "[]",
        example: "[\"DATABASE_URL\"]",
        meaning: "Environment variables that checks and commit hooks get in addition to those of toolchains, language and \
                  time zone. Only in your own file.",
    },
    ConfigKey {
        path: "sandbox.reads",
        shape: ValueShape::Words,
        default: "[]",
        example: "[\"~/.config/tool\"]",
        meaning: "Files and folders of your home that agents and checks may read in addition to toolchains and \
                  their caches. Only in your own file.",
    },
    ConfigKey {
        path: "sandbox.copies",
        shape: ValueShape::Words,
        default: "[]",
        example: "[\"generated\", \"config/local.ini\"]",
        meaning: "Files and folders of your checkout, relative to its root, that git ignores and agents, checks and hooks \
                  need. They are copied into every work tree. Only in your own file. The packages of Composer, Bundler \
                  and Mix, and version files that Python's build tools write, are copied anyway.",
    },
    ConfigKey {
        path: "sandbox.hooks-write",
        shape: ValueShape::Words,
        default: "[]",
        example: "[\"~/.local/share/hook-state\"]",
        meaning: "Files and folders that git hooks, filters and merge drivers may change in addition to the files of \
                  the commit. Other changes of hooks to your home are discarded. Hooks may run code that an agent wrote. Missing paths are ignored. Only in your own \
                  file.",
    },
    ConfigKey {
        path: "sandbox.unix-sockets",
        shape: ValueShape::Flag,
        default: "false",
        example: "true",
        meaning: "Whether agents may use Unix sockets. With them, they can reach your other programs, such as Docker. \
                  It also applies to checks that use the network, and where the kernel allows no private network. Only \
                  in your own file.",
    },
    ConfigKey {
        path: "sandbox.shared-memory",
        shape: ValueShape::Flag,
        default: "false",
        example: "true",
        meaning: "Whether agents may use the shared memory in `/dev/shm`, which your other programs use too. Process \
                  pools in Python need it. Checks have private shared memory, except where the kernel does not \
                  allow it.",
    },
    ConfigKey {
        path: "sandbox.memory",
        shape: ValueShape::Count,
        default: "\"8G\"",
        example: "\"4G\"",
        meaning: "Memory of all processes of one dispatch together, in bytes: what they use, not what they reserve. A \
                  check or a hook may use half of the machine's memory if that is more.",
    },
    ConfigKey {
        path: "sandbox.processes",
        shape: ValueShape::Count,
        default: "512",
        example: "200",
        meaning: "Maximum number of simultaneous processes of one dispatch, check or hook.",
    },
    ConfigKey {
        path: "sandbox.disk",
        shape: ValueShape::Count,
        default: "\"20G\"",
        example: "\"5G\"",
        meaning: "Maximum number of bytes that one dispatch, check or hook may add to its work tree and its home.",
    },
    ConfigKey {
        path: "sandbox.file-size",
        shape: ValueShape::Count,
        default: "\"4G\"",
        example: "\"1G\"",
        meaning: "The largest file that one dispatch, check or hook may write, in bytes.",
    },
    ConfigKey {
        path: "changes.files",
        shape: ValueShape::Count,
        default: "\"10k\"",
        example: "500",
        meaning: "Maximum number of new files, less the deleted ones, and of new folders.",
    },
    ConfigKey {
        path: "changes.file-size",
        shape: ValueShape::Count,
        default: "\"50M\"",
        example: "\"5M\"",
        meaning: "The largest new or grown file, in bytes. For a sparse file, its apparent size counts.",
    },
    ConfigKey {
        path: "changes.size",
        shape: ValueShape::Count,
        default: "\"200M\"",
        example: "\"20M\"",
        meaning: "Maximum number of bytes by which all files together may grow.",
    },
    ConfigKey {
        path: "changes.depth",
        shape: ValueShape::Count,
        default: "64",
        example: "20",
        meaning: "Maximum number of names in the path of a new file.",
    },
    ConfigKey {
        path: "changes.name-length",
        shape: ValueShape::Count,
        default: "200",
        example: "100",
        meaning: "Maximum length of the name of a new file, in bytes. Its path may be ten times as long.",
    },
    ConfigKey {
        path: "changes.names",
        shape: ValueShape::Choice(NAMES),
        default: "\"plain\"",
        example: "\"any\"",
        meaning: "`plain` refuses a change that adds names with hidden or look-alike characters, names that differ from \
                  others only in case, or links out of the repository. `any` only notes them.",
    },
    ConfigKey {
        path: "rounds.gaps",
        shape: ValueShape::Count,
        default: "7",
        example: "4",
        meaning: "Number of gaps that one round assigns.",
    },
    ConfigKey {
        path: "rounds.warn-after",
        shape: ValueShape::Count,
        default: "2",
        example: "3",
        meaning: "After this many rounds in a row without net progress, the run asks.",
    },
    ConfigKey {
        path: "rounds.diverge-beyond",
        shape: ValueShape::Count,
        default: "2",
        example: "4",
        meaning: "If a round opens more gaps than it closes, and the difference exceeds this number, the run asks \
                  immediately.",
    },
    ConfigKey {
        path: "rounds.least",
        shape: ValueShape::Count,
        default: "100",
        example: "200",
        meaning: "Minimum length of a result in characters; a shorter one is requested again.",
    },
    ConfigKey {
        path: "state.dir",
        shape: ValueShape::Folder,
        default: "",
        example: "\"~/.local/state/remand\"",
        meaning: "The state folder. Default: `$XDG_STATE_HOME/remand` or `~/.local/state/remand`. Only in your own \
                  file.",
    },
    ConfigKey {
        path: "secrets.environment",
        shape: ValueShape::Words,
        default: "[]",
        example: "[\"API_TOKEN\"]",
        meaning: "Environment variables whose values are removed wherever they occur.",
    },
    ConfigKey {
        path: "secrets.patterns",
        shape: ValueShape::Patterns,
        default: "[]",
        example: "['key-[0-9a-f]{32}']",
        meaning: "Regular expressions; every match is removed.",
    },
    ConfigKey {
        path: "notify.on",
        shape: ValueShape::Words,
        default: r#"["gate", "limit", "over", "silent"]"#,
        example: "[\"gate\", \"over\"]",
        meaning: "What to tell you: `gate`, a gate waits; `limit`, most of a limit is used; `over`, a run is over; \
                  `silent`, an agent prints nothing.",
    },
    ConfigKey {
        path: "notify.command",
        shape: ValueShape::Command,
        default: "",
        example: "\"my-notifier --stdin\"",
        meaning: "A command that gets each notice as JSON on its standard input.",
    },
    ConfigKey {
        path: "notify.webhook",
        shape: ValueShape::Text,
        default: "",
        example: "\"https://example.org/hook\"",
        meaning: "An address that gets each notice by POST. `remand config` shows only its host.",
    },
    ConfigKey {
        path: "notify.form",
        shape: ValueShape::Choice(NOTICE_FORMS),
        default: "\"json\"",
        example: "\"slack\"",
        meaning: "What the address expects: `json`, the same as the command gets; `slack`, an incoming webhook; `ntfy`, \
                  a topic.",
    },
    ConfigKey {
        path: "notify.secret-file",
        shape: ValueShape::Folder,
        default: "",
        example: "\"~/.config/remand/webhook.key\"",
        meaning: "A file with the key that signs each POST. The header `X-Remand-Signature-256` is `sha256=` and the \
                  HMAC-SHA256 of the body.",
    },
    ConfigKey {
        path: "notify.desktop",
        shape: ValueShape::Flag,
        default: "false",
        example: "true",
        meaning: "Whether to show notices on the desktop, with `notify-send` or `osascript`.",
    },
    ConfigKey {
        path: "notify.terminal",
        shape: ValueShape::Choice(TERMINAL_NOTICES),
        default: "\"off\"",
        example: "\"osc9\"",
        meaning: "The sequence that makes the terminal of a driven run show a notice: `osc9` in iTerm2, kitty, WezTerm \
                  and Windows Terminal, `osc777` in foot, Ghostty and urxvt.",
    },
    ConfigKey {
        path: "notify.texts",
        shape: ValueShape::Flag,
        default: "false",
        example: "true",
        meaning: "Whether notices contain text: the request, the question, the reason. Without it they only name run, \
                  workflow, phase and options.",
    },
    ConfigKey {
        path: "notify.silent-after",
        shape: ValueShape::Time,
        default: "\"5m\"",
        example: "\"2m\"",
        meaning: "The time without output of an agent after which a notice says that it is silent.",
    },
    ConfigKey {
        path: "telemetry.endpoint",
        shape: ValueShape::Text,
        default: "",
        example: "\"http://127.0.0.1:4318\"",
        meaning: "The address of an OpenTelemetry collector that gets traces and metrics by OTLP over HTTP while a run is \
                  driven. Without it, nothing is sent.",
    },
    ConfigKey {
        path: "telemetry.headers-file",
        shape: ValueShape::Folder,
        default: "",
        example: "\"~/.config/remand/otlp-headers\"",
        meaning: "A file with headers for the collector, such as an API key: one `Name: value` on each line.",
    },
    ConfigKey {
        path: "mcp.may-answer",
        shape: ValueShape::Words,
        default: "[]",
        example: "[\"approve-research\"]",
        meaning: "The gates that a client of `remand mcp` may answer, by the names of their phases. It can never answer a \
                  mandatory gate.",
    },
    ConfigKey {
        path: "forges.*.read",
        shape: ValueShape::Argv,
        default: "",
        example: "[\"linear\", \"issue\", \"${number}\"]",
        meaning: "The command that prints an issue.",
    },
    ConfigKey {
        path: "forges.*.publish",
        shape: ValueShape::Argv,
        default: "",
        example: "[\"gh\", \"pr\", \"create\", \"--head\", \"${branch}\", \"--body-file\", \"${file}\"]",
        meaning: "The command that opens a pull request for a pushed branch.",
    },
    ConfigKey {
        path: "forges.*.**",
        shape: ValueShape::Free,
        default: "",
        example: "",
        meaning: "Any other key of a forge.",
    },
    ConfigKey {
        path: "checks.detect",
        shape: ValueShape::Flag,
        default: "true",
        example: "false",
        meaning: "Whether to detect checks by marker files such as `Cargo.toml`.",
    },
    ConfigKey {
        path: "checks.cache",
        shape: ValueShape::Flag,
        default: "true",
        example: "false",
        meaning: "Whether to reuse a result if tree, command, tool and environment are the same.",
    },
    ConfigKey {
        path: "checks.guards",
        shape: ValueShape::Choice(GUARDS),
        default: "\"all\"",
        example: "\"old-tests\"",
        meaning: "What guards tests besides their results: `syntax` finds removed, weakened and tricked tests in the text of a \
                  change, `old-tests` runs the tests of the base on the changed code, and `proof` demands that tests can \
                  fail. One alone is for measurements.",
    },
    ConfigKey {
        path: "checks.prove",
        shape: ValueShape::Flag,
        default: "true",
        example: "false",
        meaning: "Whether the tests as they were must pass on the new code, and whether new and changed tests must be able \
                  to fail: on the code before the change, or on a mutant of it. It applies to checks that report their tests.",
    },
    ConfigKey {
        path: "checks.prove-time",
        shape: ValueShape::Time,
        default: "\"1m\"",
        example: "\"5m\"",
        meaning: "How long to try mutants of a change, if the tests themselves take less.",
    },
    ConfigKey {
        path: "checks.*.command",
        shape: ValueShape::Command,
        default: "",
        example: "\"cargo clippy --all-targets -- -D warnings\"",
        meaning: "The command: `sh -c` runs a string; a list runs without a shell.",
    },
    ConfigKey {
        path: "checks.*.tier",
        shape: ValueShape::Tier,
        default: "",
        example: "2",
        meaning: "1: diagnostics and syntax; 2: build, types, lint and tests; 3: smoke. Default: 2.",
    },
    ConfigKey {
        path: "checks.*.quick",
        shape: ValueShape::Flag,
        default: "",
        example: "true",
        meaning: "Whether it is one of the quick checks. Default: only in tier 1.",
    },
    ConfigKey {
        path: "checks.*.time",
        shape: ValueShape::Time,
        default: "",
        example: "\"10m\"",
        meaning: "Time limit; a check that reaches it is stopped and does not pass. Default: 15 minutes.",
    },
    ConfigKey {
        path: "checks.*.parser",
        shape: ValueShape::Choice(Parser::NAMES),
        default: "",
        example: "\"none\"",
        meaning: "How to read individual tests from its output. Default: `none`.",
    },
    ConfigKey {
        path: "checks.*.report",
        shape: ValueShape::RepositoryPath,
        default: "",
        example: "\"build/test-results\"",
        meaning: "For `junit` and `jest`: the file, or the folder of files, that the command writes.",
    },
    ConfigKey {
        path: "checks.*.needs",
        shape: ValueShape::Words,
        default: "",
        example: "[\"cargo-check\"]",
        meaning: "Checks that must pass first; otherwise this one is skipped.",
    },
    ConfigKey {
        path: "checks.*.folder",
        shape: ValueShape::RepositoryPath,
        default: "",
        example: "\"crates/app\"",
        meaning: "The folder it runs in, relative to the root. Default: the root.",
    },
    ConfigKey {
        path: "checks.*.network",
        shape: ValueShape::Flag,
        default: "",
        example: "true",
        meaning: "Whether it may use the network. Default: no.",
    },
    ConfigKey {
        path: "checks.*.memory",
        shape: ValueShape::Count,
        default: "",
        example: "\"4G\"",
        meaning: "Memory of each of its processes, in bytes. Default: 8 GiB.",
    },
    ConfigKey {
        path: "checks.*.reruns",
        shape: ValueShape::Choice(RERUNS),
        default: "",
        example: "0",
        meaning: "How often the check runs again after a new failure, to find out whether it is flaky. Default: 2.",
    },
    ConfigKey {
        path: "checks.*.plant.file",
        shape: ValueShape::RepositoryPath,
        default: "",
        example: "\"tests/planted.sh\"",
        meaning: "The file that `remand doctor --checks` writes to make the check fail.",
    },
    ConfigKey {
        path: "checks.*.plant.text",
        shape: ValueShape::Text,
        default: "",
        example: "\"exit 1\"",
        meaning: "The text that it appends to that file.",
    },
    ConfigKey {
        path: "checks.*.off",
        shape: ValueShape::Flag,
        default: "",
        example: "false",
        meaning: "Turns a detected check off.",
    },
    ConfigKey {
        path: "roles.*.agent",
        shape: ValueShape::Text,
        default: "",
        example: "\"codex\"",
        meaning: "The agent for this role.",
    },
    ConfigKey {
        path: "roles.*.model",
        shape: ValueShape::Text,
        default: "",
        example: "\"large\"",
        meaning: "The model for this role, by the name that the agent uses.",
    },
    ConfigKey {
        path: "roles.*.time",
        shape: ValueShape::Time,
        default: "",
        example: "\"30m\"",
        meaning: "Time limit of one dispatch of this role.",
    },
    ConfigKey {
        path: "roles.*.file",
        shape: ValueShape::RepositoryPath,
        default: "",
        example: "\".claude/agents/reviewer.md\"",
        meaning: "A role file of Claude Code, Copilot or opencode, used unchanged: its text, its model, and those \
                  permissions of the role that the file also grants.",
    },
    ConfigKey {
        path: "agents.*.command",
        shape: ValueShape::Argv,
        default: "",
        example: "[\"/opt/agent/bin/agent\"]",
        meaning: "The program and its first arguments.",
    },
    ConfigKey {
        path: "agents.*.**",
        shape: ValueShape::Free,
        default: "",
        example: "",
        meaning: "Any other key of an agent row.",
    },
    ConfigKey {
        path: "prices.*.input",
        shape: ValueShape::Money,
        default: "",
        example: "3.00",
        meaning: "Input tokens that did not come from a cache.",
    },
    ConfigKey {
        path: "prices.*.output",
        shape: ValueShape::Money,
        default: "",
        example: "15.00",
        meaning: "Output tokens, including reasoning.",
    },
    ConfigKey {
        path: "prices.*.cached",
        shape: ValueShape::Money,
        default: "",
        example: "0.30",
        meaning: "Tokens read from the service's cache.",
    },
    ConfigKey {
        path: "prices.*.stored",
        shape: ValueShape::Money,
        default: "",
        example: "3.75",
        meaning: "Tokens written to the service's cache.",
    },
];

impl ConfigKey {
    /// The key itself, without its table.
    pub fn name(&self) -> &'static str {
        self.path.rsplit_once('.').map_or(self.path, |(_, name)| name)
    }

    /// The table that contains the key.
    pub fn section(&self) -> &'static str {
        self.path.rsplit_once('.').map_or("", |(section, _)| section)
    }

    /// The environment variable that sets the key; `None` if the path of the key contains a `*`.
    pub fn variable(&self) -> Option<String> {
        let upper_or_underscore =
            |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
        (!self.path.contains('*'))
            .then(|| format!("REMAND_{}", self.path.chars().map(upper_or_underscore).collect::<String>()))
    }
}

/// The key that matches a path. A fixed part wins over a `*`.
pub fn find(path: &[String]) -> Option<&'static ConfigKey> {
    let matches = |key: &&ConfigKey| {
        let parts: Vec<&str> = key.path.split('.').collect();
        parts.len() == path.len()
            && parts.iter().zip(path).all(|(part, name)| *part == "*" || *part == "**" || *part == name)
    };
    let fixed_parts = |key: &&ConfigKey| key.path.split('.').filter(|part| !part.starts_with('*')).count();
    KEYS.iter().filter(matches).max_by_key(fixed_parts)
}

/// Whether a path names a table.
pub fn is_section(path: &[String]) -> bool {
    KEYS.iter().any(|key| {
        let parts: Vec<&str> = key.path.split('.').collect();
        parts.len() > path.len() && parts.iter().zip(path).all(|(part, name)| *part == "*" || *part == name)
    })
}

/// The fixed keys of the table at a path.
pub fn known_keys(path: &[String]) -> Vec<&'static str> {
    let mut names: Vec<&str> = KEYS
        .iter()
        .filter_map(|key| {
            let parts: Vec<&str> = key.path.split('.').collect();
            let is_below = parts.len() > path.len()
                && parts.iter().zip(path).all(|(part, name)| *part == "*" || *part == name);
            is_below.then(|| parts[path.len()]).filter(|name| !name.starts_with('*'))
        })
        .collect();
    names.dedup();
    names
}
