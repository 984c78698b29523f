//! Plants a failure for every check, in a temporary copy of the last commit.

use super::checkup::Checkup;
use super::trial::{Trial, TrialSetup};
use remand_checks::{CheckEnd, CheckResult, CheckSpec, Plant};
use remand_engine::config::Config;
use remand_terminal::CommandFailure;
use remand_terminal::output::tell;

/// The failure to plant for each check, if one is configured or known.
pub fn choose(trial: &Trial<'_>, config: &Config) -> Vec<Option<Plant>> {
    let configured = |spec: &CheckSpec| config.checks.get(&spec.name)?.plant.clone();
    let choose = |spec| configured(spec).or_else(|| remand_checks::plant(spec, trial.tree()));
    trial.specs.iter().map(choose).collect()
}

/// Plants a failure for each check and tests that it turns red. `clean` has the results without a planted failure.
pub fn checks(
    checkup: &mut Checkup,
    trial: &Trial<'_>,
    planted: &[Option<Plant>],
    clean: &[CheckResult],
) -> Result<(), CommandFailure> {
    for (spec, plant) in trial.specs.iter().zip(planted) {
        let before = clean.iter().find(|result| result.name == spec.name);
        match (before.map(|result| (result.end, result.reason.clone())), plant) {
            (_, None) => {
                let remedy =
                    format!("set one: `[checks.{}]` with `plant = {{ file = …, text = … }}`", spec.name);
                checkup.warn(
                    "plants",
                    format!("{}: no known way to plant a failure for this command", spec.name),
                    remedy,
                );
            }
            (
                Some((CheckEnd::Passed | CheckEnd::Vacuous | CheckEnd::Skipped | CheckEnd::NoFiles, _)),
                Some(plant),
            ) => {
                tell(&format!("planting a failure for {}", spec.name));
                report(checkup, spec, plant, &with_plant(trial, spec, plant)?);
            }
            (
                Some((
                    CheckEnd::Failed | CheckEnd::TimedOut | CheckEnd::Environment | CheckEnd::Cancelled,
                    reason,
                )),
                Some(_),
            ) => {
                let why =
                    if reason.is_empty() { "it fails without a planted failure".to_string() } else { reason };
                let remedy = "make it pass on the last commit first";
                checkup.warn("plants", format!("{}: not tested: {why}", spec.name), remedy);
            }
            (None, Some(_)) => {}
        }
    }
    Ok(())
}

fn report(checkup: &mut Checkup, spec: &CheckSpec, plant: &Plant, after: &CheckResult) {
    let (name, file) = (&spec.name, &plant.file);
    match after.end {
        CheckEnd::Failed => {
            let exit = after.exit_code.map_or_else(String::new, |code| format!(", exit code {code}"));
            checkup.ok("plants", format!("{name} turns red with a failure in {file}{exit}"));
        }
        CheckEnd::Passed | CheckEnd::Vacuous => {
            let what = format!("{name} stays green with a failure planted in {file}, so it proves nothing");
            let remedy =
                format!("correct its command, or set a file that it reads: `[checks.{name}]` with `plant`");
            checkup.fail("plants", what, remedy);
        }
        CheckEnd::TimedOut
        | CheckEnd::Skipped
        | CheckEnd::NoFiles
        | CheckEnd::Environment
        | CheckEnd::Cancelled => {
            let what = format!("{name}: not tested, because it did not finish: {}", after.reason);
            checkup.warn("plants", what, "`remand doctor` shows what it needs");
        }
    }
}

/// The result of a check with a planted failure, after the checks that it needs.
fn with_plant(trial: &Trial<'_>, spec: &CheckSpec, plant: &Plant) -> Result<CheckResult, CommandFailure> {
    let unplantable = |error: std::io::Error| {
        CommandFailure::user(format!("{} cannot be planted", plant.file), "name another file")
            .caused_by(error.to_string())
    };
    let planted = plant.put(trial.tree()).map_err(unplantable)?;
    let changed = [plant.file.clone()];
    let result = trial.run_one(spec, &TrialSetup { changed: Some(&changed), ..TrialSetup::default() });
    planted.pull().map_err(unplantable)?;
    result
}
