//! The addresses of a name, judged: which of them may be connected to.

use std::net::{IpAddr, SocketAddr};

use crate::special;

/// The longest list of addresses that one name may have.
pub const MAX_ADDRESSES: usize = 64;

/// Why no address of a name may be connected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// It has none.
    #[error("it has no address")]
    None,
    /// It has more than anybody needs.
    #[error("it has more than {MAX_ADDRESSES} addresses")]
    TooMany,
    /// One of them is not of the public internet.
    #[error("{0} is {1}")]
    Special(IpAddr, &'static str),
}

/// Judges every address that a name was resolved to. One bad answer among good ones is a no: an honest
/// name has none. `allowed` says what may be connected to although it is not public.
pub fn judge_addresses(
    ips: Vec<IpAddr>,
    port: u16,
    allowed: impl Fn(SocketAddr) -> bool,
) -> Result<Vec<SocketAddr>, AddressError> {
    if ips.is_empty() {
        return Err(AddressError::None);
    }
    if ips.len() > MAX_ADDRESSES {
        return Err(AddressError::TooMany);
    }
    let mut places = Vec::with_capacity(ips.len());
    for ip in ips {
        let place = SocketAddr::new(ip.to_canonical(), port);
        if let Some(what) = special(ip)
            && !allowed(place)
        {
            return Err(AddressError::Special(ip, what));
        }
        if !places.contains(&place) {
            places.push(place);
        }
    }
    Ok(places)
}
