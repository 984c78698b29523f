//! Versions of the tools that checks use, queried once for each program and environment.

use super::action::{CheckAction, program};
use super::job::finds_at;
use super::spec::CheckSpec;
use remand_process::{Cancel, ProcessJob, run};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

const TIME: Duration = Duration::from_secs(10);

/// Programs that report no useful version, or treat the option as something else.
const UNASKED: [&str; 8] = ["sh", "bash", "test", "true", "false", "env", "exec", "!"];

/// Programs that call others, whose versions matter too.
const CALLED: [(&str, &[&str]); 7] = [
    ("make", &["cc", "c++"]),
    ("cmake", &["cc", "c++", "make", "ninja"]),
    ("ctest", &["cc", "c++", "make", "ninja"]),
    ("npm", &["node"]),
    ("npx", &["node"]),
    ("pnpm", &["node"]),
    ("yarn", &["node"]),
];

/// Variables that replace a program by another.
const INSTEAD: [(&str, &str); 2] = [("cc", "CC"), ("c++", "CXX")];

/// Versions queried so far.
#[derive(Debug, Default)]
pub struct ToolVersions {
    known: Mutex<BTreeMap<String, String>>,
}

impl ToolVersions {
    /// The versions of the tool of a check and of the programs it calls, each with its file. Programs of the work tree have
    /// none, since they are part of the tree.
    pub fn version(&self, spec: &CheckSpec, environment: &BTreeMap<OsString, OsString>) -> String {
        let name = match &spec.action {
            CheckAction::Argv(argv) => argv.first().map_or("", String::as_str),
            CheckAction::Shell(text) => program(text),
            CheckAction::BuiltIn(_) => "",
        };
        let called = CALLED.iter().find(|(caller, _)| *caller == name).map_or(&[][..], |(_, called)| *called);
        // The programs of packages are scripts.
        let called = if name.contains("node_modules/") { &["node"][..] } else { called };
        let called = called.iter().flat_map(|name| instead(name, environment));
        let is_plain =
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.+!".contains(c));
        let own = is_plain.then(|| name.to_string());
        let said = own.into_iter().chain(called).map(|name| self.known(&name, environment));
        said.collect::<Vec<_>>().join("\n")
    }

    fn known(&self, name: &str, environment: &BTreeMap<OsString, OsString>) -> String {
        let variables =
            environment.iter().map(|(name, value)| format!("{}={}\n", name.display(), value.display()));
        let known_as = format!("{name}\n{}", variables.collect::<String>());
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&known_as).cloned();
        if let Some(known) = known {
            return known;
        }
        let found = ask(name, environment);
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(known_as, found.clone());
        found
    }
}

/// The programs that an environment uses for one: a compiler may be called through another program.
fn instead(name: &str, environment: &BTreeMap<OsString, OsString>) -> Vec<String> {
    let variable = INSTEAD.iter().find(|(known, _)| *known == name).map(|(_, variable)| *variable);
    let said = variable.and_then(|variable| environment.get(OsStr::new(variable))?.to_str());
    let words = said.unwrap_or(name).split_whitespace().filter(|word| !word.starts_with('-'));
    words.map(str::to_string).collect()
}

fn ask(name: &str, environment: &BTreeMap<OsString, OsString>) -> String {
    let Some(path) = finds_at(environment, name) else { return String::new() };
    let stamp = path.metadata().ok().map(|data| (data.len(), data.modified().ok()));
    let file = format!("{} {stamp:?}", path.display());
    if UNASKED.contains(&name) {
        return file;
    }
    // Only Go expects the word without hyphens.
    let question = if name == "go" { "version" } else { "--version" };
    let mut job = ProcessJob::standalone([name, question], "/", "version");
    job.environment = environment.clone();
    job.limits.time = TIME;
    // A tool that does not answer is known by its file alone.
    let said =
        run(&job, &Cancel::new()).map(|ended| ended.stdout.text().trim().to_string()).unwrap_or_default();
    format!("{said}\n{file}")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]

    use super::*;
    use remand_kernel::evidence::Tier;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    fn program_in(folder: &Path, name: &str, says: &str) {
        let text = format!("#!/bin/sh\necho asked >> {}/{name}.asked\necho {says}\n", folder.display());
        fs::write(folder.join(name), text).expect("a file");
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).expect("a program");
    }

    // EP-16
    #[test]
    fn versions_of_compilers_and_interpreters_that_a_tool_calls_count_and_are_queried_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = folder.path();
        for name in ["make", "cmake", "npm", "cc", "c++", "clang", "node"] {
            program_in(at, name, &format!("{name} 1.0"));
        }
        let mut environment =
            BTreeMap::from([("PATH".into(), format!("{}:/usr/bin:/bin", at.display()).into())]);
        let check = |argv: &[&str]| CheckSpec::new("own", Tier::Two, CheckAction::argv(argv));
        let tools = ToolVersions::default();
        let said = |argv: &[&str], environment: &BTreeMap<OsString, OsString>| {
            tools.version(&check(argv), environment)
        };
        let lines = |text: String| -> Vec<String> {
            text.lines().filter(|line| line.ends_with(" 1.0")).map(str::to_string).collect()
        };
        assert_eq!(lines(said(&["make", "test"], &environment)), ["make 1.0", "cc 1.0", "c++ 1.0"]);
        let cmake = lines(said(&["cmake"], &environment));
        assert!(cmake.contains(&"cc 1.0".to_string()) && cmake.contains(&"c++ 1.0".to_string()), "{cmake:?}");
        assert_eq!(fs::read_to_string(at.join("cc.asked")).expect("a count"), "asked\n");
        assert_eq!(lines(said(&["npm", "test"], &environment)), ["npm 1.0", "node 1.0"]);
        assert_eq!(lines(said(&["node_modules/.bin/tsc"], &environment)), ["node 1.0"]);
        environment.insert("CC".into(), format!("{}/clang -O2", at.display()).into());
        assert_eq!(lines(said(&["make", "test"], &environment)), ["make 1.0", "clang 1.0", "c++ 1.0"]);
        program_in(at, "node", "node 2.0");
        assert!(ToolVersions::default().version(&check(&["npm", "test"]), &environment).contains("node 2.0"));
    }
}
