//! Which addresses are public (C6).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;

use crate::web::special;

fn refused(text: &str) -> bool {
    special(text.parse().unwrap()).is_some()
}

/// Shows C6.
#[test]
fn no_address_outside_the_public_internet_passes() {
    for ip in [
        "0.0.0.0",
        "0.255.255.255",
        "10.255.255.255",
        "100.64.0.0",
        "100.127.255.255",
        "127.0.0.1",
        "168.63.129.16",
        "169.254.169.254",
        "172.16.0.0",
        "172.31.255.255",
        "192.0.0.192",
        "192.0.2.255",
        "192.88.99.1",
        "192.168.255.255",
        "198.18.0.0",
        "198.19.255.255",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.0",
        "255.255.255.255",
        "::",
        "::1",
        "::7f00:1",
        "::8.8.8.8",
        "::ffff:127.0.0.1",
        "::ffff:0:8.8.8.8",
        "64:ff9b::10.0.0.1",
        "64:ff9b:1::8.8.8.8",
        "100::1",
        "2001::1",
        "2001:0:4136:e378::1",
        "2001:10::1",
        "2001:20::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "2002:808:808::1",
        "3fff::1",
        "5f00::1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "febf::1",
        "fec0::1",
        "ff02::1",
        "2606:4700::5efe:a00:1",
        "2606:4700::200:5efe:a00:1",
        "4000::1",
    ] {
        assert!(refused(ip), "{ip} passed");
    }
}

#[test]
fn addresses_beside_the_special_ones_are_public() {
    for ip in [
        "1.1.1.1",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "168.63.129.17",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "192.0.1.0",
        "192.0.3.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "223.255.255.255",
        "2606:4700::1111",
        "2001:200::1",
        "2a00:1450::1",
        "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8",
    ] {
        assert!(!refused(ip), "{ip} was refused");
    }
}

proptest! {
    /// However an IPv4 address is dressed, it is never more public than it is by itself.
    /// Shows C6.
    #[test]
    fn a_dressed_address_is_judged_by_what_is_inside(bits: u32) {
        let inside = Ipv4Addr::from(bits);
        let bare = special(IpAddr::V4(inside)).is_some();
        let [high, low] = [(bits >> 16) as u16, bits as u16];
        let mapped = special(IpAddr::V6(inside.to_ipv6_mapped())).is_some();
        prop_assert_eq!(bare, mapped);
        let nat64 = Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low);
        prop_assert_eq!(bare, special(IpAddr::V6(nat64)).is_some());
        let compatible = Ipv6Addr::new(0, 0, 0, 0, 0, 0, high, low);
        prop_assert!(special(IpAddr::V6(compatible)).is_some());
        let six_to_four = Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1);
        prop_assert!(special(IpAddr::V6(six_to_four)).is_some());
    }

    /// Nothing passes that the standard library calls private, local or shared by many.
    /// Shows C6.
    #[test]
    fn what_the_standard_library_calls_special_is_refused(bits: u32, wide: u128) {
        let ip = Ipv4Addr::from(bits);
        if ip.is_private() || ip.is_loopback() || ip.is_link_local() || ip.is_multicast()
            || ip.is_broadcast() || ip.is_documentation() || ip.is_unspecified()
        {
            prop_assert!(special(IpAddr::V4(ip)).is_some());
        }
        let ip = Ipv6Addr::from(wide);
        if ip.is_loopback() || ip.is_unicast_link_local() || ip.is_multicast()
            || ip.is_unique_local() || ip.is_unspecified()
        {
            prop_assert!(special(IpAddr::V6(ip)).is_some());
        }
    }
}
