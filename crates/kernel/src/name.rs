//! Lanes and commands by name, as they are shown and stored: `main`, `b1t3`, `p4.b1t3.v2.s0.a1`.

use crate::ids::{CommandId, Lane, PhaseId};
use core::fmt;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The longest name has six numbers of five digits each, six letters and four points, and a task is counted from 1.
const LONGEST: usize = 48;

const MAIN: &str = "main";

/// A name that is written without an allocation: every event, ruling and command holds one.
pub(crate) struct Name {
    text: [u8; LONGEST],
    len: usize,
}

impl Name {
    fn new() -> Name {
        Name { text: [0; LONGEST], len: 0 }
    }

    fn of_lane(lane: Lane) -> Name {
        let mut name = Name::new();
        match lane {
            Lane::Main => MAIN.bytes().for_each(|letter| name.put(letter)),
            Lane::Task { batch, index } => name.put_task(batch, index),
        }
        name
    }

    pub(crate) fn of_command(id: &CommandId) -> Name {
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

    pub(crate) fn as_str(&self) -> &str {
        core::str::from_utf8(&self.text[..self.len]).unwrap_or_default()
    }

    fn put_task(&mut self, batch: u16, index: u16) {
        self.put_part(b'b', u32::from(batch));
        self.put_part(b't', u32::from(index) + 1);
    }

    fn put_part(&mut self, letter: u8, number: u32) {
        self.put(letter);
        let digits = number.checked_ilog10().unwrap_or(0) + 1;
        for place in (0..digits).rev() {
            let digit = number / 10_u32.pow(place) % 10;
            self.put(b'0' + digit as u8);
        }
    }

    fn put(&mut self, letter: u8) {
        self.text[self.len] = letter;
        self.len += 1;
    }
}

/// A name that is being read.
struct Reading<'n>(&'n [u8]);

impl Reading<'_> {
    fn letter(&mut self, letter: u8) -> Option<()> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        (*first == letter).then_some(())
    }

    /// A number behind this letter, as it would be written.
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

    fn small(&mut self, letter: u8) -> Option<u16> {
        self.part(letter)?.try_into().ok()
    }

    fn task(&mut self) -> Option<Lane> {
        let (batch, number) = (self.small(b'b')?, self.part(b't')?);
        Some(Lane::Task { batch, index: number.checked_sub(1)?.try_into().ok()? })
    }

    fn end(&self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}

fn lane_of(name: &str) -> Option<Lane> {
    if name == MAIN {
        return Some(Lane::Main);
    }
    let mut reading = Reading(name.as_bytes());
    let lane = reading.task()?;
    reading.end().map(|()| lane)
}

fn command_of(name: &str) -> Option<CommandId> {
    let mut reading = Reading(name.as_bytes());
    let phase = PhaseId(reading.small(b'p')?);
    reading.letter(b'.')?;
    let lane = match reading.0.first() {
        Some(b'b') => {
            let lane = reading.task()?;
            reading.letter(b'.')?;
            lane
        }
        Some(_) | None => Lane::Main,
    };
    let visit = reading.small(b'v')?;
    reading.letter(b'.')?;
    let seat = reading.small(b's')?;
    reading.letter(b'.')?;
    let attempt = reading.small(b'a')?;
    reading.end().map(|()| CommandId { phase, lane, visit, seat, attempt })
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

/// A lane as journals before format 10 spell it.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum SpeltLane {
    Task { batch: u16, index: u16 },
}

/// A command as journals before format 10 spell it.
#[derive(Deserialize)]
struct SpeltCommand {
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
        lane_of(name).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(name), &self))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Lane, A::Error> {
        let SpeltLane::Task { batch, index } = SpeltLane::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Lane::Task { batch, index })
    }
}

struct CommandVisitor;

impl<'de> Visitor<'de> for CommandVisitor {
    type Value = CommandId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a command, such as `p4.b1t3.v2.s0.a1`")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<CommandId, E> {
        command_of(name).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(name), &self))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<CommandId, A::Error> {
        let SpeltCommand { phase, lane, visit, seat, attempt } =
            SpeltCommand::deserialize(MapAccessDeserializer::new(map))?;
        Ok(CommandId { phase, lane, visit, seat, attempt })
    }
}

#[cfg(test)]
#[path = "name_tests.rs"]
mod tests;
