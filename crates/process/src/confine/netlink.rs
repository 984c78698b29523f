//! Sets up the network devices and routes of a new network namespace through rtnetlink.

use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with};
use std::io;
use std::net::Ipv4Addr;

const NEW_LINK: u16 = 16;
const NEW_ROUTE: u16 = 24;
const REQUEST_WITH_REPLY: u16 = 1 | 4;
const CREATE: u16 = 0x400;

/// The loopback device, which is the first device of a new network.
const LOOPBACK: u32 = 1;

/// Starts the loopback device.
pub(super) fn start_loopback() -> io::Result<()> {
    const UP: u32 = 1;
    // The address family and the type of the device.
    let mut body = vec![0; 4];
    body.extend(LOOPBACK.to_ne_bytes());
    // The new flags of the device, and the mask of the flags that change.
    body.extend(UP.to_ne_bytes());
    body.extend(UP.to_ne_bytes());
    request(NEW_LINK, REQUEST_WITH_REPLY, &body)
}

/// Routes every address to the loopback device. There, every attempt to reach a host can be observed, and nothing
/// answers unless this network has a listener.
pub(super) fn keep_all_addresses() -> io::Result<()> {
    let source = Ipv4Addr::LOCALHOST.octets();
    request(NEW_ROUTE, REQUEST_WITH_REPLY | CREATE, &default_route(libc::AF_INET, Some(source)))?;
    match request(NEW_ROUTE, REQUEST_WITH_REPLY | CREATE, &default_route(libc::AF_INET6, None)) {
        // Without a route, and on a machine without IPv6, nothing can be sent there.
        Ok(()) | Err(_) => Ok(()),
    }
}

/// A route that delivers everything locally.
fn default_route(family: i32, source: Option<[u8; 4]>) -> Vec<u8> {
    const LOCAL_TABLE: u8 = 255;
    const BOOT: u8 = 3;
    const HOST_SCOPE: u8 = 254;
    const LOCAL: u8 = 2;
    const DEVICE: u16 = 4;
    const PREFERRED_SOURCE: u16 = 7;
    let family = u8::try_from(family).unwrap_or_default();
    // The lengths of destination and source, the type of service, then the route, then its flags.
    let mut body = vec![family, 0, 0, 0, LOCAL_TABLE, BOOT, HOST_SCOPE, LOCAL, 0, 0, 0, 0];
    let mut attribute = |kind: u16, value: [u8; 4]| {
        body.extend(8_u16.to_ne_bytes());
        body.extend(kind.to_ne_bytes());
        body.extend(value);
    };
    attribute(DEVICE, LOOPBACK.to_ne_bytes());
    if let Some(source) = source {
        attribute(PREFERRED_SOURCE, source);
    }
    body
}

/// Sends a message to the kernel and waits for its reply.
fn request(kind: u16, flags: u16, body: &[u8]) -> io::Result<()> {
    const HEADER: usize = 16;
    let length = u32::try_from(HEADER + body.len()).map_err(io::Error::other)?;
    let mut message = Vec::new();
    message.extend(length.to_ne_bytes());
    message.extend(kind.to_ne_bytes());
    message.extend(flags.to_ne_bytes());
    // The number of the message and the sender.
    message.extend([0; 8]);
    message.extend(body);
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    sendto(&socket, &message, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    let mut reply = [0; 256];
    let (received, _) = recv(&socket, reply.as_mut_slice(), RecvFlags::empty())?;
    // A reply is a header and the negated error number, zero for success.
    match reply.get(..received).and_then(|reply| reply.get(HEADER..HEADER + 4)) {
        Some([0, 0, 0, 0]) => Ok(()),
        Some(error) => {
            let number = error.iter().rev().fold(0, |number, byte| number << 8 | i32::from(*byte));
            Err(io::Error::from_raw_os_error(number.wrapping_neg()))
        }
        None => Err(io::Error::other("the kernel sent no reply")),
    }
}
