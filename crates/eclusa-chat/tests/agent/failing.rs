//! What fails beside the model while a turn is under way: the log, or whoever is asked. Nothing runs
//! without a record or an answer, people are told, and the session can be gone on with.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use eclusa::{
    audit::{Appending, AuditError, Draft},
    *,
};
use eclusa_chat::*;
use futures::future::BoxFuture;

use crate::world::*;

/// A log that takes so many records and no more.
struct FullLog(Arc<dyn AuditSink>, Arc<AtomicUsize>);

impl AuditSink for FullLog {
    fn append(&self, draft: Draft) -> Appending {
        let room = self.1.fetch_update(SeqCst, SeqCst, |it| it.checked_sub(1));
        match room {
            Ok(_) => self.0.append(draft),
            Err(_) => Appending::Done(Err(AuditError::new("no space left on the disk"))),
        }
    }
}

#[tokio::test]
async fn a_log_that_breaks_at_any_record_stops_what_it_cannot_record_and_says_so() {
    let script = || {
        says("I do.", &[("do", "a"), ("look", "b"), ("no", "c")])
            + &says("Once more.", &[("do", "d")])
            + &says("Done.", &[])
            + &says("Well.", &[]).repeat(4)
    };
    for records in 0.. {
        let room = Arc::new(AtomicUsize::new(records));
        let world = world_with(|setup, log| setup.log(Arc::new(FullLog(log, room.clone()))));
        let (report, conversation) = world.turn(&script()).await;
        let id = conversation.id().to_owned();
        // Whatever ran has its start on record, and whatever was sent.
        let events = world.events();
        let count = |word: &str| events.iter().filter(|it| *it == word).count();
        let (sent, started, ran) = (count("sent"), count("started"), world.ran());
        assert!(ran <= started, "{records}: {ran} ran, {events:?}");
        let asked = conversation.items().iter();
        let asked = asked.filter(|it| matches!(it.body, ItemBody::Model { .. })).count();
        assert!(asked <= sent, "{records}: {asked} replies, {events:?}");
        let calls = kinds(&conversation).iter().filter(|it| **it == "call").count();
        assert_eq!(codes(&conversation).len(), calls, "{records}: every call is answered");
        if report.end == TurnEnd::Done {
            // Where there is room for all of them nothing is missing.
            assert_eq!(ran, 3, "{events:?}");
            assert!(records > 0, "it broke at least once");
            break;
        }
        let TurnEnd::Failed(why) = &report.end else { panic!("{records}: {report:?}") };
        assert_eq!(
            why, "the log cannot be written (no space left on the disk), so nothing was sent",
            "{records}"
        );
        let told = conversation.items().last().unwrap();
        assert!(matches!(&told.body, ItemBody::Notice { text } if text.contains(why.as_str())));
        let refused = |it: &String| {
            ["ok", "denied_by_policy", "audit_unavailable", "executed_unrecorded"]
                .contains(&it.as_str())
        };
        assert!(codes(&conversation).iter().all(refused), "{:?}", codes(&conversation));
        drop(conversation);
        // The disk has room again: the session goes on, and what ran is not run again.
        room.store(usize::MAX, SeqCst);
        let (mut conversation, _) =
            Conversation::resume(world.scripted(&script()), &id).await.unwrap();
        let report = conversation.turn("go on".into()).await;
        assert_eq!(report.end, TurnEnd::Done, "{records}: {report:?}");
        assert!(world.ran() <= 3, "{records}: {} ran", world.ran());
        world.log.verify().unwrap();
    }
}

/// How whoever is asked goes away.
#[derive(Debug, Clone, Copy)]
enum Gone {
    Leaves,
    Breaks,
    Panics,
}

/// A person who says yes so often and is gone then.
struct Leaving(AtomicUsize, Gone);

impl Approver for Leaving {
    fn name(&self) -> &str {
        "leaving"
    }
    #[expect(clippy::panic, reason = "it is what happens to this one")]
    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
        let here = self.0.fetch_update(SeqCst, SeqCst, |it| it.checked_sub(1)).is_ok();
        Box::pin(async move {
            match self.1 {
                _ if here => Ok(Answer::Once),
                Gone::Leaves => Err(NotAsked::Unavailable("the terminal is closed".to_owned())),
                Gone::Breaks => Err(NotAsked::Failed("the line broke".to_owned())),
                Gone::Panics => panic!("whoever is asked has crashed"),
            }
        })
    }
}

#[tokio::test]
async fn whoever_is_asked_and_goes_away_has_said_no_and_the_model_is_told() {
    for (gone, code) in [
        (Gone::Leaves, "no_approver"),
        (Gone::Breaks, "approver_failed"),
        (Gone::Panics, "approver_failed"),
    ] {
        for yes in 0..4 {
            let world = world_with(|setup, _| setup.approver(Leaving(AtomicUsize::new(yes), gone)));
            let script = says("", &[("ask", "a"), ("ask", "b")])
                + &says("", &[("ask", "c"), ("look", "d")])
                + &says("Done.", &[]);
            let (report, conversation) = world.turn(&script).await;
            assert_eq!(report.end, TurnEnd::Done, "{gone:?} after {yes}: {report:?}");
            assert_eq!(world.ran(), yes.min(3) + 1, "{gone:?} after {yes}");
            let asked = (0..3).map(|it| if it < yes { "ok" } else { code });
            let expected: Vec<&str> = asked.chain(["ok"]).collect();
            assert_eq!(codes(&conversation), expected, "{gone:?} after {yes}");
            let told = conversation.items().iter().filter_map(|it| match &it.body {
                ItemBody::Answer(it) => it.error.clone(),
                _ => None,
            });
            assert!(told.into_iter().all(|it| !it.is_empty()), "{gone:?} after {yes}");
        }
    }
}
