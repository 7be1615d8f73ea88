//! Messages in whole and in pieces, good and bad.

use serde_json::json;

use super::*;

/// The progress that was told, and the result.
type Told = (Vec<(f64, String)>, Result<Option<Value>, String>);

fn messages(lines: &str, chunk: usize) -> Told {
    let messages = Messages::new().unwrap();
    let text = lines.replace("TELL", messages.word());
    let told = text.as_bytes().chunks(chunk).filter_map(|it| messages.watch(it)).collect();
    (told, messages.result())
}

#[test]
fn progress_and_data_are_read_however_they_come() {
    let lines = "begun\nTELL progress 0.5 half of it\nTELL data {\"count\": 3}\n";
    for chunk in [1, 7, 40, 1000] {
        let (told, result) = messages(lines, chunk);
        assert!(told.contains(&(0.5, "half of it".to_owned())), "{chunk}: {told:?}");
        assert!(!told.iter().any(|it| it.1.contains("count")), "{chunk}: {told:?}");
        assert_eq!(result, Ok(Some(json!({"count": 3}))), "{chunk}");
    }
    // The last one counts, and needs no end of its line.
    assert_eq!(messages("TELL data 1\nTELL data 2", 5).1, Ok(Some(json!(2))));
    assert_eq!(messages("", 5).1, Ok(None));
    assert_eq!(messages("say TELL data 1\n", 5).1, Ok(None));
}

#[test]
fn what_is_no_message_is_told() {
    let wrong = |lines: &str| messages(lines, 4096).1.unwrap_err();
    assert!(wrong("TELL data {\"count\": ").contains("not JSON: EOF"), "{}", wrong("TELL data {"));
    assert!(wrong("TELL dat {}\n").contains("`progress FRACTION TEXT` or `data JSON`"));
    let long = format!("TELL data \"{}\"\n", "x".repeat(MAX_MESSAGE));
    assert!(wrong(&long).contains("longer than"));
    // What is beyond is not kept, however long it goes on.
    let messages = Messages::new().unwrap();
    messages.watch(messages.word().as_bytes());
    for _ in 0..8 {
        messages.watch(&[b'x'; MAX_MESSAGE]);
    }
    assert!(messages.reading.lock().unwrap().line.len() <= MAX_MESSAGE + 1);
}

#[test]
fn messages_are_no_output() {
    let messages = Messages::new().unwrap();
    let text = format!("one\n{} data 1\ntwo\n{} progress 1", messages.word(), messages.word());
    assert_eq!(messages.strip(&text), "one\ntwo\n");
}
