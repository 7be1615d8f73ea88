//! Jobs on the page and for the person's browser: listed, shown, followed, reached and ended.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::Stdio,
};

use serde_json::json;

use crate::{
    approvals_page::{Served, now},
    jobs::{jobs, start, world},
    world::until,
};

#[test]
fn the_page_lists_shows_follows_and_ends_jobs() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    let key = format!("ghp_{}", "a1B2c3D4".repeat(5).get(..36).unwrap());
    start(
        &world,
        &format!(
            "echo '<b>begun</b> {key}'; until [ -e go ]; do sleep 0.05; done; echo went on; sleep 1000"
        ),
    );
    let served = Served::start(&world);
    assert_eq!(served.send("GET /jobs", &[], "").status, 401);
    let browser = served.pair();
    let list = browser.get("/jobs").body;
    assert!(list.contains("claude-code:s-1") && list.contains(">runs<"), "{list}");
    let (_, rest) = list.split_once("href=\"/jobs/").unwrap();
    let at = format!("/jobs/{}", rest.split('"').next().unwrap());
    let shown = browser.get(&at);
    assert!(shown.status == 200 && shown.body.contains("data-runs"), "{shown:?}");
    assert!(shown.body.contains("&lt;b&gt;begun&lt;/b&gt;"), "{shown:?}");
    let (_, output) = shown.body.split_once("id=\"output\"").unwrap();
    assert!(!output.contains(&key) && output.contains("[redacted"), "{output}");
    // What it prints later is there when the page is fetched again, as its script does.
    world.write("workspace/go", "");
    until("it goes on", || browser.get(&at).body.contains("went on").then_some(()));
    for wrong in ["/jobs/x/1", &format!("{at}0"), "/jobs/1"] {
        assert_eq!(browser.get(wrong).status, 404, "{wrong}");
    }
    let attribute = |name: &str| {
        let (_, rest) = shown.body.split_once(&format!("{name}=\"")).unwrap();
        rest.split('"').next().unwrap().to_owned()
    };
    let [workspace, queue] = ["data-workspace", "data-queue"].map(attribute);
    let end = |job: u64, signed_as: &str| {
        let expires = now() + 60_000;
        let statement = json!({"expires": expires, "job": 1, "person": "tester", "queue": queue});
        let signature = browser.sign(&format!("eclusa {signed_as} v1\n{statement}"));
        let body =
            json!({"workspace": workspace, "job": job, "expires": expires, "signature": signature});
        served.post("/api/end-job", &browser.cookie, &body)
    };
    assert_eq!(end(1, "end").status, 403, "signed for something else");
    assert_eq!(end(2, "end-job").status, 403, "signed for another job");
    assert_eq!(jobs(&world)[0]["runs"], true);
    let ended = end(1, "end-job");
    assert!(ended.status == 200 && ended.body.contains("job 1 ended by signal 15"), "{ended:?}");
    let shown = browser.get(&at).body;
    assert!(shown.contains("ended by signal 15") && !shown.contains("data-end-job"), "{shown}");
    assert_eq!(world.eclusa(&["jobs", "end", "--all"]).code, 0);
}

#[test]
fn a_port_of_a_job_is_reached_where_a_person_asks_for_it() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    start(&world, "python3 -m http.server 5173 --bind 127.0.0.1");
    until("it listens", || (jobs(&world)[0]["ports"] == json!([5173])).then_some(()));
    let mut forward = world
        .command(&["jobs", "forward", "1", "5173", "--at", "0"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(forward.stdout.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    let address = line.strip_prefix("http://").unwrap().split(' ').next().unwrap().to_owned();
    for _ in 0..3 {
        let mut stream = TcpStream::connect(&address).unwrap();
        stream.write_all(b"GET /a.txt HTTP/1.0\r\n\r\n").unwrap();
        let mut got = String::new();
        stream.read_to_string(&mut got).unwrap();
        assert!(got.ends_with("\r\n\r\none\n"), "{got}");
    }
    // It ends with the job.
    assert_eq!(world.eclusa(&["jobs", "end", "1"]).code, 0);
    line.clear();
    said.read_line(&mut line).unwrap();
    assert!(line.starts_with("job 1 ended"), "{line}");
    assert!(forward.wait().unwrap().success());
    assert!(TcpStream::connect(&address).is_err());
    let ran = world.eclusa(&["jobs", "forward", "1", "5173"]);
    assert!(ran.code != 0 && ran.err.contains("job 1 ended"), "{ran:?}");
    assert_eq!(world.eclusa(&["jobs", "end", "--all"]).code, 0);
}
