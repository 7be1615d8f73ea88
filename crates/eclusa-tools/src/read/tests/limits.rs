//! Files that are larger than memory, longer than a page, or read for nobody.

use std::{
    fs::File,
    io::{Read as _, Seek as _, SeekFrom, Write as _},
    sync::{Arc, atomic::AtomicBool},
};

use serde_json::json;

use super::{
    super::{AwaitedFile, Reading, SHOWN, StopOnDrop, Wanted},
    read, shown,
};
use crate::world::World;

const GIGABYTE: u64 = 1 << 30;

#[tokio::test]
async fn a_file_of_5_gb_is_read_as_far_as_it_is_shown() {
    let world = World::new();
    world.write("huge.log", "one line of many\n".repeat(8000));
    // The rest is a hole, which takes no room on the disk and no time unless it is read.
    File::options()
        .append(true)
        .open(world.path("huge.log"))
        .unwrap()
        .set_len(5 * GIGABYTE)
        .unwrap();
    let reply = read(&world, json!({"path": "huge.log", "offset": 7000, "limit": 2})).await;
    let end = "(lines 7000 to 7001; more follow, go on with offset 7002)\n";
    assert!(reply.text().ends_with(end), "{}", reply.text());
    assert_eq!(reply.data().unwrap()["total"], json!(null));
    let mut file = File::options().write(true).open(world.path("huge.log")).unwrap();
    file.seek(SeekFrom::Start(5 * GIGABYTE - 4)).unwrap();
    file.write_all(b"last").unwrap();
    let last = shown(&world, json!({"path": "huge.log", "bytes": "5368709116.."})).await;
    assert_eq!(last, "(bytes 5368709116..5368709120 of 5368709120, UTF-8)\nlast");
}

#[tokio::test]
async fn a_line_of_100_mb_is_cut_and_any_part_of_it_can_be_had() {
    let world = World::new();
    let mut file = File::create(world.path("long.txt")).unwrap();
    let megabyte = vec![b'x'; 1_000_000];
    for _ in 0..100 {
        file.write_all(&megabyte).unwrap();
    }
    file.write_all(b"\nshort\n").unwrap();
    let text = shown(&world, json!({"path": "long.txt"})).await;
    assert!(text.len() < 3000, "{}", text.len());
    assert!(text.contains("x… (99998000 more bytes in this line)\n     2\tshort\n"), "{text}");
    assert!(text.ends_with("(a line was too long and cut; `bytes` shows any part of the file)\n"));
    let text = shown(&world, json!({"path": "long.txt", "bytes": "99999998..100000003"})).await;
    let part = "(bytes 99999998..100000003 of 100000007, UTF-8; go on with 100000003..)\nxx\nsh";
    assert_eq!(text, part);
}

#[tokio::test]
async fn pages_put_together_are_the_file_and_none_is_cut_by_the_gate() {
    let world = World::new();
    let lines: Vec<String> = (1..=9000).map(|it| format!("{it} {}", "é".repeat(it % 90))).collect();
    world.write("a.txt", lines.join("\n"));
    let (mut offset, mut seen) = (Some(1), Vec::new());
    while let Some(first) = offset {
        let args = json!({"path": "a.txt", "offset": first, "limit": 5000});
        let reply = read(&world, args).await;
        assert!(!reply.truncated() && reply.text().len() > 20_000);
        let numbered = reply.text().lines().filter_map(|it| it.split_once('\t'));
        seen.extend(numbered.map(|(_, line)| line.to_owned()));
        offset = reply.data().unwrap()["next"].as_u64();
    }
    assert_eq!(seen, lines);
}

/// The most memory that showing the beginning of a file takes at once.
fn memory(world: &World, path: &str) -> u64 {
    let opened = world.files().file(path).unwrap();
    let used = allocation_counter::measure(|| {
        let reading = Reading::new(opened, Arc::default()).unwrap();
        reading.show(Wanted::Lines { first: 1, count: 2000 }, SHOWN).unwrap();
    });
    used.bytes_max
}

#[test]
fn neither_long_lines_nor_odd_notebooks_take_much_memory() {
    let world = World::new();
    world.write("line.txt", "x".repeat(30_000_000));
    assert!(memory(&world, "line.txt") < 1_000_000);
    // As much structure as a notebook may have, and more than it may have.
    let objects = r#"{"":0},"#.repeat(19_000);
    let values = "[],".repeat(150_000);
    let text = "x".repeat(7_000_000);
    world.write("a.ipynb", format!(r#"{{"cells": [{objects}{values}"{text}"]}}"#));
    world.write("b.ipynb", format!(r#"{{"cells": [{}0]}}"#, "[],".repeat(2_500_000)));
    let cell = format!(r#"{{"cells": [{{"cell_type": "code", "source": "{text}"}}]}}"#);
    world.write("c.ipynb", cell);
    for name in ["a.ipynb", "b.ipynb", "c.ipynb"] {
        let used = memory(&world, name);
        assert!(used < 64_000_000, "{name}: {used}");
    }
}

#[test]
fn nothing_is_read_for_a_call_that_nobody_waits_for() {
    let world = World::new();
    world.write("a.txt", "text");
    let unwatched = Arc::new(AtomicBool::new(false));
    let file = File::open(world.path("a.txt")).unwrap();
    let mut watched = AwaitedFile { file, unwatched: unwatched.clone() };
    let mut one = [0];
    assert_eq!(watched.read(&mut one).unwrap(), 1);
    drop(StopOnDrop(unwatched));
    assert!(watched.read_to_end(&mut Vec::new()).is_err());
}
