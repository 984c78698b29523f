//! How much of a policy the machine enforces.

use super::policy::Policy;
use super::walls::{Ground, Wall, WallLevel, WallState, walls};
use serde::{Deserialize, Serialize};

/// How much of a restriction is enforced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EnforcementLevel {
    Full,
    Partial,
    None,
    /// The policy does not restrict it, so there is nothing to enforce.
    Unasked,
}

/// How much of a policy the machine enforces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Enforcement {
    pub files: EnforcementLevel,
    pub network: EnforcementLevel,
    /// The walls that the policy needs.
    pub walls: Vec<WallState>,
}

impl Enforcement {
    pub(super) fn of(ground: Ground, policy: &Policy) -> Enforcement {
        let walls = walls(ground, policy);
        let level = |wanted: Wall| match walls.iter().find(|state| state.wall == wanted) {
            None => EnforcementLevel::Unasked,
            Some(state) => match state.level {
                WallLevel::Held => EnforcementLevel::Full,
                WallLevel::Weaker => EnforcementLevel::Partial,
                WallLevel::Absent => EnforcementLevel::None,
            },
        };
        Enforcement { files: level(Wall::Content), network: level(Wall::Network), walls }
    }

    /// Whether programs get namespaces.
    pub fn isolates(&self) -> bool {
        let is_held = |state: &WallState| state.wall == Wall::Visibility && state.level == WallLevel::Held;
        self.walls.iter().any(is_held)
    }

    /// The restrictions that are not fully enforced, as text for the evidence.
    pub fn gaps(&self) -> Vec<String> {
        self.walls.iter().filter_map(WallState::gap).collect()
    }

    /// The restrictions that are not enforced at all.
    pub fn absent(&self) -> Vec<String> {
        let absent = self.walls.iter().filter(|state| state.level == WallLevel::Absent);
        absent.filter_map(WallState::gap).collect()
    }
}
