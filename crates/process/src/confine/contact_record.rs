//! The record of the hosts that a program in a private network asks for, in a file that the program cannot write.

use super::contacts::{Contacts, Traffic};
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::sync::{Mutex, PoisonError};

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
