//! Which addresses belong to the public internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Blocks of IPv4 that are not the public internet: address, length of the prefix, and what it is.
const BLOCKS_V4: [([u8; 4], u32, &str); 17] = [
    ([0, 0, 0, 0], 8, "an address of this machine"),
    ([10, 0, 0, 0], 8, "a private address"),
    ([100, 64, 0, 0], 10, "a carrier's private address"),
    ([127, 0, 0, 0], 8, "a loopback address"),
    // The one metadata service that sits in public space (Azure).
    ([168, 63, 129, 16], 32, "a cloud metadata address"),
    ([169, 254, 0, 0], 16, "a link-local or cloud metadata address"),
    ([172, 16, 0, 0], 12, "a private address"),
    ([192, 0, 0, 0], 24, "an address reserved for protocols"),
    ([192, 0, 2, 0], 24, "an address for documentation"),
    ([192, 88, 99, 0], 24, "an address of retired 6to4 relays"),
    ([192, 168, 0, 0], 16, "a private address"),
    ([198, 18, 0, 0], 15, "an address for measurements"),
    ([198, 51, 100, 0], 24, "an address for documentation"),
    ([203, 0, 113, 0], 24, "an address for documentation"),
    ([224, 0, 0, 0], 4, "a multicast address"),
    ([255, 255, 255, 255], 32, "the broadcast address"),
    ([240, 0, 0, 0], 4, "a reserved address"),
];

/// The same for IPv6, within the block that is handed out at all (`2000::/3`).
const BLOCKS_V6: [(Ipv6Addr, u32, &str); 4] = [
    // Teredo, ORCHID, benchmarks and other special uses.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, "a tunnel or protocol address"),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32, "an address for documentation"),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16, "a 6to4 tunnel address"),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20, "an address for documentation"),
];

/// What an address is if it is not of the public internet, and nothing if it is.
///
/// IPv6 is judged the other way round from IPv4: only what is handed out for the public
/// internet passes, so that a form that nobody thought of is refused.
pub fn special(ip: IpAddr) -> Option<&'static str> {
    match ip {
        IpAddr::V4(ip) => special_v4(ip),
        IpAddr::V6(ip) => special_v6(ip),
    }
}

fn special_v4(ip: Ipv4Addr) -> Option<&'static str> {
    BLOCKS_V4.iter().find_map(|&(block, prefix, what)| {
        let differs = (u32::from(ip) ^ u32::from(Ipv4Addr::from(block))) >> (32 - prefix);
        (differs == 0).then_some(what)
    })
}

fn special_v6(ip: Ipv6Addr) -> Option<&'static str> {
    let [first, _, _, _, fifth, sixth, _, _] = ip.segments();
    // These lead to the IPv4 address inside: the mapped form by the system itself, the NAT64
    // form by the network, which answers with it for every host that has no IPv6.
    if let Some(inner) = ip.to_ipv4_mapped().or_else(|| nat64(ip)) {
        return special_v4(inner);
    }
    match first {
        0x2000..=0x3fff => {}
        0 if ip == Ipv6Addr::LOCALHOST => return Some("a loopback address"),
        0 if ip == Ipv6Addr::UNSPECIFIED => return Some("an address of this machine"),
        0xfc00..=0xfdff => return Some("a private or cloud metadata address"),
        0xfe80..=0xfebf => return Some("a link-local address"),
        0xfec0..=0xfeff => return Some("a site-local address"),
        0xff00..=0xffff => return Some("a multicast address"),
        _ => return Some("a reserved address"),
    }
    let block = BLOCKS_V6.iter().find_map(|&(block, prefix, what)| {
        ((u128::from(ip) ^ u128::from(block)) >> (128 - prefix) == 0).then_some(what)
    });
    // ISATAP hides an IPv4 address in the lower half of any network.
    let isatap = matches!(fifth, 0 | 0x200) && sixth == 0x5efe;
    block.or(isatap.then_some("an ISATAP tunnel address"))
}

/// The IPv4 address inside the well-known NAT64 prefix `64:ff9b::/96`.
pub(crate) fn nat64(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    match ip.segments() {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            Some(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)))
        }
        _ => None,
    }
}
