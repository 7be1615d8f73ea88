//! Which messages are messages, and what they say that they are.

use super::{Envelope, may_end_a_call};

fn method(line: &[u8]) -> Result<Option<String>, String> {
    Ok(Envelope::read(line)?.method.map(|it| it.into_owned()))
}

#[test]
fn a_method_is_found_wherever_it_stands_and_however_it_is_spelt() {
    for line in [
        r#"{"jsonrpc":"2.0","method":"fs/read_text_file","params":{}}"#,
        r#"{"params":{"method":"x","a":[{"method":"y"}]},"method":"fs/read_text_file"}"#,
        r#"{"method":"fs\/read_text\u005ffile"}"#,
        r#"{"Method":"fs/read_text_file"}"#,
        r#"{"m\u0065thod":"fs/read_text_file"}"#,
        "{\"method\":\"fs/read_text_file\",\"a\":\"\\ud800\",\"b\":1e999}\r\n",
    ] {
        assert_eq!(
            method(line.as_bytes()).unwrap().as_deref(),
            Some("fs/read_text_file"),
            "{line}"
        );
    }
    let read = Envelope::read(br#"{"id": "a\u0062" ,"result":{"id":2}}"#).unwrap();
    assert_eq!(read.id.unwrap().get(), r#""a\u0062""#);
    for line in [r#"{"id":1,"result":{"method":"x"}}"#, r#"{"id":1,"method":null}"#, "{}"] {
        assert_eq!(method(line.as_bytes()), Ok(None), "{line}");
    }
}

#[test]
fn what_could_be_read_in_two_ways_is_no_message() {
    let lines: [&[u8]; 11] = [
        b"",
        b"{",
        b"null",
        b"[{\"method\":\"fs/read_text_file\"}]",
        b"{\"method\":1}",
        b"{\"method\":\"a\",\"method\":\"fs/read_text_file\"}",
        b"{\"method\":\"a\",\"METHOD\":\"fs/read_text_file\"}",
        b"{\"id\":1}\r{\"method\":\"fs/read_text_file\"}",
        b"{\"id\":1} {\"method\":\"fs/read_text_file\"}",
        b"\xef\xbb\xbf{\"method\":\"fs/read_text_file\"}",
        b"{\"id\":\"\xff\"}",
    ];
    for line in lines {
        assert!(method(line).is_err(), "{}", String::from_utf8_lossy(line));
    }
}

#[test]
fn an_update_is_looked_at_where_it_may_be_about_a_call() {
    let update = |it: &str| format!(r#"{{"params":{{"sessionId":"s","update":{it}}}}}"#);
    let chunk =
        r#"{"content":{"sessionUpdate":"tool_call"},"sessionUpdate":"agent_message_chunk"}"#;
    assert!(!may_end_a_call(update(chunk).as_bytes()));
    for it in [
        r#"{"sessionUpdate":"tool_call_update","status":"completed"}"#,
        r#"{"sessionUpdate":"tool\u005fcall"}"#,
        r#"{"sessionUpdate":"plan","sessionUpdate":"tool_call"}"#,
        r#"{"sessionUpdate":7}"#,
        "[]",
    ] {
        assert!(may_end_a_call(update(it).as_bytes()), "{it}");
    }
}
