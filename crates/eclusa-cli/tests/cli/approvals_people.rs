//! The approvals page for several people and sessions: links for each of them, what a session page says,
//! and what is left when whoever serves it dies.

use serde_json::json;

use crate::{approvals_page::Served, mcp::http::Up, world::World};

fn parked(world: &World, text: &str) {
    let args = json!({ "text": text }).to_string();
    assert_eq!(world.eclusa(&["run", "--park", "note", &args]).code, 4);
}

/// The code of a link.
fn code(link: &str) -> &str {
    link.trim().split_once("/pair#").unwrap().1
}

#[test]
fn a_person_answers_with_the_browser_that_opened_their_link() {
    let world = World::with(
        "[[rules]]\ndecision = \"ask\"\ntool = \"note\"\nof = [\"release\"]\nneed = 2\nwith = \"key\"\n",
    );
    parked(&world, "hello");
    let served = Served::start(&world);
    for name in ["ana", "bo"] {
        assert_eq!(world.eclusa(&["people", "add", name, "--group", "release"]).code, 0);
    }
    let made = world.eclusa(&["--json", "people", "pair", "ana"]);
    let link = made.json()["link"].as_str().unwrap().to_owned();
    assert!(link.starts_with("http://localhost:8378/pair#"), "{link}");
    let ana = served.pair_with(code(&link)).unwrap();
    let again = served.pair_with(code(&link)).unwrap_err();
    assert!(again.status == 403 && again.body.contains("eclusa people pair"), "{again:?}");
    let page = served.origin();
    let made = world.eclusa(&["people", "pair", "bo", "--url", &page]);
    let link = made.out.lines().find(|it| it.starts_with(&page)).unwrap().to_owned();
    let bo = served.pair_with(code(&link)).unwrap();
    let got = served.post("/api/answer", &ana.cookie, &ana.answer(1, "once"));
    assert!(got.status == 200 && got.body.contains("\"waits\":true"), "{got:?}");
    // What one signed, the other cannot hand in.
    let got = served.post("/api/answer", &bo.cookie, &ana.answer(1, "once"));
    assert_eq!(got.status, 403, "{got:?}");
    let got = served.post("/api/answer", &bo.cookie, &bo.answer(1, "once"));
    assert!(got.status == 200 && got.body.contains("\"waits\":false"), "{got:?}");
    assert_eq!(world.eclusa(&["resume", "1"]).code, 0);
    assert_eq!(world.read("workspace/notes.txt"), "hello\n");
}

#[test]
fn a_link_is_for_somebody_who_is_known_and_gone_with_them() {
    let world = World::new();
    let served = Served::start(&world);
    let ran = world.eclusa(&["people", "pair", "an"]);
    assert!(ran.code == 1 && ran.err.contains("eclusa people add an"), "{ran:?}");
    for url in ["ftp://x", "https://x/path", "x"] {
        assert_eq!(world.eclusa(&["people", "pair", "--url", url]).code, 2, "{url}");
    }
    assert_eq!(world.eclusa(&["people", "add", "ana"]).code, 0);
    let made = world.eclusa(&["--json", "people", "pair", "ana"]).json();
    assert_eq!(world.eclusa(&["people", "remove", "ana"]).code, 0);
    let refused = served.pair_with(code(made["link"].as_str().unwrap())).unwrap_err();
    assert_eq!(refused.status, 403, "{refused:?}");
    // Whoever runs the command needs no name.
    let made = world.eclusa(&["--json", "people", "pair"]).json();
    assert_eq!(made["person"], "tester");
    let browser = served.pair_with(code(made["link"].as_str().unwrap())).unwrap();
    assert_eq!(browser.get("/inbox").status, 200);
}

#[test]
fn sessions_say_what_came_from_outside_and_what_may_still_change() {
    let world = World::with("mode = \"yolo\"\n[effects.budget]\nfiles = 5\nlines = 100\n");
    world.write("outside.txt", "text\n");
    let wrote = world.eclusa(&["run", "write", r#"{"path": "a.txt", "content": "one\ntwo\n"}"#]);
    assert_eq!(wrote.code, 0, "{wrote:?}");
    let served = Served::start(&world);
    let browser = served.pair();
    let page = browser.get("/sessions").body;
    assert!(page.contains("files 1/5, lines 2/100"), "{page}");
    assert!(!page.contains("came from"), "{page}");
    world.eclusa(&["run", "bash", r#"{"command": "cat ../outside.txt"}"#]);
    let page = browser.get("/sessions").body;
    assert!(page.contains("came from outside the workspace (`bash`)"), "{page}");
    assert!(page.contains("files 1/5, lines 2/100"), "{page}");
    let records = world.records();
    let ended = |it: &&serde_json::Value| it["event"] == "ended";
    let tainted: Vec<bool> =
        records.iter().filter(ended).map(|it| it.get("taint").is_some()).collect();
    assert_eq!(tainted, [false, true], "{records:?}");
}

/// Whoever serves the page dies: what waits goes on waiting, what was answered stays answered, and what
/// was taken is not taken again.
#[test]
fn whoever_serves_the_page_may_die_at_any_moment() {
    // Asked before it runs: a yes waits for whoever comes for it.
    let world = World::with("[[rules]]\ndecision = \"ask\"\ntool = \"write\"\n");
    for name in ["pending", "approved", "taken"] {
        let args = json!({ "path": name, "content": "x\n" }).to_string();
        assert_eq!(world.eclusa(&["run", "--park", "write", &args]).code, 4);
    }
    let served = Served::start(&world);
    let browser = served.pair();
    let [workspace, ..] = browser.shown("/inbox");
    for id in [2, 3] {
        let body = browser.answer_at(&format!("/inbox/{workspace}/{id}"), id, "once");
        let got = served.post("/api/answer", &browser.cookie, &body);
        assert_eq!(got.status, 200, "{got:?}");
    }
    assert_eq!(world.eclusa(&["resume", "3"]).code, 0);
    // It is killed without a warning.
    drop(served);
    let state =
        |id: &str| world.eclusa(&["--json", "approvals", "show", id]).json()["status"].clone();
    assert_eq!([state("1"), state("2"), state("3")], ["pending", "approved", "taken"]);
    let served = Served::start(&world);
    let browser = served.pair();
    assert!(browser.get("/inbox").body.contains("pending"));
    assert_eq!(world.eclusa(&["resume", "2"]).code, 0);
    assert_eq!(world.eclusa(&["resume", "3"]).code, 1, "it was taken");
    let written = ["pending", "approved", "taken"].map(|it| world.read(&format!("workspace/{it}")));
    assert_eq!(written, ["", "x\n", "x\n"]);
}

#[test]
fn texts_stay_texts_and_every_page_is_there() {
    let world = World::new();
    parked(&world, "<script>alert(1)</script>\"'&\u{202e}");
    world.eclusa(&["run", "time"]);
    let served = Served::start(&world);
    let browser = served.pair();
    let inbox = browser.get("/inbox").body;
    assert!(
        inbox.contains("&lt;script&gt;alert(1)") && !inbox.contains("<script>alert"),
        "{inbox}"
    );
    assert!(!inbox.contains('\u{202e}'), "what turns text around is visible");
    let found = browser.get("/inbox?q=%3Cscript%22%3E").body;
    assert!(found.contains("&lt;script&quot;&gt;") && found.contains("No pending approvals"));
    let log = browser.get("/log?outcome=good&tool=time").body;
    assert!(log.contains("<span class=\"tool\">time</span>"), "{log}");
    let row = log.split("href=\"/log/").nth(1).unwrap().split('"').next().unwrap();
    let call = browser.get(&format!("/log/{row}"));
    assert!(call.status == 200 && call.body.contains("<h2>Records</h2>"), "{}", call.body);
    assert!(browser.get("/sessions").body.contains("command-line"));
    let metrics = browser.get("/metrics").body;
    assert!(metrics.contains("<svg") && metrics.contains("What asks most"), "{metrics}");
    assert_eq!(browser.get("/nowhere").status, 404);
    assert_eq!(browser.get("/log/x/1").status, 404);
    for (path, kind) in [("/approvals.js", "text/javascript"), ("/approvals.css", "text/css")] {
        let got = served.send(&format!("GET {path}"), &[], "");
        assert!(got.status == 200 && got.head.contains(kind), "{}", got.head);
    }
}

/// Whoever asks holds the token of the server that it asks through, which the page does not know.
#[test]
fn nothing_that_an_asker_holds_opens_the_page() {
    let world = World::new();
    parked(&world, "hello");
    let up = Up::start(&world, None);
    let served = Served::start(&world);
    let body = served.pair().answer(1, "once").to_string();
    let (token, origin) = (&up.token, served.origin());
    let name = format!("eclusa-approvals-{}", origin.rsplit(':').next().unwrap());
    for (header, value) in
        [("authorization", format!("Bearer {token}")), ("cookie", format!("{name}={token}"))]
    {
        let ours = [
            (header, value.as_str()),
            ("origin", origin.as_str()),
            ("sec-fetch-site", "same-origin"),
            ("content-type", "application/json"),
        ];
        assert_eq!(served.send("GET /inbox", &ours, "").status, 401, "{header}");
        assert_eq!(served.send("POST /api/answer", &ours, &body).status, 401, "{header}");
        // Nor is it a link.
        assert_eq!(served.pair_with(token).unwrap_err().status, 403);
    }
    assert_eq!(world.eclusa(&["--json", "approvals"]).json()["status"], "pending");
}
