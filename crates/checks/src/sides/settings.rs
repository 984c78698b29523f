//! What the settings and commands of test runners say about where tests are.

use super::BaseSources;
use super::words::file_name;
use crate::spec::{CheckSpec, Parser};
use regex::Regex;
use serde_json::Value;
use std::collections::BTreeSet;

/// Settings files of runners that start in the folder of a check.
const SCRIPT_SETTINGS: [&str; 17] = [
    "jest.config.js",
    "jest.config.ts",
    "jest.config.mjs",
    "jest.config.cjs",
    "jest.config.json",
    "vitest.config.ts",
    "vitest.config.js",
    "vitest.config.mts",
    "vitest.config.mjs",
    "vite.config.ts",
    "vite.config.js",
    "vite.config.mts",
    "vite.config.mjs",
    ".mocharc.json",
    ".mocharc.js",
    ".mocharc.cjs",
    ".mocharc.yml",
];
const PYTHON_SETTINGS: [&str; 4] = ["pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg"];

/// Keys whose values are paths or patterns of tests, or of files that a runner loads in front of them.
const SCRIPT_KEYS: [&str; 21] = [
    "include",
    "testMatch",
    "setupFiles",
    "setupFilesAfterEnv",
    "globalSetup",
    "globalTeardown",
    "testRunner",
    "runner",
    "testEnvironment",
    "environment",
    "reporters",
    "resolver",
    "snapshotResolver",
    "snapshotSerializers",
    "testSequencer",
    "testResultsProcessor",
    "transform",
    "preset",
    "spec",
    "require",
    "file",
];

/// Programs that start tests, or scripts that do.
const RUNNERS: [&str; 22] = [
    "node", "mocha", "jest", "vitest", "ava", "tap", "tape", "jasmine", "uvu", "tsx", "ts-node", "bun",
    "deno", "python", "python3", "pytest", "sh", "bash", "npx", "c8", "nyc", "env",
];

/// Options whose value names no test.
const OTHER_OPTIONS: [&str; 6] = ["--include", "--exclude", "--watch-files", "--ignore", "-n", "-x"];

/// Where runners find tests.
#[derive(Clone, Debug, Default)]
pub struct RunnerSettings {
    /// Patterns of tests that the runners know without settings.
    found: Vec<Regex>,
    /// Patterns of files that settings and commands name.
    named: Vec<Regex>,
}

impl RunnerSettings {
    /// Reads the settings of the runners that the checks start.
    pub fn read(specs: &[CheckSpec], base: &dyn BaseSources) -> RunnerSettings {
        let mut settings = RunnerSettings::default();
        let is_test = |spec: &&CheckSpec| spec.parser != Parser::None;
        let runs: BTreeSet<(&str, u8)> =
            specs.iter().filter(is_test).map(|spec| (spec.folder.as_str(), kind(spec.parser))).collect();
        for (folder, kind) in runs {
            match kind {
                PYTHON => settings.read_python(folder, base),
                SCRIPT => settings.read_scripts(folder, base),
                CARGO => settings.read_cargo(folder, base),
                _ => {}
            }
        }
        for spec in specs.iter().filter(is_test) {
            let typed = spec.action.typed().unwrap_or_default();
            settings.add_command(&spec.folder, &typed);
        }
        settings
    }

    /// Whether a runner finds a test in this file without any settings.
    pub fn finds(&self, path: &str) -> bool {
        self.found.iter().any(|pattern| pattern.is_match(path))
    }

    /// Whether settings or a command name the file.
    pub fn names(&self, path: &str) -> bool {
        self.named.iter().any(|pattern| pattern.is_match(path))
    }

    fn read_python(&mut self, folder: &str, base: &dyn BaseSources) {
        // unittest loads every module whose name begins with `test`.
        self.found.extend(glob(folder, "**/test*.py"));
        let mut values: Vec<(String, String)> = Vec::new();
        for name in PYTHON_SETTINGS {
            values.extend(base.text(&join(folder, name)).into_iter().flat_map(|text| ini_values(&text)));
        }
        let project = base.text(&join(folder, "pyproject.toml"));
        let project = project.and_then(|text| toml::from_str::<Value>(&text).ok());
        if let Some(options) = project.as_ref().and_then(|value| value.pointer("/tool/pytest/ini_options")) {
            let entries = options.as_object().into_iter().flatten();
            values.extend(entries.map(|(key, value)| (key.clone(), strings(value).join(" "))));
        }
        for (key, value) in values {
            let words: Vec<&str> = value.split_whitespace().collect();
            match key.as_str() {
                "python_files" => {
                    self.named.extend(words.iter().filter_map(|word| glob(folder, &format!("**/{word}"))));
                }
                // The root of a package may be named only so that its doctests run.
                "testpaths" => {
                    let folders = words.iter().filter(|word| !matches!(**word, "." | "src"));
                    self.named.extend(folders.filter_map(|word| glob(folder, &format!("{}/**", bare(word)))));
                }
                "addopts" | "required_plugins" => {
                    let plugins = words.windows(2).filter(|pair| pair[0] == "-p").map(|pair| pair[1]);
                    let joined = words.iter().filter_map(|word| word.strip_prefix("-p"));
                    for plugin in plugins.chain(joined).filter(|name| !name.is_empty()) {
                        let module = plugin.replace('.', "/");
                        self.named.extend(glob(folder, &format!("**/{module}.py")));
                    }
                }
                _ => {}
            }
        }
    }

    fn read_scripts(&mut self, folder: &str, base: &dyn BaseSources) {
        for pattern in [
            "**/test.{js,mjs,cjs,ts,mts,cts}",
            "**/test-*.{js,mjs,cjs,ts,mts,cts}",
            "**/*-test.{js,mjs,cjs,ts,mts,cts}",
        ] {
            self.found.extend(glob(folder, pattern));
        }
        for name in SCRIPT_SETTINGS {
            let Some(text) = base.text(&join(folder, name)) else { continue };
            self.add_script_values(folder, &text);
        }
        let manifest = base.text(&join(folder, "package.json"));
        let Some(manifest) = manifest.and_then(|text| serde_json::from_str::<Value>(&text).ok()) else {
            return;
        };
        for runner in ["jest", "vitest", "mocha", "ava", "tap"] {
            let entries = manifest.get(runner).and_then(Value::as_object).into_iter().flatten();
            let entries = entries.filter(|(key, _)| SCRIPT_KEYS.contains(&key.as_str()) || *key == "files");
            for value in entries.flat_map(|(_, value)| strings(value)) {
                self.named.extend(glob(folder, &bare(&value)));
            }
        }
        let scripts = manifest.get("scripts").and_then(Value::as_object).into_iter().flatten();
        for (_, command) in scripts.filter(|(name, _)| name.contains("test")) {
            self.add_command(folder, command.as_str().unwrap_or_default());
        }
    }

    fn read_cargo(&mut self, folder: &str, base: &dyn BaseSources) {
        let manifest = base.text(&join(folder, "Cargo.toml"));
        let Some(manifest) = manifest.and_then(|text| toml::from_str::<Value>(&text).ok()) else { return };
        for kind in ["test", "bench"] {
            let targets = manifest.get(kind).and_then(Value::as_array).into_iter().flatten();
            let paths = targets.filter_map(|target| target.get("path")?.as_str());
            self.named.extend(paths.filter_map(|path| glob(folder, &bare(path))));
        }
    }

    /// Adds the values of keys about tests in settings that are a program.
    fn add_script_values(&mut self, folder: &str, text: &str) {
        let text = without_coverage(text);
        for key in SCRIPT_KEYS {
            for (at, _) in text.match_indices(key) {
                let starts = !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
                let rest = text[at + key.len()..].trim_start_matches(['"', '\'']).trim_start();
                let Some(value) = rest.strip_prefix(':').filter(|_| starts) else { continue };
                self.named.extend(literals(value).iter().filter_map(|value| glob(folder, &bare(value))));
                // A table of patterns and programs, such as `transform`.
                let table = value.trim_start().strip_prefix('{').and_then(|rest| rest.split('}').next());
                let words = table.unwrap_or_default().split(['"', '\'', '`']);
                let own = words.filter(|word| word.starts_with("<rootDir>/") || word.starts_with("./"));
                self.named.extend(own.filter_map(|word| glob(folder, &bare(word))));
            }
        }
    }

    /// Adds the files that a command of a runner names.
    fn add_command(&mut self, folder: &str, command: &str) {
        for part in command.split(['&', ';', '|', '\n']) {
            let words: Vec<&str> =
                part.split_whitespace().map(|word| word.trim_matches(['"', '\''])).collect();
            let program = words.iter().find(|word| !word.contains('=')).copied().unwrap_or_default();
            if !RUNNERS.contains(&file_name(program)) {
                // A script of the repository that is the runner.
                if program.contains('/') {
                    self.named.extend(glob(folder, &bare(program)));
                }
                continue;
            }
            let mut is_other = false;
            for word in words.iter().skip_while(|word| **word != program).skip(1) {
                let value = match word.split_once('=') {
                    Some((option, _)) if OTHER_OPTIONS.contains(&option) => continue,
                    Some((option, value)) if option.starts_with('-') => value,
                    _ if is_other => {
                        is_other = false;
                        continue;
                    }
                    _ => word,
                };
                is_other = OTHER_OPTIONS.contains(word);
                let is_path = !value.starts_with('-') && !value.contains("://");
                let names_file = value.contains('*') || is_script(value);
                if is_path && names_file {
                    self.named.extend(glob(folder, &bare(value)));
                }
            }
        }
    }
}

const PYTHON: u8 = 0;
const SCRIPT: u8 = 1;
const CARGO: u8 = 2;
const OTHER: u8 = 3;

fn kind(parser: Parser) -> u8 {
    match parser {
        Parser::Pytest | Parser::Unittest => PYTHON,
        Parser::Node | Parser::Jest | Parser::Tap => SCRIPT,
        Parser::Cargo | Parser::Nextest => CARGO,
        Parser::Go | Parser::Junit | Parser::None => OTHER,
    }
}

fn is_script(value: &str) -> bool {
    let extension = file_name(value).rsplit_once('.').map(|(_, extension)| extension);
    extension.is_some_and(|extension| {
        ["js", "mjs", "cjs", "ts", "mts", "cts", "tsx", "jsx", "py", "sh", "bash", "rb", "pl"]
            .contains(&extension)
    })
}

/// A path without the parts that mean the folder of the settings.
fn bare(path: &str) -> String {
    path.trim_start_matches("<rootDir>/").trim_start_matches("./").trim_end_matches('/').to_string()
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_string() } else { format!("{folder}/{name}") }
}

/// The keys and values of INI text; a value may continue on indented lines.
fn ini_values(text: &str) -> Vec<(String, String)> {
    let mut values: Vec<(String, String)> = Vec::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with(['#', ';'])) {
        match (line.starts_with([' ', '\t']), line.split_once('=')) {
            (false, Some((key, value))) => values.push((key.trim().to_string(), value.trim().to_string())),
            (true, _) => {
                if let Some((_, value)) = values.last_mut() {
                    value.push(' ');
                    value.push_str(line.trim());
                }
            }
            (false, None) => {}
        }
    }
    values
}

/// All texts in a value.
fn strings(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Object(entries) => entries.values().flat_map(strings).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// The settings without the block about coverage, whose patterns name production code.
fn without_coverage(text: &str) -> String {
    let Some(at) = text.find("coverage") else { return text.to_string() };
    let Some(open) = text[at..].find('{').map(|open| at + open) else { return text.to_string() };
    let mut depth = 0_usize;
    for (offset, c) in text[open..].char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return format!("{}{}", &text[..at], &text[open + offset + 1..]);
        }
    }
    text[..at].to_string()
}

/// The string literals of a value: one, or those of an array.
fn literals(value: &str) -> Vec<String> {
    let value = value.trim_start();
    let (mut rest, is_list) = match value.strip_prefix('[') {
        Some(list) => (list, true),
        None => (value, false),
    };
    let mut found = Vec::new();
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        let Some(first) = rest.chars().next() else { return found };
        if matches!(first, '"' | '\'' | '`') {
            let Some(end) = rest[1..].find(first) else { return found };
            found.push(rest[1..=end].to_string());
            rest = &rest[end + 2..];
        } else if is_list && first != ']' {
            // An expression, such as the runner's defaults.
            let Some(end) = rest.find([',', ']', '"', '\'']) else { return found };
            rest = &rest[end..];
        } else {
            return found;
        }
        if !is_list {
            return found;
        }
    }
}

/// A pattern of paths below a folder, as an expression for paths from the root. `None` if it matches everything.
fn glob(below: &str, pattern: &str) -> Option<Regex> {
    if pattern.is_empty() || ["**", "**/*", "*"].contains(&pattern) || pattern.starts_with("..") {
        return None;
    }
    let mut expression = String::from("^");
    if !below.is_empty() {
        expression.push_str(&regex::escape(below));
        expression.push('/');
    }
    let chars: Vec<char> = pattern.chars().collect();
    let (mut at, mut groups) = (0, Vec::new());
    while let Some(c) = chars.get(at) {
        let next = chars.get(at + 1);
        match c {
            '*' if next == Some(&'*') => {
                let is_folder = chars.get(at + 2) == Some(&'/');
                expression.push_str(if is_folder { "(?:.*/)?" } else { ".*" });
                at += if is_folder { 2 } else { 1 };
            }
            '?' | '+' | '@' | '*' if next == Some(&'(') => {
                let repeated = match c {
                    '?' => ")?",
                    '+' => ")+",
                    '*' => ")*",
                    _ => ")",
                };
                groups.push(repeated);
                expression.push_str("(?:");
                at += 1;
            }
            ')' if !groups.is_empty() => expression.push_str(groups.pop().unwrap_or(")")),
            '|' if !groups.is_empty() => expression.push('|'),
            '{' => {
                groups.push(")");
                expression.push_str("(?:");
            }
            '}' if !groups.is_empty() => expression.push_str(groups.pop().unwrap_or(")")),
            ',' if !groups.is_empty() => expression.push('|'),
            '*' => expression.push_str("[^/]*"),
            '?' => expression.push_str("[^/]"),
            '[' | ']' => expression.push(*c),
            c => expression.push_str(&regex::escape(&c.to_string())),
        }
        at += 1;
    }
    expression.push('$');
    Regex::new(&expression).ok()
}
