//! The stored form of an evidence row: `after.t2.passed.x0.i1.n412.d3180 cargo-test`, with the check's name last.
//!
//! Rows make up most of a journal, so the form is short. A row with a reason or a negative exit code is
//! stored as a JSON object.

use crate::evidence::{EvidenceRow, RowPhase, RowSource, Tier};
use alloc::string::String;
use core::fmt;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

const PASSED: &str = "passed";
const FAILED: &str = "failed";
const SUPERSEDED: &str = "superseded";

/// Writes a row that has no reason and no negative exit code.
struct RowText<'r>(&'r EvidenceRow);

impl fmt::Display for RowText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let EvidenceRow { check, phase, tier, passed, exit_code, iteration, .. } = self.0;
        let EvidenceRow { superseded, collected, red_before, duration_ms, reason: _, .. } = self.0;
        let EvidenceRow { source: RowSource::Engine, .. } = self.0;
        f.write_str(phase_word(*phase))?;
        if let Some(tier) = tier {
            write!(f, ".t{}", u8::from(*tier))?;
        }
        write!(f, ".{}", if *passed { PASSED } else { FAILED })?;
        if let Some(code) = exit_code {
            write!(f, ".x{code}")?;
        }
        write!(f, ".i{iteration}")?;
        if *superseded {
            write!(f, ".{SUPERSEDED}")?;
        }
        if let Some(count) = collected {
            write!(f, ".n{count}")?;
        }
        if *red_before > 0 {
            write!(f, ".r{red_before}")?;
        }
        write!(f, ".d{duration_ms} {check}")
    }
}

fn phase_word(phase: RowPhase) -> &'static str {
    match phase {
        RowPhase::Baseline => "baseline",
        RowPhase::After => "after",
        RowPhase::Review => "review",
    }
}

fn parse_row(text: &str) -> Option<EvidenceRow> {
    let space = text.bytes().position(|byte| byte == b' ')?;
    let (parts, check) = (&text[..space], &text[space + 1..]);
    let mut parts = Parts(parts.as_bytes());
    let phases = [RowPhase::After, RowPhase::Baseline, RowPhase::Review];
    let phase = phases.into_iter().find(|phase| parts.take_word(phase_word(*phase)))?;
    let tier = match parts.take_number(b't')? {
        Some(number) => Some(Tier::try_from(u8::try_from(number).ok()?).ok()?),
        None => None,
    };
    let passed = parts.take_word(PASSED);
    if !passed && !parts.take_word(FAILED) {
        return None;
    }
    let exit_code = parts.take_number(b'x')?.map(i32::try_from).transpose().ok()?;
    let iteration = u32::try_from(parts.take_number(b'i')??).ok()?;
    let superseded = parts.take_word(SUPERSEDED);
    let collected = parts.take_number(b'n')?.map(u32::try_from).transpose().ok()?;
    let red_before = parts.take_number(b'r')?.map_or(Ok(0), u32::try_from).ok()?;
    let duration_ms = parts.take_number(b'd')??;
    let (check, reason, source) = (String::from(check), String::new(), RowSource::Engine);
    let row = EvidenceRow {
        check,
        phase,
        tier,
        passed,
        exit_code,
        iteration,
        superseded,
        collected,
        red_before,
        duration_ms,
        reason,
        source,
    };
    parts.0.is_empty().then_some(row)
}

/// The rest of a string that is being parsed, part by part; dots separate the parts.
struct Parts<'t>(&'t [u8]);

impl Parts<'_> {
    /// Consumes the next part if it is this word.
    fn take_word(&mut self, word: &str) -> bool {
        let next = self.0.strip_prefix(word.as_bytes()).and_then(after_part);
        self.0 = next.unwrap_or(self.0);
        next.is_some()
    }

    /// Consumes the next part if it starts with this letter, which no word does, and returns its number. The outer
    /// `None` means that the part is malformed.
    fn take_number(&mut self, letter: u8) -> Option<Option<u64>> {
        let Some(mut rest) = self.0.strip_prefix(&[letter]) else {
            return Some(None);
        };
        let mut number = None;
        while let [digit @ b'0'..=b'9', after @ ..] = rest {
            let larger = number.unwrap_or(0_u64).checked_mul(10)?;
            (number, rest) = (Some(larger.checked_add(u64::from(digit - b'0'))?), after);
        }
        self.0 = after_part(rest)?;
        number.map(Some)
    }
}

/// The rest after the dot that ends a part; empty after the last part.
fn after_part(rest: &[u8]) -> Option<&[u8]> {
    match rest {
        [] => Some(rest),
        [b'.', next @ ..] if !next.is_empty() => Some(next),
        [..] => None,
    }
}

impl Serialize for EvidenceRow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.reason.is_empty() && self.exit_code.is_none_or(|code| code >= 0) {
            serializer.collect_str(&RowText(self))
        } else {
            EvidenceRow::serialize(self, serializer)
        }
    }
}

impl<'de> Deserialize<'de> for EvidenceRow {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<EvidenceRow, D::Error> {
        deserializer.deserialize_any(RowVisitor)
    }
}

struct RowVisitor;

impl<'de> Visitor<'de> for RowVisitor {
    type Value = EvidenceRow;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an evidence row, such as `after.t2.passed.x0.i1.n412.d3180 cargo-test`")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<EvidenceRow, E> {
        parse_row(text).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }

    /// The form in journals of format 10.
    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<EvidenceRow, A::Error> {
        EvidenceRow::deserialize(SeqAccessDeserializer::new(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<EvidenceRow, A::Error> {
        EvidenceRow::deserialize(MapAccessDeserializer::new(map))
    }
}

#[cfg(test)]
#[path = "row_text_tests.rs"]
mod tests;
