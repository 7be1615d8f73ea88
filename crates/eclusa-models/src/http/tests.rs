//! What statuses mean, which addresses are taken, and events in any chunks.

mod streams;

use proptest::prelude::*;
use reqwest::StatusCode;

use super::{checked, meaning, sse::EventReader};
use crate::model::ModelErrorKind::{Final, Retry, TooLong};

#[test]
fn keys_go_to_encrypted_addresses_and_to_this_machine_alone() {
    for good in [
        "https://api.example.org/v1",
        "http://127.0.0.1:8080/x",
        "http://localhost/",
        "http://[::1]:1/",
    ] {
        assert!(checked(good).is_ok(), "{good}");
    }
    for bad in
        ["http://example.org/", "ftp://localhost/", "nonsense", "http://127.0.0.1.example.org/"]
    {
        assert!(checked(bad).is_err(), "{bad}");
    }
}

#[test]
fn every_status_has_a_meaning() {
    let kind = |status: u16, body: &str| {
        meaning(StatusCode::from_u16(status).unwrap(), body, None, "h").kind
    };
    for status in [408, 409, 429, 500, 502, 503, 504, 529] {
        assert_eq!(kind(status, ""), Retry(None), "{status}");
    }
    for status in [301, 400, 401, 403, 404, 422] {
        assert_eq!(kind(status, ""), Final, "{status}");
    }
    assert_eq!(kind(429, r#"{"error":{"code":"insufficient_quota"}}"#), Final);
    assert_eq!(kind(400, r#"{"error":{"message":"prompt is too long: 2 > 1"}}"#), TooLong);
    assert_eq!(kind(400, r#"{"error":{"message":"maximum context length is 1"}}"#), TooLong);
    assert_eq!(kind(413, "<html>too large</html>"), TooLong);
    for (status, body, told) in [
        (400, r#"{"error":{"message":"no,\n never"}}"#, "h answered 400 Bad Request: no, never"),
        (400, r#"[{"error":{"message":"no"}}]"#, "h answered 400 Bad Request: no"),
        (400, r#"{"error":"no"}"#, "h answered 400 Bad Request: no"),
        (500, "out of\nmemory", "h answered 500 Internal Server Error: out of memory"),
        (502, "<html>\n<h1>Bad Gateway</h1>", "h answered 502 Bad Gateway"),
        (401, "", "h answered 401 Unauthorized; check the key of this model"),
        (404, "", "h answered 404 Not Found; check `model` and `url` of this model"),
    ] {
        assert_eq!(meaning(StatusCode::from_u16(status).unwrap(), body, None, "h").what, told);
    }
}

fn read(chunks: &[&[u8]]) -> Vec<String> {
    let mut reader = EventReader::default();
    let mut all: Vec<String> = chunks.iter().flat_map(|it| reader.push(it).unwrap()).collect();
    all.extend(reader.finish());
    all
}

#[test]
fn events_are_read_as_the_standard_has_them() {
    let stream = ": ping\nevent: a\ndata: {\"x\":\ndata: 1}\n\ndata:two\r\n\r\ndata: last";
    assert_eq!(read(&[stream.as_bytes()]), ["{\"x\":\n1}", "two", "last"]);
    let mut reader = EventReader::default();
    assert!(reader.push(&vec![b'x'; 9 << 20]).is_err());
}

proptest! {
    /// The same bytes in any chunks are the same events.
    #[test]
    fn any_chunking_gives_the_same_events(
        lines in prop::collection::vec("(data: ?[a-zé{}]{0,6}|event: x|: c|)", 0..12),
        ends in prop::collection::vec(prop::sample::select(vec!["\n", "\r\n", "\r"]), 12),
        cuts in prop::collection::vec(0..400usize, 0..12),
    ) {
        let stream: String = lines.iter().zip(&ends).map(|(line, end)| format!("{line}{end}")).collect();
        let bytes = stream.as_bytes();
        let mut places: Vec<usize> = cuts.iter().map(|it| it % (bytes.len() + 1)).collect();
        places.extend([0, bytes.len()]);
        places.sort_unstable();
        let chunks: Vec<&[u8]> = places.windows(2).map(|it| &bytes[it[0]..it[1]]).collect();
        prop_assert_eq!(read(&chunks), read(&[bytes]));
    }
}
