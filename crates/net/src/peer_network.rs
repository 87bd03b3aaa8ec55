//! Peers are counted by network: one customer has 2^64 addresses of IPv6.

use std::net::{IpAddr, Ipv6Addr};

/// The part of an IPv6 address that usually identifies one customer.
const IPV6_NETWORK: u128 = u128::MAX << 64;

/// The address of IPv4, the /64 network of IPv6, and this machine's own address whole.
pub fn peer_network(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => Ipv6Addr::from_bits(address.to_bits() & IPV6_NETWORK).into(),
        whole => whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_customer_of_ipv6_is_one_peer() {
        let of = |text: &str| peer_network(text.parse().unwrap());
        assert_eq!(of("2001:db8:1:2:3::4"), of("2001:db8:1:2::9"));
        assert_ne!(of("2001:db8:1:2::9"), of("2001:db8:1:3::9"));
        assert_eq!(of("::ffff:192.0.2.1"), IpAddr::from([192, 0, 2, 1]));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
        assert!(of("::1").is_loopback() && of("::ffff:127.0.0.1").is_loopback());
    }
}
