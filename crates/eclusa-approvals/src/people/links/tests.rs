//! Links are for one person, once, in time.

use tempfile::TempDir;

use super::*;

#[test]
fn a_link_lets_its_person_in_once_and_in_time() {
    let directory = TempDir::new().unwrap();
    let people = People::new(directory.path().join("people"));
    let code = people.add_link("ana", 1_000, 2_000).unwrap();
    assert_eq!(people.redeem_link("another", 1_500).unwrap(), None);
    assert_eq!(people.redeem_link(&code, 1_500).unwrap().as_deref(), Some("ana"));
    assert_eq!(people.redeem_link(&code, 1_500).unwrap(), None, "it was used");
    let late = people.add_link("ana", 1_000, 2_000).unwrap();
    assert_eq!(people.redeem_link(&late, 2_000).unwrap(), None);
    let kept = std::fs::read_to_string(directory.path().join("people")).unwrap();
    assert!(!kept.contains(&late), "{kept}");
}

#[test]
fn whoever_is_removed_has_no_link_left_and_not_everything_is_kept() {
    let directory = TempDir::new().unwrap();
    let people = People::new(directory.path().join("people"));
    people.add_groups("ana", &[]).unwrap();
    let code = people.add_link("ana", 1_000, 2_000).unwrap();
    people.remove("ana", 1_200).unwrap();
    assert_eq!(people.redeem_link(&code, 1_500).unwrap(), None);
    let first = people.add_link("bo", 1_000, 2_000).unwrap();
    for _ in 0..MAX_LINKS {
        people.add_link("bo", 1_000, 2_000).unwrap();
    }
    assert_eq!(people.redeem_link(&first, 1_500).unwrap(), None, "the oldest go");
    assert_eq!(people.read().unwrap().links.len(), MAX_LINKS);
}
