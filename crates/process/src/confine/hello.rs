//! The first message of a TLS connection, which names the host that the client wants.

use std::io::{self, Read};

/// The length of the header of a record, and the maximum length of its content.
const HEADER: usize = 5;
const MAX_CONTENT: usize = 16 * 1024;

/// The first record of a TLS connection, and the host that it names.
pub(super) struct ClientHello {
    pub bytes: Vec<u8>,
    pub host: NamedHost,
}

/// The host that the start of a connection names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NamedHost {
    /// In lower case.
    Name(String),
    /// An encrypted part may name another host than the readable one.
    Encrypted,
    /// It names none, or is not the start of TLS.
    None,
}

impl ClientHello {
    pub fn read_from(connection: &mut impl Read) -> io::Result<ClientHello> {
        const HANDSHAKE: u8 = 22;
        let mut bytes = vec![0; HEADER];
        connection.read_exact(&mut bytes)?;
        let length = usize::from(u16::from_be_bytes([bytes[3], bytes[4]]));
        if bytes[0] != HANDSHAKE || length > MAX_CONTENT {
            return Ok(ClientHello { bytes, host: NamedHost::None });
        }
        bytes.resize(HEADER + length, 0);
        connection.read_exact(&mut bytes[HEADER..])?;
        let host = named_host(&bytes[HEADER..]).unwrap_or(NamedHost::None);
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

fn named_host(message: &[u8]) -> Option<NamedHost> {
    const CLIENT_HELLO: u8 = 1;
    const SERVER_NAME: [u8; 2] = [0, 0];
    const ENCRYPTED: [u8; 2] = [0xfe, 0x0d];
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
    let mut found = NamedHost::None;
    while let Some(kind) = extensions.take(2) {
        let content = extensions.part(2)?;
        if kind == ENCRYPTED {
            return Some(NamedHost::Encrypted);
        }
        if kind == SERVER_NAME {
            let mut names = Parts(Parts(content).part(2)?);
            let is_host = names.take(1)? == [HOST];
            let name = std::str::from_utf8(names.part(2)?).ok().filter(|_| is_host)?;
            // A server may read another one of several names.
            let is_only = found == NamedHost::None && names.0.is_empty();
            found = is_only.then(|| NamedHost::Name(name.to_ascii_lowercase()))?;
        }
    }
    Some(found)
}

#[cfg(test)]
#[allow(clippy::expect_used)]
pub(super) mod tests {
    use super::*;

    /// The start of a TLS connection to a host.
    pub fn hello(host: &str) -> Vec<u8> {
        hello_with(host, &[])
    }

    /// The start of a TLS connection to a host, with more extensions.
    pub fn hello_with(host: &str, more: &[u8]) -> Vec<u8> {
        let with_length = |content: &[u8], bytes: usize| {
            let length = content.len().to_be_bytes();
            [&length[length.len() - bytes..], content].concat()
        };
        let name = [&[0][..], &with_length(host.as_bytes(), 2)].concat();
        let server_name = [&[0, 0][..], &with_length(&with_length(&name, 2), 2)].concat();
        let other = [&[0, 10][..], &with_length(&[1, 2], 2)].concat();
        let extensions = with_length(&[&other, &server_name, more].concat(), 2);
        let body = [&[3; 34][..], &[0], &with_length(&[0x13, 1], 2), &[1, 0], &extensions].concat();
        let message = [&[1][..], &with_length(&body, 3)].concat();
        [&[22, 3, 1][..], &with_length(&message, 2)].concat()
    }

    // BX-02
    #[test]
    fn the_host_is_read_from_the_first_message() {
        let bytes = hello("API.example.org");
        let read = ClientHello::read_from(&mut bytes.as_slice()).expect("read");
        let expected = (NamedHost::Name("api.example.org".to_string()), bytes.clone());
        assert_eq!((read.host, read.bytes), expected);
        let plain = ClientHello::read_from(&mut &b"GET / HTTP/1.1\r\n"[..]).expect("read");
        assert_eq!(plain.host, NamedHost::None);
        for length in HEADER..bytes.len() {
            assert_eq!(named_host(&bytes[HEADER..length]), None, "{length}");
        }
    }

    // BX-02
    #[test]
    fn a_second_or_an_encrypted_name_is_not_a_name() {
        let host = |more: &[u8]| {
            ClientHello::read_from(&mut hello_with("api.example.org", more).as_slice()).expect("read").host
        };
        assert_eq!(host(&[0xfe, 0x0d, 0, 1, 7]), NamedHost::Encrypted);
        assert_eq!(host(&[0, 0, 0, 6, 0, 4, 0, 0, 1, b'x']), NamedHost::None);
    }
}
