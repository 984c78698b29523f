//! Divides what a dispatch is said to use among its turns.

use remand_runtime::rehearsal::{Kinds, Tokens};

/// What a turn uses where the script says nothing.
const USUAL: Kinds = Kinds { input: 1000, output: 50, cached: 0 };

/// The share of one turn of so many; the shares of all turns are exactly the whole.
pub fn share(tokens: Option<Tokens>, turn: usize, turns: usize) -> Kinds {
    let whole = match tokens {
        None => return USUAL,
        Some(Tokens::Kinds(kinds)) => kinds,
        Some(Tokens::Sum(sum)) => Kinds { input: sum - sum / 21, output: sum / 21, cached: 0 },
    };
    let part = |whole: u64| {
        let (turn, turns) = (turn as u64, turns.max(1) as u64);
        // A turn beyond the last has nothing left to claim.
        let until = |turn: u64| u128::from(whole) * u128::from(turn.min(turns)) / u128::from(turns);
        u64::try_from(until(turn + 1) - until(turn)).unwrap_or(u64::MAX)
    };
    Kinds { input: part(whole.input), output: part(whole.output), cached: part(whole.cached) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_of_all_turns_are_the_whole() {
        for tokens in [Tokens::Sum(1201), Tokens::Kinds(Kinds { input: 100, output: 7, cached: 11 })] {
            for turns in 1..9 {
                let sum: u64 =
                    (0..turns + 2).map(|turn| Tokens::Kinds(share(Some(tokens), turn, turns)).total()).sum();
                assert_eq!(sum, tokens.total());
            }
        }
    }
}
