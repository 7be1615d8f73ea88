//! The scrollback on a terminal in memory: nothing is lost or doubled, whatever size it gets.

use std::{
    cell::RefCell,
    io::{self, Write},
    rc::Rc,
};

use proptest::prelude::*;

use super::{LiveBlock, Scrollback, Size};

/// A terminal that remembers what has scrolled away.
#[derive(Clone)]
struct MemoryTerminal(Rc<RefCell<avt::Terminal>>);

impl Write for MemoryTerminal {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().feed(std::str::from_utf8(bytes).unwrap());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MemoryTerminal {
    fn lines(&self) -> Vec<String> {
        let terminal = self.0.borrow();
        let lines = terminal.primary_screen().text();
        lines.into_iter().map(|it| it.trim_end().to_owned()).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn lines_are_printed_once_and_the_block_is_there_once_at_any_width(
        steps in prop::collection::vec(
            (0usize..4, 1usize..9, 20usize..100, 0usize..3, prop::bool::ANY),
            1..40,
        ),
    ) {
        let terminal = avt::Terminal::with_scrollback(80, 24, None).unwrap();
        let terminal = MemoryTerminal(Rc::new(RefCell::new(terminal)));
        terminal.0.borrow_mut().feed("\r\n".repeat(30));
        let mut scrollback = Scrollback::new(terminal.clone());
        let mut size = Size { columns: 80, rows: 24 };
        let (mut printed, mut height) = (Vec::new(), 0);
        for (lines, rows, columns, cursor_row, resize) in steps {
            if resize {
                size = Size { columns, rows: 24 };
                terminal.0.borrow_mut().resize(columns, 24);
            }
            let first = printed.len();
            printed.extend((first..first + lines).map(|it| {
                format!("line {it} {}", "x".repeat(it * 53 % 90))
            }));
            let row = cursor_row.min(rows - 1);
            let block = LiveBlock {
                rows: (0..rows).map(|it| format!("block {it} {}", "y".repeat(it * 29 % 60))).collect(),
                cursor: (row, (columns * 7 % 30).min(8 + row * 29 % 60)),
            };
            scrollback.draw(&printed[first..], &block, size).unwrap();
            height = rows;
        }
        let shown = terminal.lines();
        let lines: Vec<&str> =
            shown.iter().filter(|it| it.starts_with("line")).map(String::as_str).collect();
        let expected: Vec<&str> = printed.iter().map(|it| it.trim_end()).collect();
        prop_assert_eq!(lines, expected);
        prop_assert_eq!(shown.iter().filter(|it| it.starts_with("block")).count(), height);
    }
}

#[test]
fn a_block_that_is_taken_away_leaves_the_lines() {
    let terminal = MemoryTerminal(Rc::new(RefCell::new(avt::Terminal::new(40, 10).unwrap())));
    let mut scrollback = Scrollback::new(terminal.clone());
    let size = Size { columns: 40, rows: 10 };
    let block = LiveBlock { rows: vec!["> ".to_owned(), "status".to_owned()], cursor: (0, 2) };
    scrollback.draw(&["one".to_owned()], &block, size).unwrap();
    assert_eq!(terminal.lines()[..3], ["one", ">", "status"]);
    scrollback.clear(&["two".to_owned()], size).unwrap();
    assert_eq!(terminal.lines()[..4], ["one", "two", "", ""]);
    // A block that is higher than the screen is shown around its cursor.
    let rows = (0..20).map(|it| format!("row {it}")).collect();
    scrollback.draw(&[], &LiveBlock { rows, cursor: (19, 0) }, size).unwrap();
    assert!(terminal.lines().contains(&"row 19".to_owned()), "{:?}", terminal.lines());
}
