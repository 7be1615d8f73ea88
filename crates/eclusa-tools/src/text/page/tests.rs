//! Pages of texts of any size, in any encoding, with lines of any length.

use proptest::prelude::*;

use super::*;

const ALL: Window = Window { first: 1, lines: 2000, line_bytes: 2000, bytes: 256 * 1024 };

fn read(bytes: &[u8], format: Format, window: Window) -> TextPage {
    page(bytes, bytes.len() as u64, format, window).unwrap()
}

fn plain(text: &str, window: Window) -> TextPage {
    read(text.as_bytes(), Format::NEW, window)
}

#[test]
fn lines_have_their_numbers() {
    let whole = plain("a\r\n\nc", ALL);
    assert_eq!(whole.text, "     1\ta\n     2\t\n     3\tc\n");
    assert_eq!((whole.lines, whole.next, whole.total), (3, None, Some(3)));
    assert_eq!(plain("", ALL), TextPage { total: Some(0), ..TextPage::default() });
    let part = plain("a\nb\nc\nd\n", Window { first: 2, lines: 2, ..ALL });
    assert_eq!(
        (part.text.as_str(), part.next, part.total),
        ("     2\tb\n     3\tc\n", Some(4), None)
    );
    let last = plain("a\nb\n", Window { first: 2, lines: 1, ..ALL });
    assert_eq!((last.next, last.total), (None, Some(2)), "it is known that nothing follows");
    let beyond = plain("a\nb\n", Window { first: 9, ..ALL });
    assert_eq!((beyond.lines, beyond.total), (0, Some(2)));
}

#[test]
fn long_lines_are_cut() {
    let page = plain("\u{e9}\u{e9}\u{e9}\nb\n", Window { line_bytes: 3, ..ALL });
    assert_eq!(page.text, "     1\t\u{e9}… (4 more bytes in this line)\n     2\tb\n");
    assert_eq!((page.cut, page.broken), (1, false));
}

#[test]
fn every_encoding_is_read() {
    let text = "h\u{e9}\u{20AC}\r\nzwei\n".repeat(20_000);
    let last = Window { first: 39_999, ..ALL };
    for encoding in [Encoding::Utf8, Encoding::Utf16Le, Encoding::Utf16Be, Encoding::Latin1] {
        let format = Format { encoding, bom: encoding != Encoding::Latin1 };
        let page = read(&format.encode(&text).unwrap(), format, last);
        assert_eq!(page.text, " 39999\th\u{e9}\u{20AC}\n 40000\tzwei\n", "{encoding}");
        let first = read(&format.encode("x\ny").unwrap(), format, ALL);
        assert_eq!(first.text, "     1\tx\n     2\ty\n", "{encoding}: the mark is not shown");
    }
    assert!(read(b"a\xFFb", Format::NEW, ALL).broken);
}

/// A reader that never ends.
struct Endless;

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        buffer.fill(b'x');
        Ok(buffer.len())
    }
}

#[test]
fn a_growing_file_and_an_endless_line_come_to_an_end() {
    let page = page(Endless, 100 << 20, Format::NEW, ALL).unwrap();
    assert!(page.text.len() < 3000, "{}", page.text.len());
    assert_eq!((page.lines, page.cut, page.total), (1, 1, Some(1)));
}

proptest! {
    #[test]
    fn pages_joined_are_the_text(text in "([a-z\u{e9}]{0,5}\r?\n){0,20}[a-z]{0,3}", lines in 1_u64..5, encoding in 0_usize..3) {
        let encoding = [Encoding::Utf8, Encoding::Utf16Le, Encoding::Latin1][encoding];
        let format = Format { encoding, bom: false };
        let bytes = format.encode(&text).unwrap();
        let (mut first, mut joined) = (1, String::new());
        loop {
            let page = read(&bytes, format, Window { first, lines, ..ALL });
            joined.push_str(&page.text);
            match page.next {
                Some(next) => first = next,
                None => break,
            }
        }
        let naive: String = (1..).zip(text.lines()).map(|(at, line)| format!("{at:>6}\t{line}\n")).collect();
        prop_assert_eq!(joined, naive);
    }
}

#[test]
fn numbers_are_counted_past_every_width() {
    let lines = 1_000_010;
    let window = Window { lines, bytes: 64 << 20, ..ALL };
    let page = plain(&"\n".repeat(lines as usize), window);
    let naive: String = (1..=lines).map(|at| format!("{at:>6}\t\n")).collect();
    assert!(page.text == naive, "some of a million numbers are wrong");
}

/// Lines of all lengths around those that are moved at once, some of them broken, read in one go.
#[test]
fn lines_of_any_length_keep_their_bytes() {
    let mut bytes = Vec::new();
    let mut naive = String::new();
    for n in 0..3000 {
        let mut line = "x\u{e9}".repeat(n % 300).into_bytes();
        line.truncate(n % 331);
        if n % 7 == 0 {
            line.push(0xFF);
        }
        let text = String::from_utf8_lossy(&line);
        naive += &format!("{:>6}\t{text}\n", n + 1);
        bytes.extend_from_slice(&line);
        bytes.extend_from_slice(if n % 5 == 0 { b"\r\n" } else { b"\n" });
    }
    let page = read(&bytes, Format::NEW, Window { lines: 3000, bytes: 64 << 20, ..ALL });
    assert_eq!((page.lines, page.broken, page.total), (3000, true, Some(3000)));
    assert!(page.text == naive);
}
