//! Files as a model reads them, through the gate.

use eclusa::{Reply, Tool};
use serde_json::{Value, json};

use super::Read;
use crate::world::World;

mod kinds;
mod limits;
mod refused;

/// Reads through the gate, by the name `read`.
async fn read(world: &World, args: Value) -> Reply {
    world.pass(Read::new(world.files()), "read", args).await
}

/// Reads, and gives the text of what must have worked.
async fn shown(world: &World, args: Value) -> String {
    let reply = read(world, args).await;
    assert!(!reply.is_error(), "{}", reply.content());
    reply.text().to_owned()
}

/// Reads, and gives the error that there must be.
async fn error(world: &World, args: Value) -> String {
    let reply = read(world, args).await;
    assert!(reply.is_error(), "{}", reply.content());
    reply.content().to_string()
}

/// Shows S4.6.
#[tokio::test]
async fn a_file_is_read_as_text_with_numbers_and_nobody_is_asked() {
    let world = World::new();
    world.write("src/main.rs", "fn main() {\n    println!(\"é\");\n}\n");
    let reply = read(&world, json!({"path": "src/main.rs"})).await;
    assert_eq!(reply.code(), "ok", "{}", reply.content());
    assert_eq!(reply.text(), "     1\tfn main() {\n     2\t    println!(\"é\");\n     3\t}\n");
    let data = reply.data().unwrap();
    assert_eq!(
        *data,
        json!({
            "path": "src/main.rs", "first": 1, "lines": 3, "next": null, "total": 3, "cut": 0,
            "bytes": 34, "encoding": "UTF-8",
        })
    );
}

/// Shows C18.
#[tokio::test]
async fn the_seeds_names_lead_to_the_same_tool() {
    let world = World::new();
    world.write("a.txt", "one\n");
    for name in ["read", "read_file", "Read"] {
        let reply = world.pass(Read::new(world.files()), name, json!({"path": "a.txt"})).await;
        assert_eq!((reply.tool(), reply.text()), ("read", "     1\tone\n"), "{name}");
    }
}

/// Shows S1.54.
#[tokio::test]
async fn read_file_takes_a_path_and_a_number_of_lines() {
    let world = World::new();
    world.write("a.txt", "one\ntwo\nthree\n");
    let two = "     1\tone\n     2\ttwo\n(lines 1 to 2; more follow, go on with offset 3)\n";
    for args in [
        json!({"path": "a.txt", "lines": 2}),
        json!({"path": "a.txt", "lines": 2.0}),
        json!({"path": "a.txt", "limit": 2, "lines": 2}),
        json!({"path": "a.txt", "limit": 2, "offset": null}),
        json!({"path": "a.txt", "limit": 2, "offset": 0}),
    ] {
        let reply = world.pass(Read::new(world.files()), "read_file", args.clone()).await;
        assert_eq!(reply.text(), two, "{args}");
    }
    for (args, part) in [
        (json!({"lines": 2}), "must have `path`"),
        (json!({"path": "a.txt", "lines": "2"}), "`/lines`"),
        (json!({"path": "a.txt", "lines": 0}), "`/lines`"),
        (json!({"path": "a.txt", "lines": 2.5}), "`/lines`"),
        (json!({"path": "a.txt", "line": 2}), "must not have `line`"),
        (json!({"path": "a.txt", "lines": 2, "limit": 3}), "another name for `limit`"),
        (json!({"path": "a.txt", "lines": 2, "bytes": "0..1"}), "together with lines"),
        (json!({"path": "a.txt", "bytes": "5..1"}), "not a range of bytes"),
        (json!({"path": "a.txt", "bytes": "all"}), "`/bytes`"),
    ] {
        let said = error(&world, args.clone()).await;
        assert!(said.contains(part), "{args}: {said}");
    }
}

#[tokio::test]
async fn pages_say_where_to_go_on_and_where_the_file_ends() {
    let world = World::new();
    world.write("a.txt", "1\n2\n3\n4\n5");
    let middle = shown(&world, json!({"path": "a.txt", "offset": 2, "limit": 2})).await;
    assert_eq!(middle, "     2\t2\n     3\t3\n(lines 2 to 3; more follow, go on with offset 4)\n");
    let last = shown(&world, json!({"path": "a.txt", "offset": 4})).await;
    assert_eq!(last, "     4\t4\n     5\t5\n(lines 4 to 5; the file ends with line 5)\n");
    let reply = read(&world, json!({"path": "a.txt", "offset": 6})).await;
    assert_eq!(
        reply.error(),
        Some("`a.txt` has 5 lines, and there is no line 6; use a smaller `offset`")
    );
    assert_eq!(reply.data().unwrap()["total"], 5);
    world.write("empty", "");
    assert_eq!(shown(&world, json!({"path": "empty"})).await, "(the file is empty)\n");
    let said = error(&world, json!({"path": "empty", "offset": 2})).await;
    assert!(said.contains("has 0 lines"), "{said}");
}

#[tokio::test]
async fn bytes_are_shown_in_whole_characters() {
    let world = World::new();
    world.write("a.txt", "aé€😀z");
    let bytes = async |range: &str| shown(&world, json!({"path": "a.txt", "bytes": range})).await;
    assert_eq!(bytes("0..").await, "(bytes 0..11 of 11, UTF-8)\naé€😀z");
    assert_eq!(bytes("2..8").await, "(bytes 3..6 of 11, UTF-8; go on with 6..)\n€");
    assert_eq!(bytes("6..11").await, "(bytes 6..11 of 11, UTF-8)\n😀z");
    assert_eq!(bytes("..1").await, "(bytes 0..1 of 11, UTF-8; go on with 1..)\na");
    let said = error(&world, json!({"path": "a.txt", "bytes": "11..12"})).await;
    assert!(said.contains("has 11 bytes, and there is none at 11"), "{said}");
    let wide: Vec<u8> = "\u{FEFF}a😀z".encode_utf16().flat_map(u16::to_le_bytes).collect();
    world.write("wide.txt", wide);
    let bytes = async |range| shown(&world, json!({"path": "wide.txt", "bytes": range})).await;
    let half = "(bytes 2..4 of 10, UTF-16 (little endian); go on with 4..)\na";
    assert_eq!(bytes("3..7").await, half);
    assert_eq!(bytes("6..").await, "(bytes 8..10 of 10, UTF-16 (little endian))\nz");
}

#[test]
fn what_is_left_out_stays_left_out() {
    let schema = Tool::input_schema(&Read::new(World::new().files()));
    let properties = schema["properties"].as_object().unwrap();
    assert_eq!(properties.len(), 5);
    assert!(properties.values().all(|it| it.get("default").is_none()), "{schema}");
    assert_eq!(schema["required"], json!(["path"]));
}
