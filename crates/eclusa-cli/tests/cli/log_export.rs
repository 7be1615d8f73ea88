//! `eclusa log export`: records for other systems, with number and hash, as they are and as they come.

use std::{
    io::{BufRead as _, BufReader},
    process::Stdio,
};

use serde_json::Value;

use crate::world::World;

fn exported(world: &World, args: &[&str]) -> Vec<Value> {
    let ran = world.eclusa(&[&["log", "export"], args].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.out.lines().map(|it| serde_json::from_str(it).unwrap()).collect()
}

fn with_calls() -> World {
    let world = World::with("[[rules]]\ndecision = \"deny\"\ntool = \"note\"\n");
    assert_eq!(world.eclusa(&["run", "echo", "text=one"]).code, 0);
    assert_eq!(world.eclusa(&["run", "note", "text=two"]).code, 3);
    world
}

/// The attribute of this name of an OTLP record.
fn attribute<'a>(record: &'a Value, key: &str) -> &'a Value {
    let all = record["attributes"].as_array().unwrap();
    let found = all.iter().find(|it| it["key"] == key).unwrap_or_else(|| panic!("{key}: {record}"));
    found["value"].as_object().unwrap().values().next().unwrap()
}

#[test]
fn every_format_has_the_number_the_hash_and_the_body_of_each_record() {
    let world = with_calls();
    let plain = exported(&world, &[]);
    let head = world.eclusa(&["--json", "log", "verify"]).json();
    assert_eq!(plain.last().unwrap()["hash"], head["head"]);
    let otlp = exported(&world, &["--format", "otlp"]);
    let ocsf = exported(&world, &["--format", "ocsf"]);
    assert_eq!((plain.len(), otlp.len(), ocsf.len()), (plain.len(), plain.len(), plain.len()));
    for ((plain, otlp), ocsf) in plain.iter().zip(&otlp).zip(&ocsf) {
        let (seq, hash, previous) = (&plain["seq"], &plain["hash"], &plain["previous"]);
        let record = &otlp["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0];
        assert_eq!(attribute(record, "eclusa.seq"), &seq.to_string(), "a text, as OTLP has it");
        assert_eq!(attribute(record, "eclusa.hash"), hash);
        assert_eq!(attribute(record, "eclusa.previous"), previous);
        assert_eq!(record["timeUnixNano"], format!("{}000000", plain["body"]["at"]));
        let unmapped = &ocsf["unmapped"];
        assert_eq!((&unmapped["seq"], &unmapped["hash"]), (seq, hash));
        assert_eq!((&ocsf["metadata"]["sequence"], &ocsf["metadata"]["uid"]), (seq, hash));
        assert_eq!(ocsf["time"], plain["body"]["at"]);
        // Byte for byte, so that the chain can be checked where it arrives.
        for body in [&record["body"]["stringValue"], &ocsf["raw_data"]] {
            let body = body.as_str().unwrap();
            assert_eq!(serde_json::from_str::<Value>(body).unwrap(), plain["body"]);
            let text = format!("{}\n{seq}\n{body}\n", previous.as_str().unwrap());
            let digest = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
            let digest: String = digest.as_ref().iter().map(|it| format!("{it:02x}")).collect();
            assert_eq!(hash, &digest);
        }
    }
    let (looked, denied) = (&ocsf[0], ocsf.last().unwrap());
    assert_eq!((&looked["class_uid"], &looked["category_uid"]), (&6003.into(), &6.into()));
    assert_eq!(looked["api"]["operation"], "echo");
    assert_eq!(
        (&denied["status"], &denied["action"], &denied["severity_id"]),
        (&"Failure".into(), &"Denied".into(), &3.into())
    );
    let denied = &otlp.last().unwrap()["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0];
    assert_eq!(
        (&denied["severityText"], attribute(denied, "eclusa.decision")),
        (&"WARN".into(), &"deny".into())
    );
    // From a number on.
    let rest = exported(&world, &["--from", &plain.len().to_string()]);
    assert_eq!(rest, plain[plain.len() - 1..]);
    assert!(exported(&world, &["--from", "99"]).is_empty());
}

#[test]
fn records_are_followed_until_somebody_ends_it() {
    let world = with_calls();
    let mut command = world.command(&["log", "export", "--follow", "--format", "ocsf"]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let before = exported(&world, &[]).len();
    assert_eq!(lines.by_ref().take(before).count(), before);
    assert_eq!(world.eclusa(&["run", "echo", "text=three"]).code, 0);
    let new: Value = serde_json::from_str(&lines.next().unwrap()).unwrap();
    assert_eq!(new["metadata"]["sequence"], before + 1);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
