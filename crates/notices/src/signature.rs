//! The signature of a webhook's body, in the form that GitHub uses.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt::Write;

pub const SIGNATURE_HEADER: &str = "X-Remand-Signature-256";

/// `sha256=` and the HMAC-SHA256 of the body.
pub fn signature(key: &[u8], body: &[u8]) -> String {
    // HMAC takes keys of any length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return String::new() };
    mac.update(body);
    let mut text = "sha256=".to_string();
    for byte in mac.finalize().into_bytes() {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    // BY-12
    #[test]
    fn the_signature_is_that_of_rfc_4231() {
        let expected = "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(signature(b"Jefe", b"what do ya want for nothing?"), expected);
    }
}
