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

    /// The rows on the screen, without empty ones at the end.
    fn visible(&self) -> Vec<String> {
        let terminal = self.0.borrow();
        let rows = terminal.primary_screen().visible_lines();
        let mut rows: Vec<String> = rows.map(|it| it.text().trim_end().to_owned()).collect();
        while rows.last().is_some_and(String::is_empty) {
            rows.pop();
        }
        rows
    }
}

/// A terminal of 80 columns that has been used for a while, and what was drawn on it.
struct Drawn {
    terminal: MemoryTerminal,
    scrollback: Scrollback<MemoryTerminal>,
    size: Size,
    printed: Vec<String>,
}

/// One frame: how many lines are finished, how many rows the block has, in which the cursor stands.
type Frame = (usize, usize, usize);

impl Drawn {
    fn new() -> Drawn {
        let terminal = avt::Terminal::with_scrollback(80, 24, None).unwrap();
        let terminal = MemoryTerminal(Rc::new(RefCell::new(terminal)));
        terminal.0.borrow_mut().feed("\r\n".repeat(100));
        let scrollback = Scrollback::new(terminal.clone());
        Drawn { terminal, scrollback, size: Size { columns: 80, rows: 24 }, printed: Vec::new() }
    }

    fn resize(&mut self, columns: usize, rows: usize) {
        self.size = Size { columns, rows };
        self.terminal.0.borrow_mut().resize(columns, rows);
    }

    fn draw(&mut self, (lines, rows, cursor_row): Frame) {
        let first = self.printed.len();
        let line = |it: usize| format!("line {it} {}", "x".repeat(it * 53 % 90));
        self.printed.extend((first..first + lines).map(line));
        // Rows of letters, and of characters that take two columns.
        let row = |it: usize| match it % 3 {
            0 => format!("block {it} {}", "字".repeat(it * 29 % 60)),
            _ => format!("block {it} {}", "y".repeat(it * 71 % 150)),
        };
        let cursor_row = cursor_row.min(rows - 1) / 3 * 3 + 1;
        let block = LiveBlock {
            rows: (0..rows.max(cursor_row + 1)).map(row).collect(),
            cursor: (cursor_row, cursor_row * 7 % 60),
        };
        self.scrollback.draw(&self.printed[first..], &block, self.size).unwrap();
    }

    /// The finished lines, and those that should be there.
    fn lines(&self) -> (Vec<String>, Vec<String>) {
        let shown = self.terminal.lines().into_iter().filter(|it| it.starts_with("line"));
        (shown.collect(), self.printed.iter().map(|it| it.trim_end().to_owned()).collect())
    }

    /// How many rows the block takes at this width, with those below it that are used.
    fn height(&self, columns: usize) -> usize {
        let rows = self.scrollback.drawn.iter().map(|it| super::wrapped(it, 0, columns).rows);
        rows.sum::<usize>() + self.scrollback.blank_below
    }

    /// Rows of blocks, wherever they are, and those that should be there.
    fn blocks(&self) -> (Vec<String>, Vec<String>) {
        let of_block = |it: &String| it.starts_with("block") || it.contains('…');
        let shown = self.terminal.lines().into_iter().filter(of_block).collect();
        let drawn = self.scrollback.drawn.iter().filter(|it| of_block(it));
        (shown, drawn.map(|it| it.trim_end().to_owned()).collect())
    }
}

fn frame() -> impl Strategy<Value = Frame> {
    (0usize..4, 1usize..40, 0usize..40)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    /// Between two frames the terminal becomes down to half as wide or half as high, or larger; where
    /// the block has room in a quarter of it, half as wide and half as high.
    #[test]
    fn nothing_of_a_block_stays_behind_when_a_terminal_becomes_half_as_large(
        steps in prop::collection::vec(
            (frame(), 0usize..5, 0usize..1000),
            1..16,
        ),
    ) {
        let mut drawn = Drawn::new();
        for (frame, way, it) in steps {
            drawn.draw(frame);
            let Size { columns, rows } = drawn.size;
            let between = |least: usize, most: usize| least + it % (most + 1 - least);
            let (narrow, low) = (((columns - 1) / 2).max(8), ((rows - 1) / 2).max(3));
            match way {
                4 if drawn.height(narrow) <= low => {
                    drawn.resize(between(narrow, columns), between(low, rows));
                }
                0 => drawn.resize(between(((columns - 1) / 2).max(8), columns), rows),
                1 => drawn.resize(columns, between(((rows - 1) / 2).max(3), rows)),
                2 => drawn.resize(between(columns, 220), between(rows, 60)),
                _ => {}
            }
            drawn.draw((0, frame.1, frame.2));
            let (blocks, expected) = drawn.blocks();
            prop_assert_eq!(blocks, expected, "{:?}", drawn.size);
            let (lines, expected) = drawn.lines();
            prop_assert_eq!(lines, expected, "{:?}", drawn.size);
        }
    }

    /// Whatever becomes of the terminal, how often ever between two frames.
    #[test]
    fn lines_are_printed_once_and_the_block_is_last_at_any_size(
        steps in prop::collection::vec(
            (frame(), prop::collection::vec((2usize..200, 2usize..60), 0..3)),
            1..16,
        ),
    ) {
        let mut drawn = Drawn::new();
        for (frame, sizes) in steps {
            sizes.into_iter().for_each(|(columns, rows)| drawn.resize(columns, rows));
            drawn.draw(frame);
            let (lines, expected) = drawn.lines();
            prop_assert_eq!(lines, expected, "{:?}", drawn.size);
            let visible = drawn.terminal.visible();
            let expected: Vec<&str> = drawn.scrollback.drawn.iter().map(|it| it.trim_end()).collect();
            let visible: Vec<&str> = visible.iter().map(String::as_str).collect();
            prop_assert!(visible.ends_with(&expected), "{:?}: {:?}", drawn.size, visible);
        }
    }
}

#[test]
fn a_block_is_cut_to_half_of_the_screen_and_says_so() {
    let mut drawn = Drawn::new();
    let rows = (0..30).map(|it| format!("call {it}")).chain(["> ".to_owned()]).collect();
    let block = LiveBlock { rows, cursor: (30, 2) };
    drawn.scrollback.draw(&[], &block, drawn.size).unwrap();
    let lines = drawn.terminal.lines();
    let shown: Vec<&String> = lines.iter().filter(|it| !it.is_empty()).collect();
    assert_eq!((shown[0].as_str(), shown[1].as_str()), ("  … 21 more lines", "call 21"));
    assert_eq!((shown.len(), shown[10].as_str()), (11, ">"));
}

#[test]
fn a_character_that_is_wider_than_it_is_taken_for_makes_no_row() {
    let terminal = MemoryTerminal(Rc::new(RefCell::new(avt::Terminal::new(20, 10).unwrap())));
    let mut scrollback = Scrollback::new(terminal.clone());
    let size = Size { columns: 20, rows: 10 };
    // This terminal knows characters of two columns that the table of this program does not.
    let block = LiveBlock { rows: vec!["\u{17000}".repeat(18), "> ".to_owned()], cursor: (1, 2) };
    for _ in 0..3 {
        scrollback.draw(&[], &block, size).unwrap();
    }
    let lines = terminal.lines();
    let shown = lines.iter().filter(|it| !it.is_empty()).count();
    assert_eq!(shown, 2, "{lines:?}");
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
