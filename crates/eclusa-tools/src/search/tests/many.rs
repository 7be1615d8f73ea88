//! A great deal of everything, and calls that are taken back.

use std::time::{Duration, Instant};

use super::{
    super::{
        GrepArgs,
        cancel::{Cancel, HaltOnDrop},
        grep_run::grep,
    },
    *,
};

#[test]
fn a_million_matches_end_at_the_limit() {
    let place = Place::new();
    place.file("big.txt", "hit\n".repeat(1_000_000)).file("a.txt", "hit\n");
    let text = place.says("grep", json!({"pattern": "hit", "limit": 3}));
    assert_eq!(lines(&text), ["a.txt:1:hit", "big.txt:1:hit", "big.txt:2:hit"]);
    assert!(last(&text).contains("there are more: `offset: 3`"), "{text}");
    let text = place.says("grep", json!({"pattern": "hit", "output": "count"}));
    assert_eq!(lines(&text), ["a.txt:1", "big.txt:1000000"]);
}

#[test]
fn lines_are_cut_and_a_line_without_end_is_told() {
    let place = Place::new();
    place.file("long.txt", "ä".repeat(100_000) + "needle\n");
    place.file("endless.txt", "y".repeat(20 << 20)).file("short.txt", "needle\n");
    let text = place.says("grep", json!({"pattern": "needle"}));
    let [long, short] = lines(&text)[..] else { panic!("{text}") };
    assert!(long.contains("äneedle [cut: the line has 200006 bytes]"), "{long}");
    assert!(long.len() < 600);
    assert_eq!(short, "short.txt:1:needle");
    assert!(last(&text).contains("1 not to the end"), "{text}");
}

#[test]
fn too_much_for_one_answer_is_cut_where_the_next_page_begins() {
    let place = Place::new();
    let line = "x".repeat(390) + "\n";
    place.file("a.txt", line.repeat(9000)).file("b.txt", line.repeat(10));
    let text = place.says("grep", json!({"pattern": "x", "offset": 1000, "limit": 1000}));
    assert_eq!(lines(&text).len(), 1000);
    assert!(last(&text).contains("`offset: 2000`"), "{text}");
    let text = place.says("grep", json!({"pattern": "x", "offset": 8995, "limit": 10}));
    assert!(lines(&text).is_empty() && last(&text).contains("narrow"), "{}", last(&text));
}

#[test]
fn a_directory_of_many_entries_is_paged() {
    let place = Place::new();
    for at in 0..5000 {
        place.file(format!("d/f{at:05}"), "hit\n");
    }
    // More files than wait for a worker: none is left out, none is counted twice.
    let data = place.data("grep", json!({"pattern": "hit", "output": "count", "offset": 4999}));
    assert_eq!(data["counts"], json!([{"path": "d/f04999", "count": 1}]));
    assert_eq!((&data["searched"], &data["next_offset"]), (&json!(5000), &Value::Null));
    for recursive in [false, true] {
        let args = json!({"path": "d", "recursive": recursive, "offset": 4000, "limit": 2});
        let data = place.data("list", args);
        assert_eq!(data["total"], 5000);
        assert_eq!(data["entries"][0]["path"], "d/f04000");
        assert_eq!(data["entries"].as_array().unwrap().len(), 2);
    }
}

#[test]
fn a_search_stops_when_the_call_is_taken_back_or_its_time_is_up() {
    let place = Place::new();
    place.file("big.txt", "no\n".repeat(3_000_000));
    let run = Run { deadline: Some(Instant::now() + Duration::from_millis(1)), ..Run::default() };
    let gate = place.gate.for_run(run);
    let args = json!({"pattern": "(n|o)+x", "output": "count"});
    let reply = gate.pass_blocking(ToolCall::new("1", "grep", args.clone())).unwrap();
    assert!(reply.is_error(), "{}", reply.content());

    let run = Run::default();
    run.cancel.cancel();
    let reply = place.gate.for_run(run).pass_blocking(ToolCall::new("1", "grep", args)).unwrap();
    assert_eq!(reply.code(), "cancelled", "{}", reply.content());
}

#[test]
fn nothing_is_looked_at_once_a_halt_is_called() {
    let place = Place::new();
    place.file("a.txt", "x\n").file("d/b.txt", "x\n");
    let files = Files::open(&place.root(), Blocked::default()).unwrap();
    let searched = |path: Option<&str>, cancel: &Cancel| {
        let path = path.map(str::to_owned);
        let args = GrepArgs { pattern: "x".to_owned(), path, ..GrepArgs::default() };
        let data = grep(&files, &HiddenPaths::nothing(), &args, cancel).unwrap().data.unwrap();
        data["searched"].as_u64().unwrap()
    };
    let wanted = Cancel::until(Instant::now() + Duration::from_secs(3600));
    assert_eq!((searched(None, &wanted), searched(Some("a.txt"), &wanted)), (2, 1));
    let late = Cancel::until(Instant::now());
    assert_eq!((searched(None, &late), searched(Some("a.txt"), &late)), (0, 0));
    drop(HaltOnDrop(wanted.clone()));
    assert_eq!((searched(None, &wanted), searched(Some("a.txt"), &wanted)), (0, 0));
}
