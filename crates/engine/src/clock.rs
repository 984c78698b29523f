//! The wall clock, and run ids derived from it.

use remand_ledger::{Millis, RunId};
use std::time::{SystemTime, UNIX_EPOCH};

/// The current time. A time before 1970 counts as 1970.
pub fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// A new run id: sortable by time, unlikely to collide, and valid as part of a ref and as a folder name.
pub fn new_run_id(salt: &str) -> RunId {
    let now = now();
    let mut hasher = blake3::Hasher::new();
    hasher.update(&now.0.to_le_bytes());
    hasher.update(&std::process::id().to_le_bytes());
    hasher.update(&nanos().to_le_bytes());
    hasher.update(salt.as_bytes());
    let tail: String = hasher.finalize().as_bytes()[..4].iter().map(|byte| letter(*byte)).collect();
    RunId(format!("{}-{tail}", stamp(now)))
}

fn nanos() -> u32 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().subsec_nanos()
}

/// Maps a byte to a letter or digit that is hard to misread.
fn letter(byte: u8) -> char {
    char::from(b"abcdefghjkmnpqrstuvwxyz23456789"[usize::from(byte) % 31])
}

/// The time as `20260131-235959`.
fn stamp(at: Millis) -> String {
    timestamp(at).strftime("%Y%m%d-%H%M%S").to_string()
}

/// The time as `2026-01-31T23:59:59Z`.
pub fn iso(at: Millis) -> String {
    timestamp(at).strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The day as `2026-01-31`.
pub fn date(at: Millis) -> String {
    timestamp(at).strftime("%Y-%m-%d").to_string()
}

fn timestamp(at: Millis) -> jiff::Timestamp {
    jiff::Timestamp::from_millisecond(at.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    // EP-13
    #[test]
    fn run_ids_sort_by_time_and_are_valid_in_refs() {
        assert_eq!(stamp(Millis(1_769_903_999_000)), "20260131-235959");
        assert_eq!(iso(Millis(0)), "1970-01-01T00:00:00Z");
        let id = new_run_id("a");
        assert_eq!(id.0.len(), "20260131-235959-abcd".len());
        assert!(id.0.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'));
        assert_ne!(id, new_run_id("b"));
    }
}
