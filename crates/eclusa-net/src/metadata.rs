//! Hosts that hand out the keys of this machine: the metadata services of clouds, and the link-local
//! addresses that they are at.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Metadata services at addresses that are not link-local.
const SERVICES_V4: [Ipv4Addr; 3] = [
    // Alibaba, Azure, Oracle.
    Ipv4Addr::new(100, 100, 100, 200),
    Ipv4Addr::new(168, 63, 129, 16),
    Ipv4Addr::new(192, 0, 0, 192),
];

/// The same for IPv6.
const SERVICES_V6: [Ipv6Addr; 3] = [
    // Amazon, Google, Scaleway.
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42),
];

/// Their names.
const NAMES: [&str; 5] = [
    "instance-data.ec2.internal",
    "metadata.azure.internal",
    "metadata.goog",
    "metadata.google.internal",
    "metadata.tencentyun.com",
];

/// What a host is if it is a metadata service or link-local. `text` is a host or an address of
/// whichever scheme, as commands write them: odd spellings of an address that some programs read
/// (`0xA9FEA9FE`, `2852039166`) are found too.
pub fn metadata_service(text: &str) -> Option<&'static str> {
    let host = host(text);
    let ip = host.split('%').next().and_then(|it| it.parse().ok());
    if let Some(ip) = ip.or_else(|| odd_address(host).map(IpAddr::V4)) {
        return by_address(ip);
    }
    let name = host.strip_suffix('.').unwrap_or(host);
    NAMES.iter().any(|it| it.eq_ignore_ascii_case(name)).then_some("a cloud's metadata service")
}

/// The host in a text, without scheme, user, port, brackets and path.
fn host(text: &str) -> &str {
    let rest = text.split_once("://").map_or(text, |it| it.1);
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    match host.strip_prefix('[') {
        Some(inside) => inside.split(']').next().unwrap_or_default(),
        // An address with colons of its own has no port without brackets.
        None if host.matches(':').count() > 1 => host,
        None => host.split(':').next().unwrap_or_default(),
    }
}

fn by_address(ip: IpAddr) -> Option<&'static str> {
    let service = "a cloud's metadata service";
    match ip.to_canonical() {
        IpAddr::V4(ip) if ip.is_link_local() => Some("a link-local or metadata address"),
        IpAddr::V4(ip) => SERVICES_V4.contains(&ip).then_some(service),
        IpAddr::V6(ip) => match crate::range::nat64(ip) {
            Some(inner) => by_address(IpAddr::V4(inner)),
            None if ip.segments().first().is_some_and(|it| it & 0xffc0 == 0xfe80) => {
                Some("a link-local address")
            }
            None => SERVICES_V6.contains(&ip).then_some(service),
        },
    }
}

/// An IPv4 address as C reads one: up to four numbers, decimal, octal or hexadecimal, of which the last
/// fills what the others leave.
fn odd_address(text: &str) -> Option<Ipv4Addr> {
    let text = text.strip_suffix('.').unwrap_or(text);
    if !text.starts_with(|it: char| it.is_ascii_digit()) {
        return None;
    }
    let numbers: Option<Vec<u32>> = text.split('.').map(number).collect();
    let numbers = numbers.filter(|it| it.len() <= 4)?;
    let (last, before) = numbers.split_last()?;
    let mut bits: u32 = 0;
    for (at, byte) in before.iter().enumerate() {
        bits |= u32::from(u8::try_from(*byte).ok()?) << (24 - 8 * at);
    }
    let room = u32::MAX.checked_shr(8 * u32::try_from(before.len()).ok()?).unwrap_or(0);
    (*last <= room).then(|| Ipv4Addr::from(bits | last))
}

fn number(text: &str) -> Option<u32> {
    let lower = text.to_ascii_lowercase();
    let (digits, radix) = match (lower.strip_prefix("0x"), lower.strip_prefix('0')) {
        (Some(hex), _) => (hex, 16),
        (None, Some(octal)) if !octal.is_empty() => (octal, 8),
        _ => (lower.as_str(), 10),
    };
    let plain = digits.bytes().all(|it| it.is_ascii_alphanumeric());
    u32::from_str_radix(digits, radix).ok().filter(|_| plain)
}
