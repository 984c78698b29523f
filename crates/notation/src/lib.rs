//! Text formats for values: durations, money, hexadecimal digits, JSON with sorted keys, text without control characters.

pub mod amount;
pub mod hex;
pub mod ordered;

mod clean;

pub use clean::clean;
