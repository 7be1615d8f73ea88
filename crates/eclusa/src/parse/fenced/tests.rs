//! What is a call in a text and what is not: the facts P1 to P13, appendix G.d, C12.

use serde_json::{Value, json};

use super::{Fenced, Options, Parsed, Piece, parse, parse_with};
use crate::{Incoming, Origin, ToolCall, parse::was_made};

mod chunking;
mod malformed;
mod words;

const BLOCK: &str =
    "```tool\n{\"name\": \"ls\", \"args\": {\"path\": \".\"}, \"reason\": \"look\"}\n```\n";

fn calls(parsed: &Parsed) -> Vec<(&str, &Value)> {
    let each = parsed.incoming.iter().map(|incoming| match incoming {
        Incoming::Call(call) => (call.tool.as_str(), &call.args),
        Incoming::Malformed(bad) => panic!("{}", bad.problem),
    });
    each.collect()
}

fn only_call(text: &str) -> ToolCall {
    match parse(text).incoming.as_slice() {
        [Incoming::Call(call)] => call.clone(),
        other => panic!("{other:?}"),
    }
}

/// Not a call, and nothing is said about it; the text is as it was.
fn check_plain(text: &str) {
    let parsed = parse(text);
    assert_eq!(parsed.incoming, [], "{text:?}");
    assert_eq!(parsed.clean_text, text.trim(), "{text:?}");
}

/// Shows P1.
#[test]
fn text_without_blocks_is_text() {
    for text in
        ["", "hello", "  hello\n\nthere \n", "`a` ``b`` ```c```", "\r\n\r\n", "~~~~~", "```"]
    {
        check_plain(text);
    }
}

/// Shows P2, S1.48.
#[test]
fn a_block_between_prose_is_taken_out_and_the_rest_goes_on() {
    let parsed = parse(&format!("Before.\n\n{BLOCK}\nAfter.\n"));
    assert_eq!(parsed.clean_text, "Before.\n\n\nAfter.");
    assert_eq!(calls(&parsed), [("ls", &json!({"path": "."}))]);
}

/// Shows P3, S1.36.
#[test]
fn blocks_come_in_order() {
    let text = ["a", "b", "c"]
        .map(|it| format!("{it}:\n```tool\n{{\"name\":\"{it}\",\n\"args\":{{}}}}\n```\n"))
        .concat();
    let parsed = parse(&text);
    let none = json!({});
    assert_eq!(calls(&parsed), [("a", &none), ("b", &none), ("c", &none)]);
    assert_eq!(parsed.clean_text, "a:\nb:\nc:");
}

/// Shows S1.2.
#[test]
fn the_fields_of_a_call() {
    // P13
    let call = only_call(BLOCK);
    assert_eq!(call.tool, "ls");
    assert_eq!(call.reason.as_deref(), Some("look"));
    assert_eq!(call.origin, Origin::Fenced);
    assert!(was_made(&call.id));
    let named = "```tool\n{\"id\": \"c7\", \"args\": {}, \"name\": \"ls\"}\n```";
    assert_eq!(only_call(named).id, "c7");
    assert_eq!(only_call(&named.replace("c7", "")).reason, None, "P13");
    assert!(was_made(&only_call(&named.replace("c7", "")).id));
    assert_eq!(only_call(&named.replace("\"c7\"", "null")).tool, "ls");
}

#[test]
fn ids_are_kept_even_twice_and_made_ones_are_unique() {
    let block = |id: &str| format!("```tool\n{{{id}\"name\":\"a\",\"args\":{{}}}}\n```\n");
    let text = [block("\"id\":\"x\","), block(""), block("\"id\":\"x\","), block("")].concat();
    let parsed = parse(&text);
    let ids: Vec<&str> = parsed.incoming.iter().map(Incoming::id).collect();
    assert!(matches!(ids.as_slice(), ["x", a, "x", b] if a != b && was_made(a) && was_made(b)));
    let again = parse(&text);
    assert_ne!(again.incoming.get(1).map(Incoming::id), parsed.incoming.get(1).map(Incoming::id));
}

/// Shows P4, P5, P6.
#[test]
fn fences_as_commonmark_has_them() {
    let body = r#"{"name":"ls","args":{}}"#;
    for text in [
        format!("```Tool\n{body}\n```"),
        format!("```TOOL\n{body}\n```\n"),
        format!("```tool\r\n{body}\r\n```\r\n"),
        format!("```tool\r{body}\r```\r"),
        format!(" ```tool\n{body}\n```"),
        format!("   ```tool\n   {body}\n   ```"),
        format!("```tool\n{body}\n   ```"),
        format!("``` tool\n{body}\n```"),
        format!("```\ttool \t\n{body}\n``` \t"),
        format!("```tool please\n{body}\n```"),
        format!("~~~tool\n{body}\n~~~"),
        format!("~~~ tool with `ticks`\n{body}\n~~~~"),
        format!("`````tool\n{body}\n`````"),
        format!("````tool\n{body}\n`````````"),
        format!("```tool\n\n  {body}\n\n```"),
    ] {
        let parsed = parse(&text);
        assert_eq!(calls(&parsed), [("ls", &json!({}))], "{text:?}");
        assert_eq!(parsed.clean_text, "", "{text:?}");
    }
}

/// Shows S1.1.
#[test]
fn xml_and_what_is_not_a_fence_is_not_a_call() {
    let body = r#"{"name":"ls","args":{}}"#;
    for text in [
        format!("<tool>{body}</tool>"),
        format!("<tool_call name=\"ls\">{body}</tool_call>"),
        format!("``tool\n{body}\n``"),
        format!("~~tool\n{body}\n~~"),
        format!("    ```tool\n{body}\n    ```"),
        format!("\t```tool\n{body}\n"),
        format!("x ```tool\n{body}\n"),
        format!("> ```tool\n> {body}\n> ```"),
        format!("```tool {body}```"),
        format!("```tool `x`\n{body}\n"),
        format!("```tools\n{body}\n```"),
        format!("```too\n{body}\n```"),
        format!("```tool:x\n{body}\n```"),
        format!("```a tool\n{body}\n```"),
    ] {
        check_plain(&text);
    }
}

/// Shows P7.
#[test]
fn g_d_a_longer_fence_quotes_what_is_inside() {
    for quoted in [
        format!("````\n{BLOCK}````\n"),
        format!("````markdown\n{BLOCK}````\n"),
        format!("~~~\n{BLOCK}~~~\n"),
        format!("~~~text\n{BLOCK}```\n{BLOCK}"),
        format!("``````md\n{BLOCK}`````\n{BLOCK}``````"),
        format!("```text\n{}\n", BLOCK.replace("```\n", "")),
    ] {
        check_plain(&quoted);
    }
    let text = format!("````\n{BLOCK}````\n{BLOCK}");
    let parsed = parse(&text);
    assert_eq!(calls(&parsed).len(), 1);
    assert_eq!(parsed.clean_text, format!("````\n{BLOCK}````"));
}

/// Shows P8, S1.3.
#[test]
fn g_d_other_blocks_are_never_calls_unless_json_is_let_in() {
    let json_block = BLOCK.replace("tool", "JSON");
    for text in [json_block.clone(), BLOCK.replace("tool", ""), BLOCK.replace("tool", "rust")] {
        check_plain(&text);
    }
    let options = || Options { json_blocks: true, ..Options::default() };
    let parsed = parse_with(&json_block, options());
    assert_eq!(calls(&parsed), [("ls", &json!({"path": "."}))]);
    // A `json` block that is not a call is an example, not a mistake.
    let example = "```json\n{\"name\": \"Ada\"}\n```\n```json\n[1,\n```\n";
    let parsed = parse_with(&format!("{example}{BLOCK}```json\n"), options());
    assert_eq!(calls(&parsed).len(), 1);
    assert_eq!(parsed.clean_text, format!("{example}```json"));
}

/// Shows P11, P12, S1.3.
#[test]
fn arguments_survive_as_they_are() {
    let args = json!({
        "text": "line\n```\nmore ```tool \"quoted\" \\ \u{1F600} é",
        "list": [1, -2.5, true, null, {"deep": [[{}]]}],
        "": {"ключ": "значение"},
        "big": 9_007_199_254_740_993_u64,
    });
    let call = only_call(&format!("```tool\n{}\n```", json!({"name": "w", "args": args})));
    assert_eq!(call.args, args);
    let pretty = serde_json::to_string_pretty(&json!({"name": "w", "args": args})).unwrap();
    assert_eq!(only_call(&format!("```tool\n{pretty}\n```")).args, args);
}

/// Shows V4, V5.
#[test]
fn arguments_as_text_or_null_are_left_to_the_gate() {
    for args in [json!("{\"a\": 1}"), json!(""), json!(null)] {
        let call = only_call(&format!("```tool\n{}\n```", json!({"name": "w", "args": args})));
        assert_eq!(call.args, args);
    }
}

#[test]
fn plain_text_streams_out_at_once_and_uncopied() {
    let mut fenced = Fenced::new(Options::default());
    for chunk in ["Some wor", "ds and `code`", ".\nAnother", " line\n"] {
        let pieces: Vec<Piece<'_>> = fenced.push(chunk).into_iter().collect();
        let [Piece::Text(std::borrow::Cow::Borrowed(text))] = pieces.as_slice() else {
            panic!("{pieces:?}")
        };
        assert_eq!(*text, chunk);
    }
    // A fence is held back only until it is clear that it is not a call's.
    assert_eq!(fenced.push("``").into_iter().count(), 0);
    assert_eq!(fenced.push("`ru").into_iter().count(), 2);
    assert_eq!(fenced.push("st\nlet a = 1;").into_iter().count(), 1);
}
