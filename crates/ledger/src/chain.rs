//! The hash chain over all rows of the journal: each row's hash covers the row and the hash before it.

use crate::fact::Millis;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The hash before the first row.
pub(crate) const GENESIS: [u8; 32] = [0; 32];

/// The length of the journal and the hash of its last row. A copy kept elsewhere reveals a truncated journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainHead {
    pub count: u64,
    pub hash: ChainHash,
}

/// A hash of the chain; written as hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ChainHash(pub [u8; 32]);

impl fmt::Display for ChainHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::fact::BlobId(self.0).fmt(f)
    }
}

impl fmt::Debug for ChainHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ChainHash({self})")
    }
}

impl std::str::FromStr for ChainHash {
    type Err = crate::fact::NotABlobId;

    fn from_str(text: &str) -> Result<ChainHash, Self::Err> {
        text.parse::<crate::fact::BlobId>().map(|id| ChainHash(id.0))
    }
}

impl Serialize for ChainHash {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ChainHash {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<ChainHash, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// The hashed columns of one row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link<'r> {
    pub id: i64,
    pub run: &'r str,
    pub seq: i64,
    pub at: Millis,
    pub kind: &'r str,
    pub body: &'r str,
    pub facts: &'r str,
    pub rulings: &'r str,
    pub commands: &'r str,
}

impl Link<'_> {
    /// The hash of this row, given the hash of the previous row. Each string is preceded by its length, so no two rows
    /// give the same bytes.
    pub(crate) fn hash(&self, previous: &[u8; 32]) -> [u8; 32] {
        let strings = [self.run, self.kind, self.body, self.facts, self.rulings, self.commands];
        // Hashing one buffer is faster than hashing many small pieces.
        let mut bytes = Vec::with_capacity(128 + strings.map(str::len).iter().sum::<usize>());
        bytes.extend_from_slice(previous);
        for number in [self.id, self.seq, self.at.0] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        for string in strings {
            bytes.extend_from_slice(&(string.len() as u64).to_le_bytes());
            bytes.extend_from_slice(string.as_bytes());
        }
        *blake3::hash(&bytes).as_bytes()
    }
}
