//! The keys as text: the template of `remand init` and the reference page.

use super::keys::{ConfigKey, KEYS, SECTIONS, ValueShape};
use std::fmt::Write;

const TEMPLATE_HEAD: &str = "\
# Settings of Remand for this repository. Every commented line shows the built-in value or an example.
# `remand config` prints the values in effect and their sources.
";

/// A configuration file with the keys that most repositories need; it sets only the agent.
pub fn starter(agent: Option<&str>) -> String {
    format!(
        "\
# Settings of Remand for this repository. `remand config` prints all values, and
# `remand init --all` writes a file with every key.

# The agent that does the work; `--agent` overrides it.
{}

[limits]
# At a limit, the run stops and asks.
# money = 5.00

# Remand detects builds and tests; `remand doctor` lists them. This adds one:
# [checks.build]
# command = \"make\"
",
        agent.map_or_else(|| "# agent = \"claude\"".to_string(), agent_setting)
    )
}

fn agent_setting(name: &str) -> String {
    format!("agent = {}", toml::Value::String(name.to_string()))
}

/// A configuration file that shows every key; it sets only the agent.
pub fn template(agent: Option<&str>) -> String {
    let mut text = TEMPLATE_HEAD.to_string();
    for (section, description) in SECTIONS {
        let _ = write!(text, "\n# {description}\n");
        if !section.is_empty() {
            let hide = if section.contains('*') { "# " } else { "" };
            let _ = writeln!(text, "{hide}[{}]", section.replace('*', example_name(section)));
        }
        for key in KEYS.iter().filter(|key| key.section() == *section && key.shape != ValueShape::Free) {
            let value = if key.default.is_empty() { key.example } else { key.default };
            let setting = match (key.path, agent) {
                ("agent", Some(name)) => agent_setting(name),
                (_, _) => format!("# {} = {value}", key.name()),
            };
            let _ = writeln!(text, "# {}\n{setting}", key.meaning);
        }
    }
    text
}

/// The Markdown page about all keys.
pub fn guide() -> String {
    let mut text = GUIDE_HEAD.to_string();
    for (section, description) in SECTIONS {
        let title = match *section {
            "" => "Top level".to_string(),
            section => format!("`[{}]`", section.replace('*', "NAME")),
        };
        let _ = write!(text, "\n## {title}\n\n{description}\n\n");
        text.push_str("| key | takes | built in | example | meaning |\n| --- | --- | --- | --- | --- |\n");
        for key in KEYS.iter().filter(|key| key.section() == *section) {
            let name = if key.name() == "**" { "any other".to_string() } else { code(key.name()) };
            let meaning = key.meaning;
            let (default, example) = (code(key.default), code(key.example));
            let _ = writeln!(text, "| {name} | {} | {default} | {example} | {meaning} |", takes(key));
        }
    }
    text.push_str(GUIDE_DETECTED);
    text.push_str(GUIDE_VARIABLES);
    for key in KEYS {
        if let Some(variable) = key.variable() {
            let _ = writeln!(text, "| `{variable}` | `{}` |", key.path);
        }
    }
    text
}

const GUIDE_HEAD: &str = "\
# Configuration

<!-- Generated from crates/engine/src/config/keys.rs; a test compares the two. -->

Remand runs without any configuration. Settings come from five sources; for each key, the last one wins:

1. the built-in values,
2. your own file, `$XDG_CONFIG_HOME/remand/config.toml` or `~/.config/remand/config.toml`,
3. the repository's file, `remand.toml` at its root,
4. the environment,
5. command-line options.

The folder `.remand/` of a repository holds roles and workflows, and no settings. `remand init` writes a short file, and
`remand init --all` one that shows every key. `remand config` prints every value in effect and its source. Unknown keys, wrong types and numbers out of range
are refused; the message names file, line and column, and what to write instead.

Times are numbers with `ms`, `s`, `m`, `h` or `d`, such as `\"90s\"` or `\"1h30m\"`. Counts can be written as `\"200k\"` or
`\"2M\"`. Money is a decimal number with at most six digits after the point, stored exactly.

The checks of a run are fixed when the run starts. To change a detected check, write a table with its name, such as
`[checks.cargo-test]`; it needs no command.
";

const GUIDE_DETECTED: &str = "
## Detected checks

| marker | checks |
| --- | --- |
| none needed | `syntax`: conflict markers, invalid JSON, TOML and YAML files, and syntax errors in changed Rust, Python, JavaScript, TypeScript, Go, C, C++ and Java files |
| `Cargo.toml` | `cargo-check`, `cargo-test`; `cargo-clippy` with a `clippy.toml` or a table `lints.clippy`; `cargo-nextest` and `cargo-doctest` in place of `cargo-test` with a `.config/nextest.toml` |
| `pyproject.toml`, `setup.py`, `setup.cfg`, `requirements.txt`, or tests in Python | `python-compile`, `pytest` if it is installed, otherwise `unittest`, or `django-test` for Django without pytest-django; `mypy`, `pyright` and `ruff` if they are configured |
| `package.json` | `node-check`, `tsc` with a `tsconfig.json`, `eslint` if it is configured; the test script as `vitest`, `jest` or `npm-test` |
| `go.mod` | `go-vet`, `go-test` |
| `CMakeLists.txt` | `cmake`, `cmake-build`, `ctest` |
| `pom.xml` | `mvn-compile`, `mvn-test` |
| a Makefile without any of the others next to it | `make` for a target `all` or `build`, `make-test` for `test`, `check` or `tests` |

They are detected in the commit that a run starts from, whatever your checkout contains. If a type checker or linter is not
installed, its check is left out. Tools of a Node project are looked up in `node_modules` of your checkout, which is linked
into the work tree of the checks; packages of the repository itself come from that tree. A Python project with an
environment `.venv` or `venv` next to its project file is checked with the interpreter of that environment, which is
linked in the same way. A lint check that already failed before the change may fail after it.

The syntax check does not judge a file that had an error before the change, nor a new C or C++ file with macros that only a
compiler can expand. The evidence row says so.

Projects are detected in all folders that git tracks, at most six levels deep, except for hidden folders and folders named
`node_modules`, `target`, `vendor`, `vendored`, `third_party`, `third-party`, `venv`, `dist`, `build`, `fixtures`,
`__fixtures__`, `testdata`, `test-data`, `examples`, `samples` or `templates`. The name of a check includes the folder of its
project, as in `cargo-test:services/api`; to change it, use `[checks.\"cargo-test:services/api\"]`. Some projects have no
separate checks, because those of a project above them cover them: members of a Cargo workspace, modules of a Maven build,
folders below a Python or CMake project, and packages of a Node workspace that has a test script.

A task runs the checks that its change can affect: those of the project that contains a changed file, and of every project
that depends on it according to its manifest. A file outside all projects affects all of them, unless it is prose (`.md`,
`.markdown`, `.rst`, `.adoc`). A check that is left out has a row `not affected`, which does not count as passed. The
baseline, the merged tree and the final verification run everything.

The same holds inside a workspace. Its checks run for the members that the change touches, for those that refer to a touched
file by path, and for all members that depend on either. Cargo gets them as `-p`, Maven as `-pl` with `-am`. A test script that
only calls `npm … --workspaces` or `pnpm -r …` gets them as `-w` or `--filter`. The command in the row shows which members ran.
The checks run for the whole workspace if a changed file belongs to no member, if a manifest has changed since the run started,
if the manifests do not show the dependencies, or if a member does not build alone or has no tests.

If there is a `flake.nix` with a development shell, and Nix is installed, checks run inside that shell.

A check has passed if its command ends with exit status 0 and, if its parser can tell, at least one test ran. A check that
needs one that did not pass is skipped. A check that was skipped, ran no test or lacks its tool is recorded with the reason,
and counts neither as passed nor as failed. Checks run in a clean work tree, in the sandbox, without network unless `network`
is set, and within their limits of time and memory. Whatever they leave running is killed.
";

const GUIDE_VARIABLES: &str = "
## The environment

Write strings without quotes, and lists as in the file. Other variables have no effect.

| variable | key |
| --- | --- |
";

fn example_name(section: &str) -> &'static str {
    match section {
        "checks.*" => "clippy",
        "roles.*" => "reviewer",
        _ => "mine",
    }
}

fn code(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("`{text}`") }
}

fn takes(key: &ConfigKey) -> String {
    match key.shape {
        ValueShape::Choice(known) => known.iter().map(|name| code(name)).collect::<Vec<_>>().join(", "),
        shape => {
            let noun = shape.noun();
            let bare = noun.strip_prefix("a ").or_else(|| noun.strip_prefix("an "));
            bare.unwrap_or(noun).to_string()
        }
    }
}
