//! Readers of texts: shell, hosts, pages, patches, notebooks, settings, what is shown.

use std::sync::LazyLock;

use eclusa::Redactor;
use eclusa_tools::{diagnostics, patch, text, web};

use super::{Target, lossy};

/// Attacks and everyday commands, one a line.
const COMMANDS: &str = include_str!("../../../../tests/corpus/redteam.jsonl");

static REDACTOR: LazyLock<Redactor> = LazyLock::new(Redactor::default);

pub(super) const TARGETS: [Target; 13] = [
    Target {
        name: "shell",
        read: |it| drop(lossy(it, eclusa_shell::analyse)),
        seeds: &[
            "a | b && c <<E\n$(d)\nE",
            "for i in 1 2; do [[ $i -eq 1 ]] && x; done",
            "f() { a \"${b:-$(c)}\"; }; f",
        ],
        corpus: COMMANDS,
    },
    Target {
        name: "fleet documents",
        read: |it| {
            lossy(it, |it| {
                let _ = eclusa_fleet::DocumentBundle::parse(it).map(|it| it.verified_roots(None));
                let _ = it.parse::<eclusa_fleet::SignedNote>().map(|it| it.to_string());
                let _ = (it.parse::<eclusa_fleet::Heading>(), it.parse::<eclusa_fleet::Invite>());
                let _ = it.parse::<eclusa_fleet::EnrolmentCode>();
                let _ = eclusa_fleet::PolicyPayload::parse(it).map(|it| it.files());
                let _ = eclusa_fleet::PeoplePayload::parse(it);
                let _ = eclusa_fleet::FleetAnchor::parse(it);
            });
        },
        seeds: &[
            "acme policy\nversion 1\nexpires 2026-12-01T00:00:00Z\nsha256 00\n\n— acme-policy-1 AAAAAAAA\n",
            r#"{"roots": [{"note": "acme root\nversion 1\n\n— a AAAA\n", "payload": "name = \"acme\""}]}"#,
            r#"{"files": {"all.toml": "[fleet]\nfor = { team = \"web\" }"}, "needs": "0.4"}"#,
            "id 1\nlabel team=web\nephemeral no\nuses 1\nsecret 00\n",
            "[fleet]\nname = \"acme\"\nroot = \"sha256:00\"",
        ],
        corpus: "",
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
        corpus: "",
    },
    Target {
        name: "addresses",
        read: |it| drop(lossy(it, web::Address::parse)),
        seeds: &[
            "https://user@example.com:8443/a?b#c",
            "http://[::ffff:127.0.0.1]/",
            "https://example.com%2f@evil/",
        ],
        corpus: "",
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
        corpus: "",
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
        corpus: "",
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
        corpus: "",
    },
    Target {
        name: "encodings",
        read: |it| {
            let _ = (text::decode(it), text::file_kind(it));
        },
        seeds: &["\u{feff}text\r\n", "\u{89}PNG\r\n", "GIF89a", "%PDF-1.7"],
        corpus: "",
    },
    Target {
        name: "notebooks",
        read: |it| drop(lossy(it, text::notebook)),
        seeds: &[
            r#"{"cells":[{"cell_type":"code","source":["a"],"outputs":[{"text":["b"]}]}],"nbformat":4}"#,
        ],
        corpus: "",
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
        corpus: "",
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
        corpus: "",
    },
    Target {
        name: "secrets to redact",
        read: |it| {
            lossy(it, |it| {
                let once = REDACTOR.text(it).0.into_owned();
                let _ = REDACTOR.text(&once);
            });
        },
        seeds: &[
            "token=ghp_0123456789abcdefghijABCDEFGHIJ012345",
            "postgres://user:secret@host/db",
            "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
            "Authorization: Bearer abc.def.ghi",
        ],
        corpus: "",
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
        corpus: "",
    },
];
