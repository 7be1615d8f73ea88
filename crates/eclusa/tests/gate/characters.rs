//! Characters that draw nothing: whoever looks for them agrees on every one of them.

use std::path::Path;

use eclusa::{
    Blocked,
    workspace::{is_hidden, is_ignorable, visible},
};

#[test]
fn what_draws_nothing_is_refused_in_commands_shown_by_number_and_no_disguise_for_a_name() {
    let blocked = Blocked::default();
    let mut ignorable = 0;
    for it in '\0'..=char::MAX {
        // Commands have them behind what is an emoji, and nowhere else.
        let is_selector = matches!(it, '\u{FE00}'..='\u{FE0F}');
        let refused = !eclusa_shell::is_visible(it);
        assert!(!refused || is_hidden(it), "U+{:04X}", u32::from(it));
        if !is_ignorable(it) {
            continue;
        }
        ignorable += 1;
        assert!(is_hidden(it) && (refused || is_selector), "U+{:04X}", u32::from(it));
        assert!(!visible(&format!("a{it}b")).contains(it), "U+{:04X}", u32::from(it));
        let disguised = format!(".e{it}nv");
        assert!(blocked.by(Path::new(&disguised)).is_some(), "U+{:04X}", u32::from(it));
    }
    assert!(ignorable > 4_000, "{ignorable}");
}
