//! Any bytes for the readers, and one spelling for everything that is signed.

use proptest::prelude::*;

use super::world::{Fleet, NOW};
use crate::{
    Digest, DocumentBundle, EnrolmentCode, FleetAnchor, Heading, Invite, Membership, PublicKey,
    SignedNote, SigningKey, parse_time, time_text,
};

/// Lines that a document could have, and others.
fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("acme policy".to_owned()),
        Just("version 1".to_owned()),
        Just("version 01".to_owned()),
        Just("expires 2026-12-01T00:00:00Z".to_owned()),
        Just(format!("sha256 {}", Digest::compute(b""))),
        Just(String::new()),
        Just("— acme AAAAAAAA".to_owned()),
        "\\PC{0,20}",
        "[ -~\\n\\r\\t]{0,20}",
    ]
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(lines in proptest::collection::vec(line(), 0..8)) {
        let text = lines.join("\n") + "\n";
        if let Ok(it) = text.parse::<Heading>() {
            prop_assert_eq!(it.to_string(), text.as_str());
        }
        if let Ok(it) = text.parse::<SignedNote>() {
            prop_assert_eq!(it.to_string(), text.as_str());
        }
        if let Ok(it) = text.parse::<Invite>() {
            prop_assert_eq!(it.to_string(), text.as_str());
        }
        let _ = text.parse::<PublicKey>();
        let _ = text.parse::<SigningKey>();
        let _ = text.parse::<EnrolmentCode>();
        let _ = DocumentBundle::parse(&text);
        let _ = FleetAnchor::parse(&text);
        let _ = parse_time(&text);
    }

    #[test]
    fn times_have_one_spelling(seconds in 0_u64..253_402_300_800) {
        let text = time_text(seconds * 1_000);
        prop_assert_eq!(parse_time(&text), Some(seconds * 1_000));
    }

    #[test]
    fn no_byte_of_what_a_machine_keeps_can_change(at in 0_usize..4_000, to in 0_u8..128) {
        let (kept, anchor, held) = KEPT.with(Clone::clone);
        let mut bytes = kept.clone().into_bytes();
        let at = at % bytes.len();
        bytes[at] = to;
        let changed = String::from_utf8_lossy(&bytes).into_owned();
        // Either it is refused, or what counts is as it was: a blank, or a time that is ours.
        if let Ok(it) = Membership::load(&changed, &anchor) {
            prop_assert_eq!(it.policy().heading(), held.policy().heading());
            prop_assert_eq!(it.files(), held.files());
            prop_assert_eq!(it.root(), held.root());
            prop_assert_eq!(it.labels(), held.labels());
        }
    }
}

thread_local! {
    static KEPT: (String, FleetAnchor, Membership) = {
        let mut fleet = Fleet::new("acme", 1);
        fleet.push("mode = \"confirm-all\"");
        let (anchor, invite) = (fleet.anchor(), fleet.invite(&[("team", "web")]));
        let machine = Membership::begin(
            fleet.published(), Some(invite), &anchor, (NOW, "0.4.0"), |_, _| Ok(()),
        ).unwrap();
        (machine.to_text(), anchor, machine)
    };
}

#[test]
fn a_key_is_known_by_its_name_and_its_bytes() {
    let key = SigningKey::generate("lea-2026").unwrap();
    let text = key.public().to_string();
    assert_eq!(text.parse::<PublicKey>().unwrap(), *key.public());
    assert!(text.replace("lea", "eve").parse::<PublicKey>().is_err(), "the id is of the name");
    assert!(SigningKey::generate("a b").is_err() && SigningKey::generate("a+b").is_err());
}

#[test]
fn one_key_under_two_names_does_not_count_twice() {
    let fleet = Fleet::new("acme", 1);
    let key = fleet.key("acme-policy-0");
    let twin: SigningKey =
        key.private_text().replace("acme-policy-0", "acme-policy-x").parse().unwrap();
    let mut roles = fleet.author.root().roles().clone();
    let policy = roles.get_mut(&crate::SigningRole::Policy).unwrap();
    policy.keys.push(twin.public().clone());
    let payload = crate::FleetRoot::payload("acme", &[], &roles).unwrap();
    let refused = crate::FleetRoot::parse(&payload, 1, NOW).unwrap_err().to_string();
    assert!(refused.contains("twice"), "{refused}");
}
