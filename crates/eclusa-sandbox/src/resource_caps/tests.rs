//! What a control group says of its memory.

use super::out_of_memory;

#[test]
fn a_kill_for_memory_is_told_by_the_group() {
    let events = |kills: u32| format!("low 0\nmax 7\noom 3\noom_kill {kills}\noom_group_kill 0\n");
    assert!(out_of_memory(&events(1)) && !out_of_memory(&events(0)));
    assert!(!out_of_memory(""), "a group without the controller");
}
