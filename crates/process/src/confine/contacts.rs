//! The record of the hosts that a program in a private network asked for, in a file that the program cannot write.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Seek, Write};
use std::sync::{Mutex, PoisonError};

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
    pub fn new(file: Option<File>) -> ContactRecord {
        ContactRecord { contacts: Mutex::default(), file: file.map(Mutex::new) }
    }

    pub fn refuse(&self, what: String) {
        let is_new = self.change(|contacts| {
            let is_full = contacts.refused.len() >= MAX_REFUSED;
            let is_known = contacts.refused.contains(&what) || is_full && contacts.more;
            if is_full {
                contacts.more = true;
            } else {
                contacts.refused.insert(what);
            }
            !is_known
        });
        if is_new {
            self.save();
        }
    }

    /// Adds to the traffic with a service, and saves the record if the service is new.
    pub fn count(&self, service: &str, traffic: Traffic) {
        let is_new = self.change(|contacts| {
            let is_new = !contacts.reached.contains_key(service);
            let total = contacts.reached.entry(service.to_string()).or_default();
            total.sent += traffic.sent;
            total.received += traffic.received;
            is_new
        });
        if is_new {
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
