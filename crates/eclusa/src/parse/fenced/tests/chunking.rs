//! However a text is cut into chunks, the result is the same: P14, S1.40.

use proptest::{collection::vec, prelude::*, sample::select};

use super::{BLOCK, Fenced, Options, Parsed, Piece, parse, parse_with};
use crate::{Incoming, parse::was_made};

/// Gathers pieces as `parse` does, with made ids made equal.
#[derive(Default)]
struct Gathered(Parsed);

impl Gathered {
    fn take(&mut self, pieces: super::super::Pieces<'_>) {
        for piece in pieces {
            match piece {
                Piece::Text(text) => self.0.clean_text.push_str(&text),
                Piece::Incoming(incoming) => self.0.incoming.push(incoming),
            }
        }
    }

    fn done(mut self, fenced: Fenced) -> Parsed {
        self.take(fenced.finish());
        self.0.clean_text = self.0.clean_text.trim().to_owned();
        with_equal_ids(self.0)
    }
}

fn with_equal_ids(mut parsed: Parsed) -> Parsed {
    for incoming in &mut parsed.incoming {
        let id = match incoming {
            Incoming::Call(call) => &mut call.id,
            Incoming::Malformed(bad) => &mut bad.id,
        };
        if was_made(id) {
            *id = "made".to_owned();
        }
    }
    parsed
}

fn in_chunks(text: &str, options: &Options, mut cut: impl FnMut() -> usize) -> Parsed {
    let mut fenced = Fenced::new(options.clone());
    let mut gathered = Gathered::default();
    let mut rest = text;
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(rest.ceil_char_boundary(cut().clamp(1, rest.len())));
        gathered.take(fenced.push(chunk));
        rest = after;
    }
    gathered.done(fenced)
}

fn in_bytes(bytes: &[u8], options: &Options, mut cut: impl FnMut() -> usize) -> Parsed {
    let mut fenced = Fenced::new(options.clone());
    let mut gathered = Gathered::default();
    let mut rest = bytes;
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(cut().clamp(1, rest.len()));
        gathered.take(fenced.push_bytes(chunk));
        rest = after;
    }
    gathered.done(fenced)
}

/// Shows P14, S1.40.
#[test]
fn every_chunk_size_gives_the_same_calls() {
    let text =
        format!("Vorher é\r\n\r\n{BLOCK}mitten \u{1F600}\n{BLOCK}\n```tool\r\n[]\r\n```\r\nEnde");
    let options = Options::default();
    let whole = with_equal_ids(parse(&text));
    assert_eq!(whole.incoming.len(), 3);
    for size in 1..text.len() + 2 {
        assert_eq!(in_chunks(&text, &options, || size), whole, "{size}");
        assert_eq!(in_bytes(text.as_bytes(), &options, || size), whole, "{size} bytes");
    }
}

#[test]
fn found_a_cr_is_forgotten_when_its_line_is_followed_by_another() {
    // The LF after `a` is not that of the CR before it, wherever the chunks are cut.
    let text = format!("\ra\n{BLOCK}\r \n{BLOCK}");
    let whole = with_equal_ids(parse(&text));
    assert_eq!(whole.incoming.len(), 2);
    for size in 1..8 {
        assert_eq!(in_chunks(&text, &Options::default(), || size), whole, "{size}");
    }
}

#[test]
fn bytes_that_are_not_utf8_are_replaced_like_everywhere() {
    let bytes =
        b"a\xff\n\xf0\x9f\x98\n```tool\n{\"name\":\"x\",\"args\":{\"p\":\"\xe2\x82\"}}\n```\n\xc3";
    let whole = with_equal_ids(parse(&String::from_utf8_lossy(bytes)));
    assert_eq!(whole.incoming.len(), 1);
    for size in 1..bytes.len() + 1 {
        assert_eq!(in_bytes(bytes, &Options::default(), || size), whole, "{size}");
    }
    let mut fenced = Fenced::new(Options::default());
    let mut gathered = Gathered::default();
    gathered.take(fenced.push_bytes(b"\xc3"));
    gathered.take(fenced.push("x"));
    assert_eq!(gathered.done(fenced).clean_text, "\u{FFFD}x");
}

fn line() -> impl Strategy<Value = String> {
    let fence = (0..5usize, select(vec!["`", "~"]), 2..6usize);
    let info = select(vec![
        "", "tool", " Tool", "TOOL x", "tools", "json", "JSON ", "rust", "t", "tool`", " \t", "té",
    ]);
    let fence_line = (fence, info)
        .prop_map(|((indent, mark, len), info)| " ".repeat(indent) + &mark.repeat(len) + info);
    let body = select(vec![
        r#"{"name": "ls", "args": {"a": [1, "\n```\n"]}, "reason": "é😀"}"#,
        r#"{"name": "ls", "args": {}, "id": "c1"}"#,
        r#"{"name": "ls","#,
        r#""args": {}}"#,
        r#"{"name": 1}"#,
        "",
        "prose with `code` and ~~strokes~~ 😀",
        "[",
    ]);
    prop_oneof![3 => fence_line, 3 => body.prop_map(str::to_owned), 1 => "[ `~a-cé😀\t]{0,12}"]
}

fn text() -> impl Strategy<Value = String> {
    let end = select(vec!["\n", "\r\n", "\r", "\n\n", ""]);
    vec((line(), end), 0..14)
        .prop_map(|lines| lines.into_iter().map(|(line, end)| line + end).collect())
}

fn options() -> impl Strategy<Value = Options> {
    (any::<bool>(), any::<bool>(), prop_oneof![Just(4 << 20), 0..150usize]).prop_map(
        |(lenient, json_blocks, block_bytes)| Options { lenient, json_blocks, block_bytes },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    /// Shows P14.
    #[test]
    fn any_chunking_of_any_text(
        text in text(), options in options(), cuts in vec(1..20usize, 1..8),
    ) {
        let whole = with_equal_ids(parse_with(&text, options.clone()));
        let mut next = cuts.iter().cycle();
        prop_assert_eq!(&in_chunks(&text, &options, || *next.next().unwrap()), &whole);
        prop_assert_eq!(&in_bytes(text.as_bytes(), &options, || *next.next().unwrap()), &whole);
        prop_assert_eq!(&in_bytes(text.as_bytes(), &options, || 1), &whole);
    }

    /// Nothing is lost and nothing is invented: what stays in the text is the text without the
    /// lines of the blocks that were calls.
    /// Shows S1.39.
    #[test]
    fn what_is_not_a_call_stays_in_the_text(text in text(), options in options()) {
        let parsed = parse_with(&text, options);
        let calls = parsed.incoming.iter().filter(|it| matches!(it, Incoming::Call(_))).count();
        if calls == 0 {
            prop_assert_eq!(parsed.clean_text, text.trim());
        } else {
            let mut rest = text.as_str();
            for line in parsed.clean_text.lines() {
                let after = rest.split_once(line).map(|(_, after)| after);
                prop_assert!(after.is_some(), "{:?} is not in order in {:?}", line, text);
                rest = after.unwrap();
            }
        }
    }
}
