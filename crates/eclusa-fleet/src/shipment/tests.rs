//! What is packed comes back as it was, and nothing else is taken.

use std::io::Write as _;

use eclusa::audit::{Head, Record};
use flate2::{Compression, write::GzEncoder};

use super::{MAX_RECORDS, MAX_UNPACKED, ShipmentError, pack, unpack};

const BODY: &str = r#"{"at":1,"event":"x","v":2}"#;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

#[test]
fn a_shipment_comes_back_as_it_was() {
    let mut head = Head::default();
    let first = Record::chain(BODY.to_owned(), &mut head);
    let before = head;
    let rest: Vec<Record> = (0..3).map(|_| Record::chain(BODY.to_owned(), &mut head)).collect();
    let packed = pack(rest.iter().map(|it| it.body.as_str())).unwrap();
    assert_eq!(unpack(&packed, before), Ok(rest));
    // Behind another head the same bodies are other records.
    let other = unpack(&packed, Head::default()).unwrap();
    assert_eq!(other.first().unwrap().hash, first.hash);
    assert_ne!(other.last().unwrap().hash, head.hash);
}

#[test]
fn what_is_not_a_shipment_is_refused() {
    let head = Head::default();
    let many = [BODY; MAX_RECORDS + 1];
    let whole = pack([BODY]).unwrap();
    let mut longer = whole.clone();
    longer.push(0);
    for (packed, why) in [
        (b"plain".to_vec(), ShipmentError::NotGzip),
        (whole[..whole.len() - 3].to_vec(), ShipmentError::NotGzip),
        (longer, ShipmentError::NotGzip),
        ([whole.clone(), whole].concat(), ShipmentError::NotGzip),
        (gzip(b""), ShipmentError::Empty),
        (gzip(&[0xff, 0xfe]), ShipmentError::NotText),
        (pack(many).unwrap(), ShipmentError::TooLarge),
        (gzip(&vec![b' '; MAX_UNPACKED + 1]), ShipmentError::TooLarge),
    ] {
        assert_eq!(unpack(&packed, head), Err(why));
    }
    for body in ["{}{}", "null", "{\"v\":2, \"at\":1}", "{\"at\":1,\"at\":2,\"v\":2}"] {
        let refused = unpack(&gzip(body.as_bytes()), head);
        assert!(matches!(refused, Err(ShipmentError::NotRecords(_))), "{body}: {refused:?}");
    }
}
