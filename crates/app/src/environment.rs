//! Reads the user's environment variables.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

/// The names of the variables that agents and checks inherit.
const INHERITED: [&str; 12] = [
    "PATH",
    "LANG",
    "LC_ALL",
    "TERM",
    "TZ",
    "RUSTUP_HOME",
    "CARGO_HOME",
    "RUSTUP_TOOLCHAIN",
    "JAVA_HOME",
    "GOPATH",
    "GOCACHE",
    "NVM_DIR",
];

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

/// The variables that checks inherit: those of [`inherited`], and `HOME`.
pub fn for_checks() -> BTreeMap<OsString, OsString> {
    let mut environment = inherited();
    environment.extend(std::env::var_os("HOME").map(|home| ("HOME".into(), home)));
    environment
}

pub fn user_home() -> OsString {
    std::env::var_os("HOME").unwrap_or_else(|| OsString::from("/"))
}

/// The user's name, as the journal records it.
pub fn user() -> String {
    std::env::var("USER").or_else(|_| std::env::var("LOGNAME")).unwrap_or_else(|_| "a human".to_string())
}
