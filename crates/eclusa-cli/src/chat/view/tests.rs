//! What a chat looks like, at three widths, on a terminal in memory.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::{CallEnd, EndedCall, Status, View};
use crate::{
    chat::scrollback::{Scrollback, Size},
    screen::{Paint, Style, sanitize},
};

/// A chat in the middle of its work, as a terminal of this width shows it.
fn screen(columns: usize) -> String {
    let now = Instant::now();
    let mut view = View::new(Paint::never(), columns);
    let status = ["coder", "pro", "confirm-sensitive"].map(str::to_owned).to_vec();
    view.status = Status {
        names: status,
        context: Some((38, 200_000)),
        cost: Some("0.14 USD".to_owned()),
        taint: Some("the web".to_owned()),
    };
    view.say(Style::Faint, "session k3f9q2; /help lists the commands");
    view.person_said("make the parser skip comments, and test it");
    view.wait_for("waiting for the model", now);
    view.model_wrote("I look at the **parser** first.\n");
    let time = Duration::from_millis(3);
    for (id, tool, about, outcome, note, number) in [
        ("1", "read", "src/parse.rs", CallEnd::Done, "", 41),
        ("2", "bash", "cargo add nom", CallEnd::Refused, "denied: no network", 43),
    ] {
        view.call_began(id, tool, about, now);
        view.call_ended(id, &EndedCall { outcome, note, time, number: Some(number) });
    }
    view.call_began("3", "bash", "cargo test parse", now);
    view.call_progress("3", "running 31 tests");
    view.set_queued(vec!["also update the changelog".to_owned()]);
    for it in "and then the docs, please\nall of them".chars() {
        view.composer.insert(it);
    }
    let (finished, block) = view.frame(now + Duration::from_secs(12));
    let mut terminal = avt::Terminal::new(columns, 20).unwrap();
    let mut drawn = Vec::new();
    Scrollback::new(&mut drawn).draw(&finished, &block, Size { columns, rows: 20 }).unwrap();
    terminal.feed(std::str::from_utf8(&drawn).unwrap());
    let cursor = terminal.cursor_position();
    let lines = terminal.primary_screen().text();
    let lines: Vec<&str> = lines.iter().map(|it| it.trim_end()).collect();
    format!("{}\ncursor: {}, {}", lines.join("\n").trim_end(), cursor.row, cursor.col)
}

#[test]
fn a_chat_on_a_narrow_terminal() {
    insta::assert_snapshot!(screen(40), @r#"
session k3f9q2; /help lists the commands

you › make the parser skip comments, and
      test it
  I look at the parser first.
  ✓ read   src/parse.rs        3 ms  #41
  ✗ bash   car…  denied: no network  #43
  ⋯ bash   cargo test parse  12 s  run…
  then: also update the changelog  (↑ …

› and then the docs, please
  all of them
  coder · pro · confirm-sensitive · 38…
cursor: 11, 13
"#);
}

#[test]
fn a_chat_on_a_usual_terminal() {
    insta::assert_snapshot!(screen(80), @r#"
session k3f9q2; /help lists the commands

you › make the parser skip comments, and test it
  I look at the parser first.
  ✓ read   src/parse.rs                                                3 ms  #41
  ✗ bash   cargo add nom                                 denied: no network  #43
  ⋯ bash   cargo test parse  12 s  running 31 tests
  then: also update the changelog  (↑ takes it back)

› and then the docs, please
  all of them
  coder · pro · confirm-sensitive · 38 % of 200k · 0.14 USD · text from outsid…
cursor: 10, 13
"#);
}

#[test]
fn a_chat_on_a_wide_terminal() {
    insta::assert_snapshot!(screen(200), @r#"
session k3f9q2; /help lists the commands

you › make the parser skip comments, and test it
  I look at the parser first.
  ✓ read   src/parse.rs                                                                    3 ms  #41
  ✗ bash   cargo add nom                                                     denied: no network  #43
  ⋯ bash   cargo test parse  12 s  running 31 tests
  then: also update the changelog  (↑ takes it back)

› and then the docs, please
  all of them
  coder · pro · confirm-sensitive · 38 % of 200k · 0.14 USD · text from outside: the web
cursor: 10, 13
"#);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    /// Names, arguments, words: what others wrote is shown and never obeyed by the terminal.
    #[test]
    fn whatever_is_written_the_terminal_obeys_none_of_it(
        pieces in prop::collection::vec(
            prop_oneof![
                any::<String>(),
                prop::sample::select(vec![
                    "\x1b[2J", "\x1b]0;title\x07", "\u{9b}1A", "\r", "\n", "\u{202e}", "**", "`", "```",
                    "- ", "> ", "# ", "| a | b |", "\t", "✅", "字", "https://example.org/",
                ]).prop_map(str::to_owned),
            ],
            0..24,
        ),
        columns in 4usize..120,
    ) {
        let (now, mut view) = (Instant::now(), View::new(Paint::never(), columns));
        let text = sanitize(&pieces.concat());
        view.person_said(&text);
        view.call_began("1", &text, &text, now);
        view.call_progress("1", &text);
        let (time, number) = (Duration::ZERO, Some(1));
        view.print_call(&text, &text, &EndedCall { outcome: CallEnd::Failed, note: &text, time, number });
        view.set_queued(vec![text.clone()]);
        view.composer.paste(&pieces.concat());
        let (mut rows, _) = view.frame(now);
        for piece in &pieces {
            view.model_wrote(&sanitize(piece));
            let (finished, block) = view.frame(now);
            rows.extend(finished.into_iter().chain(block.rows));
        }
        view.end_text();
        rows.extend(view.frame(now).0);
        for row in rows {
            let obeyed = row.chars().find(|it| it.is_control() && *it != '\t');
            prop_assert_eq!(obeyed, None, "{:?}", row);
        }
    }
}
