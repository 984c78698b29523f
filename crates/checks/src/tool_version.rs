//! Versions of the tools that checks use, queried once for each program and environment.

use super::action::{CheckAction, first_program};
use super::job::find_program;
use super::spec::CheckSpec;
use remand_process::{Cancel, ProcessJob, run};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

const QUERY_TIMEOUT: Duration = Duration::from_secs(10);

/// Programs that report no useful version, or treat `--version` as an ordinary argument.
const NOT_QUERIED: [&str; 8] = ["sh", "bash", "test", "true", "false", "env", "exec", "!"];

/// Programs, each with the programs it calls. The versions of the called programs matter too.
const CALLED_BY: [(&str, &[&str]); 7] = [
    ("make", &["cc", "c++"]),
    ("cmake", &["cc", "c++", "make", "ninja"]),
    ("ctest", &["cc", "c++", "make", "ninja"]),
    ("npm", &["node"]),
    ("npx", &["node"]),
    ("pnpm", &["node"]),
    ("yarn", &["node"]),
];

/// Programs, each with the environment variable that replaces it.
const REPLACED_BY: [(&str, &str); 2] = [("cc", "CC"), ("c++", "CXX")];

/// Versions queried so far.
#[derive(Debug, Default)]
pub struct ToolVersions {
    known: Mutex<BTreeMap<String, String>>,
}

impl ToolVersions {
    /// The versions of a check's tool and of the programs it calls, each with its file. A program in the work tree has no
    /// version, since it is part of the tree.
    pub fn version(&self, spec: &CheckSpec, environment: &BTreeMap<OsString, OsString>) -> String {
        let name = match &spec.action {
            CheckAction::Argv(argv) => argv.first().map_or("", String::as_str),
            CheckAction::Shell(text) => first_program(text),
            CheckAction::BuiltIn(_) => "",
        };
        let called =
            CALLED_BY.iter().find(|(caller, _)| *caller == name).map_or(&[][..], |(_, called)| *called);
        // Programs in `node_modules` are scripts that Node runs.
        let called = if name.contains("node_modules/") { &["node"][..] } else { called };
        let called = called.iter().flat_map(|name| replacement(name, environment));
        let is_plain =
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.+!".contains(c));
        let tool = is_plain.then(|| name.to_string());
        let versions = tool.into_iter().chain(called).map(|name| self.cached(&name, environment));
        versions.collect::<Vec<_>>().join("\n")
    }

    fn cached(&self, name: &str, environment: &BTreeMap<OsString, OsString>) -> String {
        let variables =
            environment.iter().map(|(name, value)| format!("{}={}\n", name.display(), value.display()));
        let key = format!("{name}\n{}", variables.collect::<String>());
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if let Some(known) = known {
            return known;
        }
        let found = query(name, environment);
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(key, found.clone());
        found
    }
}

/// The programs that an environment uses for a program: `CC` may name a wrapper and a compiler.
fn replacement(name: &str, environment: &BTreeMap<OsString, OsString>) -> Vec<String> {
    let variable = REPLACED_BY.iter().find(|(known, _)| *known == name).map(|(_, variable)| *variable);
    let value = variable.and_then(|variable| environment.get(OsStr::new(variable))?.to_str());
    let words = value.unwrap_or(name).split_whitespace().filter(|word| !word.starts_with('-'));
    words.map(str::to_string).collect()
}

fn query(name: &str, environment: &BTreeMap<OsString, OsString>) -> String {
    let Some(path) = find_program(environment, name) else { return String::new() };
    let stamp = path.metadata().ok().map(|data| (data.len(), data.modified().ok()));
    let file = format!("{} {stamp:?}", path.display());
    if NOT_QUERIED.contains(&name) {
        return file;
    }
    // Only Go expects the word without hyphens.
    let argument = if name == "go" { "version" } else { "--version" };
    let mut job = ProcessJob::standalone([name, argument], "/", "version");
    job.environment = environment.clone();
    job.limits.time = QUERY_TIMEOUT;
    // A tool that does not report a version is identified by its file alone.
    let version =
        run(&job, &Cancel::new()).map(|ended| ended.stdout.text().trim().to_string()).unwrap_or_default();
    format!("{version}\n{file}")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]

    use super::*;
    use remand_kernel::evidence::Tier;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    fn program_in(folder: &Path, name: &str, output: &str) {
        let text = format!("#!/bin/sh\necho asked >> {}/{name}.asked\necho {output}\n", folder.display());
        fs::write(folder.join(name), text).expect("a file");
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).expect("a program");
    }

    // EP-16
    #[test]
    fn versions_of_compilers_and_interpreters_that_a_tool_calls_count_and_are_queried_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let bin = folder.path();
        for name in ["make", "cmake", "npm", "cc", "c++", "clang", "node"] {
            program_in(bin, name, &format!("{name} 1.0"));
        }
        let mut environment =
            BTreeMap::from([("PATH".into(), format!("{}:/usr/bin:/bin", bin.display()).into())]);
        let check = |argv: &[&str]| CheckSpec::new("custom", Tier::Two, CheckAction::argv(argv));
        let tools = ToolVersions::default();
        let versions = |argv: &[&str], environment: &BTreeMap<OsString, OsString>| {
            tools.version(&check(argv), environment)
        };
        let lines = |text: String| -> Vec<String> {
            text.lines().filter(|line| line.ends_with(" 1.0")).map(str::to_string).collect()
        };
        assert_eq!(lines(versions(&["make", "test"], &environment)), ["make 1.0", "cc 1.0", "c++ 1.0"]);
        let cmake = lines(versions(&["cmake"], &environment));
        assert!(cmake.contains(&"cc 1.0".to_string()) && cmake.contains(&"c++ 1.0".to_string()), "{cmake:?}");
        assert_eq!(fs::read_to_string(bin.join("cc.asked")).expect("a count"), "asked\n");
        assert_eq!(lines(versions(&["npm", "test"], &environment)), ["npm 1.0", "node 1.0"]);
        assert_eq!(lines(versions(&["node_modules/.bin/tsc"], &environment)), ["node 1.0"]);
        environment.insert("CC".into(), format!("{}/clang -O2", bin.display()).into());
        assert_eq!(lines(versions(&["make", "test"], &environment)), ["make 1.0", "clang 1.0", "c++ 1.0"]);
        program_in(bin, "node", "node 2.0");
        assert!(ToolVersions::default().version(&check(&["npm", "test"]), &environment).contains("node 2.0"));
    }
}
