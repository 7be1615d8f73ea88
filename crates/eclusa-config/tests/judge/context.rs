//! What holds for a while, for so many calls, for a session; and what comes from outside.

use std::{cell::Cell, sync::Arc};

use eclusa::{
    approve::Tally,
    audit::Clock,
    policy::{ContextNeeds, CountedRule},
    *,
};
use eclusa_config::{Config, Layer};
use serde_json::json;

use crate::world::World;

const PUSH: &str = "[[rules]]\nid = 'push'\ndecision = 'allow'\ncommand = 'git push'\n";

/// The first of December 2026, in milliseconds since 1970.
const DECEMBER: u64 = 1_796_083_200_000;

#[test]
fn a_grant_ends_at_its_time() {
    let text = format!("{PUSH}until = '2026-12-01'\n");
    let at = |now| World::configured(&text, now).judge("git push").decision;
    assert_eq!(at(DECEMBER - 1), Decision::Allow);
    assert_eq!(at(DECEMBER), Decision::Ask);
}

#[test]
fn a_grant_holds_in_its_conversation_and_workspace() {
    let of = |more: &str| World::configured(&format!("{PUSH}{more}\n"), 0);
    assert_eq!(of("workspace = '/workspace'").judge("git push").decision, Decision::Allow);
    assert_eq!(of("workspace = '/other'").judge("git push").decision, Decision::Ask);
    assert_eq!(of("conversation = 'default'").judge("git push").decision, Decision::Allow);
    assert_eq!(of("conversation = 'other'").judge("git push").decision, Decision::Ask);
}

#[tokio::test]
async fn a_grant_is_used_up() {
    let world = World::configured(&format!("{PUSH}times = 2\n"), 0);
    let push = || json!({"command": "git push"});
    assert_eq!(world.pass("bash", push()).await, ("ok", 0));
    // Looking uses nothing up.
    assert_eq!(world.judge("git push").decision, Decision::Allow);
    assert_eq!(world.pass("bash", push()).await, ("ok", 0));
    assert_eq!(world.judge("git push").decision, Decision::Ask);
    assert_eq!(world.pass("bash", push()).await, ("ok", 1), "a person is asked again");
}

/// A budget is for the session; a yes begins it anew.
#[tokio::test]
async fn a_budget_is_spent_by_many_calls() {
    let text = "[[rules]]\ndecision = 'allow'\npath = '*.txt'\n\
                [effects.budget]\nfiles = 2\nbytes = 25\n";
    let world = World::configured(text, 0);
    for (path, questions) in [("a.txt", 0), ("b.txt", 0), ("c.txt", 1), ("d.txt", 1), ("e.txt", 1)]
    {
        assert_eq!(world.pass("put", json!({"path": path})).await, ("ok", questions), "{path}");
    }
    assert_eq!(world.pass("put", json!({"path": "f.txt"})).await, ("ok", 2));
    let why = world.person.0.lock().unwrap()[0].verdict.why();
    assert!(why.contains("it would be 3 files in this session"), "{why}");
    let other = Run { session: "other".into(), ..Run::default() };
    let gate = world.gate.for_run(other);
    let reply = gate.pass(ToolCall::new("c", "put", json!({"path": "g.txt"}))).await;
    assert_eq!(reply.code(), "ok");
    assert_eq!(world.person.0.lock().unwrap().len(), 2);
}

#[test]
fn an_exception_is_named() {
    let text = "[[rules]]\nid = 'no-push'\ndecision = 'deny'\ncommand = 'git push'\n\
                [[rules]]\ndecision = 'allow'\ncommand = 'git push origin docs $'\n\
                except = 'no-push'\n";
    let world = World::configured(text, 0);
    assert_eq!(world.judge("git push origin docs").decision, Decision::Allow);
    assert_eq!(world.judge("git push origin docs --force").decision, Decision::Deny);
    assert_eq!(world.judge("git push origin docs; git push").decision, Decision::Deny);
    assert_eq!(world.judge("git push origin main").decision, Decision::Deny);
    assert_eq!(world.judge("X=1 git push origin docs").decision, Decision::Deny);
}

/// Text from outside marks the session, whoever brought it.
#[tokio::test]
async fn text_from_outside_marks_the_conversation() {
    let text = "[[rules]]\ndecision = 'allow'\ndomain = 'a.example'\n\
                [[rules]]\ndecision = 'allow'\ncommand = ['git push', 'git fetch']\n\
                [[rules]]\ndecision = 'allow'\ntainted = true\ncommand = 'cargo publish'\n";
    let world = World::configured(text, 0);
    assert_eq!(world.judge("git push").decision, Decision::Allow);
    assert_eq!(world.pass("fetch", json!({"host": "a.example"})).await, ("ok", 0));
    let verdict = world.judge("git push");
    assert_eq!(verdict.decision, Decision::Ask);
    assert!(verdict.why().contains("came from the web (`fetch`)"), "{}", verdict.why());
    assert_eq!(world.judge("cargo publish").decision, Decision::Allow, "it has thought of it");
    assert_eq!(world.judge("cat src/a.rs").decision, Decision::Allow, "nothing leaves");
    assert_eq!(world.pass("fetch", json!({"host": "a.example"})).await, ("ok", 1));
    // One call at a time.
    assert!(world.person.0.lock().unwrap()[0].grant.is_none());
    let other = Run { session: "other".into(), ..Run::default() };
    let push = ToolCall::new("c", "bash", json!({"command": "git push"}));
    assert_eq!(world.gate.for_run(other).check(push).unwrap().1.decision, Decision::Allow);
    world.gate.end_session();
    assert_eq!(world.judge("git push").decision, Decision::Allow);
}

/// A yes for the session that was given before text from outside came in does not cover what
/// could carry data out after it (D3), whether or not a rule allows the call.
#[tokio::test]
async fn an_answer_from_before_text_from_outside_does_not_cover_calls_after_it() {
    let world = World::configured("", 0);
    *world.person.1.lock().unwrap() = Some(Answer::Session);
    let far = || world.pass("fetch", json!({"host": "a.example"}));
    assert_eq!(far().await, ("ok", 1));
    assert!(world.person.0.lock().unwrap()[0].grant.is_some(), "offered before");
    assert_eq!(far().await, ("ok", 2), "asked again: what was fetched may have asked for this");
    {
        let asked = world.person.0.lock().unwrap();
        assert!(asked[1].grant.is_none(), "and neither `session` nor `always` is offered");
        assert!(asked[1].verdict.why().contains("came from the web (`fetch`)"));
    }
    let push = || world.pass("bash", json!({"command": "git push origin main"}));
    assert_eq!(push().await.1, 3);
    assert!(world.person.0.lock().unwrap()[2].grant.is_none());
    assert_eq!(push().await.1, 4);
}

/// "Always" is as narrow as what was approved, and is not offered where a rule cannot say it.
#[tokio::test]
async fn always_covers_exactly_what_was_approved() {
    let world = World::configured("", 0);
    let offered = async |command: &str| {
        world.pass("bash", json!({"command": command})).await;
        let question = world.person.0.lock().unwrap().pop().unwrap();
        let scope = question.grant.and_then(|it| it.scope);
        assert_eq!(question.can_always, scope.is_some(), "{command}");
        scope.map(|it| it.commands)
    };
    let push = vec!["git push origin main $".to_owned()];
    assert_eq!(offered("cd lib && git push origin main | cat").await, Some(push.clone()));
    let both = vec![push[0].clone(), "curl https://a.example/x $".to_owned()];
    assert_eq!(offered("git push origin main; curl https://a.example/x").await, Some(both.clone()));
    for command in ["git push $X", "X=1 git push", "git push > log", "git push 'a b'", "git push &"]
    {
        assert_eq!(offered(command).await, None, "{command}");
    }
    // The rule that would be written covers what was approved, and no word more.
    let rule = Rule::new(Decision::Allow).tool(["bash"]).unwrap().commands(both).unwrap();
    let world = World::with(vec![rule]);
    let text = "git push origin main; curl https://a.example/x";
    assert_eq!(world.judge(text).decision, Decision::Allow);
    assert_eq!(world.judge("git push origin main -f").decision, Decision::Ask);
    assert_eq!(world.judge("curl https://a.example/x/y").decision, Decision::Stage);
}

thread_local!(static JUDGING: Cell<bool> = const { Cell::new(false) });

/// Rules that nobody may be asked anything beside.
struct Alone(Rules);

impl Policy for Alone {
    fn judge(&self, call: &CallView<'_>) -> Verdict {
        JUDGING.set(true);
        let verdict = self.0.judge(call);
        JUDGING.set(false);
        verdict
    }
    fn context_needs(&self) -> &ContextNeeds {
        self.0.context_needs()
    }
}

/// A clock, a count and a disk that nobody may look at while a call is judged.
struct Forbidden;

impl Clock for Forbidden {
    fn unix_ms(&self) -> u64 {
        assert!(!JUDGING.get(), "the clock was read");
        DECEMBER - 1
    }
}

impl Tally for Forbidden {
    fn used(&self, _: &CountedRule, _: u64) -> Result<u64, eclusa::approve::TallyError> {
        assert!(!JUDGING.get(), "uses were counted");
        Ok(0)
    }
    fn take(&self, _: &CountedRule, _: u64) -> Result<bool, eclusa::approve::TallyError> {
        panic!("nothing is used up by looking");
    }
}

/// Pure: no clock, no count, and a workspace that is not there, which nothing could be read from.
#[test]
fn judging_looks_at_nothing_but_the_call() {
    let text = format!("{PUSH}until = '2026-12-01'\ntimes = 3\n");
    let config = Config::load(&[Layer::of_person("mine.toml", text)]).unwrap();
    let rules = Rules::new(config.rules, "/nowhere/at/all".as_ref());
    let registry = Registry::new();
    registry.add(crate::world::Shell).unwrap();
    let log = Arc::new(MemoryLog::default());
    let setup = Gate::builder().registry(registry).policy(Alone(rules)).log(log);
    let setup = setup.clock(Arc::new(Forbidden)).tally(Arc::new(Forbidden));
    let gate = setup.build().unwrap();
    let judge =
        |text: &str| gate.check(ToolCall::new("c", "bash", json!({"command": text}))).unwrap().1;
    for text in ["git push", "cat src/a.rs ../x /etc/passwd", "curl https://a.example", "rm -rf /"]
    {
        assert_eq!(judge(text), judge(text));
    }
    assert!(judge("git push").because.iter().any(|it| it.source == Source::Rule));
}

/// What a foreign server answers, and what is read outside the workspace, mark it as well.
#[tokio::test]
async fn servers_and_files_outside_mark_the_conversation() {
    let text = "[[rules]]\ndecision = 'allow'\nserver = 'far'\n\
                [[rules]]\ndecision = 'allow'\ncommand = ['git push', 'cat']\n";
    for (tool, args, from) in [
        ("mcp_far_look", json!({}), "came from another server"),
        ("bash", json!({"command": "cat /etc/hostname"}), "came from outside the workspace"),
        ("bash", json!({"command": "cat ~/notes"}), "came from outside the workspace"),
    ] {
        let world = World::configured(text, 0);
        assert_eq!(world.judge("git push").decision, Decision::Allow);
        world.pass(tool, args).await;
        let verdict = world.judge("git push");
        assert_eq!(verdict.decision, Decision::Ask, "{tool}");
        assert!(verdict.why().contains(from), "{tool}: {}", verdict.why());
        assert_eq!(world.judge("cat src/a.rs").decision, Decision::Allow, "nothing leaves");
    }
    // What is read in the workspace marks nothing.
    let world = World::configured(text, 0);
    world.pass("bash", json!({"command": "cat src/a.rs"})).await;
    assert_eq!(world.judge("git push").decision, Decision::Allow);
}
