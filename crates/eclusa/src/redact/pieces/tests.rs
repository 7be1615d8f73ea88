//! Pieces are what the whole would be.

use std::io::Cursor;

use super::*;

fn pieces(text: &str) -> (Vec<String>, usize) {
    let from = Box::new(Cursor::new(text.as_bytes().to_vec()));
    let mut pieces = RedactedPieces::new(Redactor::default(), from);
    let all = pieces.by_ref().map(Result::unwrap).collect();
    (all, pieces.found())
}

#[test]
fn a_long_text_comes_whole_and_in_pieces() {
    let text: String = (0..400_000).map(|n| format!("line {n} grüße\n")).collect();
    let (all, found) = pieces(&text);
    assert!(all.len() > 4 && found == 0);
    assert!(all.iter().all(|it| it.len() <= PIECE + AROUND));
    assert_eq!(all.concat(), text);
    let (one_line, _) = pieces(&"ä".repeat(PIECE));
    assert!(one_line.len() > 1 && one_line.concat() == "ä".repeat(PIECE));
}

#[test]
fn no_cut_goes_through_a_secret() {
    let key = format!(
        "-----BEGIN RSA PRIVATE KEY-----\n{}-----END RSA PRIVATE KEY-----\n",
        "MIIEpAIBAAKCAQEA7bq3cYx0v2Kf9sLw8zRtQpUeHnJmXaVgCdTy1oBs4iGk6Wl\n".repeat(30)
    );
    // The key lies across the place where a piece would end.
    for before in [PIECE - 1000, PIECE - 100, PIECE - 5] {
        let filler: String = "x".repeat(79) + "\n";
        let mut text = filler.repeat(before / 80);
        text.push_str(&key);
        text.push_str(&filler.repeat(3000));
        let (all, found) = pieces(&text);
        let all = all.concat();
        assert!(found >= 1 && !all.contains("MIIEpAIBAAKCAQEA"), "{before}");
        assert!(all.ends_with(&filler));
    }
}
