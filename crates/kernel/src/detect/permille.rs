//! A share in thousandths, so no detector needs floating point.

use core::fmt;
use serde::{Deserialize, Serialize};

/// A share in thousandths; displayed as a percentage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Permille(pub u16);

impl Permille {
    pub const WHOLE: Self = Self(1000);

    /// The share of `part` in `whole`; zero if both are zero.
    pub(super) fn share(part: usize, whole: usize) -> Self {
        let share = (part as u64).saturating_mul(1000) / (whole as u64).max(1);
        Self(u16::try_from(share.min(1000)).unwrap_or(1000))
    }
}

impl fmt::Display for Permille {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} %", self.0 / 10)
    }
}
