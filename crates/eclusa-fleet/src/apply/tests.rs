//! What makes an answer one that counts, each thing by itself; through the program in `fleet::inbox_attacks`.

use eclusa::approve::Proof;

use super::*;

/// Whoever writes their name under it has signed it.
struct SignedByName;

impl SignerDirectory for SignedByName {
    fn verify(&self, person: &str, signed: &SignedAnswer) -> Option<Proof> {
        (signed.signature == person && signed.key == "key").then_some(Proof::Key)
    }

    fn groups(&self, person: &str) -> Vec<String> {
        if person == "bo" { vec!["release".to_owned()] } else { Vec::new() }
    }
}

fn asked() -> AskedQuestion<'static> {
    let (queue, binding, principal) = ("store", "binding", "agent");
    let requirements = Vec::new();
    AskedQuestion { queue, id: 7, binding, principal, created: 0, requirements, whole: true }
}

fn statement(queue: &str, id: u64, binding: &str, expires: u64) -> String {
    let (answer, person) = (&Answer::Once, "bo");
    Statement { queue, questions: &[id], binding, answer, person, expires }.text()
}

fn carried(statement: String) -> CarriedAnswer {
    CarriedAnswer {
        store: "store".to_owned(),
        question: 7,
        conversation: "session".to_owned(),
        answer: "once".to_owned(),
        reason: String::new(),
        person: "bo".to_owned(),
        expires: 9,
        key: "key".to_owned(),
        statement,
        signature: "bo".to_owned(),
    }
}

#[test]
fn an_answer_counts_for_one_store_question_binding_and_time() {
    let check = |text: String, now| FleetVote::check(&carried(text), &asked(), &SignedByName, now);
    let good = check(statement("store", 7, "binding", 9), 8).unwrap().into_answer();
    assert_eq!((good.by.as_str(), good.binding.as_deref()), ("bo", Some("binding")));
    assert_eq!(good.signed.unwrap().proof, Proof::Key, "as whoever checked it found out");
    for (text, now, why) in [
        (statement("other", 7, "binding", 9), 8, "another store"),
        (statement("store", 8, "binding", 9), 8, "another question"),
        (statement("store", 7, "other", 9), 8, "another binding"),
        (statement("store", 7, "binding", 9), 9, "it came too late"),
        (String::new(), 8, "another binding"),
    ] {
        let refused = check(text, now).unwrap_err();
        assert!(refused.contains(why), "{why}: {refused}");
    }
}

#[test]
fn an_answer_counts_only_by_a_key_of_its_person() {
    let refused = |change: &dyn Fn(&mut CarriedAnswer), asked: &AskedQuestion<'_>| {
        let mut carried = carried(statement("store", 7, "binding", 9));
        change(&mut carried);
        FleetVote::check(&carried, asked, &SignedByName, 8).unwrap_err()
    };
    let no_key = "no key of `bo` in the people document in force signed it";
    assert_eq!(refused(&|it| it.signature.clear(), &asked()), no_key);
    assert_eq!(refused(&|it| it.key.clear(), &asked()), no_key);
    assert_eq!(refused(&|it| it.person = "ana".to_owned(), &asked()), "somebody else signed it");
    assert!(refused(&|it| it.answer = "always".to_owned(), &asked()).starts_with("only a yes"));
    let requires = |of: &str, with| {
        let (of, then) = (vec![of.to_owned()], Vec::new());
        let it = Requirement { of, need: 1, with, separate: false, within: None, then };
        AskedQuestion { requirements: vec![it], ..asked() }
    };
    assert!(refused(&|_| {}, &requires("ops", Proof::Word)).contains("only ops"));
    assert!(refused(&|_| {}, &requires("release", Proof::Passkey)).contains("with a passkey"));
    let partly = AskedQuestion { whole: false, ..asked() };
    assert!(refused(&|_| {}, &partly).contains("not all of it could be shown"));
}

#[test]
fn an_order_says_what_was_signed() {
    let order = |text: String| {
        let mut carried = carried(text);
        carried.signature = "bo".to_owned();
        FleetOrder::check_revoke(&carried, ("store", 7), &SignedByName, 8)
    };
    assert_eq!(order(revoke_statement("store", 7, "bo", 9)).unwrap().person(), "bo");
    assert!(order(revoke_statement("store", 8, "bo", 9)).is_err());
    assert!(order(revoke_statement("other", 7, "bo", 9)).is_err());
    assert!(order(end_statement("store", "session", "bo", 9)).is_err());
    let end = carried(end_statement("store", "session", "bo", 9));
    assert!(FleetOrder::check_end(&end, ("store", "session"), &SignedByName, 8).is_ok());
    assert!(
        FleetOrder::check_end(&end, ("store", "session"), &SignedByName, 9).is_err(),
        "too late"
    );
    assert!(FleetOrder::check_end(&end, ("store", "other"), &SignedByName, 8).is_err());
}
