//! Faults of servers on every wire: each status, and each place where a stream can end. Requests that may
//! help are made again, the others end the turn with one sentence, and no call runs twice.

use std::sync::Arc;

use eclusa::Wire;
use eclusa_chat::*;
use eclusa_models::*;
use futures::future::join_all;

use crate::{
    fake_server::{Cut, FakeServer, Said, SaidCall},
    served::model,
    world::*,
};

const FIRST: SaidCall = ("c1", "look", "first");
const SECOND: SaidCall = ("c2", "do", "alpha-omega");

/// A fault, and what comes of it.
struct Case {
    what: String,
    script: Vec<Said>,
    /// How many requests there are, how often one is made again, and how many calls run.
    requests: usize,
    retries: usize,
    ran: usize,
    /// Kinds of what is kept.
    kept: &'static str,
    /// What the failure says; `None` where the turn is done.
    failure: Option<&'static str>,
}

const WHOLE: &str = "opened said said call answer said call answer said";

impl Case {
    /// After one call has run there is this fault; then the message comes whole.
    fn retried(what: String, faults: Vec<Said>) -> Case {
        let retries = faults.len();
        let mut script = vec![Said::Message("I look.", vec![FIRST])];
        script.extend(faults);
        script.extend([Said::Message("I do.", vec![SECOND]), Said::Message("Done.", vec![])]);
        let (requests, kept) = (3 + retries, WHOLE);
        Case { what, script, requests, retries, ran: 2, kept, failure: None }
    }

    /// After one call has run there are these faults, and that is the end.
    fn given_up(what: String, faults: Vec<Said>, failure: &'static str) -> Case {
        let retries = faults.len() - 1;
        let mut script = vec![Said::Message("I look.", vec![FIRST])];
        script.extend(faults);
        let (requests, kept) = (2 + retries, "opened said said call answer notice");
        Case { what, script, requests, retries, ran: 1, kept, failure: Some(failure) }
    }
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (status, failure) in [
        (400, "400 Bad Request: as the script says"),
        (401, "401 Unauthorized: as the script says; check the key"),
        (403, "403 Forbidden: as the script says; check the key"),
        (404, "404 Not Found: as the script says; check `model` and `url`"),
    ] {
        let fault = vec![Said::Status(status, None)];
        cases.push(Case::given_up(format!("{status}"), fault, failure));
    }
    for status in [408, 409, 429, 500, 502, 503, 504, 529] {
        let fault = vec![Said::Status(status, Some(0))];
        cases.push(Case::retried(format!("{status}"), fault));
    }
    cases.push(Case::retried("429 without a time".to_owned(), vec![Said::Status(429, None)]));
    let patience = vec![Said::Status(429, Some(121))];
    cases.push(Case::given_up("429, much later".to_owned(), patience, "wants 121 s of patience"));
    let again = vec![Said::Status(503, Some(0)); 8];
    cases.push(Case::given_up("503 for ever".to_owned(), again, "given up after 8 tries"));
    cases.push(Case {
        what: "413".to_owned(),
        script: vec![
            Said::Status(413, None),
            Said::Message("In brief: nothing yet.", vec![]),
            Said::Message("I look.", vec![FIRST]),
            Said::Message("I do.", vec![SECOND]),
            Said::Message("Done.", vec![]),
        ],
        requests: 5,
        retries: 0,
        ran: 2,
        kept: "opened said summary said call answer said call answer said",
        failure: None,
    });
    let busy = vec![Said::Failure("overloaded_error")];
    cases.push(Case::retried("busy within the stream".to_owned(), busy));
    let wrong = vec![Said::Failure("authentication_error")];
    cases.push(Case::given_up("a wrong key within the stream".to_owned(), wrong, "authentication"));
    cases.push(Case::retried("no headers".to_owned(), vec![Said::Nothing]));
    for cut in Cut::ALL {
        for breaks in [false, true] {
            let (what, call) = (format!("{cut:?}, breaks: {breaks}"), SECOND);
            let beginning = Said::Beginning { call, cut, breaks };
            cases.push(match (cut, breaks) {
                // Everything has been said by then.
                (Cut::AfterStopReason, false) => Case {
                    what,
                    script: vec![
                        Said::Message("I look.", vec![FIRST]),
                        beginning,
                        Said::Message("Done.", vec![]),
                    ],
                    requests: 3,
                    retries: 0,
                    ran: 2,
                    kept: WHOLE,
                    failure: None,
                },
                _ => Case::retried(what, vec![beginning]),
            });
        }
    }
    cases
}

/// What the person says, by which the server knows which script it is.
fn words(case: usize) -> String {
    format!("case {case:03}")
}

async fn check(server: Arc<FakeServer>, model: Arc<HttpModel>, number: usize, case: &Case) {
    let what = format!("{}, {}", model.profile().wire, case.what);
    let world = world();
    let (mut conversation, mut events) = Conversation::open(world.setup(model)).await.unwrap();
    let report = conversation.turn(words(number).as_str().into()).await;
    match (case.failure, &report.end) {
        (None, TurnEnd::Done) => assert_eq!(report.text, "Done.", "{what}"),
        (Some(failure), TurnEnd::Failed(why)) => {
            assert!(why.contains(failure) && !why.contains('\n'), "{what}: {why}");
        }
        (expected, end) => assert_eq!(format!("{end:?}"), format!("{expected:?}"), "{what}"),
    }
    let mut retries = 0;
    while let Ok(event) = events.try_recv() {
        retries += usize::from(matches!(event, AgentEvent::Retry { .. }));
    }
    let seen = (server.bodies_for(number).len(), retries, world.ran());
    assert_eq!(seen, (case.requests, case.retries, case.ran), "{what}");
    assert_eq!(kinds(&conversation).join(" "), case.kept, "{what}");
    assert!(codes(&conversation).iter().all(|it| it == "ok"), "{what}");
    // The server, which is strict, takes what was kept.
    let report = conversation.turn("and now?".into()).await;
    assert_eq!((report.end, report.text.as_str()), (TurnEnd::Done, "Yes."), "{what}");
    assert_eq!(world.ran(), case.ran, "{what}");
    world.log.verify().unwrap();
}

#[tokio::test]
async fn every_fault_on_every_wire_is_tried_again_or_told_and_no_call_runs_twice() {
    let cases = cases();
    let mut checks = Vec::new();
    for wire in Wire::ALL {
        let scripts = cases.iter().enumerate().map(|(number, case)| {
            let mut script = case.script.clone();
            script.push(Said::Message("Yes.", vec![]));
            (words(number), script)
        });
        let server = Arc::new(FakeServer::start_with(scripts.collect()).await);
        let model = model(wire, &server, true);
        for (number, case) in cases.iter().enumerate() {
            checks.push(check(server.clone(), model.clone(), number, case));
        }
    }
    // Those that wait do so at the same time.
    join_all(checks).await;
}
