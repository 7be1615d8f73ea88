//! Blocks that should have been a call: P9, P10, C12, S1.37, S1.38.

use super::{BLOCK, Fenced, Options, Piece, parse, parse_with};
use crate::{Incoming, Malformed, parse::was_made};

/// The one thing that is wrong with a text, which stays as it is.
fn wrong(text: &str) -> Malformed {
    let parsed = parse(text);
    assert_eq!(parsed.clean_text, text.trim());
    let lenient = parse_with(text, Options { lenient: true, ..Options::default() });
    assert_eq!(lenient.clean_text, text.trim());
    assert_eq!(lenient.incoming, [], "S1.37: lenient readers say nothing");
    match parsed.incoming.as_slice() {
        [Incoming::Malformed(bad)] => bad.clone(),
        other => panic!("{text:?}: {other:?}"),
    }
}

/// Shows P9, C12.
#[test]
fn says_what_is_wrong_and_where() {
    for (body, said) in [
        ("", "line 3 is not valid JSON at line 4, column 1: there is nothing in it"),
        ("not json", "at line 4, column 2: expected ident"),
        (
            "{\"name\": \"a\", \"args\": {}",
            "at line 4, column 24: it ends before the JSON is complete",
        ),
        ("{\"name\": \"a\",\n \"args\": {é}}", "at line 5, column 11: a key must be a string"),
        ("{\"ключ\": x}", "at line 4, column 10: expected value"),
        ("{\"name\": \"a\", \"args\": {}} {}", "column 27: there is something after the JSON"),
        ("{\"name\": \"a\", \"args\": {\"t\": \"x\ny\"}}", "a raw line break"),
        ("[1]", "line 3 holds an array; write one JSON object"),
        ("7", "holds a number"),
        ("{\"args\": {}}", "line 3, `name` is missing"),
        ("{\"name\": \"a\"}", "`args` is missing"),
        ("{\"name\": \"\", \"args\": {}}", "`name` is empty"),
        ("{\"name\": 7, \"args\": {}}", "`name` must be a string, not a number"),
        ("{\"name\": \"a\", \"args\": [1]}", "`args` must be an object, not an array"),
        ("{\"name\": \"a\", \"args\": 1}", "`args` must be an object, not a number"),
        (
            "{\"name\": \"a\", \"args\": {}, \"reason\": {}}",
            "`reason` must be a string, not an object",
        ),
        ("{\"name\": \"a\", \"args\": {}, \"id\": 1}", "`id` must be a string, not a number"),
        ("{\"name\": \"a\", \"args\": {}, \"dry_run\": true}", "`dry_run` is not one of"),
        ("{\"name\": \"a\", \"args\": {}, \"name\": \"b\"}", "the key `name` is there twice"),
        (
            "{\"name\": \"a\", \"args\": {\"p\": 1, \"p\": 2}}",
            "column 34: the key `p` is there twice",
        ),
        ("{\"name\": \"a\", \"args\": {\"n\": 1e999}}", "number out of range"),
    ] {
        let bad = wrong(&format!("é\n\n```tool\n{body}\n```\n"));
        assert!(bad.problem.contains(said), "{body:?}: {}", bad.problem);
        assert!(bad.problem.contains("write one JSON object"), "{}", bad.problem);
        assert!(!bad.problem.contains("Value") && !bad.problem.ends_with('.'), "{}", bad.problem);
    }
}

/// Shows C12.
#[test]
fn what_could_be_read_is_kept() {
    let bad = wrong("```tool\n{\"name\": \"ls\", \"id\": \"c1\"}\n```");
    assert_eq!((bad.id.as_str(), bad.tool.as_deref()), ("c1", Some("ls")));
    let bad = wrong("```tool\n{\"name\": \"ls\", \"id\": \"c1\"\n```");
    assert!(was_made(&bad.id));
    assert_eq!(bad.tool, None);
}

/// Shows S1.37, S1.38.
#[test]
fn the_other_blocks_still_parse() {
    let text = format!("a\n{BLOCK}b\n```tool\noops\n```\nc\n{BLOCK}d");
    let parsed = parse(&text);
    assert_eq!(parsed.clean_text, "a\nb\n```tool\noops\n```\nc\nd");
    let kinds: Vec<bool> =
        parsed.incoming.iter().map(|it| matches!(it, Incoming::Call(_))).collect();
    assert_eq!(kinds, [true, false, true]);
    let lenient = parse_with(&text, Options { lenient: true, ..Options::default() });
    assert_eq!(lenient.clean_text, parsed.clean_text);
    assert_eq!(lenient.incoming.len(), 2);
}

/// Shows P10.
#[test]
fn a_block_that_is_never_closed_is_no_call() {
    let body = r#"{"name":"ls","args":{}}"#;
    for text in [
        "```tool".to_owned(),
        "   ~~~~tool \t".to_owned(),
        "```tool\n".to_owned(),
        format!("```tool\n{body}"),
        format!("```tool\n{body}\n"),
        format!("```tool\n{body}\n``"),
        format!("```tool\n{body}\n~~~"),
        format!("```tool\n{body}\n    ```"),
        format!("```tool\n{body}\n``` x"),
        format!("````tool\n{body}\n```\n"),
        format!("```tool\n{body}```"),
    ] {
        let bad = wrong(&text);
        assert!(bad.problem.contains("line 1 was never closed"), "{text:?}: {}", bad.problem);
    }
}

#[test]
fn deep_nesting_is_refused_without_exhausting_the_stack() {
    for open in ["[", "{\"a\":"] {
        let text = format!("```tool\n{{\"name\":\"a\",\"args\":{}\n```", open.repeat(100_000));
        assert!(wrong(&text).problem.contains("nested too deeply"));
    }
}

#[test]
fn a_block_over_the_bound_is_answered_and_reading_goes_on() {
    let options = || Options { block_bytes: 200, ..Options::default() };
    let large = BLOCK.replace("look", &"x".repeat(300));
    let long_line = format!("```tool {}\n{{}}\n```\n", "y".repeat(300));
    let long_run = format!("{}tool\n{{}}\n{}\n", "`".repeat(300), "`".repeat(300));
    for large in [large, long_line, long_run] {
        let text = format!("a\n{large}b\n{BLOCK}c");
        let parsed = parse_with(&text, options());
        assert_eq!(parsed.clean_text, format!("a\n{large}b\nc"));
        let [Incoming::Malformed(bad), Incoming::Call(_)] = parsed.incoming.as_slice() else {
            panic!("{parsed:?}")
        };
        assert!(bad.problem.contains("line 2 is larger than 200 bytes"), "{}", bad.problem);
    }
    let exact = Options { block_bytes: BLOCK.len(), ..Options::default() };
    assert!(matches!(parse_with(BLOCK, exact).incoming.as_slice(), [Incoming::Call(_)]));
    let short = Options { block_bytes: BLOCK.len() - 1, ..Options::default() };
    assert!(matches!(parse_with(BLOCK, short).incoming.as_slice(), [Incoming::Malformed(_)]));
}

#[test]
fn memory_stays_within_the_bound_however_long_the_text() {
    let limit = 1 << 16;
    for (start, more) in [
        ("```tool\n", "{\"a\": 1} \n"),
        ("```tool\n", "x"),
        ("```tool ", "x"),
        ("", "`"),
        ("~~~ ", " "),
        ("````\n", "```tool\n"),
        ("", "plain text\n"),
    ] {
        let mut fenced = Fenced::new(Options { block_bytes: limit, ..Options::default() });
        let (mut given, mut taken) = (0, 0);
        let more = more.repeat(100);
        for chunk in std::iter::once(start).chain(std::iter::repeat_n(more.as_str(), 5_000)) {
            taken += chunk.len();
            for piece in fenced.push(chunk) {
                if let Piece::Text(text) = piece {
                    given += text.len();
                }
            }
            assert!(taken - given <= limit, "what is not given out is held");
            assert!(fenced.held.capacity() <= 2 * limit, "{}", fenced.held.capacity());
        }
    }
}
