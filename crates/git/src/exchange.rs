//! Exchanges the references of a run with a hub: a bare repository through which a run moves from one machine to another.
//!
//! The state of the hub counts. Below `refs/remand-hub/<run>/seen/` a machine records what the hub had when it last fetched
//! or pushed. A reference that differs from its record was changed here and not pushed yet; a fetch keeps it, unless the
//! hub has changed it as well.

use super::call::git;
use super::error::UserProgram;
use super::invocation::{CallMode, CallOutput, Invocation};
use super::names::{branch_of, tag_of};
use super::open::{break_locks, check_run_id};
use super::program_limits::run_job;
use super::{GitError, Repository};
use remand_process::{Cancel, Survivors};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Time limit of one fetch or push.
const TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// A bare repository through which runs move between machines. Clones share the lock that keeps exchanges apart.
#[derive(Clone, Debug)]
pub struct Hub {
    address: String,
    one_at_a_time: Arc<Mutex<()>>,
}

impl PartialEq for Hub {
    fn eq(&self, other: &Hub) -> bool {
        self.address == other.address
    }
}

/// The result of a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pushed {
    Done,
    /// Another machine has changed a reference that was changed here too. The references here are now those of the hub.
    Overtaken,
}

/// The objects of references, by name.
type References = BTreeMap<String, String>;

/// Where a machine records the references of a hub.
#[derive(Clone, Copy)]
enum Record {
    /// What the hub had when the references here last agreed with it.
    Seen,
    /// What the last fetch found, before the references here follow it.
    Fetched,
}

impl Record {
    fn prefix(self, run: &str) -> String {
        let name = match self {
            Record::Seen => "seen",
            Record::Fetched => "fetched",
        };
        format!("{}{name}/", hub_prefix(run))
    }
}

/// The prefix of everything that a machine records about the hub's references of a run.
fn hub_prefix(run: &str) -> String {
    format!("refs/remand-hub/{run}/")
}

impl Hub {
    /// The address is anything that `git fetch` accepts.
    pub fn at(address: &str) -> Hub {
        Hub { address: address.to_string(), one_at_a_time: Arc::default() }
    }

    /// The address without a password.
    pub fn shown_address(&self) -> String {
        let Some((scheme, rest)) = self.address.split_once("://") else { return self.address.clone() };
        let authority = rest.split('/').next().unwrap_or_default();
        match authority.rsplit_once('@') {
            Some((_, host)) => format!("{scheme}://{host}{}", &rest[authority.len()..]),
            None => self.address.clone(),
        }
    }

    /// Asks the hub for its references. Fails if it cannot be reached.
    pub fn reach(&self, repository: &Repository, cancel: &Cancel) -> Result<(), GitError> {
        self.call(repository, cancel, &["ls-remote", "--quiet", "--", &self.address, "HEAD"]).map(drop)
    }

    /// Takes over what other machines have changed of a run. Keeps what was changed here and not pushed yet.
    pub fn fetch(&self, repository: &Repository, run: &str, cancel: &Cancel) -> Result<(), GitError> {
        let _alone = self.alone();
        self.follow(repository, run, cancel).map(drop)
    }

    /// Pushes what was changed here of a run: all of it or nothing.
    pub fn push(&self, repository: &Repository, run: &str, cancel: &Cancel) -> Result<Pushed, GitError> {
        let _alone = self.alone();
        let seen = repository.recorded(Record::Seen, run)?;
        let own = repository.references_of_run(run)?;
        let changed: BTreeSet<&String> = seen.keys().chain(own.keys()).collect();
        let changed: Vec<&String> =
            changed.into_iter().filter(|name| seen.get(*name) != own.get(*name)).collect();
        if changed.is_empty() {
            return Ok(Pushed::Done);
        }
        let mut words: Vec<String> =
            ["push", "--quiet", "--atomic", "--no-verify", "--no-recurse-submodules"]
                .map(str::to_string)
                .into();
        let object = |references: &References, name: &str| references.get(name).cloned().unwrap_or_default();
        words.extend(
            changed.iter().map(|name| format!("--force-with-lease={name}:{}", object(&seen, name.as_str()))),
        );
        words.extend(["--".to_string(), self.address.clone()]);
        words.extend(changed.iter().map(|name| format!("{}:{name}", object(&own, name.as_str()))));
        let Err(error) = self.call(repository, cancel, &words) else {
            return repository.record(Record::Seen, run, &own).map(|()| Pushed::Done);
        };
        // Git does not say reliably whether it refused because another machine was faster, but the hub does.
        match (&error, self.follow(repository, run, cancel)?) {
            (GitError::HubFailed { .. }, true) => Ok(Pushed::Overtaken),
            (_, _) => Err(error),
        }
    }

    /// Removes the references of a run from the hub, except for its branch, which may hold the only copy of the work. A
    /// reference that another machine has changed stays.
    pub fn forget(&self, repository: &Repository, run: &str, cancel: &Cancel) -> Result<(), GitError> {
        let _alone = self.alone();
        let mut seen = repository.recorded(Record::Seen, run)?;
        seen.retain(|name, _| *name != format!("refs/heads/{}", branch_of(run)));
        if seen.is_empty() {
            return Ok(());
        }
        let mut words: Vec<String> =
            ["push", "--quiet", "--no-verify", "--no-recurse-submodules"].map(str::to_string).into();
        words.extend(seen.iter().map(|(name, object)| format!("--force-with-lease={name}:{object}")));
        words.extend(["--".to_string(), self.address.clone()]);
        words.extend(seen.keys().map(|name| format!(":{name}")));
        self.call(repository, cancel, &words).map(drop)
    }

    /// Fetches, and lets the references here follow the hub's. Returns whether the hub had changed. After a kill the next
    /// call does the rest: the references here move first, and the record of what was seen last.
    fn follow(&self, repository: &Repository, run: &str, cancel: &Cancel) -> Result<bool, GitError> {
        check_run_id(run)?;
        for folder in [format!("refs/remand/{run}"), hub_prefix(run)] {
            break_locks(&repository.common_dir().join(folder))?;
        }
        let fetched = Record::Fetched.prefix(run);
        let mut words: Vec<String> = [
            "fetch",
            "--quiet",
            "--prune",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-recurse-submodules",
            "--no-auto-maintenance",
            "--refmap=",
            "--",
            &self.address,
        ]
        .map(str::to_string)
        .into();
        // A pattern may match nothing, while a reference must exist.
        let [below, tag, branch] = patterns(run);
        for pattern in [format!("{below}*"), format!("{tag}*"), format!("{branch}*")] {
            let local = pattern.strip_prefix("refs/").unwrap_or(&pattern);
            words.push(format!("+{pattern}:{fetched}{local}"));
        }
        self.call(repository, cancel, &words)?;
        let (before, now) =
            (repository.recorded(Record::Seen, run)?, repository.recorded(Record::Fetched, run)?);
        if before == now {
            return Ok(false);
        }
        let mut own = repository.references_of_run(run)?;
        let moved: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
        let has_moved = |name: &&String| before.get(*name) != now.get(*name);
        let old = own.clone();
        for name in moved.into_iter().filter(has_moved) {
            match now.get(name) {
                Some(object) => own.insert(name.clone(), object.clone()),
                None => own.remove(name),
            };
        }
        repository.move_all(&old, &own)?;
        repository.record(Record::Seen, run, &now)?;
        Ok(true)
    }

    /// Calls git as the user, who may have set up how to sign in to the hub, but without the user's hooks. Nobody can
    /// answer a question about a password.
    fn call<S: AsRef<str>>(
        &self,
        repository: &Repository,
        cancel: &Cancel,
        words: &[S],
    ) -> Result<CallOutput, GitError> {
        let paths = super::invocation::GitPaths::objects(repository.common_dir());
        let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
        let mut job = Invocation::new(&paths, CallMode::Internal, &words).user_job();
        job.environment.extend([
            ("GIT_ASKPASS".into(), "false".into()),
            ("SSH_ASKPASS".into(), "false".into()),
            ("SSH_ASKPASS_REQUIRE".into(), "force".into()),
        ]);
        job.limits.time = TIMEOUT;
        // `ControlPersist` of ssh leaves a connection open for the next call.
        job.survivors = Survivors::Daemons;
        let command = format!("git {}", words[0]);
        let output = run_job(&job, &command, UserProgram::Transport, cancel)?;
        match output.code {
            0 => Ok(output),
            _ => Err(GitError::HubFailed {
                address: self.shown_address(),
                detail: String::from_utf8_lossy(&output.stderr).trim().to_string(),
            }),
        }
    }

    fn alone(&self) -> MutexGuard<'_, ()> {
        self.one_at_a_time.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a run owns: everything below the first prefix, and the tag and branch with exactly the other names.
fn patterns(run: &str) -> [String; 3] {
    [
        format!("refs/remand/{run}/"),
        format!("refs/tags/{}", tag_of(run)),
        format!("refs/heads/{}", branch_of(run)),
    ]
}

fn is_of_run(name: &str, run: &str) -> bool {
    let [below, tag, branch] = patterns(run);
    name.starts_with(&below) || name == tag || name == branch
}

impl Repository {
    /// The references of a run.
    fn references_of_run(&self, run: &str) -> Result<References, GitError> {
        let mut found = self.listed(&patterns(run))?;
        found.retain(|name, _| is_of_run(name, run));
        Ok(found)
    }

    /// The references of a run that a record contains, by their names in the hub.
    fn recorded(&self, record: Record, run: &str) -> Result<References, GitError> {
        let prefix = record.prefix(run);
        let found = self.listed(std::slice::from_ref(&prefix))?;
        let names = found
            .into_iter()
            .filter_map(|(name, object)| Some((format!("refs/{}", name.strip_prefix(&prefix)?), object)));
        // Another run's id can begin with this one.
        Ok(names.filter(|(name, _)| is_of_run(name, run)).collect())
    }

    /// Makes a record contain these references.
    fn record(&self, record: Record, run: &str, references: &References) -> Result<(), GitError> {
        let prefix = record.prefix(run);
        let placed = |references: &References| -> References {
            let local = |name: &str| format!("{prefix}{}", name.strip_prefix("refs/").unwrap_or(name));
            references.iter().map(|(name, object)| (local(name), object.clone())).collect()
        };
        self.move_all(&placed(&self.recorded(record, run)?), &placed(references))
    }

    /// Removes everything recorded about the hub's references of a run.
    pub(super) fn drop_hub_records(&self, run: &str) -> Result<(), GitError> {
        let recorded = self.listed(&[hub_prefix(run)])?;
        self.move_all(&recorded, &References::new())
    }

    /// Moves references, all or none. Fails if one of them is no longer where it was.
    fn move_all(&self, from: &References, to: &References) -> Result<(), GitError> {
        let changed: BTreeSet<&String> = from.keys().chain(to.keys()).collect();
        let changed = changed.into_iter().filter(|name| from.get(*name) != to.get(*name));
        let rows: String = changed
            .map(|name| match (from.get(name), to.get(name)) {
                (Some(old), Some(new)) => format!("update {name} {new} {old}\n"),
                (None, Some(new)) => format!("create {name} {new}\n"),
                (Some(old), None) => format!("delete {name} {old}\n"),
                (None, None) => String::new(),
            })
            .collect();
        if rows.is_empty() {
            return Ok(());
        }
        git(&self.objects(), ["update-ref", "--stdin"]).input(rows.into_bytes()).run().map(drop)
    }

    /// The references that match patterns of `git for-each-ref`.
    fn listed(&self, patterns: &[String]) -> Result<References, GitError> {
        let words = ["for-each-ref", "--format=%(objectname) %(refname)"];
        let words = words.into_iter().chain(patterns.iter().map(String::as_str));
        let output = git(&self.objects(), words).run()?;
        let text = String::from_utf8_lossy(&output).into_owned();
        let rows = text.lines().filter_map(|line| line.split_once(' '));
        Ok(rows.map(|(object, name)| (name.to_string(), object.to_string())).collect())
    }
}
