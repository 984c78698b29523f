//! Reads the user's environment variables.

use remand_engine::config::Sandbox;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

/// The names of the variables that agents and checks inherit.
const INHERITED: [&str; 31] = [
    "PATH",
    "USER",
    "LOGNAME",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NUMERIC",
    "LC_TIME",
    "TERM",
    "TZ",
    "RUSTUP_HOME",
    "CARGO_HOME",
    "RUSTUP_TOOLCHAIN",
    "JAVA_HOME",
    "GOPATH",
    "GOCACHE",
    "NVM_DIR",
    "CFLAGS",
    "CGO_ENABLED",
    "CXXFLAGS",
    "GOFLAGS",
    "GRADLE_OPTS",
    "JAVA_TOOL_OPTIONS",
    "MAVEN_ARGS",
    "MAVEN_OPTS",
    "PYTHONPATH",
    "RUSTFLAGS",
];

/// A variable that only checks inherit: agent programs that run on Node would obey it too.
const NODE_OPTIONS: &str = "NODE_OPTIONS";

/// All variables that are valid UTF-8.
pub fn all() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// The variables that agents and checks inherit.
pub fn inherited() -> BTreeMap<OsString, OsString> {
    let mut inherited: BTreeMap<OsString, OsString> =
        INHERITED.iter().filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?))).collect();
    let user_home = user_home();
    // Agents get their own home, so toolchains in the user's home need their full paths.
    let defaults = [("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo"), ("GOMODCACHE", "go/pkg/mod")];
    for (name, folder) in defaults {
        let default = Path::new(&user_home).join(folder);
        if default.is_dir() {
            inherited.entry(name.into()).or_insert_with(|| default.into_os_string());
        }
    }
    inherited
}

/// The variables of checks: those of [`inherited`], `HOME`, the options of Node, and configured ones.
pub fn for_checks(sandbox: &Sandbox) -> BTreeMap<OsString, OsString> {
    let mut environment = inherited();
    environment.insert("HOME".into(), user_home());
    let configured = sandbox.checks_environment.iter().map(String::as_str);
    let named = configured.chain([NODE_OPTIONS]);
    environment.extend(named.filter_map(|name| Some((name.into(), std::env::var_os(name)?))));
    environment
}

pub fn user_home() -> OsString {
    std::env::var_os("HOME").unwrap_or_else(|| OsString::from("/"))
}

/// The user's name, as the journal records it.
pub fn user() -> String {
    std::env::var("USER").or_else(|_| std::env::var("LOGNAME")).unwrap_or_else(|_| "a human".to_string())
}
