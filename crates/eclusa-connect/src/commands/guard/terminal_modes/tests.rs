//! Modes, however what says them is cut.

use super::TerminalModes;

#[test]
fn modes_are_left_and_come_back_to_wherever_the_text_is_cut() {
    let text = b"\x1b[?1049h\x1b[2J\x1b[?25l\x1b[?1000;1006h hello \x1b[?2004h\x1b[31m\x1b[?2004l";
    for cut in 0..text.len() {
        let mut modes = TerminalModes::default();
        modes.read(&text[..cut]);
        modes.read(&text[cut..]);
        let leave = "\x1b[?1049l\x1b[?1006l\x1b[?1000l\x1b[?25h";
        let enter = "\x1b[?1000h\x1b[?1006h\x1b[?1049h\x1b[?25l";
        assert_eq!((modes.leave().as_str(), modes.enter().as_str()), (leave, enter), "cut {cut}");
    }
    let mut quiet = TerminalModes::default();
    quiet.read(b"plain \x1b[1mtext\x1b[0m \x1b[?25l\x1b[?25h \x1b[?99999999999h");
    assert_eq!(quiet.enter(), "\x1b[?65535h");
}
