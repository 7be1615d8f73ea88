//! Which answers are enough.

use super::*;

fn vote(person: &str, groups: &[&str], proof: Proof) -> Vote {
    let groups = groups.iter().map(|it| (*it).to_owned()).collect();
    Vote { person: person.to_owned(), groups, proof, waited: Duration::ZERO }
}

fn required(of: &[&str], need: usize, with: Proof, separate: bool) -> Requirement {
    let of = of.iter().map(|it| (*it).to_owned()).collect();
    Requirement { of, need, with, separate, within: None, then: Vec::new() }
}

#[test]
fn only_different_people_who_may_answer_and_prove_it_count() {
    let two = required(&["release", "ann"], 2, Proof::Key, true);
    let bo = vote("bo", &["release"], Proof::Key);
    let ann = vote("ann", &[], Proof::Key);
    assert!(two.is_met(&[bo.clone(), ann.clone()], "cy"));
    assert!(!two.is_met(std::slice::from_ref(&bo), "cy"));
    assert!(!two.is_met(&[bo.clone(), bo.clone()], "cy"), "one person is one");
    assert!(!two.is_met(&[bo.clone(), ann.clone()], "ann"), "whoever asks does not count");
    assert!(!two.is_met(&[bo.clone(), vote("ann", &[], Proof::Word)], "cy"), "a word is no key");
    assert!(!two.is_met(&[bo, vote("eve", &["others"], Proof::Passkey)], "cy"), "not of them");
    assert!(!required(&[], 0, Proof::Word, false).is_met(&[], "cy"), "nobody is never enough");
    assert!(required(&[], 1, Proof::Word, false).is_met(&[vote("x", &[], Proof::Word)], "x"));
}

#[test]
fn after_a_while_others_may_answer_too_and_nothing_else_changes() {
    let leads = Escalation { after: Duration::from_secs(300), of: vec!["leads".to_owned()] };
    let two = required(&["release"], 2, Proof::Key, true);
    let two = Requirement { then: vec![leads], ..two };
    let after = |vote: Vote, seconds| Vote { waited: Duration::from_secs(seconds), ..vote };
    let bo = vote("bo", &["release"], Proof::Key);
    let lea = vote("lea", &["leads"], Proof::Key);
    assert!(!two.is_met(&[bo.clone(), after(lea.clone(), 299)], "cy"), "not yet");
    assert!(two.is_met(&[bo.clone(), after(lea.clone(), 300)], "cy"));
    let word = Vote { proof: Proof::Word, ..lea.clone() };
    assert!(!two.is_met(&[bo.clone(), after(word, 300)], "cy"), "a word is still no key");
    assert!(!two.is_met(&[bo.clone(), after(lea.clone(), 300)], "lea"), "whoever asks");
    assert!(!two.is_met(&[bo.clone(), after(vote("eve", &["x"], Proof::Key), 900)], "cy"));
    let why = two.refusal(&lea, "cy").unwrap();
    assert_eq!(why, "only release can answer this; you can 300 s after it was asked");
    assert!(two.to_string().ends_with(", after 300 s also leads"), "{two}");
    let free = Requirement { of: Vec::new(), ..two };
    assert!(free.refusal(&vote("x", &[], Proof::Key), "cy").is_none(), "anybody stays anybody");
}
