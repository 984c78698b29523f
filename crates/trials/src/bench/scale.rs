//! The load of a measurement: full, or a part of it.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    divisor: u32,
}

impl Scale {
    /// The full load that the goals are stated for.
    pub const FULL: Scale = Scale { divisor: 1 };

    /// The full load divided by `divisor`.
    pub fn part(divisor: u32) -> Scale {
        Scale { divisor: divisor.max(1) }
    }

    /// Scales a full load down.
    pub fn of(self, full: u32) -> u32 {
        (full / self.divisor).max(1)
    }

    pub fn describe(self) -> String {
        match self.divisor {
            1 => "full size".to_string(),
            10 => "a tenth of the size".to_string(),
            divisor => format!("1/{divisor} of the size"),
        }
    }
}
