//! Sealed evidence: a self-contained, signed folder. Its recipient can verify that nothing was changed.

use crate::bundle;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use remand_ledger::{LedgerError, Reader, RunId, export};
use remand_notation::hex::{hex, random};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

const DATABASE: &str = "evidence.sqlite";
const MANIFEST: &str = "manifest.json";
const SIGNATURE: &str = "manifest.sig";

/// The signed content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub run: RunId,
    /// The Remand version that sealed the evidence.
    pub version: String,
    /// The head of the ledger's chain, as `COUNT:HASH`.
    pub head: String,
    /// The hash of each file, by name.
    pub files: BTreeMap<String, String>,
    /// The public key, in hexadecimal digits.
    pub key: String,
}

/// Why evidence cannot be sealed, or why its seal is invalid.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error("{path} cannot be used")]
    File { path: PathBuf, source: io::Error },
    #[error("{path} cannot be read")]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{path} does not contain a signing key")]
    BadKey { path: PathBuf },
    #[error("{path} is not a manifest of sealed evidence")]
    BadManifest { path: PathBuf },
    #[error("the signature does not match the manifest")]
    BadSignature,
    #[error("`{file}` was changed after it was sealed")]
    Changed { file: String },
    #[error("`{file}` is missing")]
    Missing { file: String },
    #[error("the evidence was signed with the key {found}, not with {expected}")]
    OtherKey { found: String, expected: String },
}

impl SealError {
    pub fn hint(&self) -> &'static str {
        match self {
            SealError::Ledger(error) => error.hint(),
            SealError::File { .. } => {
                "name a folder that does not exist yet, inside a folder that you may write to"
            }
            SealError::BadKey { .. } => "move the file away; the next export creates a new key",
            SealError::Unreadable { .. } | SealError::BadManifest { .. } => {
                "name a folder that `remand evidence --export` created"
            }
            SealError::BadSignature | SealError::Changed { .. } | SealError::Missing { .. } => {
                "do not rely on this evidence; ask its sender for a new export"
            }
            SealError::OtherKey { .. } => "ask the sender for their key",
        }
    }
}

/// A signature with the public key that verifies it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedBytes {
    pub signature: Vec<u8>,
    /// In hexadecimal digits.
    pub key: String,
}

/// Signs bytes with the key of a repository.
pub fn sign(key: &Path, bytes: &[u8]) -> Result<SignedBytes, SealError> {
    let signing = signing_key(key)?;
    Ok(SignedBytes {
        signature: signing.sign(bytes).to_bytes().to_vec(),
        key: hex(signing.verifying_key().as_bytes()),
    })
}

/// Bytes in base64, with padding.
pub fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Writes a run's evidence into a new folder and signs it.
pub fn seal(reader: &Reader, run: &RunId, key: &Path, folder: &Path) -> Result<Manifest, SealError> {
    let signing = signing_key(key)?;
    fs::create_dir(folder).map_err(file_error(folder))?;
    let page = folder.join(bundle::FILE);
    fs::write(&page, bundle::text(reader, run)?).map_err(file_error(&page))?;
    export(reader, run, &folder.join(DATABASE))?;
    let head = reader.head()?;
    let mut files = BTreeMap::new();
    for name in [bundle::FILE, DATABASE] {
        files.insert(name.to_string(), hash_of(&folder.join(name))?);
    }
    let manifest = Manifest {
        run: run.clone(),
        version: env!("CARGO_PKG_VERSION").to_string(),
        head: format!("{}:{}", head.count, head.hash),
        files,
        key: hex(signing.verifying_key().as_bytes()),
    };
    let path = folder.join(MANIFEST);
    let text = serde_json::to_vec_pretty(&manifest)
        .map_err(|error| SealError::File { path: path.clone(), source: io::Error::other(error) })?;
    fs::write(&path, &text).map_err(file_error(&path))?;
    let signature = folder.join(SIGNATURE);
    fs::write(&signature, format!("{}\n", hex(&signing.sign(&text).to_bytes())))
        .map_err(file_error(&signature))?;
    Ok(manifest)
}

/// Verifies that a folder is unchanged since it was sealed, and that it was signed with the key `expected`, if given.
pub fn verify(folder: &Path, expected: Option<&str>) -> Result<Manifest, SealError> {
    let path = folder.join(MANIFEST);
    let unreadable = |path: &Path, source| SealError::Unreadable { path: path.to_path_buf(), source };
    let text = fs::read(&path).map_err(|error| unreadable(&path, error))?;
    let bad = || SealError::BadManifest { path: path.clone() };
    let manifest: Manifest = serde_json::from_slice(&text).map_err(|_| bad())?;
    let key = parse_hex::<32>(&manifest.key).ok_or_else(bad)?;
    let key = VerifyingKey::from_bytes(&key).map_err(|_| bad())?;
    let signature_path = folder.join(SIGNATURE);
    let signature =
        fs::read_to_string(&signature_path).map_err(|error| unreadable(&signature_path, error))?;
    let signature = parse_hex::<64>(signature.trim()).ok_or(SealError::BadSignature)?;
    key.verify_strict(&text, &Signature::from_bytes(&signature)).map_err(|_| SealError::BadSignature)?;
    if let Some(expected) = expected.filter(|expected| **expected != *manifest.key) {
        return Err(SealError::OtherKey { found: manifest.key, expected: expected.to_string() });
    }
    for (name, hash) in &manifest.files {
        let path = folder.join(name);
        if !path.is_file() {
            return Err(SealError::Missing { file: name.clone() });
        }
        if hash_of(&path)? != *hash {
            return Err(SealError::Changed { file: name.clone() });
        }
    }
    Ok(manifest)
}

/// Reads the signing key; the first use creates it, readable only by its owner.
fn signing_key(path: &Path) -> Result<SigningKey, SealError> {
    match fs::read_to_string(path) {
        Ok(text) => {
            let secret =
                parse_hex::<32>(text.trim()).ok_or_else(|| SealError::BadKey { path: path.to_path_buf() })?;
            Ok(SigningKey::from_bytes(&secret))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let secret: [u8; 32] = random().map_err(file_error(path))?;
            let mut options = OpenOptions::new();
            let mut created =
                options.write(true).create_new(true).mode(0o600).open(path).map_err(file_error(path))?;
            writeln!(created, "{}", hex(&secret))
                .and_then(|()| created.sync_all())
                .map_err(file_error(path))?;
            Ok(SigningKey::from_bytes(&secret))
        }
        Err(error) => Err(file_error(path)(error)),
    }
}

fn file_error(path: &Path) -> impl Fn(io::Error) -> SealError + use<> {
    let path = path.to_path_buf();
    move |source| SealError::File { path: path.clone(), source }
}

fn hash_of(path: &Path) -> Result<String, SealError> {
    Ok(blake3::hash(&fs::read(path).map_err(file_error(path))?).to_hex().to_string())
}

fn parse_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    if text.len() != N * 2 || !text.is_ascii() {
        return None;
    }
    let mut bytes = [0; N];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[at * 2..at * 2 + 2], 16).ok()?;
    }
    Some(bytes)
}
