//! Listeners outside a trial. Only a process that escaped can reach one.

use remand_terminal::CommandFailure;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::UnixListener;
use std::path::Path;

/// Three listeners that an agent can try to reach.
#[derive(Debug)]
pub struct Bait {
    tcp: TcpListener,
    udp: UdpSocket,
    unix: UnixListener,
}

impl Bait {
    /// Listens on loopback and at a path.
    pub fn listen(path: &Path) -> Result<Bait, CommandFailure> {
        let listen = || -> std::io::Result<Bait> {
            let bait = Bait {
                tcp: TcpListener::bind("127.0.0.1:0")?,
                udp: UdpSocket::bind("127.0.0.1:0")?,
                unix: UnixListener::bind(path)?,
            };
            bait.tcp.set_nonblocking(true)?;
            bait.udp.set_nonblocking(true)?;
            bait.unix.set_nonblocking(true)?;
            Ok(bait)
        };
        listen().map_err(|error| CommandFailure::internal_error("a trial cannot listen on loopback", &error))
    }

    pub fn tcp_port(&self) -> u16 {
        self.tcp.local_addr().map_or(0, |address| address.port())
    }

    pub fn udp_port(&self) -> u16 {
        self.udp.local_addr().map_or(0, |address| address.port())
    }

    /// The listeners that were reached.
    pub fn reached(&self) -> Vec<String> {
        let listeners = [
            ("the TCP listener", self.tcp.accept().is_ok()),
            ("the UDP socket", self.udp.recv_from(&mut [0; 16]).is_ok()),
            ("the Unix socket", self.unix.accept().is_ok()),
        ];
        listeners
            .iter()
            .filter(|(_, reached)| *reached)
            .map(|(what, _)| format!("{what} was reached"))
            .collect()
    }
}
