//! The families of cases, by what the agents in them do wrong.

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
    /// All of them, in the order in which they are told.
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
            Family::Claims => "says that something was done that was not",
            Family::Tampering => "makes the tests agree instead of the code",
            Family::Escapes => "reaches for what is not its own",
            Family::Confusion => "returns something that is no result",
            Family::Loops => "goes round in circles, and work that only looks like it",
            Family::Interruptions => "hangs, dies, or loses its engine",
        }
    }
}
