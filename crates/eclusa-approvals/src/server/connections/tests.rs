//! Who makes room for whom.

use super::Connections;

#[test]
fn the_oldest_stranger_makes_room_and_nobody_who_is_known_does() {
    let connections = Connections::new(2);
    let first = connections.admit().unwrap();
    let second = connections.admit().unwrap();
    first.connection().prove();
    let third = connections.admit().unwrap();
    third.connection().prove();
    assert!(connections.admit().is_none(), "everybody is known");
    drop(second);
    assert!(connections.admit().is_none(), "it had made room before");
    drop(third);
    assert!(connections.admit().is_some());
}
