//! Runs programs for a trial: git, the tests of the oracle, and this program as the engine.

use remand_process::{Cancel, JobEnd, ProcessJob};
use remand_terminal::CommandFailure;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The timeout of every process in a trial.
const TIMEOUT: Duration = Duration::from_secs(180);

/// The environment of all programs in a trial: a separate home, and no settings of the user.
#[derive(Clone, Debug)]
pub struct TrialTools {
    environment: BTreeMap<OsString, OsString>,
    cancel: Cancel,
}

impl TrialTools {
    pub fn new(home: PathBuf, inherited: &BTreeMap<OsString, OsString>, cancel: &Cancel) -> TrialTools {
        let mut environment = inherited.clone();
        let mut set = |name: &str, value: OsString| environment.insert(name.into(), value);
        set("HOME", home.into_os_string());
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
        TrialTools { environment, cancel: cancel.clone() }
    }

    /// The same tools with additional environment variables.
    #[must_use]
    pub fn with_environment(&self, more: &BTreeMap<String, String>) -> TrialTools {
        let mut tools = self.clone();
        tools.environment.extend(more.iter().map(|(name, value)| (name.into(), value.into())));
        tools
    }

    /// Runs a program to its end, with any exit status.
    pub fn run(&self, argv: &[impl AsRef<std::ffi::OsStr>], folder: &Path) -> Result<JobEnd, CommandFailure> {
        let argv: Vec<OsString> = argv.iter().map(|argument| argument.as_ref().to_os_string()).collect();
        let mut job = ProcessJob::standalone(argv, folder, "gauntlet");
        job.environment = self.environment.clone();
        job.limits.time = TIMEOUT;
        remand_process::run(&job, &self.cancel)
            .map_err(|error| CommandFailure::internal_error("a trial cannot start a program", &error))
    }

    /// Runs git, which must succeed, and returns its output.
    pub fn git(&self, folder: &Path, arguments: &[&str]) -> Result<String, CommandFailure> {
        let argv: Vec<&str> = ["git"].iter().chain(arguments).copied().collect();
        let ended = self.run(&argv, folder)?;
        if ended.exit.succeeded() {
            return Ok(ended.stdout.text().trim_end().to_string());
        }
        let what = format!("`{}` ended with {}", argv.join(" "), ended.exit);
        Err(CommandFailure::user(what, "git must work for a gauntlet; see `remand doctor`")
            .caused_by(ended.stderr.text().trim().to_string()))
    }
}
