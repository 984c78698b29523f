//! The hosts that programs in a private network asked for.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
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
    pub(super) fn count(&mut self, service: &str, traffic: Traffic) -> bool {
        let is_new = !self.reached.contains_key(service);
        let total = self.reached.entry(service.to_string()).or_default();
        total.sent += traffic.sent;
        total.received += traffic.received;
        is_new
    }

    /// Adds what was refused. Returns whether that changes something.
    pub(super) fn refuse(&mut self, what: String) -> bool {
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
