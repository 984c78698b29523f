//! The keys as text: the template of `remand init` and the page of the guide.

use super::keys::{KEYS, Key, SECTIONS, Shape};
use std::fmt::Write;

const HEAD: &str = "\
# Settings of Remand for this repository. Every line that is commented out shows what is built in, or an example;
# `remand config` prints what is in effect and where it comes from.
";

/// A file that says nothing, and shows everything that can be said.
pub fn template() -> String {
    let mut text = HEAD.to_string();
    for (section, about) in SECTIONS {
        let _ = write!(text, "\n# {about}\n");
        if !section.is_empty() {
            let hide = if section.contains('*') { "# " } else { "" };
            let _ = writeln!(text, "{hide}[{}]", section.replace('*', example_name(section)));
        }
        for key in KEYS.iter().filter(|key| key.section() == *section && key.shape != Shape::Free) {
            let value = if key.default.is_empty() { key.example } else { key.default };
            let _ = writeln!(text, "# {}\n# {} = {value}", key.meaning, key.name());
        }
    }
    text
}

/// The Markdown page about all keys.
pub fn guide() -> String {
    let mut text = GUIDE_HEAD.to_string();
    for (section, about) in SECTIONS {
        let title = match *section {
            "" => "At the top".to_string(),
            section => format!("`[{}]`", section.replace('*', "NAME")),
        };
        let _ = write!(text, "\n## {title}\n\n{about}\n\n");
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

<!-- Made from crates/runtime/src/config/keys.rs; a test compares the two. -->

Remand runs without any configuration. What it is told comes from five places; a later one wins, key by key:

1. what is built in,
2. the user's file, `$XDG_CONFIG_HOME/remand/config.toml` or `~/.config/remand/config.toml`,
3. the repository's file, `remand.toml` at its root,
4. the environment,
5. flags of the command line.

The folder `.remand/` of a repository holds roles and workflows, and no settings. `remand init` writes a file that
shows every key, and `remand config` prints each value in effect with the place that it comes from. An unknown key, a
value of the wrong kind and a number out of range are refused, with file, line, column and what to write instead.

Times are numbers with `ms`, `s`, `m`, `h` or `d`, such as `\"90s\"` or `\"1h30m\"`. Counts may be written as `\"200k\"`
or `\"2M\"`. Money is a decimal number with at most six digits after the point, and is kept exactly.

The checks of a run are fixed when the run begins. A check that was found by a marker file is changed by a table of
its name, such as `[checks.cargo-test]`, and needs no command there.
";

const GUIDE_DETECTED: &str = "
## Checks that are found

| marker | checks |
| --- | --- |
| anything | `syntax`: conflict markers, whether JSON, TOML and YAML files can be read, and whether changed files in Rust, Python, JavaScript, TypeScript, Go, C, C++ and Java fit their grammar |
| `Cargo.toml` | `cargo-check`, `cargo-test`; `cargo-clippy` with a `clippy.toml` or a table `lints.clippy`; `cargo-nextest` and `cargo-doctest` in place of `cargo-test` with a `.config/nextest.toml` |
| `pyproject.toml`, `setup.py`, `setup.cfg`, `requirements.txt`, or tests in Python | `python-compile`, `pytest` where it is installed and `unittest` otherwise; `mypy`, `pyright` and `ruff` where they are configured |
| `package.json` | `node-check`, `tsc` with a `tsconfig.json`, `eslint` where it is configured; the test script as `vitest`, `jest` or `npm-test` |
| `go.mod` | `go-vet`, `go-test` |
| `CMakeLists.txt` | `cmake`, `cmake-build`, `ctest` |
| `pom.xml` | `mvn-compile`, `mvn-test` |
| a Makefile, and none of the others near it | `make` for a target `all` or `build`, `make-test` for `test`, `check` or `tests` |

They are looked for in the commit that a run starts from, whatever is checked out or not committed. A tool that is not
installed brings no check of types or lint. Those of a Node project are looked for in the `node_modules` of the
checkout; what is installed there is linked into the work tree of the checks, and packages of the repository itself are
taken from that tree. A project in Python with an environment `.venv` or `venv` beside its project file is checked by
the interpreter of that environment, in the same way. Lint that fails before the change fails nothing after it.

Grammars do not know everything: a file that had an error before the change is not judged, nor is a new file in C or
C++ whose macros only a compiler knows. The row says so.

Projects are looked for in all folders that git knows of, down to the sixth level, but not in hidden ones nor in those
named `node_modules`, `target`, `vendor`, `vendored`, `third_party`, `third-party`, `venv`, `dist`, `build`, `fixtures`,
`__fixtures__`, `testdata`, `test-data`, `examples`, `samples` or `templates`. The checks of a project in a folder carry
its path, as `cargo-test:services/api`, and are changed by `[checks.\"cargo-test:services/api\"]`. A project that one
above it covers has none of its own: members of a Cargo workspace, modules of a Maven build, folders below a project in
Python or CMake, and packages of a Node workspace that has a test script itself.

A task is checked by what its change can affect: the project that a changed file is in, and every project that leans on
it by its manifest. A file outside all projects affects all of them, unless it is prose (`.md`, `.rst`, `.adoc`). What
is left out has a row that says `not affected`, which is no pass. The baseline, the merged tree and the final
verification run everything.

The same holds inside a workspace: the checks of Cargo are run with `-p`, those of Maven with `-pl` and `-am`, and a
test script that only calls `npm … --workspaces` or `pnpm -r …` with `-w` or `--filter`, for the members that the change
touches or that name a touched file by a path, and for all that lean on them. The command in the row tells which. A file
in no member, a manifest that changed since the run began, and what cannot be told from the manifests take the whole
workspace. So do members that fail to build, or have no test, by themselves: then it is the whole that counts.

With a `flake.nix` that has a development shell, and Nix installed, they are run inside that shell.

A check has passed when its command ends with exit code 0 and, where its parser can tell, ran at least one test. What
needs a check that did not pass is skipped. A check that was skipped, ran no test or lacks its tool is recorded with
the reason, and counts neither as passed nor as failed. Checks run in a clean work tree, in the sandbox, without network
unless `network` says so, and within their limits of time and memory; what they leave running is ended.
";

const GUIDE_VARIABLES: &str = "
## The environment

Texts stand without quotes; lists are written as in the file. Other variables are left alone.

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

fn takes(key: &Key) -> String {
    match key.shape {
        Shape::Choice(known) => known.iter().map(|name| code(name)).collect::<Vec<_>>().join(", "),
        shape => shape.noun().to_string(),
    }
}
