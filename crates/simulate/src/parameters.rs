//! The parameters in effect: defaults, values fitted from a history, and values that the user sets.

use crate::defaults::{DEFAULTS, ParameterUnit, default_value};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Separates a parameter from the phase that it is for: `tokens@implement`.
const AT: char = '@';

/// Results of operations (`result.merge.conflict`) and verdicts of phases (`verdict.diagnosis.test-design`) are parameters
/// too, for any operation and phase.
const OPEN: [&str; 2] = ["result.", "verdict."];

/// All parameters of a simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterSet {
    values: BTreeMap<String, ParameterValue>,
}

/// One parameter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ParameterValue {
    pub value: f64,
    pub basis: ParameterBasis,
}

/// What a value rests on.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParameterBasis {
    Default {
        source: String,
    },
    /// Observations in the ledger, with the interval that contains the real value in 95 of 100 cases, if it is known.
    Fitted {
        observations: usize,
        interval: Option<(f64, f64)>,
    },
    Set,
}

/// Why a parameter cannot be set.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ParameterError {
    #[error("there is no parameter `{0}`")]
    Unknown(String),
    #[error("`{0}` is not written as KEY=NUMBER")]
    Form(String),
    #[error("`{key}` is a probability and cannot be {value}")]
    NoProbability { key: String, value: f64 },
    #[error("`{key}` cannot be {value}")]
    OutOfRange { key: String, value: f64 },
}

impl Default for ParameterSet {
    fn default() -> ParameterSet {
        let values = DEFAULTS.iter().map(|row| {
            let basis = ParameterBasis::Default { source: row.source.to_string() };
            (row.key.to_string(), ParameterValue { value: row.value, basis })
        });
        ParameterSet { values: values.collect() }
    }
}

impl ParameterSet {
    /// Sets one parameter for all phases, or with `@PHASE` for one.
    pub fn set(&mut self, key: &str, value: f64, basis: ParameterBasis) -> Result<(), ParameterError> {
        let general = key.split_once(AT).map_or(key, |(general, _)| general);
        let unit = match default_value(general) {
            Some(row) => row.unit,
            None if OPEN.iter().any(|open| general.starts_with(open)) => ParameterUnit::Probability,
            None => return Err(ParameterError::Unknown(key.to_string())),
        };
        let key = key.to_string();
        if !value.is_finite() || value < 0.0 {
            return Err(ParameterError::OutOfRange { key, value });
        }
        if unit == ParameterUnit::Probability && value > 1.0 {
            return Err(ParameterError::NoProbability { key, value });
        }
        self.values.insert(key, ParameterValue { value, basis });
        Ok(())
    }

    /// Sets a parameter from `KEY=NUMBER`, as written by a user.
    pub fn set_written(&mut self, written: &str) -> Result<(), ParameterError> {
        let form = || ParameterError::Form(written.trim().to_string());
        let (key, value) = written.split_once('=').ok_or_else(form)?;
        let value: f64 = value.trim().parse().map_err(|_| form())?;
        self.set(key.trim(), value, ParameterBasis::Set)
    }

    /// Sets all parameters of a file: one `KEY = NUMBER` in each line, and comments after `#`.
    pub fn read(&mut self, text: &str) -> Result<(), ParameterError> {
        let lines = text.lines().map(|line| line.split_once('#').map_or(line, |(before, _)| before).trim());
        lines.filter(|line| !line.is_empty()).try_for_each(|line| self.set_written(line))
    }

    /// A parameter as the user or a fit set it, else its default; 0 for a result or verdict without a value.
    pub fn value(&self, key: &str) -> f64 {
        self.values.get(key).map_or(0.0, |parameter| parameter.value)
    }

    /// A parameter for one phase, or for all.
    pub fn at(&self, key: &str, phase: &str) -> f64 {
        let own = self.values.get(&format!("{key}{AT}{phase}"));
        own.map_or_else(|| self.value(key), |parameter| parameter.value)
    }

    /// Whether a parameter has a value.
    pub fn has(&self, key: &str) -> bool {
        self.values.contains_key(key)
    }

    /// All parameters, by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ParameterValue)> {
        self.values.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// All parameters in the form that `read` accepts, each with what it is and what it rests on.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let known = DEFAULTS.iter().map(|row| row.key.to_string());
        let more = self.values.keys().filter(|key| default_value(key).is_none()).cloned();
        for key in known.chain(more) {
            let Some(parameter) = self.values.get(&key) else { continue };
            let general = key.split_once(AT).map_or(key.as_str(), |(general, _)| general);
            let about = default_value(general).map_or("", |row| row.about);
            let assignment = format!("{key} = {}", parameter.value);
            let _ = writeln!(text, "{assignment:<46} # {about} ({})", parameter.basis.words());
        }
        text
    }
}

impl ParameterBasis {
    pub fn words(&self) -> String {
        match self {
            ParameterBasis::Default { source } => format!("default: {source}"),
            ParameterBasis::Fitted { observations, interval: Some((low, high)) } => {
                format!("fitted: {observations} observations, {low:.4} to {high:.4}")
            }
            ParameterBasis::Fitted { observations, interval: None } => {
                format!("fitted: {observations} observations")
            }
            ParameterBasis::Set => "set".to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_parameters_can_be_read_again() {
        let mut set = ParameterSet::default();
        set.set_written("tokens@implement=5").unwrap();
        set.set_written("result.merge.conflict = 0.5").unwrap();
        let mut again = ParameterSet::default();
        again.read(&set.text()).unwrap();
        let values = |set: &ParameterSet| -> Vec<(String, f64)> {
            set.iter().map(|(key, parameter)| (key.to_string(), parameter.value)).collect()
        };
        assert_eq!(values(&again), values(&set));
        assert_eq!((again.at("tokens", "implement"), again.at("tokens", "design")), (5.0, 500_000.0));
    }

    #[test]
    fn a_parameter_that_does_not_exist_or_is_out_of_range_is_refused() {
        let mut set = ParameterSet::default();
        for (written, what) in [
            ("recal.major=0.5", "there is no parameter `recal.major`"),
            ("recall.major=1.5", "`recall.major` is a probability and cannot be 1.5"),
            ("tasks=-1", "`tasks` cannot be -1"),
            ("tasks=NaN", "`tasks` cannot be NaN"),
            ("tasks", "`tasks` is not written as KEY=NUMBER"),
        ] {
            assert_eq!(set.set_written(written).unwrap_err().to_string(), what);
        }
        assert_eq!(set, ParameterSet::default());
    }

    #[test]
    fn every_default_states_its_source() {
        let mut seen = std::collections::BTreeSet::new();
        for row in DEFAULTS {
            assert!(!row.about.is_empty() && !row.source.is_empty() && seen.insert(row.key), "{}", row.key);
            assert!(
                ParameterSet::default().set(row.key, row.value, ParameterBasis::Set).is_ok(),
                "{}",
                row.key
            );
        }
    }
}
