//! The key of a machine: made where it enrols, kept there, known to the server by its public part.

use std::str::FromStr;

use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::{FleetError, SigningKey};

/// The key that a machine signs its requests with.
pub struct MachineKey(SigningKey);

impl MachineKey {
    /// The name that the key has in its file.
    const NAME: &str = "machine";

    /// A new key.
    pub fn generate() -> Result<MachineKey, FleetError> {
        SigningKey::generate(MachineKey::NAME).map(MachineKey)
    }

    /// Its public part, as the server keeps it.
    pub fn public(&self) -> MachinePublicKey {
        MachinePublicKey(*self.0.public().bytes())
    }

    pub(crate) fn sign(&self, text: &str) -> Vec<u8> {
        self.0.sign(text)
    }

    /// The key as text, for a file that only its owner reads.
    pub fn private_text(&self) -> String {
        self.0.private_text()
    }
}

impl FromStr for MachineKey {
    type Err = FleetError;

    fn from_str(text: &str) -> Result<MachineKey, FleetError> {
        text.parse().map(MachineKey)
    }
}

/// The public part of a machine's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MachinePublicKey(pub [u8; 32]);

impl MachinePublicKey {
    /// In base64.
    pub fn to_base64(self) -> String {
        STANDARD.encode(self.0)
    }

    /// Reads base64.
    pub fn from_base64(text: &str) -> Result<MachinePublicKey, FleetError> {
        let bytes = STANDARD.decode(text).ok().and_then(|it| it.try_into().ok());
        bytes
            .map(MachinePublicKey)
            .ok_or_else(|| FleetError::malformed("`key` is not the key of a machine"))
    }
}
