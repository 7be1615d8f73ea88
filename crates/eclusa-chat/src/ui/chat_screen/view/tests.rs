//! What a chat looks like, at three widths, on a terminal in memory.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::{EndedCall, Status, View};
use crate::ui::{
    call_line::CallEnd,
    chat_screen::scrollback::{Scrollback, Size},
    screen::{Paint, Style, sanitize},
};

/// A chat in the middle of its work, on a terminal of this width.
fn terminal(paint: Paint, columns: usize) -> avt::Terminal {
    let now = Instant::now();
    let mut view = View::new(paint, columns);
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
    for (id, tool, about, end, note, number) in [
        ("1", "read", "src/parse.rs", CallEnd::Done, "", 41),
        ("2", "bash", "cargo add nom", CallEnd::Refused, "denied: no network", 43),
    ] {
        view.call_began(id, tool, about, now);
        let (note, number) = (note.to_owned(), Some(number));
        view.call_ended(id, &EndedCall { end, note, time, number });
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
    terminal
}

/// What it shows, and where the cursor is.
fn screen(columns: usize) -> String {
    let terminal = terminal(Paint::never(), columns);
    let cursor = terminal.cursor_position();
    let lines = terminal.primary_screen().text();
    let lines: Vec<&str> = lines.iter().map(|it| it.trim_end()).collect();
    format!("{}\ncursor: {}, {}", lines.join("\n").trim_end(), cursor.row, cursor.col)
}

/// What it shows in colours: `{green:✓}`.
fn coloured(columns: usize) -> String {
    let terminal = terminal(Paint::always(), columns);
    let style = |pen: &avt::Pen| match (pen.foreground(), pen.is_bold(), pen.is_faint()) {
        (None, false, false) => "",
        (None, true, false) => "bold",
        (None, false, true) => "faint",
        (Some(avt::Color::Indexed(1)), false, false) => "red",
        (Some(avt::Color::Indexed(2)), false, false) => "green",
        (Some(avt::Color::Indexed(3)), false, false) => "yellow",
        _ => "other",
    };
    let row = |line: &avt::Line| {
        let pieces = line.chunks(|one, other| one.pen() != other.pen());
        let shown = pieces.map(|cells| {
            let text: String = cells.iter().map(avt::Cell::char).collect();
            match cells.first().map_or("", |it| style(it.pen())) {
                "" => text,
                style => format!("{{{style}:{text}}}"),
            }
        });
        shown.collect::<String>().trim_end().to_owned()
    };
    let rows: Vec<String> = terminal.primary_screen().visible_lines().map(row).collect();
    rows.join("\n").trim_end().to_owned()
}

#[test]
fn a_chat_on_a_narrow_terminal() {
    insta::assert_snapshot!(screen(40), @r#"
session k3f9q2; /help lists the commands

you › make the parser skip comments, and
      test it
  I look at the parser first.
  ✓ read   src/parse.rs        3 ms  #41
  ✗ bash   cargo add nom
      denied: no network  #43
  ⋯ bash   cargo test parse  12 s  run…
  then: also update the changelog  (↑ …

› and then the docs, please
  all of them
  coder · pro · confirm-sensitive · 38…
cursor: 12, 13
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

#[test]
fn colours_on_a_narrow_terminal() {
    insta::assert_snapshot!(coloured(40), @r#"
{faint:session k3f9q2; /help lists the commands}

{green:you › }make the parser skip comments, and
{green:      }test it
  I look at the {bold:parser} first.
  {green:✓} read   src/parse.rs        {faint:3 ms  #41}
  {red:✗} bash   cargo add nom
      {faint:denied: no network  #43}
  {yellow:⋯} bash   cargo test parse  12 s  run…
{faint:  then: also update the changelog  (↑ …}

{green:› }and then the docs, please
{green:  }all of them
{faint:  coder · pro · confirm-sensitive · 38…}
"#);
}

#[test]
fn colours_on_a_usual_terminal() {
    insta::assert_snapshot!(coloured(80), @r#"
{faint:session k3f9q2; /help lists the commands}

{green:you › }make the parser skip comments, and test it
  I look at the {bold:parser} first.
  {green:✓} read   src/parse.rs                                                {faint:3 ms  #41}
  {red:✗} bash   cargo add nom                                 {faint:denied: no network  #43}
  {yellow:⋯} bash   cargo test parse  12 s  running 31 tests
{faint:  then: also update the changelog  (↑ takes it back)}

{green:› }and then the docs, please
{green:  }all of them
{faint:  coder · pro · confirm-sensitive · 38 % of 200k · 0.14 USD · text from outsid…}
"#);
}

#[test]
fn colours_on_a_wide_terminal() {
    insta::assert_snapshot!(coloured(200), @r#"
{faint:session k3f9q2; /help lists the commands}

{green:you › }make the parser skip comments, and test it
  I look at the {bold:parser} first.
  {green:✓} read   src/parse.rs                                                                    {faint:3 ms  #41}
  {red:✗} bash   cargo add nom                                                     {faint:denied: no network  #43}
  {yellow:⋯} bash   cargo test parse  12 s  running 31 tests
{faint:  then: also update the changelog  (↑ takes it back)}

{green:› }and then the docs, please
{green:  }all of them
{faint:  coder · pro · confirm-sensitive · 38 % of 200k · 0.14 USD · text from outside: the web}
"#);
}

/// Colour says nothing that words and marks do not.
#[test]
fn without_colours_the_same_text_is_there() {
    for columns in [40, 80, 200] {
        let text = |paint| terminal(paint, columns).primary_screen().text();
        assert_eq!(text(Paint::always()), text(Paint::never()));
    }
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
        view.print_call(&text, &text, &EndedCall { end: CallEnd::Failed, note: text.clone(), time, number });
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

#[test]
fn a_long_name_leaves_room_for_the_rest_of_the_status() {
    let names = ["coder", "script:/home/somebody/with a long name/projects/one/script.md", "auto"];
    let names = names.map(str::to_owned).to_vec();
    let status = Status { names, context: Some((3, 200_000)), ..Status::default() };
    insta::assert_snapshot!(
        status.line(77),
        @"coder · script:/home/somebody/w…e/projects/one/script.md · auto · 3 % of 200k"
    );
    assert!(status.line(20).contains("script:/hom…ne/script.md"), "{}", status.line(20));
}
