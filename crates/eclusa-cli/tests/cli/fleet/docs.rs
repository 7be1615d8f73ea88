//! docs/fleet.md is run: a `toml` block is the file that its first line names, and every transcript must come out as it
//! is written. What differs from run to run (times, digests, codes) is taken out of both. The chapter about the inbox has a
//! server; where no PostgreSQL is installed, it is not run.
//!
//! Transcripts with a `$URL` need PostgreSQL; where there is none, they are taken as they are.
//!
//! `ECLUSA_DOCS=write` writes what came out into the file instead, to be read before it is kept.

use std::{fs, io::Write, path::Path};

use regex::Regex;

use super::{
    page_people::{PageKey, PagePerson, joining},
    postgres::TestDatabase,
    server::{Server, now},
};
use crate::{passkeys::Authenticator, policy_docs::words, world::World};

/// What stands for the address of the server.
const SERVER: &str = "https://fleet.example";

#[test]
fn every_story_comes_out_as_it_is_written() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/fleet.md");
    let text = fs::read_to_string(&file).unwrap();
    let world = World::new();
    let (mut told, mut lines, mut code) = (String::new(), text.lines(), String::new());
    let mut transcripts = 0;
    let (database, mut is_migrated) = (TestDatabase::new(), false);
    let (mut server, mut skipped, mut digits) = (None, false, String::new());
    while let Some(line) = lines.next() {
        if let Some(chapter) = line.strip_prefix("## ") {
            if chapter == "One inbox" {
                server = serve(&world);
            }
            skipped = chapter == "One inbox" && server.is_none();
        }
        told.push_str(&format!("{line}\n"));
        let Some(kind @ ("toml" | "console")) = line.strip_prefix("```") else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|it| *it != "```").collect();
        if let Some(name) = block.first().and_then(|it| it.strip_prefix("# policy/")) {
            let path = world.path("workspace/policy").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            world.write(&format!("workspace/policy/{name}"), &(block.join("\n") + "\n"));
        }
        if kind == "toml" || skipped {
            block.iter().for_each(|it| told.push_str(&format!("{it}\n")));
        }
        let needs_database = block.iter().any(|it| it.contains("\"$URL\""));
        if kind == "console" && needs_database && database.is_none() {
            block.iter().for_each(|it| told.push_str(&format!("{it}\n")));
            told.push_str("```\n");
            continue;
        }
        let address = match &server {
            Some((_, of_inbox)) => of_inbox.clone(),
            None => database.as_ref().map(TestDatabase::address).unwrap_or_default(),
        };
        if needs_database && !is_migrated && server.is_none() {
            let documents = ["--documents", "../acme/documents.json"];
            let args = [&["fleet", "migrate", "--database", &address], &documents[..]].concat();
            assert_eq!(world.eclusa(&args).code, 0);
            is_migrated = true;
        }
        let commands = block.iter().filter_map(|it| it.strip_prefix("$ eclusa "));
        let url = server.as_ref().map_or(SERVER, |it: &(Server, String)| it.0.url.as_str());
        // Browsers know this machine by its name.
        let page = url.replace("127.0.0.1", "localhost");
        for command in commands.filter(|_| !skipped) {
            transcripts += 1;
            let documents = world.path("acme/documents.json").display().to_string();
            let at = if command.contains("--person") { page.as_str() } else { url };
            let typed =
                command.replace("CODE", &code).replace("DIGITS", &digits).replace(SERVER, at);
            let typed = typed.replace("/srv/acme/documents.json", &documents);
            let args = words(&typed);
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let args: Vec<&str> = args
                .into_iter()
                .map(|it| if it.trim_matches('"') == "$URL" { &address } else { it })
                .collect();
            let ran = world.eclusa(&args);
            let mut words = ran.out.split_whitespace();
            if let Some(it) = words.find(|it| it.starts_with("eclusa-fleet-1.")) {
                code = it.to_owned();
            }
            if let (Some((_, link)), Some((server, _))) = (ran.out.split_once("/join#"), &server) {
                digits = join(server, link.trim());
            }
            told.push_str(&format!(
                "$ eclusa {command}\n{}",
                plain(&world, &(ran.out + &ran.err).replace(url, SERVER).replace(&page, SERVER))
            ));
        }
        told.push_str("```\n");
    }
    assert!(transcripts > 10, "{transcripts}");
    if std::env::var_os("ECLUSA_DOCS").is_some_and(|it| it == "write") {
        fs::File::create(&file).unwrap().write_all(told.as_bytes()).unwrap();
        return;
    }
    assert_eq!(text, told, "run the test with ECLUSA_DOCS=write, and read what it wrote");
}

/// The server of the inbox.
fn serve(world: &World) -> Option<(Server, String)> {
    // What waits there ran in a sandbox.
    eclusa_testing::needs!(Namespaces);
    let database = TestDatabase::new()?.address();
    let documents = world.path("acme/documents.json").display().to_string();
    let ran =
        world.eclusa(&["fleet", "migrate", "--database", &database, "--documents", &documents]);
    assert_eq!(ran.code, 0, "{ran:?}");
    Some((Server::start(world, &database), database))
}

/// Cy opens the link, makes a passkey, and is shown its digits.
fn join(server: &Server, code: &str) -> String {
    let page = server.url.replace("127.0.0.1", "localhost");
    let key = PageKey::Passkey(Authenticator::at(&page, "cy"));
    let cy = PagePerson::stranger(server, "cy", key);
    let got = cy.post("/page/join", &joining(&code.parse().unwrap(), &cy.key, now() + 60_000));
    assert_eq!(got.status, 200, "{got:?}");
    let made: serde_json::Value = serde_json::from_str(&got.body).unwrap();
    made["digest"].as_str().unwrap().chars().take(32).collect()
}

fn plain(world: &World, text: &str) -> String {
    let here = world.path("").canonicalize().unwrap().display().to_string();
    let text = text.replace(&format!("{here}/config"), "~/.config").replace(&here, "~");
    let marks = [
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "2026-12-01T00:00:00Z"),
        (r"\b[0-9a-f]{64}\b", "5e3c…"),
        (r"eclusa-fleet-1\.\S+", "eclusa-fleet-1.…"),
        (r"\d+ other rules", "138 other rules"),
        (r"defaults:\d+", "defaults:170"),
        (r"machine +tool", "machine     tool"),
        (r"web/[\w.-]+ +bash", "web/laptop  bash"),
        (r"web/[\w.-]+,", "web/laptop,"),
        (r"key [0-9a-f]{16}, public part \S+", "key 5e3c6f1a0b2d4c8e, public part aepZ…"),
        (r"asked [^,\n]+, expires", "asked just now, expires"),
        (r"binding: [0-9a-f]{8}", "binding: 5e3c6f1a"),
        (r"([0-9a-f]{4} ){7}[0-9a-f]{4}", "5e3c 6f1a 0b2d 4c8e 9a7b 1c3d 5e6f 9b20"),
        (r"passkey [0-9a-f]{16}", "passkey 5e3c6f1a0b2d4c8e"),
    ];
    marks.iter().fold(text, |text, (pattern, mark)| {
        Regex::new(pattern).unwrap().replace_all(&text, *mark).into_owned()
    })
}
