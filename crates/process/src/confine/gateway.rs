//! The way out of a private network: the services that the program may reach, each at an address inside.
//!
//! The private network has a listener for each service, at an address that the program finds under the service's own
//! name. Threads of the supervisor, which stays outside, accept its connections and connect to the real service. So the
//! program needs no settings for a proxy, and TLS is between the program and the service.

use super::contact_record::ContactRecord;
use super::contacts::Traffic;
use super::hello::{ClientHello, NamedHost};
use super::packets::{self, PacketWatch};
use super::service::ServiceAddress;
use super::upstream::{self, RefusedAddress};
use rustix::net::sockopt::set_socket_linger;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Maximum number of simultaneous connections; more are reset.
const MAX_CONNECTIONS: usize = 512;

/// The size of the stack of a thread that copies.
const STACK: usize = 256 * 1024;

/// How long a program may take to name its host.
const HELLO_TIME: Duration = Duration::from_secs(30);

/// The addresses of the name `localhost`.
const LOCALHOST: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];

/// An address in the private network that stands for the name of a service.
fn placeholder(number: u16) -> IpAddr {
    let [high, low] = number.to_be_bytes();
    IpAddr::V4(Ipv4Addr::new(127, 77, high, low))
}

/// The listeners for all services, in the private network.
pub(super) struct PrivateNetwork {
    services: Vec<ServiceAddress>,
    names: BTreeMap<String, IpAddr>,
    listeners: Vec<(TcpListener, ServiceAddress)>,
    packets: OwnedFd,
}

/// Where a program finds its services inside its private network.
pub(super) struct ServicePlaces {
    places: Vec<(IpAddr, ServiceAddress)>,
    /// Names of services with their addresses in the private network.
    pub names: BTreeMap<String, IpAddr>,
}

impl ServicePlaces {
    pub fn of(services: &[ServiceAddress]) -> ServicePlaces {
        let (mut places, mut names) = (Vec::new(), BTreeMap::new());
        for service in services {
            let next = u16::try_from(names.len() + 1).unwrap_or(u16::MAX);
            let found = match service.number() {
                Some(number) if number.is_unspecified() => LOCALHOST.to_vec(),
                Some(number) => vec![number],
                None if service.is_loopback() => LOCALHOST.to_vec(),
                None => {
                    vec![*names.entry(service.host.clone()).or_insert_with(|| placeholder(next))]
                }
            };
            places.extend(found.into_iter().map(|place| (place, service.clone())));
        }
        ServicePlaces { places, names }
    }

    /// Listens at the addresses of all services, in the network of the calling thread.
    pub fn listen(self, services: &[ServiceAddress]) -> io::Result<PrivateNetwork> {
        let packets = packets::open()?;
        let mut listeners: Vec<(TcpListener, ServiceAddress)> = Vec::new();
        for (place, service) in self.places {
            match TcpListener::bind((place, service.port)) {
                Ok(listener) => listeners.push((listener, service)),
                // Two settings name the same service.
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
                // A machine without IPv6.
                Err(_) if place.is_ipv6() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(PrivateNetwork { services: services.to_vec(), names: self.names, listeners, packets })
    }
}

/// A private network that threads of this process serve.
pub(super) struct ServedNetwork {
    watch: Arc<PacketWatch>,
    record: Arc<ContactRecord>,
}

impl PrivateNetwork {
    /// Serves the private network with threads that are outside it. `contacts` is the path of the record.
    pub fn serve(self, contacts: Option<File>) -> io::Result<ServedNetwork> {
        let connections = Arc::new(AtomicUsize::new(0));
        let record = Arc::new(ContactRecord::new(contacts));
        let watch = Arc::new(PacketWatch::new(self.packets, self.services, self.names));
        let (own_watch, own_record) = (Arc::clone(&watch), Arc::clone(&record));
        spawn(move || own_watch.run(&own_record))?;
        for (listener, service) in self.listeners {
            let (record, connections) = (Arc::clone(&record), Arc::clone(&connections));
            let service = Arc::new(service);
            spawn(move || accept(&listener, &service, &record, &connections))?;
        }
        Ok(ServedNetwork { watch, record })
    }
}

impl ServedNetwork {
    /// Writes the record of everything so far.
    pub fn save(&self) {
        // If the packets cannot be read, the record lacks the latest attempts.
        let _ = self.watch.record_all(&self.record);
        self.record.save();
    }
}

fn spawn(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name("network".to_string()).stack_size(STACK).spawn(work).map(drop)
}

fn accept(
    listener: &TcpListener,
    service: &Arc<ServiceAddress>,
    record: &Arc<ContactRecord>,
    connections: &Arc<AtomicUsize>,
) {
    for inside in listener.incoming() {
        let Ok(inside) = inside else {
            // For example, too many files are open.
            thread::sleep(Duration::from_millis(50));
            continue;
        };
        if connections.load(Ordering::Relaxed) >= MAX_CONNECTIONS {
            reset(&inside);
            continue;
        }
        connections.fetch_add(1, Ordering::Relaxed);
        let (service, record, open) = (Arc::clone(service), Arc::clone(record), Arc::clone(connections));
        let started = spawn(move || {
            if forward(&inside, &service, &record).is_err() {
                reset(&inside);
            }
            open.fetch_sub(1, Ordering::Relaxed);
        });
        if started.is_err() {
            connections.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Resets a connection, so the program sees a failure instead of an empty reply.
fn reset(inside: &TcpStream) {
    let _ = set_socket_linger(inside, Some(Duration::ZERO));
}

/// Forwards a connection of the program to the service, until both ends are closed.
fn forward(inside: &TcpStream, service: &ServiceAddress, record: &Arc<ContactRecord>) -> io::Result<()> {
    let title = service.to_string();
    let mut first = Vec::new();
    if service.tls && service.number().is_none() {
        inside.set_read_timeout(Some(HELLO_TIME))?;
        let hello = ClientHello::read_from(&mut &*inside)?;
        inside.set_read_timeout(None)?;
        let other = match hello.host {
            NamedHost::Name(name) if name == service.host => None,
            NamedHost::Name(name) => Some(clean(&name)),
            NamedHost::Encrypted => Some("an encrypted name".to_string()),
            NamedHost::None => Some("something other than TLS".to_string()),
        };
        if let Some(other) = other {
            record.refuse(format!("{other} through {title}"));
            return Err(io::Error::other("the program asked for another host"));
        }
        first = hello.bytes;
    }
    let outside = upstream::connect(service, &|name| std::env::var(name).ok()).inspect_err(|error| {
        if error.get_ref().is_some_and(|error| error.is::<RefusedAddress>()) {
            record.refuse(error.to_string());
        }
    })?;
    let _ = (inside.set_nodelay(true), outside.set_nodelay(true));
    record.count(&title, Traffic { sent: first.len() as u64, received: 0 });
    (&outside).write_all(&first)?;
    let (from, to) = (outside.try_clone()?, inside.try_clone()?);
    let (own, name) = (Arc::clone(record), title.clone());
    spawn(move || copy(&from, &to, |bytes| own.count(&name, Traffic { sent: 0, received: bytes })))?;
    copy(inside, &outside, |bytes| record.count(&title, Traffic { sent: bytes, received: 0 }));
    Ok(())
}

/// Copies until the source ends, then ends the output of the target.
fn copy(mut source: &TcpStream, mut target: &TcpStream, count: impl Fn(u64)) {
    let mut buffer = vec![0; 32 * 1024];
    loop {
        match source.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(0) => {
                let _ = target.shutdown(Shutdown::Write);
                return;
            }
            Ok(length) if target.write_all(&buffer[..length]).is_ok() => count(length as u64),
            Ok(_) | Err(_) => {
                let _ = (source.shutdown(Shutdown::Both), target.shutdown(Shutdown::Both));
                return;
            }
        }
    }
}

/// A host name from a program, without characters that are invalid in host names.
fn clean(host: &str) -> String {
    let is_usual = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    host.chars().filter(is_usual).take(253).collect()
}
