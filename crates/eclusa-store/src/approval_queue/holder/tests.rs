//! Only what is known to have ended has ended.

use super::*;

#[test]
fn only_a_process_that_is_known_to_have_ended_has_ended() {
    assert!(!has_ended(this_process()));
    for nobody_knows in ["", "x", "1:2", "nobody:1:2", "1::2", "1:2:"] {
        assert!(!has_ended(nobody_knows), "{nobody_knows}");
    }
    if let Some(space) = namespace() {
        assert!(
            has_ended(&format!("{}:1:{space}", std::process::id())),
            "another one had it before"
        );
        assert!(has_ended(&format!("{}:1:{space}", u32::MAX)));
        assert!(!has_ended(&format!("{}:1:{space}0", u32::MAX)), "in another namespace");
    }
}
