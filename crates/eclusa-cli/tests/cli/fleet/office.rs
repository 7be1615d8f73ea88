//! A fleet with a server and people who answer: their keys, and answers that nobody would give.

use std::path::PathBuf;

use eclusa::{Answer, approve::Statement};
use eclusa_approvals::KeyFile;
use serde_json::{Value, json};

use super::{
    server::{Server, Trail, code, now},
    sync,
};
use crate::world::{Ran, World};

/// A fleet in which ana and bo may answer; bo is of the group `release`.
pub(super) struct Office {
    pub(super) trail: Trail,
}

/// A yes to the first question of the first machine, as it should be; tests change it.
#[derive(Clone)]
pub(super) struct Forged {
    pub(super) kind: String,
    pub(super) signer: PathBuf,
    pub(super) signed_queue: String,
    pub(super) signed_question: u64,
    pub(super) signed_binding: String,
    pub(super) signed_answer: Answer,
    pub(super) signed_person: String,
    pub(super) signed_expires: u64,
    /// What the message says.
    pub(super) body: Value,
}

impl Office {
    /// `None` where there is no PostgreSQL.
    pub(super) fn new() -> Option<Office> {
        let trail = Trail::new()?;
        let office = Office { trail };
        for (name, groups) in [("ana", &[][..]), ("bo", &["--group", "release"])] {
            let key = office.key(name).display().to_string();
            let args = [&["people", "add", name, "--new-key", &key], groups].concat();
            let ran = office.trail.fleet.world.eclusa(&args);
            assert_eq!(ran.code, 0, "{ran:?}");
        }
        office.sign_people();
        Some(office)
    }

    pub(super) fn key(&self, name: &str) -> PathBuf {
        self.trail.fleet.world.path(&format!("{name}.key"))
    }

    /// Signs the people of the administrator's machine, and hands them to the server.
    pub(super) fn sign_people(&self) {
        let Trail { fleet, server, .. } = &self.trail;
        let ran = fleet.signed(&["people"], "--to", "people-1");
        assert_eq!(ran.code, 0, "{ran:?}");
        self.publish(&server.url);
    }

    pub(super) fn publish(&self, server: &str) {
        let fleet = &self.trail.fleet;
        let file = fleet.documents().display().to_string();
        let ran = fleet.world.eclusa(&["fleet", "publish", &file, "--server", server]);
        assert_eq!(ran.code, 0, "{ran:?}");
    }

    /// Lets a machine in.
    pub(super) fn enrol(&self, machine: &World) {
        let code = code(&self.trail.fleet, &self.trail.server.url, "1");
        let ran = machine.eclusa(&["fleet", "enroll", &code]);
        assert_eq!(ran.code, 0, "{ran:?}");
    }

    /// A machine that asks about `note`, and these rules.
    pub(super) fn machine(&self, rules: &str) -> World {
        let machine = World::with(&format!("on_no_approver = \"queue\"\n{rules}\n{ASK}"));
        self.enrol(&machine);
        machine
    }

    /// A command of somebody who is on no machine of the fleet.
    pub(super) fn says(&self, name: &str, args: &[&str]) -> Ran {
        self.says_at(&self.trail.server, name, args)
    }

    pub(super) fn says_at(&self, server: &Server, name: &str, args: &[&str]) -> Ran {
        let key = self.key(name).display().to_string();
        let named = ["--key", &key, "--server", &server.url, "--fleet", "acme"];
        self.trail.fleet.world.eclusa(&[&["fleet"], args, &named].concat())
    }

    /// What somebody finds in the inbox.
    pub(super) fn inbox(&self, name: &str) -> Vec<Value> {
        let ran = self.says(name, &["inbox", "--json"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.json().as_array().unwrap().clone()
    }

    /// A yes of bo's to a question of a machine, which nobody has asked the server for.
    pub(super) fn forged(&self, machine: &World, id: u64) -> Forged {
        let shown = machine.eclusa(&["--json", "approvals", "show", &id.to_string()]).json();
        let binding = shown["binding"].as_str().unwrap().to_owned();
        let store = self.trail.database.query("select store from chains order by id limit 1");
        Forged {
            kind: "vote".to_owned(),
            signer: self.key("bo"),
            signed_queue: store.clone(),
            signed_question: id,
            signed_binding: binding,
            signed_answer: Answer::Once,
            signed_person: "bo".to_owned(),
            signed_expires: now() + 60_000,
            body: json!({"store": store, "question": id, "answer": "once", "person": "bo"}),
        }
    }

    /// A server of one's own invents a message.
    pub(super) fn send(&self, forged: &Forged) {
        let Forged { body, kind, .. } = forged;
        let key = KeyFile::open(&forged.signer).unwrap();
        let statement = Statement {
            queue: &forged.signed_queue,
            questions: &[forged.signed_question],
            binding: &forged.signed_binding,
            answer: &forged.signed_answer,
            person: &forged.signed_person,
            expires: forged.signed_expires,
        };
        let statement = statement.text();
        let mut body = body.clone();
        let fields = body.as_object_mut().unwrap();
        let said = [
            ("expires", json!(forged.signed_expires)),
            ("key", json!(key.public(String::new(), 0).id)),
            ("signature", json!(key.sign(&statement))),
            ("statement", json!(statement)),
        ];
        for (name, value) in said {
            fields.entry(name).or_insert(value);
        }
        let body = body.to_string().replace('\'', "''");
        let question = forged.body["question"].as_u64().unwrap_or(1);
        self.trail.database.query(&format!(
            "insert into messages (machine, chain, question, person, kind, body)
             select machine, id, {question}, 'bo', '{kind}', '{body}' from chains order by id limit 1"
        ));
    }

    /// Why the machine refused the last message, as the inbox shows it.
    pub(super) fn refused(&self, machine: &World) -> String {
        let ran = sync(machine);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(self.trail.database.query("select count(*) from messages"), "0");
        self.trail
            .database
            .query("select coalesce(refused, '') from questions order by number limit 1")
    }
}

/// Everybody is asked about `note`.
pub(super) const ASK: &str = "[[rules]]\ndecision = \"ask\"\ntool = \"note\"\n";

/// Leaves a question behind.
pub(super) fn park(machine: &World, text: &str) {
    let ran = machine.eclusa(&["run", "--park", "note", &format!("text={text}")]);
    assert_eq!(ran.code, 4, "{ran:?}");
    let ran = sync(machine);
    assert_eq!(ran.code, 0, "{ran:?}");
}

/// How a question of a machine stands there.
pub(super) fn state(machine: &World, id: u64) -> String {
    let shown = machine.eclusa(&["--json", "approvals", "show", &id.to_string()]);
    shown.json()["status"].as_str().unwrap().to_owned()
}
