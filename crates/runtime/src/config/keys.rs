//! Every key of the configuration, with its shape, its built-in value and its meaning.

use crate::checks::Parser;

/// One key. A `*` in the path stands for a name that the user chooses.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    pub path: &'static str,
    pub shape: Shape,
    /// TOML text; empty where nothing is built in.
    pub default: &'static str,
    /// TOML text, for the guide and the template.
    pub example: &'static str,
    pub meaning: &'static str,
}

/// What a key takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Text,
    /// Absolute, or below the home folder with `~/`.
    Folder,
    /// Relative, and never above the root of the repository.
    Inside,
    Choice(&'static [&'static str]),
    Flag,
    /// A whole number from 1, also as `200k` or `2M`.
    Count,
    Money,
    Time,
    Tier,
    Words,
    /// A list of regular expressions.
    Patterns,
    /// A text for `sh -c`, or a list of words that is started as it is.
    Command,
    /// A list of words that is started as it is.
    Argv,
    /// Anything; the driver reads it.
    Free,
}

/// What `mode` takes.
pub const MODES: &[&str] = &["autonomous", "interactive"];

/// What `reruns` takes.
pub const RERUNS: &[&str] = &["0", "1", "2", "3", "5"];

/// The tables, in the order of the file, with what each is about.
pub const SECTIONS: &[(&str, &str)] = &[
    ("", "What a run does when the command line says nothing else."),
    (
        "limits",
        "What one run may take in all. A limit that is reached asks a human; an absent one is no limit.",
    ),
    (
        "sandbox",
        "What agents get to see and to use. An agent that exceeds a limit is stopped, and its dispatch does not count.",
    ),
    ("rounds", "How workflows with rounds on a gap board go, such as `spec`."),
    ("state", "Where Remand keeps the ledger and the work trees."),
    ("secrets", "What must never reach a prompt, an artifact or the ledger."),
    ("checks", "The checks that the engine runs itself."),
    ("checks.*", "One check: a new one, or changes to a detected one of the same name."),
    (
        "checks.*.plant",
        "A failure that `remand doctor --checks` plants, for a command that it does not know.",
    ),
    (
        "roles.*",
        "Who does a role, and with what. A focus of a review is named behind a colon, as in `[roles.\"reviewer:security\"]`.",
    ),
    (
        "agents.*",
        "How an agent program is driven: changes to a known one of this name, or a new one (docs/guide/agents.md). \
         An agent that the repository's file brings or changes is handed nothing of yours: what needs `credentials`, \
         `copies`, `reads`, `keys`, `variables` or `ports` belongs in your own file.",
    ),
    (
        "prices.*",
        "What a million tokens of a model cost, in units of the currency, for agents that do not tell their cost. A name \
         that ends in `*` stands for all models that begin like it, as in `[prices.\"claude-sonnet-*\"]`.",
    ),
];

/// All keys, in the order of the file.
pub const KEYS: &[Key] = &[
    Key {
        path: "workflow",
        shape: Shape::Text,
        default: "\"feature\"",
        example: "\"issue\"",
        meaning: "The workflow of a run: a shipped one by name, or a file.",
    },
    Key {
        path: "mode",
        shape: Shape::Choice(MODES),
        default: "\"autonomous\"",
        example: "\"interactive\"",
        meaning: "Whether questions with a default are answered by it or asked.",
    },
    Key {
        path: "agent",
        shape: Shape::Text,
        default: "\"\"",
        example: "\"claude\"",
        meaning: "Who does the work: an agent that `remand agents` lists, or `rehearsal:FILE` for scripted ones; the one that is installed when absent.",
    },
    Key {
        path: "model",
        shape: Shape::Text,
        default: "",
        example: "\"claude-sonnet-4-5\"",
        meaning: "The model for roles that name none, as the agent names it; the agent's own choice when absent.",
    },
    Key {
        path: "at-once",
        shape: Shape::Count,
        default: "4",
        example: "2",
        meaning: "How many dispatches of one run go on at the same time.",
    },
    Key {
        path: "limits.money",
        shape: Shape::Money,
        default: "",
        example: "12.50",
        meaning: "In units of the currency that the agents report.",
    },
    Key {
        path: "limits.tokens",
        shape: Shape::Count,
        default: "",
        example: "\"5M\"",
        meaning: "Tokens in and out, of all dispatches together.",
    },
    Key {
        path: "limits.time",
        shape: Shape::Time,
        default: "",
        example: "\"2h\"",
        meaning: "Time in which anything of the run was under way, each moment once however many agents work; waiting for a \
                  human does not count, and an agent at work is stopped when it is reached.",
    },
    Key {
        path: "limits.dispatches",
        shape: Shape::Count,
        default: "",
        example: "60",
        meaning: "How many agents are started in all.",
    },
    Key {
        path: "sandbox.required",
        shape: Shape::Flag,
        default: "false",
        example: "true",
        meaning: "Whether a machine that does not enforce all of the sandbox is refused; otherwise the evidence says what was \
                  not enforced.",
    },
    Key {
        path: "sandbox.environment",
        shape: Shape::Words,
        default: "[]",
        example: "[\"HTTPS_PROXY\"]",
        meaning: "Names of environment variables that agents see besides those of toolchains, such as the key of their service. \
                  For your own file only.",
    },
    Key {
        path: "sandbox.reads",
        shape: Shape::Words,
        default: "[]",
        example: "[\"~/.config/tool\"]",
        meaning: "Files and folders of your home that agents may read besides toolchains and their caches. For your own file only.",
    },
    Key {
        path: "sandbox.hooks-write",
        shape: Shape::Words,
        default: "[]",
        example: "[\"~/.cache/pre-commit\"]",
        meaning: "Files and folders that hooks, filters and merge drivers of git may write besides the files of the commit; \
                  they may start what an agent has written. What does not exist is left out. For your own file only.",
    },
    Key {
        path: "sandbox.unix-sockets",
        shape: Shape::Flag,
        default: "false",
        example: "true",
        meaning: "Whether agents may use Unix sockets. By these they reach other programs of yours, such as Docker. \
                  For your own file only.",
    },
    Key {
        path: "sandbox.shared-memory",
        shape: Shape::Flag,
        default: "false",
        example: "true",
        meaning: "Whether agents may use `/dev/shm`, which all programs of yours share; pools of processes in Python need it.",
    },
    Key {
        path: "sandbox.memory",
        shape: Shape::Count,
        default: "\"8G\"",
        example: "\"4G\"",
        meaning: "Bytes of memory for all processes of one dispatch together; one process alone never gets twice as much, \
                  reserved or used, so that address sanitizers need a larger limit.",
    },
    Key {
        path: "sandbox.processes",
        shape: Shape::Count,
        default: "512",
        example: "200",
        meaning: "Processes of one dispatch at the same time.",
    },
    Key {
        path: "sandbox.disk",
        shape: Shape::Count,
        default: "\"20G\"",
        example: "\"5G\"",
        meaning: "Bytes that one dispatch may add to its work tree and its home.",
    },
    Key {
        path: "sandbox.file-size",
        shape: Shape::Count,
        default: "\"4G\"",
        example: "\"1G\"",
        meaning: "Bytes of the largest file that one dispatch may write.",
    },
    Key {
        path: "rounds.gaps",
        shape: Shape::Count,
        default: "7",
        example: "4",
        meaning: "How many gaps the engineers of one round are given in all.",
    },
    Key {
        path: "rounds.warn-after",
        shape: Shape::Count,
        default: "2",
        example: "3",
        meaning: "After so many rounds in a row without net progress you are asked what to do.",
    },
    Key {
        path: "rounds.diverge-beyond",
        shape: Shape::Count,
        default: "2",
        example: "4",
        meaning: "A round that opens more than so many gaps more than it closes asks at once.",
    },
    Key {
        path: "rounds.least",
        shape: Shape::Count,
        default: "100",
        example: "200",
        meaning: "Characters that a result of a round has at least; a shorter one is asked for again.",
    },
    Key {
        path: "state.dir",
        shape: Shape::Folder,
        default: "",
        example: "\"~/.local/state/remand\"",
        meaning: "The state folder; when absent, `$XDG_STATE_HOME/remand` or `~/.local/state/remand`. For your own file only.",
    },
    Key {
        path: "secrets.environment",
        shape: Shape::Words,
        default: "[]",
        example: "[\"API_TOKEN\"]",
        meaning: "Names of environment variables whose values are taken out wherever they occur.",
    },
    Key {
        path: "secrets.patterns",
        shape: Shape::Patterns,
        default: "[]",
        example: "['key-[0-9a-f]{32}']",
        meaning: "Regular expressions; what they match is taken out.",
    },
    Key {
        path: "checks.detect",
        shape: Shape::Flag,
        default: "true",
        example: "false",
        meaning: "Whether checks are also found by marker files such as `Cargo.toml`.",
    },
    Key {
        path: "checks.cache",
        shape: Shape::Flag,
        default: "true",
        example: "false",
        meaning: "Whether a result is taken over where tree, command, tool and environment are the same.",
    },
    Key {
        path: "checks.*.command",
        shape: Shape::Command,
        default: "",
        example: "\"cargo clippy --all-targets -- -D warnings\"",
        meaning: "What is run: a text goes to `sh -c`, a list is started as it is.",
    },
    Key {
        path: "checks.*.tier",
        shape: Shape::Tier,
        default: "",
        example: "2",
        meaning: "1 diagnostics and syntax, 2 build, types, lint and tests, 3 smoke; 2 when absent.",
    },
    Key {
        path: "checks.*.quick",
        shape: Shape::Flag,
        default: "",
        example: "true",
        meaning: "Whether it belongs to the quick checks; when absent, those of tier 1 do.",
    },
    Key {
        path: "checks.*.time",
        shape: Shape::Time,
        default: "",
        example: "\"10m\"",
        meaning: "After this time it is ended, and has not passed; 15 minutes when absent.",
    },
    Key {
        path: "checks.*.parser",
        shape: Shape::Choice(Parser::NAMES),
        default: "",
        example: "\"none\"",
        meaning: "How single tests are read from its output; `none` when absent.",
    },
    Key {
        path: "checks.*.report",
        shape: Shape::Inside,
        default: "",
        example: "\"build/test-results\"",
        meaning: "For `junit` and `jest`: the file, or the folder of files, that the command writes.",
    },
    Key {
        path: "checks.*.needs",
        shape: Shape::Words,
        default: "",
        example: "[\"cargo-check\"]",
        meaning: "Checks that must pass before; otherwise this one is skipped.",
    },
    Key {
        path: "checks.*.folder",
        shape: Shape::Inside,
        default: "",
        example: "\"crates/app\"",
        meaning: "Where it is run, relative to the root; the root when absent.",
    },
    Key {
        path: "checks.*.network",
        shape: Shape::Flag,
        default: "",
        example: "true",
        meaning: "Whether it may use the network; not when absent.",
    },
    Key {
        path: "checks.*.memory",
        shape: Shape::Count,
        default: "",
        example: "\"4G\"",
        meaning: "Bytes of private writable memory of each of its processes; 8 GiB when absent.",
    },
    Key {
        path: "checks.*.reruns",
        shape: Shape::Choice(RERUNS),
        default: "",
        example: "0",
        meaning: "How often a new failure is run again, to know whether it is flaky; 2 when absent.",
    },
    Key {
        path: "checks.*.plant.file",
        shape: Shape::Inside,
        default: "",
        example: "\"tests/planted.sh\"",
        meaning: "The file that `remand doctor --checks` writes to see the check fail.",
    },
    Key {
        path: "checks.*.plant.text",
        shape: Shape::Text,
        default: "",
        example: "\"exit 1\"",
        meaning: "What it puts behind the text of that file.",
    },
    Key {
        path: "checks.*.off",
        shape: Shape::Flag,
        default: "",
        example: "false",
        meaning: "Takes a detected check out.",
    },
    Key {
        path: "roles.*.agent",
        shape: Shape::Text,
        default: "",
        example: "\"codex\"",
        meaning: "Who does this role.",
    },
    Key {
        path: "roles.*.model",
        shape: Shape::Text,
        default: "",
        example: "\"large\"",
        meaning: "The model for this role, as the driver names it.",
    },
    Key {
        path: "roles.*.time",
        shape: Shape::Time,
        default: "",
        example: "\"30m\"",
        meaning: "How long one dispatch of this role may take.",
    },
    Key {
        path: "roles.*.file",
        shape: Shape::Inside,
        default: "",
        example: "\".claude/agents/reviewer.md\"",
        meaning: "A role file of Claude Code, Copilot or opencode that is used as it is: its text, its model, and of the \
                  role's permissions those that it gives too.",
    },
    Key {
        path: "agents.*.command",
        shape: Shape::Argv,
        default: "",
        example: "[\"/opt/agent/bin/agent\"]",
        meaning: "The program and its first arguments.",
    },
    Key {
        path: "agents.*.**",
        shape: Shape::Free,
        default: "",
        example: "",
        meaning: "Any other key of a row.",
    },
    Key {
        path: "prices.*.input",
        shape: Shape::Money,
        default: "",
        example: "3.00",
        meaning: "Tokens that the model read, and not from a cache.",
    },
    Key {
        path: "prices.*.output",
        shape: Shape::Money,
        default: "",
        example: "15.00",
        meaning: "Tokens that the model wrote, its thoughts among them.",
    },
    Key {
        path: "prices.*.cached",
        shape: Shape::Money,
        default: "",
        example: "0.30",
        meaning: "Tokens that were read from the cache of the service.",
    },
    Key {
        path: "prices.*.stored",
        shape: Shape::Money,
        default: "",
        example: "3.75",
        meaning: "Tokens that were written to the cache of the service.",
    },
];

impl Key {
    /// The key itself, without its table.
    pub fn name(&self) -> &'static str {
        self.path.rsplit_once('.').map_or(self.path, |(_, name)| name)
    }

    /// The table that it stands in.
    pub fn section(&self) -> &'static str {
        self.path.rsplit_once('.').map_or("", |(section, _)| section)
    }

    /// The environment variable that sets it; only keys without a chosen name have one.
    pub fn variable(&self) -> Option<String> {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
        (!self.path.contains('*'))
            .then(|| format!("REMAND_{}", self.path.chars().map(plain).collect::<String>()))
    }
}

/// The key at a path whose names are filled in; a literal key wins over a chosen name.
pub fn find(path: &[String]) -> Option<&'static Key> {
    let matches = |key: &&Key| {
        let parts: Vec<&str> = key.path.split('.').collect();
        parts.len() == path.len()
            && parts.iter().zip(path).all(|(part, name)| *part == "*" || *part == "**" || *part == name)
    };
    let literals = |key: &&Key| key.path.split('.').filter(|part| !part.starts_with('*')).count();
    KEYS.iter().filter(matches).max_by_key(literals)
}

/// Whether a path names a table.
pub fn is_section(path: &[String]) -> bool {
    KEYS.iter().any(|key| {
        let parts: Vec<&str> = key.path.split('.').collect();
        parts.len() > path.len() && parts.iter().zip(path).all(|(part, name)| *part == "*" || *part == name)
    })
}

/// What may stand in the table at a path, chosen names left out.
pub fn known(path: &[String]) -> Vec<&'static str> {
    let mut names: Vec<&str> = KEYS
        .iter()
        .filter_map(|key| {
            let parts: Vec<&str> = key.path.split('.').collect();
            let below = parts.len() > path.len()
                && parts.iter().zip(path).all(|(part, name)| *part == "*" || *part == name);
            below.then(|| parts[path.len()]).filter(|name| !name.starts_with('*'))
        })
        .collect();
    names.dedup();
    names
}
