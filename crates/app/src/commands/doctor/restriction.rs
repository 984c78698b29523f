//! Finds the restriction of the sandbox that makes a check fail, by lifting one at a time.

use super::checkup::Checkup;
use super::trial::{Trial, TrialPlace, TrialSetup};
use super::uncommitted;
use remand_checks::{CheckEnd, CheckResult, CheckSandbox, CheckSpec};
use remand_kernel::change::TestEnd;
use remand_terminal::output::tell;
use remand_terminal::{CommandFailure, amount};
use std::collections::BTreeMap;
use std::ffi::OsString;

/// A restriction of checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Restriction {
    Network,
    Environment,
    SharedMemory,
    Sockets,
    Reading,
    Memory,
    Writing,
}

const ALL: [Restriction; 7] = [
    Restriction::Network,
    Restriction::Environment,
    Restriction::SharedMemory,
    Restriction::Sockets,
    Restriction::Reading,
    Restriction::Memory,
    Restriction::Writing,
];

/// What a check may do if some restrictions are lifted.
struct Lifted {
    spec: CheckSpec,
    sandbox: CheckSandbox,
    environment: BTreeMap<OsString, OsString>,
}

impl Restriction {
    fn lift(self, lifted: &mut Lifted) {
        let policy = &mut lifted.sandbox.policy;
        match self {
            Restriction::Network => lifted.spec.network = true,
            Restriction::Environment => {
                let kept = ["HOME", "TMPDIR"].map(OsString::from);
                let own = std::env::vars_os().filter(|(name, _)| !kept.contains(name));
                lifted.environment.extend(own);
            }
            Restriction::SharedMemory => policy.shared_memory = true,
            Restriction::Sockets => policy.sockets = true,
            Restriction::Reading => {
                policy.hidden.clear();
                // The private home would hide what is in the real one.
                policy.private = None;
            }
            Restriction::Memory => lifted.spec.memory = 1 << 46,
            Restriction::Writing => {
                policy.private = None;
                policy.read_write.push("/".into());
            }
        }
    }

    /// What the check needs, as the end of a sentence.
    fn need(self) -> &'static str {
        match self {
            Restriction::Network => "the network",
            Restriction::Environment => "an environment variable that checks do not get",
            Restriction::SharedMemory => "shared memory, which this kernel cannot make private",
            Restriction::Sockets => "Unix sockets, which this kernel cannot make private",
            Restriction::Reading => "a file of your home or of your checkout that is not in the commit",
            Restriction::Memory => "more memory",
            Restriction::Writing => "to write outside its work tree, its home and `/tmp`",
        }
    }

    fn remedy(self, check: &str) -> String {
        let own = "in ~/.config/remand/config.toml";
        match self {
            Restriction::Network => format!("set `network = true` under `[checks.{check}]` in remand.toml"),
            Restriction::Environment => {
                format!("name the variable in `checks-environment = […]` under `[sandbox]` {own}")
            }
            Restriction::SharedMemory => format!("set `shared-memory = true` under `[sandbox]` {own}"),
            Restriction::Sockets => format!("set `unix-sockets = true` under `[sandbox]` {own}"),
            Restriction::Reading => format!("name the file in `reads = […]` under `[sandbox]` {own}"),
            Restriction::Memory => {
                format!("set `memory = \"16G\"` or more under `[checks.{check}]` in remand.toml")
            }
            Restriction::Writing => "let the tests write below `$HOME` or `$TMPDIR`".to_string(),
        }
    }
}

/// Compares each check with the way the user would run it. `inside` has the results in the sandbox.
pub fn checks(
    checkup: &mut Checkup,
    trial: &Trial<'_>,
    inside: &[CheckResult],
) -> Result<(), CommandFailure> {
    for spec in trial.specs {
        let Some(result) = inside.iter().find(|result| result.name == spec.name) else { continue };
        match result.end {
            CheckEnd::Passed => {
                let tests = result.collected.map(|count| amount::counted(u64::from(count), "test"));
                let tests = tests.map_or_else(String::new, |tests| format!(": {tests}"));
                checkup.ok("checks", format!("{} passes in the sandbox{tests}", spec.name));
            }
            CheckEnd::Failed | CheckEnd::TimedOut | CheckEnd::Vacuous | CheckEnd::Environment => {
                compare(checkup, trial, spec, result)?;
            }
            CheckEnd::Skipped | CheckEnd::NoFiles | CheckEnd::Cancelled => {}
        }
    }
    Ok(())
}

fn compare(
    checkup: &mut Checkup,
    trial: &Trial<'_>,
    spec: &CheckSpec,
    inside: &CheckResult,
) -> Result<(), CommandFailure> {
    tell(&format!("{} fails in the sandbox; running it outside", spec.name));
    let outside = trial.run_one(spec, &TrialSetup { place: TrialPlace::Outside, ..TrialSetup::default() })?;
    let Some(test) = first_difference(inside, &outside) else {
        if let Some(missing) = uncommitted::needed(trial, spec)? {
            missing.report(checkup, &spec.name);
            return Ok(());
        }
        let what = format!("{} fails, in the sandbox and outside: {}", spec.name, first_line(&outside));
        checkup.warn("checks", what, "make it pass on the last commit; tests that pass are still compared");
        return Ok(());
    };
    let is_cured = |restrictions: &[Restriction]| -> Result<bool, CommandFailure> {
        let mut lifted = Lifted {
            spec: spec.clone(),
            sandbox: trial.sandbox().clone(),
            environment: trial.environment().clone(),
        };
        restrictions.iter().for_each(|restriction| restriction.lift(&mut lifted));
        let place = TrialPlace::Altered(&lifted.sandbox, &lifted.environment);
        let result = trial.run_one(&lifted.spec, &TrialSetup { place, ..TrialSetup::default() })?;
        Ok(first_difference(&result, &outside).is_none())
    };
    let name = &spec.name;
    let what = format!("{name} passes on your machine and fails in the sandbox: {test}");
    for restriction in ALL {
        tell(&format!("running {name} with {}", restriction.need()));
        if is_cured(&[restriction])? {
            let what = format!("{what}; it needs {}", restriction.need());
            checkup.fail("checks", what, restriction.remedy(name));
            return Ok(());
        }
    }
    if is_cured(&ALL)? {
        let remedy = format!(
            "run parts of it separately under `[checks]`, or turn it off: `[checks.{name}]` with `off = true`"
        );
        checkup.fail("checks", format!("{what}; it needs several things that the sandbox restricts"), remedy);
    } else {
        let remedy = format!("check its output in the sandbox, which starts with: {}", first_line(inside));
        checkup.fail("checks", format!("{what}; no single restriction is the reason"), remedy);
    }
    Ok(())
}

/// The first test that passes outside and fails inside, or the reason if no single test is known.
fn first_difference(inside: &CheckResult, outside: &CheckResult) -> Option<String> {
    let passed =
        |name: &str| outside.tests.iter().any(|test| test.name == name && test.end == TestEnd::Passed);
    let differing = inside.tests.iter().find(|test| test.end == TestEnd::Failed && passed(&test.name));
    match differing {
        Some(test) => Some(test.name.clone()),
        None if outside.passed() && !inside.passed() => Some(first_line(inside)),
        None => None,
    }
}

/// The most informative line of a result.
fn first_line(result: &CheckResult) -> String {
    let text = if result.reason.is_empty() { &result.snippet } else { &result.reason };
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("no output").to_string()
}
