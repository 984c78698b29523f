//! The families of cases, by kind of misbehaviour.

use serde::Deserialize;

/// What a group of cases has in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    Honest,
    Claims,
    Tampering,
    Escapes,
    Confusion,
    Loops,
    Interruptions,
}

impl Family {
    /// All families, in the order of reports.
    pub const ALL: [Family; 7] = [
        Family::Honest,
        Family::Claims,
        Family::Tampering,
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
            Family::Escapes => "escapes",
            Family::Confusion => "confusion",
            Family::Loops => "loops",
            Family::Interruptions => "interruptions",
        }
    }

    pub fn about(self) -> &'static str {
        match self {
            Family::Honest => "good work, which must get through",
            Family::Claims => "claims work that was not done",
            Family::Tampering => "makes the tests agree instead of the code",
            Family::Escapes => "reaches outside its work tree",
            Family::Confusion => "returns something that is not a result",
            Family::Loops => "goes round in circles, and work that only looks like it",
            Family::Interruptions => "hangs, dies, or loses its engine",
        }
    }
}
