//! What a server, a network or a single key cannot do to a machine: each tried.

use super::world::{DAY, Fleet, NOW, begin, policy, take};
use crate::{
    Author, DocumentBundle, DocumentKind, EnrolmentCode, FleetAnchor, FleetError, Membership,
    PolicyPayload, Rotation, SigningKey, SigningRole, TakenDocuments,
};

fn text_of(machine: &Membership) -> String {
    machine.files().into_iter().map(|it| it.text).collect()
}

#[test]
fn a_machine_takes_what_is_signed_and_newer() {
    let mut fleet = Fleet::new("acme", 1);
    let anchor = fleet.anchor();
    assert_eq!(fleet.push("mode = \"confirm-all\""), 1);
    let machine = fleet.machine();
    assert_eq!(text_of(&machine), "mode = \"confirm-all\"");
    assert_eq!(take(&machine, fleet.published(), &anchor).unwrap().1, TakenDocuments::Unchanged);
    assert_eq!(fleet.push("# two"), 2);
    let (machine, taken) = take(&machine, fleet.published(), &anchor).unwrap();
    assert_eq!((text_of(&machine).as_str(), taken), ("# two", TakenDocuments::Newer));
    // What is kept is read back, and checked again.
    let again = Membership::load(&machine.to_text(), &anchor).unwrap();
    assert_eq!(again.policy().heading(), machine.policy().heading());
    assert_eq!(again.stale(NOW), None);
}

#[test]
fn too_few_signatures_are_refused() {
    let mut fleet = Fleet::new("acme", 2);
    fleet.push("# one");
    let (machine, anchor) = (fleet.machine(), fleet.anchor());
    let one = fleet.only(&["acme-policy-0"]);
    fleet.author.policy(&policy("# two"), NOW + DAY, &one).unwrap();
    let refused = take(&machine, fleet.published(), &anchor).unwrap_err();
    assert!(
        matches!(refused, FleetError::TooFewSignatures { found: 1, need: 2, version: 2, .. }),
        "{refused}"
    );
    // The same key again is not a second one.
    assert!(fleet.author.cosign(&one[0]).is_err());
    // Another one is.
    let two = fleet.only(&["acme-policy-2"]);
    assert_eq!(fleet.author.cosign(&two[0]).unwrap(), [DocumentKind::Policy]);
    assert_eq!(text_of(&take(&machine, fleet.published(), &anchor).unwrap().0), "# two");
}

#[test]
fn a_key_of_another_role_signs_nothing() {
    let mut fleet = Fleet::new("acme", 1);
    fleet.push("# one");
    let (machine, anchor) = (fleet.machine(), fleet.anchor());
    for other in ["acme-people-0", "acme-enroll-0", "acme-root-0"] {
        let key = fleet.only(&[other]);
        assert!(fleet.author.policy(&policy("# two"), NOW + DAY, &key).is_err(), "{other}");
        // Signed all the same, by somebody who leaves our check out.
        let mut forged = fleet.published();
        forged.policy = Some(forge(&fleet, &key, 2));
        let refused = take(&machine, forged, &anchor).unwrap_err();
        assert!(matches!(refused, FleetError::TooFewSignatures { found: 0, .. }), "{refused}");
    }
}

fn forge(fleet: &Fleet, keys: &[SigningKey], version: u64) -> crate::SignedDocument {
    let keys: Vec<&SigningKey> = keys.iter().collect();
    let (name, payload) = (&fleet.author.root().name, policy("# forged").to_text());
    crate::SignedDocument::sign(name, DocumentKind::Policy, (version, NOW + DAY), payload, &keys)
}

#[test]
fn a_signature_over_another_text_counts_for_nothing() {
    let mut fleet = Fleet::new("acme", 1);
    fleet.push("# one");
    let (machine, anchor) = (fleet.machine(), fleet.anchor());
    let text = fleet.author.bundle().to_text();
    for (from, to) in [
        ("acme policy\\nversion 1", "acme policy\\nversion 7"),
        ("expires 2027-01-29", "expires 2037-01-29"),
    ] {
        assert!(text.contains(from), "{text}");
        let changed = DocumentBundle::parse(&text.replace(from, to)).unwrap();
        let refused = take(&machine, changed, &anchor).unwrap_err();
        assert!(matches!(refused, FleetError::TooFewSignatures { found: 0, .. }), "{refused}");
    }
}

#[test]
fn a_swapped_payload_is_refused() {
    let mut fleet = Fleet::new("acme", 1);
    fleet.push("mode = \"confirm-all\"");
    let text = fleet.author.bundle().to_text().replace("confirm-all", "yolo");
    let refused = begin(DocumentBundle::parse(&text).unwrap(), &fleet.anchor()).unwrap_err();
    assert_eq!(refused, FleetError::OtherPayload(DocumentKind::Policy));
    let (machine, anchor) = (fleet.machine(), fleet.anchor());
    // Nor is it loaded where somebody changed the file on the machine.
    let kept = machine.to_text().replace("confirm-all", "yolo");
    assert_eq!(Membership::load(&kept, &anchor).unwrap_err(), refused);
}

#[test]
fn an_older_version_is_refused_and_so_is_another_text_of_the_same() {
    let mut fleet = Fleet::new("acme", 1);
    fleet.push("# one");
    let old = fleet.published();
    fleet.push("# two");
    let (machine, anchor) = (fleet.machine(), fleet.anchor());
    let refused = take(&machine, old, &anchor).unwrap_err();
    assert_eq!(refused, FleetError::Rollback { kind: DocumentKind::Policy, found: 1, held: 2 });
    let mut twin = fleet.published();
    twin.policy = Some(forge(&fleet, &fleet.only(&["acme-policy-0"]), 2));
    assert!(matches!(take(&machine, twin, &anchor), Err(FleetError::Rollback { .. })));
    // Nor is anything left out that was there.
    let mut without = fleet.published();
    without.policy = None;
    assert_eq!(
        take(&machine, without, &anchor).unwrap_err(),
        FleetError::Missing(DocumentKind::Policy)
    );
}

#[test]
fn an_expired_document_is_not_taken_and_makes_a_machine_stale() {
    let mut fleet = Fleet::new("acme", 1);
    fleet.push_until("# one", NOW + DAY);
    let (machine, anchor) = (fleet.machine(), fleet.anchor());
    assert_eq!(machine.stale(NOW + DAY - 1), None);
    let why = machine.stale(NOW + DAY).unwrap();
    assert!(why.starts_with("policy 1 expired at 2027-01-16T08:00:00Z"), "{why}");
    // The rules stay what they are.
    assert_eq!(text_of(&machine), "# one");
    fleet.push_until("# two", NOW);
    let refused = take(&machine, fleet.published(), &anchor).unwrap_err();
    assert!(matches!(refused, FleetError::Expired { version: 2, .. }), "{refused}");
    let version = fleet.author.renew(DocumentKind::Policy, NOW + DAY, &fleet.keys).unwrap();
    assert_eq!(version, 3);
    assert_eq!(text_of(&take(&machine, fleet.published(), &anchor).unwrap().0), "# two");
}

#[test]
fn an_expired_root_is_not_taken_and_makes_a_machine_stale() {
    let mut fleet = Fleet::new("acme", 1);
    fleet.push_until("# one", NOW + 2_000 * DAY);
    let (late, anchor) = (NOW + 1_000 * DAY, fleet.anchor());
    let machine = fleet.machine();
    assert_eq!(machine.stale(late - 1), None);
    assert!(machine.stale(late).unwrap().starts_with("root 1 expired at "));
    let refused =
        Membership::begin(fleet.published(), None, &anchor, (late, "0.4.0"), |_, _| Ok(()));
    assert!(matches!(refused, Err(FleetError::Expired { kind: DocumentKind::Root, .. })));
}

#[test]
fn a_clock_that_is_turned_back_makes_a_machine_stale() {
    let mut fleet = Fleet::new("acme", 1);
    fleet.push("# one");
    let machine = fleet.machine();
    assert_eq!(machine.stale(NOW - 60_000), None);
    let why = machine.stale(NOW - DAY).unwrap();
    assert!(why.contains("the clock is before"), "{why}");
}

#[test]
fn documents_of_another_fleet_and_of_another_kind_are_refused() {
    let (mut fleet, mut other) = (Fleet::new("acme", 1), Fleet::new("evil", 1));
    fleet.push("# one");
    other.push("# two");
    let (machine, anchor) = (fleet.machine(), fleet.anchor());
    let refused = take(&machine, other.published(), &anchor).unwrap_err();
    assert!(matches!(refused, FleetError::OtherRoot(_)), "{refused}");
    let mut mixed = fleet.published();
    mixed.policy = other.published().policy;
    let refused = take(&machine, mixed, &anchor).unwrap_err();
    assert!(matches!(refused, FleetError::OtherFleet { .. }), "{refused}");
    // A fleet of the same name has another root.
    let mut twin = Fleet::new("acme", 1);
    twin.push("# three");
    assert!(matches!(take(&machine, twin.published(), &anchor), Err(FleetError::OtherRoot(_))));
    let mut swapped = fleet.published();
    swapped.policy = swapped.roots.first().cloned();
    let refused = take(&machine, swapped, &anchor).unwrap_err();
    assert!(matches!(refused, FleetError::OtherKind { .. }), "{refused}");
    // The name is pinned, too.
    let named = FleetAnchor { name: "other".into(), ..anchor };
    assert!(matches!(
        Membership::load(&machine.to_text(), &named),
        Err(FleetError::OtherFleet { .. })
    ));
}

#[test]
fn a_new_root_needs_the_keys_of_the_old_one_and_of_itself() {
    let mut fleet = Fleet::new("acme", 1);
    fleet.push("# one");
    let (machine, anchor) = (fleet.machine(), fleet.anchor());
    let new = SigningKey::generate("acme-root-new").unwrap();
    let add = || Some(new.public().clone());
    let change = || Rotation { add: add(), need: Some(2), ..Rotation::default() };
    let times = (NOW + 1_000 * DAY, NOW + DAY);
    let role = SigningRole::Root;
    // Its own keys alone, then too few of its own.
    let own = [SigningKey::generate("acme-root-new").unwrap()];
    assert!(fleet.author.rotate(role, change(), times, &own).is_err());
    let old = fleet.only(&["acme-root-0"]);
    assert!(fleet.author.rotate(role, change(), times, &old).is_err());
    // A root that only its own keys signed is refused by machines as well.
    let mut forged = fleet.published();
    let stranger = Fleet::new("acme", 1);
    forged.roots.extend(stranger.published().roots);
    assert!(matches!(take(&machine, forged, &anchor), Err(FleetError::BrokenRoots { .. })));
    // So is the next one of somebody else, and one that leaves another out.
    let next = |fleet: &mut Fleet| {
        let change = Rotation { need: Some(1), ..Rotation::default() };
        let keys = fleet.only(&["acme-root-0"]);
        fleet.author.rotate(SigningRole::Enroll, change, times, &keys).unwrap();
        fleet.published().roots
    };
    let mut stranger = stranger;
    let mut forged = fleet.published();
    forged.roots.extend(next(&mut stranger).pop());
    let refused = take(&machine, forged, &anchor).unwrap_err();
    assert!(matches!(refused, FleetError::BrokenRoots { found: 2, .. }), "{refused}");
    let mut other = Fleet { author: Author::open(fleet.published()).unwrap(), keys: Vec::new() };
    other.keys = fleet.only(&["acme-root-0"]);
    next(&mut other);
    let mut skipped = fleet.published();
    skipped.roots.extend(next(&mut other).pop());
    let refused = take(&machine, skipped, &anchor).unwrap_err();
    assert!(refused.to_string().contains("its version is not the next one"), "{refused}");
    let mut both = fleet.only(&["acme-root-0", "acme-policy-0"]);
    both.push(new.private_text().parse().unwrap());
    assert_eq!(fleet.author.rotate(role, change(), times, &both).unwrap(), 2);
    let (machine, _) = take(&machine, fleet.published(), &anchor).unwrap();
    assert_eq!(machine.root().version, 2);
    // A machine that was away finds its pinned root in the bundle, and one never goes back.
    assert!(begin(fleet.published(), &anchor).is_ok());
    let mut old = fleet.published();
    old.roots.pop();
    let refused = take(&machine, old, &anchor).unwrap_err();
    assert_eq!(refused, FleetError::Rollback { kind: DocumentKind::Root, found: 1, held: 2 });
}

#[test]
fn a_stolen_key_does_not_lock_the_fleet_out() {
    let mut fleet = Fleet::new("acme", 1);
    fleet.push("# one");
    let anchor = fleet.anchor();
    let mut stolen = fleet.published();
    stolen.policy = Some(forge(&fleet, &fleet.only(&["acme-policy-0"]), 999_999));
    let (machine, _) = take(&fleet.machine(), stolen, &anchor).unwrap();
    let new = SigningKey::generate("acme-policy-new").unwrap();
    let change = Rotation {
        add: Some(new.public().clone()),
        remove: Some("acme-policy-0".to_owned()),
        need: None,
    };
    let mut keys = fleet.only(&["acme-root-0"]);
    keys.push(new);
    let times = (NOW + 1_000 * DAY, NOW + DAY);
    fleet.author.rotate(SigningRole::Policy, change, times, &keys).unwrap();
    let (machine, _) = take(&machine, fleet.published(), &anchor).unwrap();
    assert_eq!((machine.policy().heading().version, text_of(&machine).as_str()), (2, "# one"));
    // The stolen key signs nothing any more.
    let mut again = fleet.published();
    again.policy = Some(forge(&fleet, &fleet.only(&["acme-policy-0"]), 1_000_000));
    assert!(matches!(
        take(&machine, again, &anchor),
        Err(FleetError::TooFewSignatures { found: 0, .. })
    ));
}

#[test]
fn labels_come_from_the_signed_invite_alone() {
    let mut fleet = Fleet::new("acme", 1);
    let files = [
        ("all.toml", "# all"),
        ("team/web.toml", "[fleet]\nfor = { team = \"web\" }"),
        ("team/ci.toml", "[fleet]\nfor = { team = \"web\", pool = \"ci\" }"),
    ];
    let files = files.into_iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
    let payload = PolicyPayload { files, ..PolicyPayload::default() };
    fleet.author.policy(&payload, NOW + DAY, &fleet.keys).unwrap();
    let anchor = fleet.anchor();
    let enrol = |invite| {
        Membership::begin(fleet.published(), invite, &anchor, (NOW, "0.4.0"), |_, _| Ok(()))
    };
    let names =
        |it: &Membership| -> Vec<String> { it.files().into_iter().map(|it| it.name).collect() };
    assert_eq!(names(&enrol(None).unwrap()), ["all.toml"]);
    let machine = enrol(Some(fleet.invite(&[("team", "web")]))).unwrap();
    assert_eq!(names(&machine), ["all.toml", "team/web.toml"]);
    let kept = machine.to_text().replace("team=web", "team=ops");
    assert_eq!(
        Membership::load(&kept, &anchor).unwrap_err(),
        FleetError::OtherPayload(DocumentKind::Invite)
    );
    let stranger = Fleet::new("acme", 1).invite(&[("team", "web"), ("pool", "ci")]);
    assert!(matches!(enrol(Some(stranger)), Err(FleetError::TooFewSignatures { .. })));
    // It is good for enrolling until it expires, and says what the machine is for ever.
    let invite = fleet.invite(&[("team", "web")]);
    let late = Membership::begin(
        fleet.published(),
        Some(invite),
        &anchor,
        (NOW + DAY, "0.4.0"),
        |_, _| Ok(()),
    );
    assert!(matches!(late, Err(FleetError::Expired { kind: DocumentKind::Invite, .. })));
    assert_eq!(names(&Membership::load(&machine.to_text(), &anchor).unwrap()).len(), 2);
}

#[test]
fn a_policy_that_the_machine_cannot_use_is_not_put_in_force() {
    let mut fleet = Fleet::new("acme", 1);
    fleet.push("# one");
    let (machine, anchor) = (fleet.machine(), fleet.anchor());
    fleet.push("mdoe = 1");
    let refused = machine
        .take(fleet.published(), &anchor, (NOW, "0.4.0"), |_, _| Err("unknown key".into()))
        .unwrap_err();
    assert_eq!(refused.to_string(), "policy 2 cannot be loaded: unknown key");
    let payload = PolicyPayload { needs: Some("0.5".into()), ..policy("# three") };
    fleet.author.policy(&payload, NOW + DAY, &fleet.keys).unwrap();
    let refused = take(&machine, fleet.published(), &anchor).unwrap_err();
    assert!(matches!(refused, FleetError::NewerProgram { version: 3, .. }), "{refused}");
    let payload = PolicyPayload { people_min: Some(1), ..policy("# four") };
    fleet.author.policy(&payload, NOW + DAY, &fleet.keys).unwrap();
    let refused = take(&machine, fleet.published(), &anchor).unwrap_err();
    assert_eq!(refused, FleetError::OlderPeople { version: 4, needs: 1 });
    fleet.author.people(&crate::PeoplePayload::default(), NOW + DAY, &fleet.keys).unwrap();
    let (machine, _) = take(&machine, fleet.published(), &anchor).unwrap();
    assert_eq!(machine.policy().heading().version, 4);
}

#[test]
fn a_code_carries_everything_that_a_machine_needs() {
    let mut fleet = Fleet::new("acme", 1);
    fleet.push("# one");
    let code = EnrolmentCode {
        fleet: "acme".into(),
        from: "https://fleet.example/documents.json".into(),
        root: fleet.anchor().root.to_string(),
        invite: fleet.invite(&[("team", "web")]),
        secret: "secret".into(),
        server: None,
    };
    assert_eq!(code.to_string().parse(), Ok(code.clone()));
    assert!(
        code.to_string().trim_end_matches('f').get(1..).unwrap().parse::<EnrolmentCode>().is_err()
    );
}
