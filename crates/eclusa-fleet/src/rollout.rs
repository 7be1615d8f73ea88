//! Which machines a new version comes to first: a place of each machine between 0 and 99, another one for each version.

use crate::{Digest, MachinePublicKey};

/// The place of a machine: it is among the first `percent` where this is less than `percent`. Whoever was among the first
/// 5 is among the first 20.
pub fn rollout_place(machine: MachinePublicKey, version: u64) -> u8 {
    let mut text = machine.0.to_vec();
    text.extend(version.to_be_bytes());
    let place = u32::from_be_bytes(Digest::compute(&text).short()) % 100;
    u8::try_from(place).unwrap_or(99)
}

#[cfg(test)]
mod tests;
