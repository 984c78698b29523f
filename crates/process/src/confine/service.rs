//! The address of a service that a program may reach.

#[cfg(any(target_os = "linux", test))]
use super::address_range::AddressRange;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::IpAddr;

/// The variables that name proxies. A program in a private network does not get them, because it finds its services
/// there.
pub const PROXY_VARIABLES: [&str; 8] = [
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "https_proxy",
    "http_proxy",
    "all_proxy",
    "no_proxy",
];

/// A host with a port, by name or by number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ServiceAddress {
    /// A name in lower case, or a number without brackets.
    pub host: String,
    pub port: u16,
    /// Whether only TLS connections to this host are forwarded.
    pub tls: bool,
    /// Whether its name must lead to a public address. A service that the user named may be in the user's own network.
    #[serde(default)]
    pub public: bool,
}

impl ServiceAddress {
    /// Reads a URL, `host:port`, or `host`, which means HTTPS. `None` if the text is none of them.
    pub fn parse(text: &str) -> Option<ServiceAddress> {
        if text.contains("://") {
            return ServiceAddress::from_url(text);
        }
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => rest.split_once(']').map(|(host, port)| (host, port.strip_prefix(':')))?,
            None => match text.split_once(':') {
                Some((host, port)) if !port.contains(':') => (host, Some(port)),
                Some(_) | None => (text, None),
            },
        };
        let port = port.map_or(Some(443), |port| port.parse().ok().filter(|port| *port > 0))?;
        let is_name = |host: &str| {
            let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
            !host.is_empty() && host.len() <= 253 && host.bytes().all(is_part)
        };
        let is_host = is_name(host) || host.parse::<IpAddr>().is_ok();
        is_host.then(|| ServiceAddress {
            host: host.to_ascii_lowercase(),
            port,
            tls: port == 443,
            public: false,
        })
    }

    /// Reads the start of a URL: `http://` or `https://`, perhaps a user, the host, and perhaps a port.
    pub fn from_url(url: &str) -> Option<ServiceAddress> {
        let (tls, rest) = match (url.strip_prefix("https://"), url.strip_prefix("http://")) {
            (Some(rest), _) => (true, rest),
            (None, Some(rest)) => (false, rest),
            (None, None) => return None,
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let authority = &rest[..end];
        let place = authority.rsplit_once('@').map_or(authority, |(_, place)| place);
        let has_port = place.rsplit(']').next().is_some_and(|after| after.contains(':'));
        let found = ServiceAddress::parse(place)?;
        let port = if has_port || tls { found.port } else { 80 };
        Some(ServiceAddress { port, tls, ..found })
    }

    /// The host as a number, if it is one.
    pub(super) fn number(&self) -> Option<IpAddr> {
        self.host.parse().ok()
    }

    /// Whether its name may lead to this address. A numeric host has only one address.
    #[cfg(any(target_os = "linux", test))]
    pub(super) fn may_be_at(&self, address: IpAddr) -> bool {
        self.number().is_some()
            || match AddressRange::of(address) {
                AddressRange::Public => true,
                AddressRange::Private => !self.public,
                AddressRange::Link => false,
            }
    }

    /// Whether it is on this machine.
    pub(super) fn is_loopback(&self) -> bool {
        let is_local_name = self.host == "localhost" || self.host.ends_with(".localhost");
        is_local_name || self.number().is_some_and(|number| number.is_loopback() || number.is_unspecified())
    }
}

impl fmt::Display for ServiceAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    fn shown(address: Option<ServiceAddress>) -> Option<String> {
        address.map(|address| format!("{address}{}", if address.tls { " with TLS" } else { "" }))
    }

    // BX-02
    #[test]
    fn an_address_is_a_host_or_a_url() {
        let cases = [
            ("api.example.org", Some("api.example.org:443 with TLS")),
            ("API.example.org:8443", Some("api.example.org:8443")),
            ("10.0.0.5:80", Some("10.0.0.5:80")),
            ("[::1]:80", Some("[::1]:80")),
            ("https://models.lan:8443/v1", Some("models.lan:8443 with TLS")),
            ("::1", Some("[::1]:443 with TLS")),
            ("*.example.org", None),
            ("example.org/path", None),
            ("example.org:0", None),
            ("example.org:x", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(shown(ServiceAddress::parse(text)).as_deref(), expected, "{text}");
        }
        let urls = [
            ("http://127.0.0.1:8099/v1", Some("127.0.0.1:8099")),
            ("http://models.example.org", Some("models.example.org:80")),
            ("https://me:secret@models.example.org/v1?x=1", Some("models.example.org:443 with TLS")),
            ("http://[::1]:9/", Some("[::1]:9")),
            ("http://[::1]/", Some("[::1]:80")),
            ("ftp://example.org", None),
            ("https://", None),
        ];
        for (url, expected) in urls {
            assert_eq!(shown(ServiceAddress::from_url(url)).as_deref(), expected, "{url}");
        }
    }

    // BX-02
    #[test]
    fn a_name_leads_into_a_private_network_only_if_the_user_named_it() {
        let named = ServiceAddress::parse("models.corp").expect("an address");
        let shipped = ServiceAddress { public: true, ..named.clone() };
        let number = ServiceAddress::parse("169.254.169.254:80").expect("an address");
        let leads = |address: &str| {
            let address: IpAddr = address.parse().expect("a number");
            [&named, &shipped, &number].map(|service| service.may_be_at(address))
        };
        assert_eq!(leads("8.8.8.8"), [true, true, true]);
        assert_eq!(leads("10.0.0.1"), [true, false, true]);
        assert_eq!(leads("::ffff:127.0.0.1"), [true, false, true]);
        assert_eq!(leads("169.254.169.254"), [false, false, true]);
    }
}
