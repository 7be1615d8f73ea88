//! What is in a file: encodings, pictures, programs, notebooks.

use serde_json::json;

use super::{read, shown};
use crate::world::World;

#[tokio::test]
async fn utf_16_and_latin_1_are_read_as_text() {
    let world = World::new();
    let units = |text: &str| -> Vec<u16> { text.encode_utf16().collect() };
    let big: Vec<u8> =
        units("\u{FEFF}größe\r\nzwei\r\n").into_iter().flat_map(u16::to_be_bytes).collect();
    let little: Vec<u8> =
        units("\u{FEFF}größe\r\nzwei\r\n").into_iter().flat_map(u16::to_le_bytes).collect();
    world.write("big.txt", big);
    world.write("little.txt", little);
    world.write("latin.txt", b"gr\xF6\xDFe\r\nzwei\r\n");
    for (name, encoding) in [
        ("big.txt", "UTF-16 (big endian)"),
        ("little.txt", "UTF-16 (little endian)"),
        ("latin.txt", "Latin-1 (Windows-1252)"),
    ] {
        let reply = read(&world, json!({"path": name})).await;
        let text = format!("     1\tgröße\n     2\tzwei\n(the file is {encoding})\n");
        assert_eq!(reply.text(), text);
        assert_eq!(reply.data().unwrap()["encoding"], encoding);
    }
}

#[tokio::test]
async fn bytes_that_are_no_characters_are_told() {
    let world = World::new();
    world.write("a.txt", b"\xC3\xA9\xC3\xA9 \xFF\n");
    assert_eq!(
        shown(&world, json!({"path": "a.txt"})).await,
        "     1\téé \u{FFFD}\n(some bytes are no UTF-8 and are shown as \u{FFFD})\n"
    );
}

#[tokio::test]
async fn binary_files_and_images_are_described_and_not_dumped() {
    let world = World::new();
    world.write("program", b"\x7FELF\x02\x01\x01\0\0\0");
    world.write("data", b"a\0\x01\x02b");
    world.write("dot.png", b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR");
    let program = "`program` is binary: an ELF program or library (10 bytes); \
                   it cannot be shown as text";
    assert_eq!(shown(&world, json!({"path": "program"})).await, program);
    assert_eq!(
        shown(&world, json!({"path": "data", "bytes": "0..2"})).await,
        "`data` is binary (5 bytes); it cannot be shown as text"
    );
    let reply = read(&world, json!({"path": "dot.png"})).await;
    let image = "`dot.png` is an image (image/png, 16 bytes)";
    assert_eq!(reply.text(), image);
    assert_eq!(reply.data().unwrap()["media_type"], "image/png");
}

#[tokio::test]
async fn notebooks_are_shown_as_cells() {
    let world = World::new();
    let book = json!({
        "metadata": {"kernelspec": {"language": "python"}},
        "cells": [
            {"cell_type": "markdown", "source": ["# Title\n", "words"]},
            {"cell_type": "code", "source": "1 + 1", "outputs": [
                {"output_type": "execute_result", "data": {"text/plain": ["2"]}},
            ]},
        ],
    });
    world.write("a.ipynb", book.to_string());
    let reply = read(&world, json!({"path": "a.ipynb"})).await;
    let text = reply.text();
    assert!(text.starts_with("     1\t[cell 1: markdown]\n     2\t# Title\n"), "{text}");
    assert!(text.contains("\t[output of cell 2]\n"), "{text}");
    assert!(text.ends_with("(these are the cells of a notebook; the file itself is JSON)\n"));
    assert_eq!(reply.data().unwrap()["notebook"], true);
}

#[tokio::test]
async fn what_is_no_notebook_is_shown_as_it_is() {
    let world = World::new();
    world.write("a.ipynb", "{\"cells\": [\n");
    let text = shown(&world, json!({"path": "a.ipynb"})).await;
    assert!(text.starts_with("     1\t{\"cells\": [\n(the notebook is not valid JSON"), "{text}");
    assert!(text.ends_with(", so it is shown as it is)\n"), "{text}");
    world.write("many.ipynb", format!("{{\"cells\": [{}0]}}", "{},".repeat(30_000)));
    let text = shown(&world, json!({"path": "many.ipynb"})).await;
    assert!(text.ends_with("(the notebook has very many values, so it is shown as it is)\n"));
}
