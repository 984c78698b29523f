//! Who may look: windows that opened a login link. A link works once, and only the user can read the file with the next.

use blake3::Hash;
use remand_notation::hex::{hex, random};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes of a key: too many to guess.
const KEY: usize = 32;

/// The sessions of one server.
#[derive(Debug)]
pub struct Sessions {
    port: u16,
    file: PathBuf,
    state: Mutex<SessionKeys>,
}

/// Keys are kept as hashes, which are compared in constant time.
#[derive(Debug, Default)]
struct SessionKeys {
    link: Option<Hash>,
    open: BTreeSet<[u8; 32]>,
}

impl Sessions {
    /// Sessions of the server at a port, with the first login link in the state folder.
    pub fn new(state: &Path, port: u16) -> io::Result<Sessions> {
        let sessions = Sessions { port, file: link_file(state, port), state: Mutex::default() };
        sessions.write_link()?;
        Ok(sessions)
    }

    /// The link that the next window opens.
    pub fn link(&self) -> io::Result<String> {
        Ok(fs::read_to_string(&self.file)?.trim().to_string())
    }

    /// The cookie of a new session, if the key is that of the link. The link is used up then, and a new one is written.
    pub fn open(&self, key: &str) -> io::Result<Option<String>> {
        let hash = blake3::hash(key.as_bytes());
        let token = {
            let mut state = self.keys();
            if state.link != Some(hash) {
                return Ok(None);
            }
            state.link = None;
            let token = hex(&random::<KEY>()?);
            state.open.insert(*blake3::hash(token.as_bytes()).as_bytes());
            token
        };
        self.write_link()?;
        Ok(Some(format!("{}={token}; Path=/; HttpOnly; SameSite=Strict", self.cookie())))
    }

    /// Whether a request carries the cookie of an open session.
    pub fn knows(&self, cookies: &str) -> bool {
        let name = self.cookie();
        let mut tokens = cookies.split(';').filter_map(|pair| pair.trim().split_once('='));
        tokens.any(|(known, token)| {
            known == name && self.keys().open.contains(blake3::hash(token.as_bytes()).as_bytes())
        })
    }

    /// Browsers share the cookies of all ports of a host, so each server has a name of its own.
    fn cookie(&self) -> String {
        format!("remand-{}", self.port)
    }

    fn write_link(&self) -> io::Result<()> {
        let key = hex(&random::<KEY>()?);
        let new = self.file.with_extension("new");
        if let Err(error) = fs::remove_file(&new)
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(error);
        }
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
        writeln!(file, "http://127.0.0.1:{}/login?key={key}", self.port)?;
        drop(file);
        fs::rename(&new, &self.file)?;
        self.keys().link = Some(blake3::hash(key.as_bytes()));
        Ok(())
    }

    fn keys(&self) -> MutexGuard<'_, SessionKeys> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Sessions {
    fn drop(&mut self) {
        // A link to a server that is gone helps nobody; if it stays, it opens nothing.
        let _ = fs::remove_file(&self.file);
    }
}

/// The file with the login link of the server at a port.
pub fn link_file(state: &Path, port: u16) -> PathBuf {
    state.join(format!("page-{port}.link"))
}

/// The ports for which there is a file with a login link.
pub fn ports(state: &Path) -> Vec<u16> {
    let names = fs::read_dir(state).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let port = |name: OsString| name.to_str()?.strip_prefix("page-")?.strip_suffix(".link")?.parse().ok();
    names.filter_map(port).collect()
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn key(link: &str) -> &str {
        link.rsplit_once('=').expect("a key").1
    }

    // BY-11
    #[test]
    fn a_link_opens_one_session_and_only_the_user_can_read_it() {
        let folder = tempfile::tempdir().expect("temp");
        let sessions = Sessions::new(folder.path(), 7).expect("sessions");
        let file = link_file(folder.path(), 7);
        let mode = fs::metadata(&file).expect("the file").permissions().mode() & 0o777;
        assert_eq!(mode, 0o600);

        let link = sessions.link().expect("a link");
        assert_eq!(sessions.open("guess").expect("no fault"), None);
        let cookie = sessions.open(key(&link)).expect("no fault").expect("a session");
        assert!(cookie.starts_with("remand-7=") && cookie.ends_with("; HttpOnly; SameSite=Strict"));
        let pair = cookie.split(';').next().expect("a pair");
        assert!(sessions.knows(pair) && sessions.knows(&format!("other=1; {pair}")));
        assert!(!sessions.knows("remand-7=guess") && !sessions.knows(""));
        assert!(!sessions.knows(&pair.replace("remand-7", "remand-8")), "the cookie of another server");

        assert_eq!(sessions.open(key(&link)).expect("no fault"), None, "used up");
        let next = sessions.link().expect("a link");
        assert!(next != link && sessions.open(key(&next)).expect("no fault").is_some());
        drop(sessions);
        assert!(!file.exists());
    }
}
