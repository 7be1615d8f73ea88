//! Any bytes, in any chunks: the same calls, the same text, no panic.

#![no_main]

use eclusa::{
    Incoming,
    parse::{
        fenced::{Fenced, Options, Parsed, Piece, Pieces, parse_with},
        was_made,
    },
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((&[switches, bound, cut], bytes)) = input.split_first_chunk::<3>() else { return };
    let options = Options {
        lenient: switches & 1 != 0,
        json_blocks: switches & 2 != 0,
        block_bytes: if switches & 4 != 0 { usize::from(bound) } else { 1 << 20 },
    };
    let text = String::from_utf8_lossy(bytes);
    let whole = comparable(parse_with(&text, options.clone()));

    let calls = whole.incoming.iter().filter(|it| matches!(it, Incoming::Call(_))).count();
    if calls == 0 {
        assert_eq!(whole.clean_text, text.trim(), "text without calls is not altered");
    }
    assert!(!options.lenient || whole.incoming.len() == calls, "lenient readers do not complain");

    for size in [1, usize::from(cut).max(1)] {
        let mut fenced = Fenced::new(options.clone());
        let mut parsed = Parsed::default();
        for chunk in bytes.chunks(size) {
            gather(&mut parsed, fenced.push_bytes(chunk));
        }
        gather(&mut parsed, fenced.finish());
        parsed.clean_text = parsed.clean_text.trim().to_owned();
        assert_eq!(comparable(parsed), whole, "chunks of {size} bytes");
    }
});

fn gather(parsed: &mut Parsed, pieces: Pieces<'_>) {
    for piece in pieces {
        match piece {
            Piece::Text(text) => parsed.clean_text.push_str(&text),
            Piece::Incoming(asked) => parsed.incoming.push(asked),
        }
    }
}

/// Made ids differ from reader to reader, and nothing else may.
fn comparable(mut parsed: Parsed) -> Parsed {
    for asked in &mut parsed.incoming {
        let id = match asked {
            Incoming::Call(call) => &mut call.id,
            Incoming::Malformed(bad) => &mut bad.id,
        };
        if was_made(id) {
            id.clear();
        }
    }
    parsed
}
