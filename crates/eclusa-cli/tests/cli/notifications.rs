//! People are told of questions that wait, and programs that share a secret answer them (S0.26, C1).

use std::process::Stdio;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ring::hmac;
use serde_json::{Value, json};

use crate::{
    approvals_page::{Got, Served, now},
    http_reviewer::Server,
    world::{Ran, World, wait_until},
};

pub(crate) const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn signature(id: &str, timestamp: &str, body: &str) -> String {
    let secret = STANDARD.decode(SECRET.strip_prefix("whsec_").unwrap()).unwrap();
    let key = hmac::Key::new(hmac::HMAC_SHA256, &secret);
    let tag = hmac::sign(&key, format!("{id}.{timestamp}.{body}").as_bytes());
    format!("v1,{}", STANDARD.encode(tag))
}

fn parked(world: &World, text: &str) -> Ran {
    let args = json!({ "text": text }).to_string();
    let mut command = world.command(&["run", "--park", "note", &args]);
    let ran = command.env("HOOK", SECRET).stdin(Stdio::null()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: ran.status.code().unwrap(), out: text(ran.stdout), err: text(ran.stderr) }
}

/// What a header of a request says.
fn header<'a>(head: &'a str, name: &str) -> &'a str {
    let mut lines = head.lines().filter_map(|it| it.split_once(": "));
    lines.find(|it| it.0.eq_ignore_ascii_case(name)).map_or("", |it| it.1)
}

/// A message that the page gets, signed for this time unless the signature is given.
pub(crate) fn post(
    served: &Served,
    id: &str,
    seconds: u64,
    body: &str,
    forged: Option<&str>,
) -> Got {
    let timestamp = seconds.to_string();
    let signature = forged.map_or_else(|| signature(id, &timestamp, body), str::to_owned);
    let headers = [
        ("webhook-id", id),
        ("webhook-timestamp", timestamp.as_str()),
        ("webhook-signature", signature.as_str()),
        ("content-type", "application/json"),
    ];
    served.send("POST /hooks/answer", &headers, body)
}

fn told(server: &Server) -> (String, Value) {
    let (head, body) = server.heard.recv_timeout(std::time::Duration::from_secs(60)).unwrap();
    let json = serde_json::from_str(&body).unwrap();
    assert_eq!(
        header(&head, "webhook-signature"),
        signature(header(&head, "webhook-id"), header(&head, "webhook-timestamp"), &body)
    );
    (head, json)
}

/// Shows S0.26, C1.
#[test]
fn a_webhook_tells_of_a_question_and_a_signed_message_answers_it_once() {
    let server = Server::json("");
    let world = World::with(&format!(
        "[approvals]\nhook_secret = \"HOOK\"\n\
         [[notifications]]\nname = \"desk\"\nurl = {:?}\nsecret = \"HOOK\"\n\
         [[rules]]\ndecision = \"ask\"\ntool = \"note\"\narg = {{ \"/text\" = \"key\" }}\nwith = \"key\"\n",
        server.url
    ));
    assert_eq!(parked(&world, "hello").code, 4);
    let (_, event) = told(&server);
    assert_eq!(event["type"], "approval.asked");
    let data = &event["data"];
    assert!(data.get("args").is_none() && !event.to_string().contains("hello"), "{event}");
    let link = data["link"].as_str().unwrap();
    assert!(link.starts_with("http://localhost:8378/inbox/workspace-"), "{link}");

    let served = Served::start_with(&world, &[("HOOK", SECRET)]);
    let answer = |answer: &str, of: &Value| {
        json!({"workspace": of["workspace"], "question": of["question"], "binding": of["binding"],
               "answer": answer, "person": "ana"})
        .to_string()
    };
    let (yes, seconds) = (answer("once", data), now() / 1_000);
    let forged = signature("m1", &seconds.to_string(), "{}");
    for (got, why) in [
        (post(&served, "m1", seconds, &yes, Some("")), "no signature"),
        (post(&served, "m1", seconds, &yes, Some(&forged)), "that of another message"),
        (post(&served, "m1", seconds - 301, &yes, None), "too old"),
        (post(&served, "m1", seconds + 900, &yes, None), "from the future"),
    ] {
        assert_eq!(got.status, 401, "{why}: {got:?}");
    }
    let rebound = [("host", "evil.example")];
    assert_eq!(served.send("POST /hooks/answer", &rebound, &yes).status, 403);
    let mut swapped: Value = serde_json::from_str(&yes).unwrap();
    swapped["binding"] = "another".into();
    let got = post(&served, "m2", seconds, &swapped.to_string(), None);
    assert!(got.status == 409 && got.body.contains("not the question"), "{got:?}");
    let path = link.split_once("8378").unwrap().1;
    assert_eq!(served.send(&format!("GET {path}"), &[], "").status, 401, "a link answers nothing");

    let first = post(&served, "m1", seconds, &yes, None);
    assert_eq!((first.status, first.body.contains("true")), (200, true), "{first:?}");
    let again = post(&served, "m1", seconds, &yes, None);
    assert_eq!((again.status, again.body), (first.status, first.body.clone()));
    // A18: the same message gets the same receipt, another one under its id is a conflict.
    let another = post(&served, "m1", seconds, &answer("no", data), None);
    assert!(another.status == 409 && another.body.contains("its own id"), "{another:?}");
    let other = post(&served, "m3", seconds, &answer("no", data), None);
    assert!(other.status == 409 && other.body.contains("already taken"), "{other:?}");
    assert!(first.body.contains("applied as call"), "{first:?}");
    assert_eq!(world.read("workspace/notes.txt"), "hello\n");
    let served = {
        drop(served);
        Served::start_with(&world, &[("HOOK", SECRET)])
    };
    let replayed = post(&served, "m1", seconds, &yes, None);
    assert_eq!(replayed.body, first.body, "the same answer, also after a restart");
    assert_eq!(world.eclusa(&["resume", "1"]).code, 1, "and it opens nothing");
    let answered = world.records().into_iter().find(|it| it["event"] == "answered").unwrap();
    assert_eq!(
        (&answered["approval"]["by"], &answered["approval"]["proof"]),
        (&json!("ana"), &json!("word"))
    );

    // What needs a key is not answered by a message.
    assert_eq!(parked(&world, "key").code, 4);
    let (_, event) = told(&server);
    let got = post(&served, "m4", seconds, &answer("once", &event["data"]), None);
    assert!(got.status == 403 && got.body.contains("with a key"), "{got:?}");
}

#[test]
fn what_could_not_be_sent_is_sent_later_by_whoever_is_there_and_the_inbox_says_so() {
    let world = World::new();
    let script =
        world.script("tell", "cat > \"$0.$$\"; test -e \"$0.up\" && mv \"$0.$$\" \"$0.got\"");
    world.write(
        "config/eclusa/eclusa.toml",
        &format!("[[notifications]]\nname = \"pager\"\ncommand = [{script}]\nshow = \"args\"\n"),
    );
    assert_eq!(parked(&world, "hello").code, 4);
    let served = Served::start_with(&world, &[]);
    let browser = served.pair();
    let inbox = browser.get("/inbox").body;
    assert!(inbox.contains("pager") && inbox.contains("exit code 1"), "{inbox}");
    world.write("tell.up", "");
    wait_until("the notification", || !world.read("tell.got").is_empty());
    let event: Value = serde_json::from_str(&world.read("tell.got")).unwrap();
    assert_eq!(event["data"]["args"], r#"{"text":"hello"}"#);
    assert_eq!(world.eclusa(&["--json", "approvals"]).out.lines().count(), 1, "nobody answered");
}

#[test]
fn slack_and_ntfy_are_told_while_somebody_waits_and_nothing_in_it_is_markup() {
    let (slack, ntfy) = (Server::json("ok"), Server::json("{}"));
    let world = World::with(&format!(
        "on_no_approver = \"queue\"\n[approvals]\nurl = \"https://approvals.example\"\n\
         [[notifications]]\nname = \"team\"\nkind = \"slack\"\nurl = {:?}\nshow = \"args\"\n\
         [[notifications]]\nname = \"phone\"\nkind = \"ntfy\"\nurl = {:?}\nafter = \"0s\"\n\
         headers = {{ Authorization = \"NTFY\" }}\n",
        slack.url, ntfy.url
    ));
    let mut command = world.command(&["run", "note", r#"{"text": "<!channel> *now* \u202e"}"#]);
    let mut asker = command.env("NTFY", "Bearer t").stdin(Stdio::null()).spawn().unwrap();
    let wait = std::time::Duration::from_secs(60);
    let (_, body) = slack.heard.recv_timeout(wait).unwrap();
    let message: Value = serde_json::from_str(&body).unwrap();
    let shown = message["blocks"][1]["elements"][0].clone();
    assert_eq!(shown["type"], "plain_text");
    assert!(shown["text"].as_str().unwrap().contains("<!channel>"), "{message}");
    assert!(!message["text"].as_str().unwrap().contains('<'), "{message}");
    assert!(!body.contains('\u{202e}'), "{body}");
    assert_eq!(message["blocks"][2]["elements"][0]["type"], "button");
    let (head, body) = ntfy.heard.recv_timeout(wait).unwrap();
    assert!(header(&head, "title").starts_with("note in workspace waits"), "{head}");
    assert!(header(&head, "click").starts_with("https://approvals.example/inbox/"), "{head}");
    assert_eq!(header(&head, "authorization"), "Bearer t");
    assert!(body.starts_with("approval 1, binding ") && !body.contains("now"), "{body}");
    assert_eq!(world.eclusa(&["approvals", "yes", "1"]).code, 0);
    assert!(asker.wait().unwrap().success());
}

#[test]
fn mistakes_in_notifications_are_told() {
    for (text, why) in [
        ("[[notifications]]\nname = \"a\"\n", "needs a `command` or a `url`"),
        ("[[notifications]]\nname = \"a\"\nurl = \"http://far.example\"\n", "use https"),
        (
            "[[notifications]]\nname = \"a\"\nkind = \"slack\"\ncommand = [\"x\"]\n",
            "are for a `url`",
        ),
        (
            "[[notifications]]\nname = \"a\"\nkind = \"ntfy\"\nurl = \"https://x\"\nsecret = \"S\"\n",
            "only a webhook",
        ),
        ("[approvals]\nurl = \"ftp://x\"\n", "use https"),
        (
            "[[rules]]\ndecision = \"ask\"\ntool = \"note\"\nthen = [{ after = \"5m\", of = [\"x\"] }]\n",
            "say who may first",
        ),
        (
            "[[rules]]\ndecision = \"ask\"\ntool = \"note\"\nof = [\"y\"]\nwithin = \"1m\"\nthen = [{ after = \"5m\", of = [\"x\"] }]\n",
            "shorter than `within`",
        ),
    ] {
        let ran = World::with(text).eclusa(&["run", "time"]);
        assert!(ran.code == 2 && ran.err.contains(why), "{text}: {ran:?}");
    }
    let world = World::new();
    world.write("workspace/eclusa.toml", "[[notifications]]\nname = \"a\"\nurl = \"https://x\"\n");
    let ran = world.eclusa(&["config", "check"]);
    assert!(ran.err.contains("cannot bring a notification"), "{ran:?}");
}
