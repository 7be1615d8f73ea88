//! A reverse thinker by a model: what it uses counts to the turn, in requests, tokens and money.

use std::sync::{Arc, Mutex};

use eclusa::audit::SystemClock;
use eclusa_chat::*;
use eclusa_models::model::*;
use eclusa_models::*;
use futures::future::BoxFuture;

use crate::world::*;

/// A model that plays a script, perhaps for money, and remembers what it used.
struct Metered {
    script: ScriptModel,
    profile: ModelProfile,
    used: Arc<Mutex<Usage>>,
}

/// A token costs so many millionths.
fn metered(name: &str, script: &str, price: Option<u64>) -> (Arc<Metered>, Arc<Mutex<Usage>>) {
    let script = ScriptModel::new(name, script).unwrap();
    let price = price.map(|it| Price {
        input: it * 1_000_000,
        output: it * 1_000_000,
        cache_read: 0,
        cache_write: 0,
        currency: "USD".to_owned(),
    });
    let profile = ModelProfile { price, ..script.profile().clone() };
    let used = Arc::<Mutex<Usage>>::default();
    (Arc::new(Metered { script, profile, used: used.clone() }), used)
}

impl Model for Metered {
    fn profile(&self) -> &ModelProfile {
        &self.profile
    }

    fn body(&self, request: &ModelRequest) -> Vec<u8> {
        self.script.body(request)
    }

    fn ask<'a>(
        &'a self,
        body: Vec<u8>,
        hear: &'a mut (dyn FnMut(Delta) + Send),
    ) -> BoxFuture<'a, Result<ModelReply, ModelError>> {
        Box::pin(async move {
            let reply = self.script.ask(body, hear).await;
            if let Ok(reply) = &reply {
                self.used.lock().unwrap().add(&reply.usage);
            }
            reply
        })
    }
}

/// What a turn comes to that calls `deploy`, which somebody must argue about first.
struct Turn {
    report: TurnReport,
    ran: usize,
    /// What the model was told of the call.
    answer: AnswerItem,
    /// What both models used.
    used: [Usage; 2],
    /// What is known of the whole conversation.
    usage: serde_json::Value,
}

/// `words` is how long the thinker speaks, in tokens.
async fn turn(words: usize, price: Option<u64>, limits: TurnLimits) -> Turn {
    let reason = "x".repeat(words * 4);
    let thinks = format!("## says\n{{\"verdict\": \"proceed\", \"reason\": \"{reason}\"}}\n");
    let (thinker, thought) = metered("thinker", &thinks, price);
    let world = world_with(|setup, log| {
        let clock = Arc::new(SystemClock);
        setup.reverse_thinker(Arc::new(ModelThinker::new(thinker, Arc::default(), log, clock)))
    });
    let script = says("Off.", &[("deploy", "a")]) + &says("Done.", &[]);
    let (model, said) = metered("script", &script, Some(2));
    let setup = ConversationSetup { limits, ..world.setup(model) };
    let (mut conversation, _) = Conversation::open(setup).await.unwrap();
    let report = conversation.turn("go".into()).await;
    let mut answers = conversation.items().iter().filter_map(|it| match &it.body {
        ItemBody::Answer(answer) => Some(answer.clone()),
        _ => None,
    });
    let answer = answers.next_back().unwrap();
    let used = [*said.lock().unwrap(), *thought.lock().unwrap()];
    Turn { report, ran: world.ran(), answer, used, usage: conversation.head().usage.clone() }
}

const NONE: TurnLimits = TurnLimits { requests: None, tokens: None, money: None, time: None };

#[tokio::test]
async fn tokens_and_money_of_a_reverse_thinker_are_those_of_the_turn_and_the_session() {
    let turn = turn(10, Some(3), NONE).await;
    assert_eq!((&turn.report.end, turn.ran, turn.report.requests), (&TurnEnd::Done, 1, 3));
    let [said, thought] = turn.used;
    assert!(said.total() > 0 && thought.output > 10, "{said:?} {thought:?}");
    let mut both = said;
    both.add(&thought);
    assert_eq!(turn.report.usage, both);
    let cost = said.total() * 2 + thought.total() * 3;
    assert_eq!((turn.report.cost, turn.report.currency.as_deref()), (Some(cost), Some("USD")));
    let kept = ["input", "output", "cost"].map(|it| turn.usage[it].as_u64().unwrap());
    assert_eq!(kept, [both.input, both.output, cost]);
}

#[tokio::test]
async fn a_turn_ends_where_its_reverse_thinker_has_used_up_its_tokens_or_its_money() {
    let tokens = TurnLimits { tokens: Some(20_000), ..NONE };
    let money = TurnLimits { money: Some(60_000), ..NONE };
    for (limits, name) in [(tokens, "limits.turn.tokens"), (money, "limits.turn.money")] {
        // It says little, and there is room for the next request.
        let end = turn(10, Some(3), limits.clone()).await.report.end;
        assert_eq!(end, TurnEnd::Done, "{name}");
        let much = turn(30_000, Some(3), limits).await;
        assert_eq!((much.ran, much.report.requests), (1, 2), "{name}");
        assert!(matches!(&much.report.end, TurnEnd::Limit(why) if why.contains(name)), "{name}");
    }
}

#[tokio::test]
async fn a_reverse_thinker_that_is_not_within_the_limits_is_not_asked_and_nothing_runs() {
    let tokens = TurnLimits { tokens: Some(200), ..NONE };
    let money = TurnLimits { money: Some(500), ..NONE };
    let unknown = TurnLimits { money: Some(1_000_000), ..NONE };
    for (limits, price, why) in [
        (tokens, Some(3), "limits.turn.tokens"),
        (money, Some(3), "limits.turn.money"),
        (unknown, None, "the price of the model `thinker` is not known"),
    ] {
        let turn = turn(10, price, limits).await;
        assert_eq!((turn.ran, turn.used[1]), (0, Usage::default()), "{why}");
        let error = turn.answer.error.unwrap();
        assert!(error.contains(why), "{why}: {error}");
    }
}
