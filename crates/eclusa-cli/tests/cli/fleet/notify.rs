//! Telling people of what waits, from the server: groups and teams, each once, and never with the means to answer.

use std::{fs, path::Path};

use super::{
    office::{ASK, Office, park},
    server::Server,
};
use crate::{
    pending::QUEUE,
    world::{World, wait_until},
};

/// A receiver that writes what it is told into a file.
fn receiver(name: &str, whom: &str, more: &str, to: &Path) -> String {
    let to = to.display();
    format!(
        "[[notifications]]\nname = \"{name}\"\n{whom}{more}after = \"0s\"\n\
         command = [\"sh\", \"-c\", \"cat >> {to}/{name}; echo >> {to}/{name}\"]\n"
    )
}

#[test]
fn groups_and_teams_are_told_once_of_what_waits_for_them() {
    let Some(office) = Office::new() else { return };
    let world = &office.trail.fleet.world;
    let to = world.path("told");
    fs::create_dir_all(&to).unwrap();
    let text = [
        receiver("release", "group = \"release\"\n", "", &to),
        receiver("web", "team = \"web\"\n", "show = \"args\"\n", &to),
        receiver("ops", "team = \"ops\"\n", "", &to),
        receiver("everything", "", "", &to),
        "[[notifications]]\nname = \"broken\"\nafter = \"0s\"\ncommand = [\"false\"]\n".to_owned(),
    ];
    world.write("fleet.toml", &text.concat());
    let machine = World::with(&format!("{QUEUE}{ASK}of = [\"release\"]\n"));
    office.enrol(&machine);
    park(&machine, "before anybody listens");
    let file = world.path("fleet.toml").display().to_string();
    let address = office.trail.database.address();
    let page = ["--notify", &file, "--url", "https://fleet.example"];
    let servers = [(); 2].map(|()| Server::start_with(world, &address, &page));
    let plain = office.machine("");
    park(&plain, "by nobody in particular");
    let told = |name: &str| fs::read_to_string(to.join(name)).unwrap_or_default();
    wait_until("all are told", || {
        told("release").lines().count() == 1
            && told("web").lines().count() == 1
            && told("everything").lines().count() == 2
    });
    let database = &office.trail.database;
    wait_until("what failed is due again", || {
        database.query("select count(*) from notifications where target = 'broken' and error is not null and due > now()") == "2"
    });
    let release: serde_json::Value = serde_json::from_str(&told("release")).unwrap();
    let data = &release["data"];
    assert_eq!(release["type"], "approval.asked");
    assert_eq!(data["link"], "https://fleet.example/inbox?question=1");
    assert_eq!((&data["tool"], &data["needs"][0]), (&"note".into(), &"1 of release".into()));
    assert!(!told("release").contains("before anybody listens"), "what it is about is not told");
    assert!(told("web").contains("by nobody in particular"), "unless somebody wants it");
    assert_eq!(told("ops"), "");
    for secret in ["signature", "statement", "key", "cookie", "token"] {
        assert!(!told("everything").contains(secret), "{secret}: {}", told("everything"));
    }
    // Once, however many servers there are, and not again after the question changed.
    park(&plain, "another");
    wait_until("the next is told", || told("everything").lines().count() == 3);
    assert_eq!(told("release").lines().count(), 1);
    let twice = "select count(*) from notifications where sent is not null and attempts > 1";
    assert_eq!(database.query(twice), "0");
    servers.into_iter().for_each(Server::end);
}

#[test]
fn a_file_of_receivers_that_cannot_be_read_is_refused() {
    let Some(office) = Office::new() else { return };
    let world = &office.trail.fleet.world;
    let address = office.trail.database.address();
    for (text, why) in [
        (
            "[[notifications]]\nname = \"x\"\ngroup = 3\nurl = \"https://x\"\n",
            "`group` must be a text",
        ),
        (
            "[[notifications]]\nname = \"x\"\nteams = \"web\"\nurl = \"https://x\"\n",
            "unknown key `teams`",
        ),
        ("[[rules]]\ndecision = \"allow\"\n", "`rules` is not known here"),
        ("[[notifications]\n", "expected"),
    ] {
        world.write("fleet.toml", text);
        let file = world.path("fleet.toml").display().to_string();
        let args = [
            "fleet",
            "serve",
            "--database",
            &address,
            "--listen",
            "127.0.0.1:0",
            "--notify",
            &file,
        ];
        let ran = world.eclusa(&args);
        assert!(ran.code == 2 && ran.err.contains(why), "{why}: {ran:?}");
    }
    for url in ["fleet.example", "https://fleet.example/page", "ftp://fleet.example", "https://a@b"]
    {
        let args =
            ["fleet", "serve", "--database", &address, "--listen", "127.0.0.1:0", "--url", url];
        let ran = world.eclusa(&args);
        assert!(
            ran.code == 2 && ran.err.contains("is not the address of a page"),
            "{url}: {ran:?}"
        );
    }
}
