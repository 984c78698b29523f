//! Watches the packets of a private network, to record which hosts the program tries to reach. It blocks nothing: no
//! packet that it sees leaves the private network.

use super::contact_record::ContactRecord;
use super::service::ServiceAddress;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType, eth, recv, socket_with};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::{Mutex, PoisonError};

/// The length of the start of a packet that holds its headers or the name in a query.
const MAX_START: usize = 512;

const TCP: u8 = 6;
const UDP: u8 = 17;
const DNS: u16 = 53;

/// What a packet shows.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Attempt {
    /// The program looks up a name.
    Name(String),
    /// The program sends to an address that is not its own.
    Outside(SocketAddr, u8),
    /// Nothing in the private network listens at the address that the program sent to.
    Unanswered(SocketAddr, u8),
}

/// Opens a socket that sees all packets of the calling thread's network.
pub(super) fn open() -> io::Result<OwnedFd> {
    Ok(socket_with(AddressFamily::PACKET, SocketType::DGRAM, SocketFlags::CLOEXEC, Some(eth::ALL))?)
}

/// Watches the packets of one network.
pub(super) struct PacketWatch {
    packets: OwnedFd,
    services: Vec<ServiceAddress>,
    /// The names of services with their addresses in the private network.
    names: BTreeMap<String, IpAddr>,
    own_name: String,
    /// Held while packets are read, until they are recorded.
    reading: Mutex<()>,
}

impl PacketWatch {
    pub fn new(
        packets: OwnedFd,
        services: Vec<ServiceAddress>,
        names: BTreeMap<String, IpAddr>,
    ) -> PacketWatch {
        let own_name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let own_name = own_name.trim().to_ascii_lowercase();
        PacketWatch { packets, services, names, own_name, reading: Mutex::new(()) }
    }

    /// Records attempts until the socket fails.
    pub fn run(&self, record: &ContactRecord) {
        loop {
            let mut awaited = [PollFd::new(&self.packets, PollFlags::IN)];
            match poll(&mut awaited, None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return,
            }
            if self.record_all(record).is_err() {
                return;
            }
        }
    }

    /// Records all attempts so far.
    pub fn record_all(&self, record: &ContactRecord) -> Result<(), Errno> {
        let _reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        let mut start = [0; MAX_START];
        loop {
            match recv(&self.packets, start.as_mut_slice(), RecvFlags::DONTWAIT) {
                Ok((received, _)) => {
                    let attempt = start.get(..received).and_then(read);
                    attempt
                        .and_then(|attempt| self.describe(attempt))
                        .into_iter()
                        .for_each(|what| record.refuse(what));
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    /// Describes an attempt to reach another host; `None` for an attempt to reach a service or itself.
    fn describe(&self, attempt: Attempt) -> Option<String> {
        let is_own = |name: &str| {
            let rest = name.strip_prefix(&self.own_name).filter(|_| !self.own_name.is_empty());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let is_service = |address: &SocketAddr| {
            let is_it = |service: &ServiceAddress| {
                service.number() == Some(address.ip()) && service.port == address.port()
            };
            self.services.iter().any(is_it)
        };
        match attempt {
            Attempt::Name(name) => {
                let is_known = is_own(&name) || self.services.iter().any(|service| service.host == name);
                (!is_known).then_some(name)
            }
            Attempt::Outside(address, protocol) => {
                (!is_service(&address)).then(|| format!("{address} ({})", title(protocol)))
            }
            Attempt::Unanswered(address, protocol) => {
                let (port, title) = (address.port(), title(protocol));
                let service = self.names.iter().find(|(_, place)| **place == address.ip());
                match service {
                    Some((name, _)) => Some(format!("{name}:{port} ({title})")),
                    None => is_used_outside(port, protocol)
                        .then(|| format!("{address} of this machine ({title})")),
                }
            }
        }
    }
}

fn title(protocol: u8) -> String {
    match protocol {
        TCP => "TCP".to_string(),
        UDP => "UDP".to_string(),
        other => format!("protocol {other}"),
    }
}

/// Whether a program outside the sandbox uses a port. If none does, the confined program was looking for its own
/// server.
fn is_used_outside(port: u16, protocol: u8) -> bool {
    const LISTENING: &str = "0A";
    let tables = if protocol == TCP { ["tcp", "tcp6"] } else { ["udp", "udp6"] };
    let suffix = format!(":{port:04X}");
    let is_user = |line: &str| {
        let mut fields = line.split_whitespace().skip(1);
        let is_local = fields.next().is_some_and(|local| local.ends_with(&suffix));
        is_local && (protocol != TCP || fields.nth(1) == Some(LISTENING))
    };
    let read = |table: &&str| fs::read_to_string(format!("/proc/net/{table}")).unwrap_or_default();
    tables.iter().any(|table| read(table).lines().any(is_user))
}

/// A packet above the network layer.
struct Datagram<'p> {
    from: IpAddr,
    to: IpAddr,
    protocol: u8,
    payload: &'p [u8],
}

fn read(packet: &[u8]) -> Option<Attempt> {
    const SYN: u8 = 2;
    const RST: u8 = 4;
    const ACK: u8 = 16;
    let Datagram { from, to, protocol, payload } = datagram(packet)?;
    let is_outside = !to.is_loopback() && !to.is_unspecified();
    match protocol {
        TCP => {
            let (flags, target) = (*payload.get(13)?, SocketAddr::new(to, port(payload, 2)?));
            // A connection that nobody accepts is reset without a sequence number.
            let is_rejection = flags & (RST | ACK) == RST | ACK && payload.get(4..8) == Some(&[0; 4]);
            if flags & (SYN | ACK) == SYN && is_outside {
                Some(Attempt::Outside(target, TCP))
            } else if is_rejection && from.is_loopback() {
                Some(Attempt::Unanswered(SocketAddr::new(from, port(payload, 0)?), TCP))
            } else {
                None
            }
        }
        UDP => {
            let target = SocketAddr::new(to, port(payload, 2)?);
            let name = (target.port() == DNS).then(|| payload.get(8..).and_then(queried_name)).flatten();
            name.map(Attempt::Name).or(is_outside.then_some(Attempt::Outside(target, UDP)))
        }
        _ if is_unreachable_port(protocol, payload) => {
            let original = datagram(payload.get(8..)?)?;
            let target = SocketAddr::new(original.to, port(original.payload, 2)?);
            (original.protocol == UDP && original.to.is_loopback())
                .then_some(Attempt::Unanswered(target, UDP))
        }
        // The kernel itself sends to multicast groups, to find neighbours.
        other => {
            let is_attempt = is_outside && !to.is_multicast();
            is_attempt.then_some(Attempt::Outside(SocketAddr::new(to, 0), other))
        }
    }
}

fn is_unreachable_port(protocol: u8, payload: &[u8]) -> bool {
    const ICMP: u8 = 1;
    const ICMP_V6: u8 = 58;
    matches!((protocol, payload.get(..2)), (ICMP, Some([3, 3])) | (ICMP_V6, Some([1, 4])))
}

fn datagram(packet: &[u8]) -> Option<Datagram<'_>> {
    match packet.first()? >> 4 {
        4 => {
            let header = usize::from(packet[0] & 0xf) * 4;
            let address = |at: usize| Some(IpAddr::from(<[u8; 4]>::try_from(packet.get(at..at + 4)?).ok()?));
            let (from, to) = (address(12)?, address(16)?);
            Some(Datagram { from, to, protocol: *packet.get(9)?, payload: packet.get(header..)? })
        }
        6 => {
            let address =
                |at: usize| Some(IpAddr::from(<[u8; 16]>::try_from(packet.get(at..at + 16)?).ok()?));
            let (from, to) = (address(8)?, address(24)?);
            Some(Datagram { from, to, protocol: *packet.get(6)?, payload: packet.get(40..)? })
        }
        _ => None,
    }
}

fn port(payload: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(payload.get(at..at + 2)?.try_into().ok()?))
}

/// The name in a query to a name server.
fn queried_name(query: &[u8]) -> Option<String> {
    const HEADER: usize = 12;
    let is_query = query.get(2)? & 0x80 == 0 && query.get(4..6)? == [0, 1];
    let mut rest = query.get(HEADER..).filter(|_| is_query)?;
    let mut labels = Vec::new();
    loop {
        let (length, after) = rest.split_first()?;
        if *length == 0 {
            return (!labels.is_empty()).then(|| labels.join("."));
        }
        let label = after.get(..usize::from(*length)).filter(|label| label.len() < 64)?;
        let shown = |byte: &u8| match byte {
            b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => char::from(byte.to_ascii_lowercase()),
            _ => '?',
        };
        labels.push(label.iter().map(shown).collect::<String>());
        rest = after.get(label.len()..)?;
    }
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    fn packet(protocol: u8, from: [u8; 4], to: [u8; 4], payload: &[u8]) -> Vec<u8> {
        let mut packet = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, protocol, 0, 0];
        packet.extend(from);
        packet.extend(to);
        packet.extend(payload);
        packet
    }

    fn segment(from: u16, to: u16, sequence: u32, flags: u8) -> Vec<u8> {
        let mut segment = [from.to_be_bytes(), to.to_be_bytes()].concat();
        segment.extend(sequence.to_be_bytes());
        segment.extend([0, 0, 0, 0, 0x50, flags]);
        segment
    }

    const OWN: [u8; 4] = [127, 0, 0, 1];
    const OTHER: [u8; 4] = [192, 0, 2, 1];

    // BX-02
    #[test]
    fn a_packet_shows_which_host_the_program_tries_to_reach() {
        let socket = |address: [u8; 4], port| SocketAddr::from((address, port));
        let connect = |to| read(&packet(TCP, OWN, to, &segment(4000, 443, 7, 2)));
        assert_eq!(connect(OTHER), Some(Attempt::Outside(socket(OTHER, 443), TCP)));
        assert_eq!(connect(OWN), None);
        let rejected = |sequence| read(&packet(TCP, OWN, OWN, &segment(5432, 4000, sequence, 0x14)));
        assert_eq!(rejected(0), Some(Attempt::Unanswered(socket(OWN, 5432), TCP)));
        assert_eq!(rejected(7), None, "a connection that existed");
        let datagram = |to, port: u16, payload: &[u8]| {
            let head = [&4000_u16.to_be_bytes()[..], &port.to_be_bytes(), &[0, 9, 0, 0]].concat();
            packet(UDP, OWN, to, &[&head, payload].concat())
        };
        assert_eq!(read(&datagram(OTHER, 99, b"x")), Some(Attempt::Outside(socket(OTHER, 99), UDP)));
        let query = b"\x00\x01\x01\x00\x00\x01\0\0\0\0\0\0\x03API\x08exam ple\x03org\x00\x00\x01\x00\x01";
        for to in [OTHER, OWN] {
            let name = Attempt::Name("api.exam?ple.org".to_string());
            assert_eq!(read(&datagram(to, 53, query)), Some(name));
        }
        let unreachable = [&[3, 3, 0, 0, 0, 0, 0, 0][..], &datagram(OWN, 99, b"x")].concat();
        let unreachable = packet(1, OWN, OWN, &unreachable);
        assert_eq!(read(&unreachable), Some(Attempt::Unanswered(socket(OWN, 99), UDP)));
    }

    #[test]
    fn a_packet_that_is_cut_off_shows_nothing() {
        let query = b"\x00\x01\x01\x00\x00\x01\0\0\0\0\0\0\x03api\x00";
        let whole = [&[0x10, 0, 0, 53, 0, 0, 0, 0][..], query].concat();
        let whole = packet(UDP, OWN, OWN, &whole);
        assert!(read(&whole).is_some());
        for length in 0..whole.len() {
            assert_eq!(read(&whole[..length]), None, "{length}");
        }
    }
}
