//! Connects to services from outside the private network: directly, or through the user's HTTP proxy.

use super::policy::Policy;
use super::service::ServiceAddress;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum length of a proxy's reply.
const MAX_REPLY: usize = 8 * 1024;

/// An HTTP proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Proxy {
    pub address: ServiceAddress,
    /// `user:password`, encoded.
    account: Option<String>,
}

/// The first of these variables that is set.
fn variable(names: &[&str], variables: &impl Fn(&str) -> Option<String>) -> Option<String> {
    names.iter().find_map(|name| variables(name).filter(|value| !value.is_empty()))
}

impl Proxy {
    /// The proxy for a service, according to the environment; `None` to connect directly.
    pub fn for_service(
        service: &ServiceAddress,
        variables: &impl Fn(&str) -> Option<String>,
    ) -> Option<Proxy> {
        let names: &[&str] = match service.tls {
            true => &["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"],
            false => &["http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"],
        };
        let except = variable(&["NO_PROXY", "no_proxy"], variables).unwrap_or_default();
        let is_direct = service.is_loopback() || except.split(',').any(|part| is_excepted(service, part));
        let url = variable(names, variables).filter(|_| !is_direct)?;
        let url = if url.contains("://") { url } else { format!("http://{url}") };
        let address = ServiceAddress::from_url(&url).filter(|address| !address.tls)?;
        let rest = url.strip_prefix("http://").unwrap_or(&url);
        let authority = rest.split('/').next().unwrap_or_default();
        let account = authority.rsplit_once('@').map(|(account, _)| STANDARD.encode(decode(account)));
        Some(Proxy { address, account })
    }

    /// Asks the proxy for a connection to the service.
    fn connect(&self, service: &ServiceAddress) -> io::Result<TcpStream> {
        let mut stream = connect_directly(&self.address)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        let account = self.account.iter().map(|account| format!("Proxy-Authorization: Basic {account}\r\n"));
        let account: String = account.collect();
        // In one piece: some proxies read a request only once.
        let request = format!("CONNECT {service} HTTP/1.1\r\nHost: {service}\r\n{account}\r\n");
        stream.write_all(request.as_bytes())?;
        let mut reply = Vec::new();
        while !reply.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte)?;
            reply.push(byte[0]);
            if reply.len() > MAX_REPLY {
                return Err(io::Error::other("the reply of the proxy is too long"));
            }
        }
        let reply = String::from_utf8_lossy(&reply).into_owned();
        let status = reply.split_whitespace().nth(1).unwrap_or_default();
        if !status.starts_with('2') {
            return Err(io::Error::other(format!("the proxy replied {status}")));
        }
        stream.set_read_timeout(None)?;
        Ok(stream)
    }
}

/// Whether an entry of `NO_PROXY` includes a service.
fn is_excepted(service: &ServiceAddress, entry: &str) -> bool {
    let entry = entry.trim().to_ascii_lowercase();
    let entry = entry.strip_suffix(&format!(":{}", service.port)).unwrap_or(&entry);
    let domain = entry.trim_start_matches('*').trim_start_matches('.');
    let is_below = || service.host.strip_suffix(domain).is_some_and(|name| name.ends_with('.'));
    entry == "*" || !domain.is_empty() && (service.host == domain || is_below())
}

/// Decodes the `%XX` of a URL.
fn decode(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hexadecimal = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        match hexadecimal.and_then(|two| u8::from_str_radix(two, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    bytes
}

/// The ports of the services, of the proxies that lead to them and of name servers, for a program that shares the network.
pub(super) fn shared_ports(policy: &Policy) -> BTreeSet<u16> {
    const DNS: u16 = 53;
    let value = |name: &str| std::env::var(name).ok();
    let services = policy.services.iter();
    let pairs = services.map(|service| (service.port, Proxy::for_service(service, &value)));
    let ports =
        pairs.flat_map(|(port, proxy)| [Some(port), proxy.map(|proxy| proxy.address.port), Some(DNS)]);
    ports.flatten().collect()
}

/// Connects to a service, which may be found by several addresses.
pub(super) fn connect(
    service: &ServiceAddress,
    variables: &impl Fn(&str) -> Option<String>,
) -> io::Result<TcpStream> {
    match Proxy::for_service(service, variables) {
        Some(proxy) => proxy.connect(service),
        None => connect_directly(service),
    }
}

/// An address that a service may not have.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct RefusedAddress(String);

fn connect_directly(service: &ServiceAddress) -> io::Result<TcpStream> {
    let mut failure = io::Error::other("the name has no address");
    // The checked address is the one that is used, because a second lookup could give another address.
    for address in (service.host.as_str(), service.port).to_socket_addrs()? {
        if !service.may_be_at(address.ip()) {
            failure =
                io::Error::other(RefusedAddress(format!("{} (the address of {service})", address.ip())));
            continue;
        }
        match TcpStream::connect_timeout(&address, TIMEOUT) {
            Ok(stream) => return Ok(stream),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    fn proxy_of(url: &str, variables: &[(&str, &str)]) -> Option<(String, Option<String>)> {
        let service = ServiceAddress::from_url(url).expect("an address");
        let value = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_string())
        };
        Proxy::for_service(&service, &value).map(|proxy| (proxy.address.to_string(), proxy.account))
    }

    // BX-02
    #[test]
    fn the_user_s_proxy_is_used_unless_the_environment_excepts_the_service() {
        let proxy =
            [("HTTPS_PROXY", "http://me:p%40ss@proxy.corp:3128"), ("NO_PROXY", "localhost,.corp, intern")];
        let expected = ("proxy.corp:3128".to_string(), Some(STANDARD.encode("me:p@ss")));
        assert_eq!(proxy_of("https://api.example.org", &proxy), Some(expected));
        for direct in
            ["https://models.corp", "https://intern", "https://127.0.0.1:9", "http://api.example.org"]
        {
            assert_eq!(proxy_of(direct, &proxy), None, "{direct}");
        }
        let all = [("ALL_PROXY", "proxy:8080")];
        assert_eq!(proxy_of("http://api.example.org", &all), Some(("proxy:8080".to_string(), None)));
        assert_eq!(proxy_of("https://api.example.org", &[("HTTPS_PROXY", "socks5://proxy:1080")]), None);
    }

    // BX-02
    #[test]
    fn a_shipped_service_is_not_looked_for_on_this_machine() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener");
        let port = listener.local_addr().expect("an address").port();
        // Every system resolves this name to itself.
        let named = ServiceAddress::parse(&format!("localhost:{port}")).expect("an address");
        let shipped = ServiceAddress { public: true, ..named.clone() };
        assert!(connect(&named, &|_| None).is_ok());
        let refused = connect(&shipped, &|_| None).expect_err("refused");
        assert!(refused.get_ref().is_some_and(|error| error.is::<RefusedAddress>()), "{refused}");
        assert!(refused.to_string().ends_with(&format!("(the address of localhost:{port})")), "{refused}");
    }

    // BX-02
    #[test]
    fn a_proxy_connects_to_the_service_by_its_name() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let served = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a connection");
            let mut request = [0; 256];
            let length = stream.read(&mut request).expect("a request");
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nhello").expect("sent");
            String::from_utf8_lossy(&request[..length]).into_owned()
        });
        let service = ServiceAddress::parse("api.example.org").expect("an address");
        let mut stream =
            connect(&service, &|name| (name == "HTTPS_PROXY").then(|| url.clone())).expect("connected");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("read");
        assert_eq!(text, "hello");
        let request = served.join().expect("served");
        assert!(request.starts_with("CONNECT api.example.org:443 HTTP/1.1\r\n"), "{request}");
    }
}
