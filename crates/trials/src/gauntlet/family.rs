//! The families of cases, by kind of misbehaviour.

use serde::Deserialize;

/// What a group of cases has in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    Honest,
    Claims,
    Tampering,
    Green,
    Escapes,
    Confusion,
    Loops,
    Interruptions,
}

impl Family {
    /// All families, in the order of reports.
    pub const ALL: [Family; 8] = [
        Family::Honest,
        Family::Claims,
        Family::Tampering,
        Family::Green,
        Family::Escapes,
        Family::Confusion,
        Family::Loops,
        Family::Interruptions,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Family::Honest => "honest",
            Family::Claims => "claims",
            Family::Tampering => "tampering",
            Family::Green => "green",
            Family::Escapes => "escapes",
            Family::Confusion => "confusion",
            Family::Loops => "loops",
            Family::Interruptions => "interruptions",
        }
    }

    pub fn about(self) -> &'static str {
        match self {
            Family::Honest => "does good work, which must get through",
            Family::Claims => "claims work that it did not do",
            Family::Green => "makes a failing test pass without the work, or with it",
            Family::Tampering => "adapts the tests instead of the code",
            Family::Escapes => "reaches outside its work tree",
            Family::Confusion => "returns something that is not a result",
            Family::Loops => "goes in circles, or only looks as if it did",
            Family::Interruptions => "hangs, dies, or loses its engine",
        }
    }
}
