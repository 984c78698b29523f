//! Classifies addresses: public ones, and those that only lead to this machine or machines near it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The range that an address belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AddressRange {
    Public,
    /// This machine, or a network of an organisation or a provider.
    Private,
    /// Link-local addresses, where virtual machines find their metadata; multicast groups; unassigned addresses.
    Link,
}

impl AddressRange {
    pub fn of(address: IpAddr) -> AddressRange {
        match address {
            IpAddr::V4(address) => of_v4(address),
            IpAddr::V6(address) => of_v6(address),
        }
    }
}

fn of_v4(address: Ipv4Addr) -> AddressRange {
    let [first, second, third, _] = address.octets();
    let is_carrier_network = first == 100 && second & 0xc0 == 64;
    let is_benchmark = first == 198 && second & 0xfe == 18;
    let is_reserved = first == 0 || first >= 240 || (first, second, third) == (192, 0, 0);
    if address.is_link_local() || address.is_multicast() || is_reserved {
        AddressRange::Link
    } else if address.is_loopback() || address.is_private() || is_carrier_network || is_benchmark {
        AddressRange::Private
    } else {
        AddressRange::Public
    }
}

fn of_v6(address: Ipv6Addr) -> AddressRange {
    let [first, second, third, .., seventh, eighth] = address.segments();
    let v4 = |high: u16, low: u16| of_v4(Ipv4Addr::from(u32::from(high) << 16 | u32::from(low)));
    if address.is_loopback() || first & 0xfe00 == 0xfc00 {
        AddressRange::Private
    } else if let Some(mapped) = address.to_ipv4_mapped() {
        of_v4(mapped)
    } else if (first, second) == (0x64, 0xff9b) {
        // NAT64 and, below, 6to4 lead to the address of IPv4 that they contain.
        v4(seventh, eighth)
    } else if first == 0x2002 {
        v4(second, third)
    } else if first & 0xffc0 == 0xfe80 || first & 0xff00 == 0xff00 || first == 0 {
        AddressRange::Link
    } else {
        AddressRange::Public
    }
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    // BX-02
    #[test]
    fn every_way_to_write_a_private_address_is_private() {
        let of = |text: &str| AddressRange::of(text.parse().expect("an address"));
        for public in
            ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "172.32.0.1", "100.128.0.1"]
        {
            assert_eq!(of(public), AddressRange::Public, "{public}");
        }
        for private in [
            "10.0.0.1",
            "172.16.3.4",
            "192.168.1.1",
            "100.64.0.1",
            "127.0.0.1",
            "::1",
            "fd00::1",
            "::ffff:10.0.0.1",
            "::ffff:127.0.0.1",
            "64:ff9b::7f00:1",
            "2002:a00:1::1",
        ] {
            assert_eq!(of(private), AddressRange::Private, "{private}");
        }
        for link in [
            "0.0.0.0",
            "169.254.169.254",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "fe80::1",
            "ff02::1",
            "::ffff:169.254.169.254",
            "64:ff9b::a9fe:a9fe",
        ] {
            assert_eq!(of(link), AddressRange::Link, "{link}");
        }
    }
}
