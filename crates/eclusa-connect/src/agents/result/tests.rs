//! Which texts stand for bytes that are none.

use super::*;

#[test]
fn bytes_are_told_by_how_they_begin_or_by_what_they_are_said_to_be() {
    let png = BASE64.encode(b"\x89PNG\r\n\x1a\n and more of it");
    let noise = BASE64.encode([0xf7; 40]);
    assert!(is_media(&png, None));
    assert!(is_media(&format!("data:image/png;base64,{png}"), None));
    assert!(is_media(&noise, Some("audio/mpeg")));
    assert!(is_media(&format!("data:audio/mpeg;base64,{noise}"), None));
    assert!(!is_media(&noise, None));
    assert!(!is_media(&noise, Some("text/plain")));
    assert!(!is_media(&format!("data:text/plain;base64,{noise}"), Some("image/png")));
    assert!(!is_media(&format!("{png} and a text"), Some("image/png")));
    assert!(!is_media("iVBORw0KGgoAAAA", Some("image/png")), "too short to be one");
    assert!(!is_media("", Some("image/png")));
}

#[test]
fn what_is_said_of_one_thing_says_nothing_of_what_is_in_it() {
    let noise = BASE64.encode([0xf7; 40]);
    let value = json!({"mimeType": "image/png", "about": {"text": noise}});
    assert!(!holds_media(&value));
    assert_eq!(
        result_text(&json!({"mimeType": "image/png", "text": noise})),
        r#"{"mimeType":"image/png"}"#
    );
}
