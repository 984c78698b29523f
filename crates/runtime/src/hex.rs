//! Bytes as hexadecimal digits, and such as nobody can guess.

use rustix::rand::{GetRandomFlags, getrandom};
use std::io;

/// Two digits a byte.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// So many bytes from the system's own source.
pub fn random<const COUNT: usize>() -> io::Result<[u8; COUNT]> {
    let mut bytes = [0; COUNT];
    // As few as this are never cut short.
    getrandom(&mut bytes, GetRandomFlags::empty())?;
    Ok(bytes)
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    #[test]
    fn digits_keep_their_zeros_and_random_bytes_differ() {
        assert_eq!(hex(&[0, 10, 255]), "000aff");
        assert_ne!(random::<16>().expect("random"), random::<16>().expect("random"));
    }
}
