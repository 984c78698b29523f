//! Random strings that cannot be guessed.

use super::{GitError, error};
use remand_notation::hex::{hex, random};
use std::path::Path;

/// Returns `BYTES` random bytes as hexadecimal digits.
pub(super) fn random_hex<const BYTES: usize>() -> Result<String, GitError> {
    let random = random::<BYTES>().map_err(error::file("read", Path::new("/dev/urandom")))?;
    Ok(hex(&random))
}
