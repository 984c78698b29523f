//! The text form of lanes and command ids, shown and stored: `main`, `b1t3`, `p4.b1t3.v2.s0.a1`.

use crate::ids::{CommandId, Lane, PhaseId};
use alloc::string::{String, ToString};
use core::fmt;
use core::str::FromStr;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A name has at most six numbers of five digits, six letters and four dots.
const MAX_LEN: usize = 48;

const MAIN: &str = "main";

/// A name built without allocating, because every event, ruling and command contains one.
struct Name {
    text: [u8; MAX_LEN],
    len: usize,
}

impl Name {
    fn new() -> Name {
        Name { text: [0; MAX_LEN], len: 0 }
    }

    fn of_lane(lane: Lane) -> Name {
        let mut name = Name::new();
        match lane {
            Lane::Main => MAIN.bytes().for_each(|letter| name.put(letter)),
            Lane::Task { batch, index } => name.put_task(batch, index),
        }
        name
    }

    fn of_command(id: &CommandId) -> Name {
        let mut name = Name::new();
        name.put_part(b'p', u32::from(id.phase.0));
        if let Lane::Task { batch, index } = id.lane {
            name.put(b'.');
            name.put_task(batch, index);
        }
        for (letter, number) in [(b'v', id.visit), (b's', id.seat), (b'a', id.attempt)] {
            name.put(b'.');
            name.put_part(letter, u32::from(number));
        }
        name
    }

    fn as_str(&self) -> &str {
        core::str::from_utf8(&self.text[..self.len]).unwrap_or_default()
    }

    fn put_task(&mut self, batch: u16, index: u16) {
        self.put_part(b'b', u32::from(batch));
        self.put_part(b't', u32::from(index) + 1);
    }

    fn put_part(&mut self, letter: u8, number: u32) {
        self.put(letter);
        let digits = number.checked_ilog10().unwrap_or(0) + 1;
        for exponent in (0..digits).rev() {
            let digit = number / 10_u32.pow(exponent) % 10;
            self.put(b'0' + digit as u8);
        }
    }

    fn put(&mut self, letter: u8) {
        self.text[self.len] = letter;
        self.len += 1;
    }
}

/// The rest of a name that is being parsed.
struct NameParser<'n>(&'n [u8]);

impl NameParser<'_> {
    fn letter(&mut self, letter: u8) -> Option<()> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        (*first == letter).then_some(())
    }

    /// Parses this letter and the number after it; leading zeros are rejected.
    fn part(&mut self, letter: u8) -> Option<u32> {
        self.letter(letter)?;
        let digits = self.0.iter().take_while(|digit| digit.is_ascii_digit()).count();
        let (number, rest) = self.0.split_at(digits);
        self.0 = rest;
        if number.is_empty() || digits > 5 || (digits > 1 && number[0] == b'0') {
            return None;
        }
        Some(number.iter().fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0')))
    }

    fn part_u16(&mut self, letter: u8) -> Option<u16> {
        self.part(letter)?.try_into().ok()
    }

    fn task(&mut self) -> Option<Lane> {
        let (batch, number) = (self.part_u16(b'b')?, self.part(b't')?);
        Some(Lane::Task { batch, index: number.checked_sub(1)?.try_into().ok()? })
    }

    fn end(&self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}

fn parse_lane(name: &str) -> Option<Lane> {
    if name == MAIN {
        return Some(Lane::Main);
    }
    let mut parser = NameParser(name.as_bytes());
    let lane = parser.task()?;
    parser.end().map(|()| lane)
}

fn parse_command(name: &str) -> Option<CommandId> {
    let mut parser = NameParser(name.as_bytes());
    let phase = PhaseId(parser.part_u16(b'p')?);
    parser.letter(b'.')?;
    let lane = match parser.0.first() {
        Some(b'b') => {
            let lane = parser.task()?;
            parser.letter(b'.')?;
            lane
        }
        Some(_) | None => Lane::Main,
    };
    let visit = parser.part_u16(b'v')?;
    parser.letter(b'.')?;
    let seat = parser.part_u16(b's')?;
    parser.letter(b'.')?;
    let attempt = parser.part_u16(b'a')?;
    parser.end().map(|()| CommandId { phase, lane, visit, seat, attempt })
}

impl fmt::Display for CommandId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Name::of_command(self).as_str())
    }
}

/// A string that is not a command id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the id of a command; one looks like `p3.v1.s0.a1`")]
pub struct NotACommandId(String);

impl FromStr for CommandId {
    type Err = NotACommandId;

    fn from_str(text: &str) -> Result<CommandId, NotACommandId> {
        parse_command(text).ok_or_else(|| NotACommandId(text.to_string()))
    }
}

impl Serialize for Lane {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(Name::of_lane(*self).as_str())
    }
}

impl Serialize for CommandId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(Name::of_command(self).as_str())
    }
}

impl<'de> Deserialize<'de> for Lane {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Lane, D::Error> {
        deserializer.deserialize_any(LaneVisitor)
    }
}

impl<'de> Deserialize<'de> for CommandId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<CommandId, D::Error> {
        deserializer.deserialize_any(CommandVisitor)
    }
}

/// A lane in journals before format 10.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum OldLane {
    Task { batch: u16, index: u16 },
}

/// A command id in journals before format 10.
#[derive(Deserialize)]
struct OldCommandId {
    phase: PhaseId,
    lane: Lane,
    visit: u16,
    seat: u16,
    attempt: u16,
}

struct LaneVisitor;

impl<'de> Visitor<'de> for LaneVisitor {
    type Value = Lane;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a lane, such as `main` or `b1t3`")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Lane, E> {
        parse_lane(name).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(name), &self))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Lane, A::Error> {
        let OldLane::Task { batch, index } = OldLane::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Lane::Task { batch, index })
    }
}

struct CommandVisitor;

impl<'de> Visitor<'de> for CommandVisitor {
    type Value = CommandId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a command id, such as `p4.b1t3.v2.s0.a1`")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<CommandId, E> {
        parse_command(name).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(name), &self))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<CommandId, A::Error> {
        let OldCommandId { phase, lane, visit, seat, attempt } =
            OldCommandId::deserialize(MapAccessDeserializer::new(map))?;
        Ok(CommandId { phase, lane, visit, seat, attempt })
    }
}

#[cfg(test)]
#[path = "name_tests.rs"]
mod tests;
