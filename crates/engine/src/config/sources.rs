//! The sources of the configuration's layers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The repository's file, at its root.
pub const FILE: &str = "remand.toml";

/// The sources of a configuration. A missing file is an empty layer.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    pub user: Option<PathBuf>,
    pub repository: Option<PathBuf>,
    pub environment: BTreeMap<String, String>,
    pub flags: Vec<Flag>,
}

/// A flag of the command line that sets a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    /// As the user typed it, such as `--money`.
    pub name: String,
    pub key: String,
    pub value: String,
}

impl Sources {
    /// The standard files for the repository at `root`.
    pub fn of(root: &Path, environment: BTreeMap<String, String>) -> Sources {
        let absolute = |name: &str| environment.get(name).filter(|value| Path::new(value).is_absolute());
        let base = absolute("XDG_CONFIG_HOME")
            .map(PathBuf::from)
            .or_else(|| absolute("HOME").map(|home| Path::new(home).join(".config")));
        Sources {
            user: base.map(|base| base.join("remand/config.toml")),
            repository: Some(root.join(FILE)),
            environment,
            flags: Vec::new(),
        }
    }
}
