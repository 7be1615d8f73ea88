//! The records themselves: what they say, and that no change to them goes unseen.

use std::sync::Arc;

use eclusa::{
    audit::{Appending, AuditError, Broken, Draft, Head, Verifier},
    workspace::digest,
    *,
};
use futures::future::BoxFuture;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::world::*;

#[tokio::test]
async fn a_call_that_ran_has_a_start_and_an_end_that_point_at_each_other() {
    // S0.34, S1.64, S3.25, S3.33, S4.34, invariant 5
    let mut world = world();
    world.run.principal = "ana".into();
    world.run.session = "talk".into();
    let world = world.close();
    let reply = world.gate.pass(call("bash", "ls").because("to see").from(Origin::Mcp)).await;
    let [start, end] = &world.bodies()[..] else { panic!("two records") };
    assert_eq!((reply.number(), reply.receipt().unwrap().seq), (Some(1), 2));
    let said = |key: &str| start[key].as_str().unwrap_or_default();
    assert_eq!((said("event"), said("tool"), said("class")), ("started", "bash", "shell"));
    assert_eq!(
        (said("principal"), said("conversation"), said("reason")),
        ("ana", "talk", "to see")
    );
    assert_eq!(
        (said("decision"), said("mode"), said("origin")),
        ("allow", "confirm-sensitive", "mcp")
    );
    assert_eq!(
        start["because"][0],
        json!({"decision": "allow", "origin": "test:1", "text": "allow `ls`"})
    );
    let args = json!({"count": 1, "text": "ls"});
    assert_eq!((&start["args"], said("args_sha256")), (&args, digest(&args).to_string().as_str()));
    assert_eq!((said("operation"), said("tool_revision").len()), ("execute", 16));
    assert_eq!(
        (&end["event"], &end["start"], &end["code"]),
        (&json!("ended"), &json!(1), &json!("ok"))
    );
    assert_eq!(end["output"]["sha256"], Hash::sha256(b"did: ls").to_string());
    assert!(end.get("args").is_none());
}

/// A tool that says of itself that read-only, and what it touches.
struct Looks(Vec<Touch>);

impl Tool for Looks {
    fn name(&self) -> &str {
        "looks"
    }
    fn description(&self, _: &Scene) -> String {
        "Looks.".to_owned()
    }
    fn input_schema(&self) -> Value {
        json!({"type": "object"})
    }
    fn facts(&self) -> Facts {
        let class = Some(PermissionClass::ReadOnly);
        Facts { class, read_only: true, ..Facts::default() }
    }
    fn touches(&self, _: &Value) -> Vec<Touch> {
        self.0.clone()
    }
    fn run<'a>(&'a self, job: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>> {
        Box::pin(async move { Ok(Output::text(format!("as call {:?}", job.number()))) })
    }
}

#[tokio::test]
async fn a_call_that_only_looks_has_one_record_that_says_everything() {
    // Invariant 5: there is no side effect that a start would have to precede.
    let read = || vec![Touch::Read("a.txt".into())];
    let passed = async |registration: Registration| {
        let world = world().close();
        world.gate.registry().register(registration).unwrap();
        let reply = world.gate.pass(ToolCall::new("c1", "looks", json!({}))).await;
        (world, reply)
    };
    let (world, reply) = passed(Registration::new(Looks(read()))).await;
    assert_eq!((world.events().as_str(), reply.number()), ("ended:ok", Some(1)));
    let record = &world.bodies()[0];
    for key in ["args_sha256", "because", "decision", "mode", "output", "tool_revision"] {
        assert!(record.get(key).is_some(), "{key}");
    }
    assert_eq!((&record["stage"], &record["class"]), (&json!("released"), &json!("read-only")));
    // What does more than look, whatever it calls itself, has a start.
    for touch in [Touch::Run("ls".into()), Touch::Write("a".into()), Touch::Unknown] {
        let (world, _) = passed(Registration::new(Looks(vec![touch]))).await;
        assert_eq!(world.events(), "started ended:ok");
    }
    let foreign = Registration::new(Looks(read())).foreign("far").trusted(true);
    let (world, _) = passed(foreign).await;
    assert_eq!(world.events(), "started ended:ok");
}

/// A tool that another program runs.
struct Elsewhere;

impl Tool for Elsewhere {
    fn name(&self) -> &str {
        "elsewhere"
    }
    fn description(&self, _: &Scene) -> String {
        "Is run by another program.".to_owned()
    }
    fn input_schema(&self) -> Value {
        json!({"type": "object"})
    }
    fn facts(&self) -> Facts {
        Facts { runs_elsewhere: true, ..Facts::default() }
    }
    fn touches(&self, _: &Value) -> Vec<Touch> {
        Vec::new()
    }
    fn run<'a>(&'a self, _: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>> {
        Box::pin(std::future::ready(Ok(Output::text("may run"))))
    }
}

#[tokio::test]
async fn a_call_that_runs_elsewhere_has_one_record_before_anybody_is_told() {
    let world = world().mode(Mode::AutoApprove).close();
    world.gate.registry().add(Elsewhere).unwrap();
    let reply = world.gate.pass(ToolCall::new("c1", "elsewhere", json!({}))).await;
    assert_eq!((reply.code(), world.events().as_str()), ("ok", "ended:ok"));
    assert_eq!((&world.bodies()[0]["decision"], reply.number()), (&json!("allow"), Some(1)));
    let mut world = crate::world::world().mode(Mode::AutoApprove);
    world.setup = world.setup.log(Arc::new(FullDisk));
    let world = world.close();
    world.gate.registry().add(Elsewhere).unwrap();
    let reply = world.gate.pass(ToolCall::new("c1", "elsewhere", json!({}))).await;
    assert_eq!((reply.code(), reply.content().contains("may run")), ("audit_unavailable", false));
}

#[tokio::test]
async fn what_a_call_saw_that_cannot_be_recorded_is_kept_back() {
    let mut world = world();
    world.setup = world.setup.log(Arc::new(FullDisk));
    let world = world.close();
    world.gate.registry().add(Looks(Vec::new())).unwrap();
    let reply = world.gate.pass(ToolCall::new("c1", "looks", json!({}))).await;
    assert_eq!(reply.code(), "executed_unrecorded");
    assert!(!reply.content().contains("as call"), "{}", reply.content());
}

struct FullDisk;

impl AuditSink for FullDisk {
    fn append(&self, _: Draft) -> Appending {
        Appending::Done(Err(AuditError::new("the disk is full")))
    }
}

#[tokio::test]
async fn bodies_are_canonical_json() {
    let world = world().person([Answer::Once]).close();
    for (tool, text) in [("echo", "ls"), ("bash", "git x"), ("bash", "rm x"), ("nope", "é\u{1}\"")]
    {
        world.gate.pass(call(tool, text).because("because é")).await;
    }
    for record in world.log.records() {
        let value: serde_json::Value = serde_json::from_str(&record.body).unwrap();
        assert_eq!(serde_json_canonicalizer::to_string(&value).unwrap(), record.body);
        assert!(!record.body.contains('\n'));
    }
}

#[tokio::test]
async fn every_record_can_be_checked_with_sha256sum() {
    let world = world().close();
    world.gate.pass(call("echo", "ls")).await;
    let records = world.log.records();
    assert_eq!(records[0].previous.to_string(), "0".repeat(64));
    for record in &records {
        let text = format!("{}\n{}\n{}\n", record.previous, record.seq, record.body);
        assert_eq!(Hash::sha256(text.as_bytes()), record.hash);
        assert_eq!(Hash::from_hex(&record.hash.to_string()), Some(record.hash));
    }
    assert_eq!(Hash::from_hex("00"), None);
    assert_eq!(Hash::from_hex(&"g".repeat(64)), None);
}

/// Checks a log that somebody else kept.
fn verify(records: &[Record], known: Head) -> Result<Head, Broken> {
    let mut verifier = Verifier::default();
    for record in records {
        verifier.next(record)?;
    }
    verifier.finish(known)
}

fn chain(length: usize) -> (Vec<Record>, Head) {
    let mut head = Head::default();
    let records = (0..length).map(|n| Record::chain(format!("{{\"n\":{n}}}"), &mut head)).collect();
    (records, head)
}

proptest! {
    /// Any bit flipped, any record dropped, doubled, swapped or cut off is found.
    #[test]
    fn tampering_is_found(
        length in 1..12usize,
        place in any::<prop::sample::Index>(),
        other in any::<prop::sample::Index>(),
        byte in any::<prop::sample::Index>(),
        bit in 0..8u8,
        how in 0..7usize,
    ) {
        let (mut records, head) = chain(length);
        prop_assert_eq!(verify(&records, head), Ok(head));
        let (at, with) = (place.index(length), other.index(length));
        match how {
            0 => {
                let mut body = std::mem::take(&mut records[at].body).into_bytes();
                let byte = byte.index(body.len());
                body[byte] ^= 1 << (bit % 7);
                records[at].body = String::from_utf8(body).unwrap();
            }
            1 => { records.remove(at); }
            2 => records.insert(at, records[with].clone()),
            3 if at != with => records.swap(at, with),
            4 => records.truncate(at),
            5 => {
                let mut hash = *records[at].hash.as_bytes();
                hash[byte.index(32)] ^= 1 << bit;
                records[at].hash = hash.into();
            }
            6 => records[at].seq ^= 1 << bit,
            _ => return Ok(()),
        }
        prop_assert!(verify(&records, head).is_err());
    }

    /// A rewritten record is found even when its own hash is made to fit.
    #[test]
    fn rewriting_one_record_breaks_the_next(length in 2..12usize, place in any::<prop::sample::Index>()) {
        let (mut records, head) = chain(length);
        let at = place.index(length);
        let mut before = match at {
            0 => Head::default(),
            _ => Head { seq: records[at - 1].seq, hash: records[at - 1].hash },
        };
        records[at] = Record::chain("{\"n\":\"forged\"}".to_owned(), &mut before);
        prop_assert!(verify(&records, head).is_err());
    }
}
