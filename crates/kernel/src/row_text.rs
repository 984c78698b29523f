//! A row of evidence as it is stored: `after.t2.passed.x0.i1.n412.d3180 cargo-test`, the name of the check last.
//!
//! Rows are most of what a journal holds and a replay reads. What does not fit into such a line is stored by names.

use crate::evidence::{Row, RowPhase, Source, Tier};
use alloc::string::String;
use core::fmt;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

const PASSED: &str = "passed";
const FAILED: &str = "failed";
const SUPERSEDED: &str = "superseded";

/// The text of a row without a reason and with no negative exit code.
struct Text<'r>(&'r Row);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Row { check, phase, tier, passed, exit_code, iteration, .. } = self.0;
        let Row { superseded, collected, duration_ms, reason: _, source: Source::Engine, .. } = self.0;
        f.write_str(word(*phase))?;
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
        write!(f, ".d{duration_ms} {check}")
    }
}

fn word(phase: RowPhase) -> &'static str {
    match phase {
        RowPhase::Baseline => "baseline",
        RowPhase::After => "after",
        RowPhase::Review => "review",
    }
}

/// The row that a text is of; none if no row has it.
fn row_of(text: &str) -> Option<Row> {
    let space = text.bytes().position(|sign| sign == b' ')?;
    let (parts, check) = (&text[..space], &text[space + 1..]);
    let mut parts = Parts(parts.as_bytes());
    let phases = [RowPhase::After, RowPhase::Baseline, RowPhase::Review];
    let phase = phases.into_iter().find(|phase| parts.has(word(*phase)))?;
    let tier = match parts.number(b't')? {
        Some(number) => Some(Tier::try_from(u8::try_from(number).ok()?).ok()?),
        None => None,
    };
    let passed = parts.has(PASSED);
    if !passed && !parts.has(FAILED) {
        return None;
    }
    let exit_code = parts.number(b'x')?.map(i32::try_from).transpose().ok()?;
    let iteration = u32::try_from(parts.number(b'i')??).ok()?;
    let superseded = parts.has(SUPERSEDED);
    let collected = parts.number(b'n')?.map(u32::try_from).transpose().ok()?;
    let duration_ms = parts.number(b'd')??;
    let (check, reason, source) = (String::from(check), String::new(), Source::Engine);
    let row = Row {
        check,
        phase,
        tier,
        passed,
        exit_code,
        iteration,
        superseded,
        collected,
        duration_ms,
        reason,
        source,
    };
    parts.0.is_empty().then_some(row)
}

/// What is left of a text, by the points in it.
struct Parts<'t>(&'t [u8]);

impl Parts<'_> {
    /// Takes the next part if it is this word.
    fn has(&mut self, word: &str) -> bool {
        let next = self.0.strip_prefix(word.as_bytes()).and_then(after_part);
        self.0 = next.unwrap_or(self.0);
        next.is_some()
    }

    /// Takes the next part if it begins with this letter, as no word does; none if no number is behind it.
    fn number(&mut self, letter: u8) -> Option<Option<u64>> {
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

/// What comes behind the point after a part; nothing behind the last one.
fn after_part(rest: &[u8]) -> Option<&[u8]> {
    match rest {
        [] => Some(rest),
        [b'.', next @ ..] if !next.is_empty() => Some(next),
        [..] => None,
    }
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.reason.is_empty() && self.exit_code.is_none_or(|code| code >= 0) {
            serializer.collect_str(&Text(self))
        } else {
            Row::serialize(self, serializer)
        }
    }
}

impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Row, D::Error> {
        deserializer.deserialize_any(RowVisitor)
    }
}

struct RowVisitor;

impl<'de> Visitor<'de> for RowVisitor {
    type Value = Row;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a row of evidence, such as `after.t2.passed.x0.i1.n412.d3180 cargo-test`")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Row, E> {
        row_of(text).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }

    /// As journals of format 10 have it.
    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Row, A::Error> {
        Row::deserialize(SeqAccessDeserializer::new(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Row, A::Error> {
        Row::deserialize(MapAccessDeserializer::new(map))
    }
}

#[cfg(test)]
#[path = "row_text_tests.rs"]
mod tests;
