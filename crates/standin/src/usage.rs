//! Divides the scripted token usage of a dispatch among its turns.

use remand_agents::rehearsal::{ScriptedTokenKinds, ScriptedTokens};

/// The usage of a turn if the script states none.
const DEFAULT: ScriptedTokenKinds = ScriptedTokenKinds { input: 1000, output: 50, cached: 0 };

/// The usage of one turn. The usages of all turns add up to the scripted usage.
pub fn turn_share(tokens: Option<ScriptedTokens>, turn: usize, turns: usize) -> ScriptedTokenKinds {
    let whole = match tokens {
        None => return DEFAULT,
        Some(ScriptedTokens::Kinds(kinds)) => kinds,
        Some(ScriptedTokens::Sum(sum)) => {
            ScriptedTokenKinds { input: sum - sum / 21, output: sum / 21, cached: 0 }
        }
    };
    let part = |whole: u64| {
        let (turn, turns) = (turn as u64, turns.max(1) as u64);
        // A turn beyond the last gets nothing.
        let up_to = |turn: u64| u128::from(whole) * u128::from(turn.min(turns)) / u128::from(turns);
        u64::try_from(up_to(turn + 1) - up_to(turn)).unwrap_or(u64::MAX)
    };
    ScriptedTokenKinds { input: part(whole.input), output: part(whole.output), cached: part(whole.cached) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_of_all_turns_add_up() {
        for tokens in [
            ScriptedTokens::Sum(1201),
            ScriptedTokens::Kinds(ScriptedTokenKinds { input: 100, output: 7, cached: 11 }),
        ] {
            for turns in 1..9 {
                let sum: u64 = (0..turns + 2)
                    .map(|turn| ScriptedTokens::Kinds(turn_share(Some(tokens), turn, turns)).total())
                    .sum();
                assert_eq!(sum, tokens.total());
            }
        }
    }
}
