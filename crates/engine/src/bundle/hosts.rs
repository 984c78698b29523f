//! The hosts that the agents, checks and hooks of a run asked for.

use remand_kernel::Event;
use remand_ledger::fact::{AskedHosts, HostTraffic};
use remand_ledger::query::DispatchRow;
use remand_ledger::{LedgerError, Reader, RunId};
use std::collections::{BTreeMap, BTreeSet};

/// The hosts by name, and the dispatches that nobody watched.
#[derive(Debug, Default)]
pub struct RunHosts {
    pub rows: BTreeMap<String, HostRow>,
    pub watched: u64,
    pub unwatched: u64,
    /// Whether a program asked for more hosts than are listed.
    pub more: bool,
}

/// One host.
#[derive(Debug, Default)]
pub struct HostRow {
    /// The roles of agents, and other programs.
    pub programs: BTreeSet<String>,
    /// The number of dispatches and other commands.
    pub times: u64,
    /// `None` if it was refused.
    pub traffic: Option<HostTraffic>,
}

impl RunHosts {
    pub fn of(reader: &Reader, run: &RunId) -> Result<RunHosts, LedgerError> {
        let dispatches: BTreeMap<String, DispatchRow> =
            reader.dispatches(run)?.into_iter().map(|row| (row.command.clone(), row)).collect();
        let mut hosts = RunHosts::default();
        reader.each_event(run, 0, |event| {
            for (program, asked) in &event.facts.hosts {
                hosts.add(program, asked);
            }
            let (Event::Ended { id, .. }, Some(telemetry)) = (&event.event, &event.facts.telemetry) else {
                return;
            };
            let Some(dispatch) = dispatches.get(&id.to_string()) else { return };
            let Some(asked) = &telemetry.contacts else {
                hosts.unwatched += 1;
                return;
            };
            hosts.watched += 1;
            hosts.add(&dispatch.role, asked);
        })?;
        Ok(hosts)
    }

    fn add(&mut self, program: &str, asked: &AskedHosts) {
        self.more |= asked.more;
        for (host, traffic) in &asked.reached {
            let total = self.row(host, program).traffic.get_or_insert_default();
            total.sent += traffic.sent;
            total.received += traffic.received;
        }
        for host in asked.refused.iter().filter(|host| !asked.reached.contains_key(*host)) {
            self.row(host, program);
        }
    }

    fn row(&mut self, host: &str, program: &str) -> &mut HostRow {
        let row = self.rows.entry(host.to_string()).or_default();
        row.programs.insert(program.to_string());
        row.times += 1;
        row
    }
}
