//! Bytes as hexadecimal digits, and random bytes.

use std::fs::File;
use std::io::{self, Read};

/// Writes two lower-case digits per byte.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads `COUNT` bytes from the system's random number generator.
pub fn random<const COUNT: usize>() -> io::Result<[u8; COUNT]> {
    let mut bytes = [0; COUNT];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    #[test]
    fn hex_keeps_leading_zeros_and_random_bytes_differ() {
        assert_eq!(hex(&[0, 10, 255]), "000aff");
        assert_ne!(random::<16>().expect("random"), random::<16>().expect("random"));
    }
}
