//! Fenced blocks in a long answer that comes in 20-byte chunks, beside a search for line ends.

use eclusa::parse::fenced::{Fenced, Options};

use crate::measure::{Told, rate, shortest};

const CHUNK: usize = 20;
const MB: usize = 1 << 20;

/// An answer with prose, code and a call every few kilobytes.
fn answer(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 4096);
    let mut number = 0;
    while text.len() < bytes {
        for _ in 0..40 {
            text.push_str("The lock has two gates, and they are never open at the same time.\n");
        }
        text.push_str("```rust\nfn main() {\n    println!(\"quoted `ticks`\");\n}\n```\n");
        text.push_str(&format!(
            "```tool\n{{\"name\": \"read\", \"args\": {{\"path\": \"src/{number}.rs\"}}}}\n```\n"
        ));
        number += 1;
    }
    text
}

/// Chunks as a model sends them: whole characters, about 20 bytes each.
fn chunks(text: &str) -> Vec<&str> {
    let mut rest = text;
    let mut chunks = Vec::with_capacity(text.len() / CHUNK + 1);
    while let Some((chunk, after)) = rest.split_at_checked(rest.ceil_char_boundary(CHUNK))
        && !chunk.is_empty()
    {
        chunks.push(chunk);
        rest = after;
    }
    chunks
}

pub(crate) fn run() -> Told {
    for size in [1, 10] {
        let text = answer(size * MB);
        let chunks = chunks(&text);
        let mb_per_second =
            |took: std::time::Duration| text.len() as f64 / 1e6 / took.as_secs_f64();
        let lines = shortest(15, || {
            chunks.iter().map(|it| memchr::memchr_iter(b'\n', it.as_bytes()).count()).sum::<usize>()
        });
        let baseline = mb_per_second(lines);
        rate(&format!("baseline: memchr for line ends, {size} MB"), baseline, "MB/s", baseline);
        let parsing = shortest(15, || {
            let mut fenced = Fenced::new(Options::default());
            let mut pieces = 0;
            for chunk in &chunks {
                pieces += fenced.push(chunk).into_iter().count();
            }
            pieces + fenced.finish().into_iter().count()
        });
        let name = format!("fenced blocks, {size} MB in 20-byte chunks (goal: 500)");
        rate(&name, mb_per_second(parsing), "MB/s", baseline);
    }
    Ok(())
}
