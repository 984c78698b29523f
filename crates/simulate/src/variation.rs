//! What differs between variants: `--vary budgets.replan=0..4`, `--vary reviewers=1..5`, `--vary recall.major=0.5,0.8`.

use crate::parameters::ParameterSet;

/// One thing that is varied, with its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Variation {
    pub key: String,
    pub changes: Vec<VariantChange>,
}

/// One value of one variation.
#[derive(Clone, Debug, PartialEq)]
pub enum VariantChange {
    /// The size of a budget; 0 removes it and follows its `then`.
    Budget {
        name: String,
        size: u16,
    },
    /// The rounds of a phase; 1 sends nothing back.
    Rounds {
        phase: String,
        size: u16,
    },
    /// How often dispatches are retried.
    Retries {
        retries: u16,
    },
    /// The number of reviewers of one phase, or of each phase that reviews.
    Reviewers {
        phase: Option<String>,
        count: u16,
    },
    /// Where reviews send defects.
    Feedback(FeedbackPolicy),
    /// The workflow without this phase, or as it is.
    Without {
        phase: Option<String>,
    },
    Parameter {
        key: String,
        value: f64,
    },
}

/// Where reviews send defects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedbackPolicy {
    /// To the phase that the workflow names, often the one that injected the defect.
    PhaseAware,
    /// To the last phase before the review that produced something.
    SingleStep,
}

/// Why a variation cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VariationError {
    #[error(
        "`{0}` is not written as KEY=VALUES, such as `reviewers=1..3` or `feedback=phase-aware,single-step`"
    )]
    Form(String),
    #[error(
        "`{0}` cannot be varied: it is no parameter, `budgets.NAME`, `rounds.PHASE`, `retries`, `reviewers`, `feedback` or `without`"
    )]
    Unknown(String),
    #[error("`{value}` is not a value of `{key}`")]
    Value { key: String, value: String },
    #[error("there would be {0} variants, and 60 are the maximum")]
    TooMany(usize),
}

/// The maximum number of variants.
const MAX_VARIANTS: usize = 60;

impl Variation {
    /// Reads `KEY=VALUES`: values separated by commas, or whole numbers as `FIRST..LAST`.
    pub fn read(written: &str) -> Result<Variation, VariationError> {
        let form = || VariationError::Form(written.to_string());
        let (key, values) = written.split_once('=').ok_or_else(form)?;
        let (key, values) = (key.trim(), values.trim());
        if values.is_empty() {
            return Err(form());
        }
        let values: Vec<String> = match values.split_once("..") {
            Some((first, last)) => {
                let number =
                    |text: &str| text.trim_start_matches('=').trim().parse::<u16>().map_err(|_| form());
                let (first, last) = (number(first)?, number(last)?);
                if first > last || usize::from(last - first) >= MAX_VARIANTS {
                    return Err(form());
                }
                (first..=last).map(|number| number.to_string()).collect()
            }
            None => values.split(',').map(|value| value.trim().to_string()).collect(),
        };
        let changes = values.iter().map(|value| change(key, value)).collect::<Result<Vec<_>, _>>()?;
        Ok(Variation { key: key.to_string(), changes })
    }
}

/// Every combination of the values of several variations; one without a change if there is none.
pub fn combinations(variations: &[Variation]) -> Result<Vec<Vec<VariantChange>>, VariationError> {
    let count = variations.iter().map(|variation| variation.changes.len()).product();
    if count > MAX_VARIANTS {
        return Err(VariationError::TooMany(count));
    }
    let mut all = vec![Vec::new()];
    for variation in variations {
        let longer = |changes: &Vec<VariantChange>| -> Vec<Vec<VariantChange>> {
            variation
                .changes
                .iter()
                .map(|change| [changes.as_slice(), std::slice::from_ref(change)].concat())
                .collect()
        };
        all = all.iter().flat_map(longer).collect();
    }
    Ok(all)
}

fn change(key: &str, value: &str) -> Result<VariantChange, VariationError> {
    let wrong = || VariationError::Value { key: key.to_string(), value: value.to_string() };
    let number = || value.parse::<u16>().map_err(|_| wrong());
    match key {
        "retries" => return Ok(VariantChange::Retries { retries: number()? }),
        "reviewers" => return Ok(VariantChange::Reviewers { phase: None, count: number()? }),
        "feedback" => {
            return match value {
                "phase-aware" => Ok(VariantChange::Feedback(FeedbackPolicy::PhaseAware)),
                "single-step" => Ok(VariantChange::Feedback(FeedbackPolicy::SingleStep)),
                _ => Err(wrong()),
            };
        }
        "without" => {
            let phase = (value != "none").then(|| value.to_string());
            return Ok(VariantChange::Without { phase });
        }
        _ => {}
    }
    if let Some(name) = key.strip_prefix("budgets.") {
        return Ok(VariantChange::Budget { name: name.to_string(), size: number()? });
    }
    if let Some(phase) = key.strip_prefix("rounds.") {
        return Ok(VariantChange::Rounds { phase: phase.to_string(), size: number()? });
    }
    if let Some(phase) = key.strip_prefix("reviewers.") {
        return Ok(VariantChange::Reviewers { phase: Some(phase.to_string()), count: number()? });
    }
    let value: f64 = value.parse().map_err(|_| wrong())?;
    let set = ParameterSet::default().set_written(&format!("{key}={value}"));
    set.map_err(|_| VariationError::Unknown(key.to_string()))?;
    Ok(VariantChange::Parameter { key: key.to_string(), value })
}

impl VariantChange {
    /// The number that is varied, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            VariantChange::Budget { size, .. } | VariantChange::Rounds { size, .. } => Some(f64::from(*size)),
            VariantChange::Retries { retries } => Some(f64::from(*retries)),
            VariantChange::Reviewers { count, .. } => Some(f64::from(*count)),
            VariantChange::Parameter { value, .. } => Some(*value),
            VariantChange::Feedback(_) | VariantChange::Without { .. } => None,
        }
    }

    /// The change as the user wrote it.
    pub fn label(&self) -> String {
        match self {
            VariantChange::Budget { name, size } => format!("budgets.{name}={size}"),
            VariantChange::Rounds { phase, size } => format!("rounds.{phase}={size}"),
            VariantChange::Retries { retries } => format!("retries={retries}"),
            VariantChange::Reviewers { phase: None, count } => format!("reviewers={count}"),
            VariantChange::Reviewers { phase: Some(phase), count } => format!("reviewers.{phase}={count}"),
            VariantChange::Feedback(FeedbackPolicy::PhaseAware) => "feedback=phase-aware".to_string(),
            VariantChange::Feedback(FeedbackPolicy::SingleStep) => "feedback=single-step".to_string(),
            VariantChange::Without { phase } => {
                format!("without={}", phase.as_deref().unwrap_or("none"))
            }
            VariantChange::Parameter { key, value } => format!("{key}={value}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variations_are_read_and_combined() {
        let budgets = Variation::read("budgets.replan=0..2").unwrap();
        let recall = Variation::read("recall.major=0.5, 0.8").unwrap();
        let labels: Vec<String> = combinations(&[budgets, recall])
            .unwrap()
            .iter()
            .map(|changes| changes.iter().map(VariantChange::label).collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(labels[..2], ["budgets.replan=0 recall.major=0.5", "budgets.replan=0 recall.major=0.8"]);
        assert_eq!(labels.len(), 6);
        assert_eq!(combinations(&[]).unwrap(), [Vec::new()]);
    }

    #[test]
    fn a_variation_that_makes_no_sense_is_refused() {
        for written in ["reviewers", "reviewers=", "reviewers=3..1", "reviewers=0..90"] {
            assert!(matches!(Variation::read(written), Err(VariationError::Form(_))), "{written}");
        }
        for written in ["reviewers=many", "feedback=none", "budgets.replan=-1"] {
            assert!(matches!(Variation::read(written), Err(VariationError::Value { .. })), "{written}");
        }
        assert_eq!(Variation::read("recal=1"), Err(VariationError::Unknown("recal".to_string())));
        let nine = Variation::read("reviewers=1..9").unwrap();
        assert_eq!(combinations(&[nine.clone(), nine]), Err(VariationError::TooMany(81)));
    }
}
