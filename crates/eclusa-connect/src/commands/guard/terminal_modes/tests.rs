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

/// Whatever a program writes before, a question that comes after it is seen whole and as it is, on a
/// screen that holds nothing else.
#[test]
fn nothing_written_before_has_a_say_in_how_a_question_looks() {
    let hostile = [
        "\x1b[23;24r\x1b[23;1H",
        "\x1b[8m",
        "\x1b(0\x0e\x1b)0",
        "\x1b[4h",
        "\x1b[?6h\x1b[5;6r",
        "\x1b[?1049h\x1b[2;3r",
        "\x1b[?47h",
        "\x1b[?7l\x1b[1;79H",
        "\x1b]0;a title that never ends",
        "\x1bPa string that never ends",
        "\x1b_another",
        "\x1b[?2026h",
        "\x1b[31;41",
        "\u{9b}8m\u{9b}?1049h",
        "\x1b[30;40m\x1b[?5h",
    ];
    let question = "tool: bash\r\ncommand | rm -r src\r\nRun it? [y/n] ";
    for text in hostile {
        let text = format!("tool: read\r\npath | README.md{text}");
        let mut modes = TerminalModes::default();
        modes.read(text.as_bytes());
        let mut screen = avt::Terminal::new(80, 24).unwrap();
        for part in [text.as_str(), &modes.make_room(), question] {
            screen.feed(part);
        }
        let seen: Vec<String> =
            screen.screen().visible_lines().map(|it| it.text().trim_end().to_owned()).collect();
        let seen = seen.join("\n");
        assert_eq!(seen.trim_end(), question.replace('\r', "").trim_end(), "{text:?}");
        let plain = |it: &avt::Cell| it.pen().foreground().is_none() && !it.pen().is_inverse();
        assert!(
            screen.screen().visible_lines().all(|line| line.cells().iter().all(plain)),
            "{text:?}"
        );
    }
}
