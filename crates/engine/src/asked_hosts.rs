//! The hosts that programs in the sandbox asked for, as the ledger stores them and as people read them.

use crate::site::Site;
use remand_ledger::fact::{AskedHosts, HostTraffic};
use remand_process::confine::{Contacts, Traffic};

/// Maximum number of refused hosts in a sentence.
const MAX_LISTED: usize = 20;

/// The hosts without secrets.
pub fn stored(contacts: &Contacts, site: &Site) -> AskedHosts {
    let redact = |host: &String| site.redact(host);
    let traffic = |traffic: &Traffic| HostTraffic { sent: traffic.sent, received: traffic.received };
    AskedHosts {
        reached: contacts.reached.iter().map(|(host, bytes)| (redact(host), traffic(bytes))).collect(),
        refused: contacts.refused.iter().map(redact).collect(),
        more: contacts.more,
    }
}

/// A sentence about the hosts that a program tried to reach and could not; `None` if there are none.
pub fn refusal(title: &str, contacts: &Contacts) -> Option<String> {
    let listed: Vec<&str> = contacts.refused.iter().take(MAX_LISTED).map(String::as_str).collect();
    let is_more = contacts.more || contacts.refused.len() > listed.len();
    let more = if is_more { " and more" } else { "" };
    (!listed.is_empty())
        .then(|| format!("{title} tried to reach {}{more}, which is not allowed", listed.join(", ")))
}
