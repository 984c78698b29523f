//! The configuration of one check.

use crate::plant::Plant;
use remand_kernel::evidence::Tier;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A command as it was configured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommandLine {
    Shell(String),
    Argv(Vec<String>),
}

/// The settings of one check. An absent setting comes from the detected check with the same name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckChoice {
    pub command: Option<CommandLine>,
    pub tier: Option<Tier>,
    pub quick: Option<bool>,
    pub time: Option<Duration>,
    pub parser: Option<String>,
    pub report: Option<String>,
    pub needs: Option<Vec<String>>,
    pub folder: Option<String>,
    pub network: Option<bool>,
    /// Bytes.
    pub memory: Option<u64>,
    pub reruns: Option<u32>,
    /// The failure that `remand doctor` plants to see the check fail.
    pub plant: Option<Plant>,
    pub off: bool,
}
