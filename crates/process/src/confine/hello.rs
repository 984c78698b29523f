//! The first message of a TLS connection, which names the host that the client wants.

use std::io::{self, Read};

/// The length of the header of a record, and the maximum length of its content.
const HEADER: usize = 5;
const MAX_CONTENT: usize = 16 * 1024;

/// The first record of a TLS connection, and the host that it names.
pub(super) struct ClientHello {
    pub bytes: Vec<u8>,
    /// `None` if it names none, or is not the start of TLS.
    pub host: Option<String>,
}

impl ClientHello {
    pub fn read_from(connection: &mut impl Read) -> io::Result<ClientHello> {
        const HANDSHAKE: u8 = 22;
        let mut bytes = vec![0; HEADER];
        connection.read_exact(&mut bytes)?;
        let length = usize::from(u16::from_be_bytes([bytes[3], bytes[4]]));
        if bytes[0] != HANDSHAKE || length > MAX_CONTENT {
            return Ok(ClientHello { bytes, host: None });
        }
        bytes.resize(HEADER + length, 0);
        connection.read_exact(&mut bytes[HEADER..])?;
        let host = named_host(&bytes[HEADER..]);
        Ok(ClientHello { bytes, host })
    }
}

/// Reads parts of a message, each with its length before it.
struct Parts<'m>(&'m [u8]);

impl<'m> Parts<'m> {
    fn take(&mut self, length: usize) -> Option<&'m [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    /// A part whose length is a number of this many bytes.
    fn part(&mut self, bytes: usize) -> Option<&'m [u8]> {
        let length = self.take(bytes)?.iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
        self.take(length)
    }
}

fn named_host(message: &[u8]) -> Option<String> {
    const CLIENT_HELLO: u8 = 1;
    const SERVER_NAME: [u8; 2] = [0, 0];
    const HOST: u8 = 0;
    let mut message = Parts(message);
    if message.take(1)? != [CLIENT_HELLO] {
        return None;
    }
    let mut hello = Parts(message.part(3)?);
    // Version and random number, then session, ciphers and compression.
    hello.take(34)?;
    hello.part(1)?;
    hello.part(2)?;
    hello.part(1)?;
    let mut extensions = Parts(hello.part(2)?);
    while let Some(kind) = extensions.take(2) {
        let content = extensions.part(2)?;
        if kind == SERVER_NAME {
            let mut names = Parts(Parts(content).part(2)?);
            let is_host = names.take(1)? == [HOST];
            let name = std::str::from_utf8(names.part(2)?).ok().filter(|_| is_host)?;
            return Some(name.to_ascii_lowercase());
        }
    }
    None
}

#[cfg(test)]
#[allow(clippy::expect_used)]
pub(super) mod tests {
    use super::*;

    /// The start of a TLS connection to a host.
    pub fn hello(host: &str) -> Vec<u8> {
        let with_length = |content: &[u8], bytes: usize| {
            let length = content.len().to_be_bytes();
            [&length[length.len() - bytes..], content].concat()
        };
        let name = [&[0][..], &with_length(host.as_bytes(), 2)].concat();
        let server_name = [&[0, 0][..], &with_length(&with_length(&name, 2), 2)].concat();
        let other = [&[0, 10][..], &with_length(&[1, 2], 2)].concat();
        let extensions = with_length(&[other, server_name].concat(), 2);
        let body = [&[3; 34][..], &[0], &with_length(&[0x13, 1], 2), &[1, 0], &extensions].concat();
        let message = [&[1][..], &with_length(&body, 3)].concat();
        [&[22, 3, 1][..], &with_length(&message, 2)].concat()
    }

    // BX-02
    #[test]
    fn the_host_is_read_from_the_first_message() {
        let bytes = hello("API.example.org");
        let read = ClientHello::read_from(&mut bytes.as_slice()).expect("read");
        assert_eq!((read.host.as_deref(), read.bytes), (Some("api.example.org"), bytes.clone()));
        let plain = ClientHello::read_from(&mut &b"GET / HTTP/1.1\r\n"[..]).expect("read");
        assert_eq!(plain.host, None);
        for length in HEADER..bytes.len() {
            assert_eq!(named_host(&bytes[HEADER..length]), None, "{length}");
        }
    }
}
