//! Hostile bytes: every reader of text that somebody else wrote gets mutated texts of its kind, and
//! must come to an end without a panic. The stable sister of `fuzz/`, which needs a nightly compiler.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use eclusa_tools::{diagnostics, patch, text, web};

use crate::random::Random;

/// No text of a few kilobytes may take longer, even in a debug build on a busy machine.
const MAX_TIME: Duration = Duration::from_secs(20);

/// A reader, and texts of the kind that it reads.
struct Target {
    name: &'static str,
    read: fn(&[u8]),
    seeds: &'static [&'static str],
}

const TARGETS: [Target; 11] = [
    Target {
        name: "shell",
        read: |it| drop(lossy(it, eclusa_shell::analyse)),
        seeds: &[
            "a | b && c <<E\n$(d)\nE",
            "for i in 1 2; do [[ $i -eq 1 ]] && x; done",
            "f() { a \"${b:-$(c)}\"; }; f",
        ],
    },
    Target {
        name: "hosts",
        read: |it| {
            lossy(it, |it| {
                let _ = (eclusa_net::Host::parse(it), eclusa_net::Endpoint::parse(it));
                let _ = (eclusa_net::HostPattern::parse(it), eclusa_net::split_port(it));
            });
        },
        seeds: &[
            "example.com:443",
            "[::1]:80",
            "*.example.com",
            "0x7f.1",
            "xn--bcher-kva.example",
            "127.0.0.1",
        ],
    },
    Target {
        name: "addresses",
        read: |it| drop(lossy(it, web::Address::parse)),
        seeds: &[
            "https://user@example.com:8443/a?b#c",
            "http://[::ffff:127.0.0.1]/",
            "https://example.com%2f@evil/",
        ],
    },
    Target {
        name: "pages",
        read: |it| {
            lossy(it, |it| {
                if let Ok(base) = "https://example.com/a/".parse() {
                    web::markdown(it, &base);
                }
            });
        },
        seeds: &[
            "<table><tr><td>a<td>b</table><ul><li>c",
            "<a href='../x'>y</a><pre>z</pre><script>q</script>",
            "<p hidden>a<b>c</p>&amp;&#x202e;",
        ],
    },
    Target {
        name: "patches",
        read: |it| {
            lossy(it, |it| {
                if let Ok(files) = patch::parse(it) {
                    let _ = patch::apply_all(&files, |_| Ok(Some(b"one\ntwo\nthree\n".to_vec())));
                }
            });
        },
        seeds: &[
            "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n",
            "*** Begin Patch\n*** Update File: f\n@@\n-one\n+1\n*** End Patch\n",
            "diff --git a/f b/g\nrename from f\nrename to g\n",
        ],
    },
    Target {
        name: "edits",
        read: |it| {
            lossy(it, |it| {
                let (old_string, new_string) = it.split_at(it.floor_char_boundary(it.len() / 2));
                let edit = text::Edit { old_string, new_string, replace_all: true };
                let _ = text::edit(Some(it), &[edit]);
            });
        },
        seeds: &["let x = 1;\nlet y = 2;\n", "a\r\nb\r\n\ta", "é\u{301}é"],
    },
    Target {
        name: "encodings",
        read: |it| {
            let _ = (text::decode(it), text::file_kind(it));
        },
        seeds: &["\u{feff}text\r\n", "\u{89}PNG\r\n", "GIF89a", "%PDF-1.7"],
    },
    Target {
        name: "notebooks",
        read: |it| drop(lossy(it, text::notebook)),
        seeds: &[
            r#"{"cells":[{"cell_type":"code","source":["a"],"outputs":[{"text":["b"]}]}],"nbformat":4}"#,
        ],
    },
    Target {
        name: "diagnostics",
        read: |it| drop(lossy(it, diagnostics::parse)),
        seeds: &[
            "src/a.rs:1:2: error: x\n",
            "error[E0308]: m\n --> a.rs:1:2\n",
            "a.ts(1,2): error TS1: x\n",
            r#"{"reason":"compiler-message","message":{"message":"m","spans":[]}}"#,
        ],
    },
    Target {
        name: "configurations",
        read: |it| {
            lossy(it, |it| {
                drop(eclusa_config::Config::load(&[eclusa_config::Layer::of_project("p", it)]))
            });
        },
        seeds: &[
            "[[rules]]\ndecision = \"deny\"\ncommand = \"rm\"\n",
            "mode = \"confirm-all\"\n[servers.x]\ncommand = [\"y\"]\n",
            "[limits]\noutput = \"2KB\"\n",
        ],
    },
    Target {
        name: "names and texts on the screen",
        read: |it| {
            lossy(it, |it| {
                let shown = eclusa_workspace::one_line(it);
                assert!(!shown.chars().any(char::is_control), "{shown:?}");
            });
        },
        seeds: &["a\nb\u{1b}[31m", "\u{202e}evil\u{200b}", "\r\u{9b}x"],
    },
];

fn lossy<T>(bytes: &[u8], read: impl FnOnce(&str) -> T) -> T {
    read(&String::from_utf8_lossy(bytes))
}

/// Bytes that are put in, besides those of other seeds.
const SPICE: [&str; 24] = [
    "\0",
    "\n",
    "\r\n",
    "\u{1b}",
    "\u{202e}",
    "\"",
    "'",
    "\\",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    "&",
    "%",
    "=",
    ":",
    "@",
    "-1",
    "99999999999999999999",
    "é",
    "\u{feff}",
    "\u{0}\u{0}",
];

/// Gives so many texts to each reader. Says what was found.
pub(crate) fn run(count: usize, seed: u64) -> usize {
    let mut found = 0;
    for target in &TARGETS {
        let mut random = Random::new(seed ^ 0x6279_7465);
        let (began, mut slowest) = (Instant::now(), Duration::ZERO);
        for _ in 0..count {
            let input = mutated(target.seeds, &mut random);
            let start = Instant::now();
            let read = catch_unwind(AssertUnwindSafe(|| (target.read)(&input)));
            let time = start.elapsed();
            slowest = slowest.max(time);
            if read.is_err() || time > MAX_TIME {
                found += 1;
                let what = if read.is_err() { "panicked" } else { "took too long" };
                println!("FOUND {} {what}: {:?}", target.name, String::from_utf8_lossy(&input));
            }
        }
        println!(
            "hunt: bytes: {}: {count} texts in {} ms, the slowest in {} ms",
            target.name,
            began.elapsed().as_millis(),
            slowest.as_millis()
        );
    }
    found
}

fn mutated(seeds: &[&str], random: &mut Random) -> Vec<u8> {
    let mut bytes = random.word(seeds).into_bytes();
    for _ in 0..=random.below(8) {
        let at = random.below(bytes.len() + 1);
        match random.below(5) {
            0 if at < bytes.len() => {
                let value = u8::try_from(random.below(256)).unwrap_or_default();
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = value;
                }
            }
            1 => bytes.truncate(at.max(1)),
            2 => {
                let more = random.word(seeds).into_bytes();
                bytes.splice(at..at, more);
            }
            3 => {
                // The same again, many times: what is deep or long.
                let part = bytes.get(at..).unwrap_or_default().to_vec();
                let times = random.below(40);
                let more = part.repeat(times);
                if bytes.len() + more.len() < 8192 {
                    bytes.splice(at..at, more);
                }
            }
            _ => {
                let more = random.word(&SPICE).into_bytes();
                bytes.splice(at..at, more);
            }
        }
    }
    bytes
}
