//! The hosts that the agents of a run asked for.

use remand_kernel::Event;
use remand_ledger::fact::HostTraffic;
use remand_ledger::query::DispatchRow;
use remand_ledger::{LedgerError, Reader, RunId};
use std::collections::{BTreeMap, BTreeSet};

/// The hosts by name, and the dispatches that nobody watched.
#[derive(Debug, Default)]
pub struct RunHosts {
    pub rows: BTreeMap<String, HostRow>,
    pub watched: u64,
    pub unwatched: u64,
    /// Whether an agent asked for more hosts than are listed.
    pub more: bool,
}

/// One host.
#[derive(Debug, Default)]
pub struct HostRow {
    pub roles: BTreeSet<String>,
    pub dispatches: u64,
    /// `None` if it was refused.
    pub traffic: Option<HostTraffic>,
}

impl RunHosts {
    pub fn of(reader: &Reader, run: &RunId) -> Result<RunHosts, LedgerError> {
        let dispatches: BTreeMap<String, DispatchRow> =
            reader.dispatches(run)?.into_iter().map(|row| (row.command.clone(), row)).collect();
        let mut hosts = RunHosts::default();
        reader.each_event(run, 0, |event| {
            let (Event::Ended { id, .. }, Some(telemetry)) = (&event.event, &event.facts.telemetry) else {
                return;
            };
            let Some(dispatch) = dispatches.get(&id.to_string()) else { return };
            let Some(asked) = &telemetry.contacts else {
                hosts.unwatched += 1;
                return;
            };
            hosts.watched += 1;
            hosts.more |= asked.more;
            for (host, traffic) in &asked.reached {
                let total = hosts.row(host, dispatch).traffic.get_or_insert_default();
                total.sent += traffic.sent;
                total.received += traffic.received;
            }
            for host in asked.refused.iter().filter(|host| !asked.reached.contains_key(*host)) {
                hosts.row(host, dispatch);
            }
        })?;
        Ok(hosts)
    }

    fn row(&mut self, host: &str, dispatch: &DispatchRow) -> &mut HostRow {
        let row = self.rows.entry(host.to_string()).or_default();
        row.roles.insert(dispatch.role.clone());
        row.dispatches += 1;
        row
    }
}
