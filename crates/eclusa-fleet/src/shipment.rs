//! Shipments: consecutive records of one chain, sent at once, and what of them a server takes.

use std::io::{Read as _, Write as _};

use eclusa::audit::{Broken, Head, Record, Verifier};
use flate2::{Compression, bufread::GzDecoder, write::GzEncoder};

/// How many records a shipment has at most.
pub const MAX_RECORDS: usize = 1_000;

/// The largest shipment as it is sent, in bytes.
pub const MAX_SHIPMENT: usize = 4 << 20;

/// The largest shipment once it is decompressed, in bytes.
pub const MAX_UNPACKED: usize = 32 << 20;

/// Why a shipment is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShipmentError {
    /// It is not compressed as it should be.
    #[error("the shipment is not one whole gzip stream; send it again")]
    NotGzip,
    /// It is too large.
    #[error("the shipment holds more than {MAX_RECORDS} records or 32 MiB; send fewer at once")]
    TooLarge,
    /// There is nothing in it.
    #[error("the shipment holds no record")]
    Empty,
    /// A record in it is not one.
    #[error("the shipment cannot be kept: {0}")]
    NotRecords(#[from] Broken),
    /// It is not text.
    #[error("the shipment is not UTF-8")]
    NotText,
}

/// Compresses the bodies of records, byte for byte as they lie in the log.
pub fn pack<'a>(bodies: impl IntoIterator<Item = &'a str>) -> std::io::Result<Vec<u8>> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    for (at, body) in bodies.into_iter().enumerate() {
        if at > 0 {
            packed.write_all(b"\n")?;
        }
        packed.write_all(body.as_bytes())?;
    }
    packed.finish()
}

/// The records of a shipment that begins behind this head: every hash is computed here, from the bytes that came.
pub fn unpack(packed: &[u8], before: Head) -> Result<Vec<Record>, ShipmentError> {
    let mut reader = GzDecoder::new(packed);
    let mut text = Vec::new();
    let max = u64::try_from(MAX_UNPACKED).unwrap_or(u64::MAX);
    // The reader stops there, whatever the stream would become.
    (&mut reader).take(max + 1).read_to_end(&mut text).map_err(|_| ShipmentError::NotGzip)?;
    if text.len() > MAX_UNPACKED {
        return Err(ShipmentError::TooLarge);
    }
    if !reader.into_inner().is_empty() {
        return Err(ShipmentError::NotGzip);
    }
    let text = String::from_utf8(text).map_err(|_| ShipmentError::NotText)?;
    if text.is_empty() {
        return Err(ShipmentError::Empty);
    }
    let (mut head, mut verifier) = (before, Verifier::after(before));
    let mut records = Vec::new();
    for body in text.split('\n') {
        if records.len() == MAX_RECORDS {
            return Err(ShipmentError::TooLarge);
        }
        if !body.starts_with('{') {
            return Err(Broken::Form { seq: head.seq + 1 }.into());
        }
        let record = Record::chain(body.to_owned(), &mut head);
        verifier.next(&record)?;
        records.push(record);
    }
    Ok(records)
}

#[cfg(test)]
mod tests;
