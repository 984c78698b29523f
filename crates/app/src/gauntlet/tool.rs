//! Programs that a trial runs itself: git, the tests of the oracle, and this program as the engine.

use super::arena::Arena;
use crate::driving;
use crate::exit::Failure;
use crate::workplace::internal;
use remand_runtime::process::{self, Cancel, Ended, Job};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

/// The longest that anything in a trial takes.
const TIME: Duration = Duration::from_secs(180);

/// The surroundings of everything that a trial runs: a home of its own, and no settings of the user's.
#[derive(Clone, Debug)]
pub struct Tools {
    environment: BTreeMap<OsString, OsString>,
    cancel: Cancel,
}

impl Tools {
    pub fn new(arena: &Arena, cancel: &Cancel) -> Tools {
        let mut environment = driving::inherited();
        let mut set = |name: &str, value: OsString| environment.insert(name.into(), value);
        set("HOME", arena.home().into_os_string());
        for (name, value) in [
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_AUTHOR_NAME", "Gauntlet"),
            ("GIT_AUTHOR_EMAIL", "gauntlet@remand.invalid"),
            ("GIT_COMMITTER_NAME", "Gauntlet"),
            ("GIT_COMMITTER_EMAIL", "gauntlet@remand.invalid"),
            ("NO_COLOR", "1"),
            ("PYTHONDONTWRITEBYTECODE", "1"),
        ] {
            set(name, value.into());
        }
        Tools { environment, cancel: cancel.clone() }
    }

    /// The same with more in the environment.
    #[must_use]
    pub fn with(&self, more: &BTreeMap<String, String>) -> Tools {
        let mut tools = self.clone();
        tools.environment.extend(more.iter().map(|(name, value)| (name.into(), value.into())));
        tools
    }

    /// Runs a program to its end, however it ends.
    pub fn run(&self, argv: &[impl AsRef<std::ffi::OsStr>], folder: &Path) -> Result<Ended, Failure> {
        let words: Vec<OsString> = argv.iter().map(|word| word.as_ref().to_os_string()).collect();
        let mut job = Job::apart(words, folder, "gauntlet");
        job.environment = self.environment.clone();
        job.limits.time = TIME;
        process::run(&job, &self.cancel).map_err(|error| internal("a trial cannot start a program", &error))
    }

    /// Runs git, which must end well, and gives what it prints.
    pub fn git(&self, folder: &Path, words: &[&str]) -> Result<String, Failure> {
        let argv: Vec<&str> = ["git"].iter().chain(words).copied().collect();
        let ended = self.run(&argv, folder)?;
        if ended.exit.succeeded() {
            return Ok(ended.stdout.text().trim_end().to_string());
        }
        let what = format!("`{}` ended with {}", argv.join(" "), ended.exit);
        Err(Failure::user(what, "git must work for a gauntlet; see `remand doctor`")
            .caused_by(ended.stderr.text().trim().to_string()))
    }
}
