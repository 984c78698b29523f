//! The record of the hosts that a program in a private network asked for, in a file that the program cannot write.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of refused contacts in a record.
const MAX_REFUSED: usize = 100;

/// The hosts that a program reached or tried to reach.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Contacts {
    /// The services that it reached, by address.
    pub reached: BTreeMap<String, Traffic>,
    /// The names and addresses that it tried to reach without success.
    pub refused: BTreeSet<String>,
    /// Whether there were more than `refused` holds.
    pub more: bool,
}

impl Contacts {
    /// Reads a record; `None` if no network was watched.
    pub fn read(path: &Path) -> Option<Contacts> {
        serde_json::from_slice(&std::fs::read(path).ok()?).ok()
    }

    /// Whether the program asked for no host.
    pub fn is_empty(&self) -> bool {
        self.reached.is_empty() && self.refused.is_empty()
    }

    fn add(&mut self, other: Contacts) {
        for (service, traffic) in other.reached {
            self.count(&service, traffic);
        }
        for what in other.refused {
            self.refuse(what);
        }
        self.more |= other.more;
    }

    /// Adds to the traffic with a service. Returns whether the service is new.
    fn count(&mut self, service: &str, traffic: Traffic) -> bool {
        let is_new = !self.reached.contains_key(service);
        let total = self.reached.entry(service.to_string()).or_default();
        total.sent += traffic.sent;
        total.received += traffic.received;
        is_new
    }

    /// Adds what was refused. Returns whether that changes something.
    fn refuse(&mut self, what: String) -> bool {
        if self.refused.contains(&what) {
            return false;
        }
        let is_full = self.refused.len() >= MAX_REFUSED;
        let is_known = is_full && self.more;
        if is_full {
            self.more = true;
        } else {
            self.refused.insert(what);
        }
        !is_known
    }
}

/// The contacts of the programs of one command, by what they are. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct ContactLog {
    programs: Arc<Mutex<BTreeMap<String, Contacts>>>,
}

impl ContactLog {
    /// Adds the contacts of a program, if it asked for a host.
    pub fn add(&self, program: &str, contacts: Contacts) {
        if !contacts.is_empty() {
            let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
            programs.entry(program.to_string()).or_default().add(contacts);
        }
    }

    /// Removes and returns everything so far.
    pub fn take(&self) -> BTreeMap<String, Contacts> {
        std::mem::take(&mut *self.programs.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The bytes of all connections to one service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    pub sent: u64,
    pub received: u64,
}

/// Writes the contacts of one program to its record.
pub(super) struct ContactRecord {
    contacts: Mutex<Contacts>,
    file: Option<Mutex<File>>,
}

impl ContactRecord {
    /// Continues the record in the file.
    pub fn new(mut file: Option<File>) -> ContactRecord {
        let mut text = Vec::new();
        let read = file.as_mut().map(|file| file.read_to_end(&mut text));
        // A new file is empty.
        let earlier = read.and_then(Result::ok).and_then(|_| serde_json::from_slice(&text).ok());
        ContactRecord { contacts: Mutex::new(earlier.unwrap_or_default()), file: file.map(Mutex::new) }
    }

    pub fn refuse(&self, what: String) {
        if self.change(|contacts| contacts.refuse(what)) {
            self.save();
        }
    }

    /// Adds to the traffic with a service, and saves the record if the service is new.
    pub fn count(&self, service: &str, traffic: Traffic) {
        if self.change(|contacts| contacts.count(service, traffic)) {
            self.save();
        }
    }

    /// Writes the record so far. If that fails, the record is incomplete, and the program is still restricted.
    pub fn save(&self) {
        let Some(file) = &self.file else { return };
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        let json = self.change(|contacts| serde_json::to_vec(contacts).unwrap_or_default());
        let _ =
            file.rewind().and_then(|()| file.write_all(&json)).and_then(|()| file.set_len(json.len() as u64));
    }

    fn change<T>(&self, change: impl FnOnce(&mut Contacts) -> T) -> T {
        change(&mut self.contacts.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
