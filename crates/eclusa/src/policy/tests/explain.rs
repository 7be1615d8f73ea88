//! What a verdict was made of, through the front door.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;

use super::{Fake, rule, runs};
use crate::{
    Decision::{self, Allow, Ask, Deny, Stage},
    Explanation, Gate, Mode, PermissionClass, Registration, Registry, Rule, Rules, Run, ToolCall,
};

fn explained(rules: &[Rule], tool: &Fake, mode: Mode) -> (Explanation, Decision) {
    let registry = Arc::new(Registry::new());
    registry.register(Registration::new(tool.clone())).unwrap();
    let rules = Rules::new(rules.to_vec(), "/home/me/ws".as_ref());
    let gate = Gate::builder().registry(registry).policy(rules).build().unwrap();
    let gate = gate.for_run(Run { mode, ..Run::default() });
    let call = ToolCall::new("1", tool.name, json!({}));
    let checked = gate.check(call.clone()).unwrap().1;
    let explained = gate.explain(call).unwrap();
    assert_eq!(explained.verdict, checked, "an explanation that says otherwise is a lie");
    (explained, checked.decision)
}

fn shell(text: &str) -> Fake {
    let mut tool = Fake::new(PermissionClass::Shell).touching([runs(text)]);
    tool.facts.stages = true;
    tool
}

#[test]
fn each_command_is_told_with_how_it_is_reached_its_words_and_what_led_to_its_class() {
    let tool = shell("cat a.txt | xargs env X=1 git push origin \"$B\" > out.txt");
    let (told, _) = explained(&[], &tool, Mode::default());
    let script = told.scripts.first().unwrap();
    let texts: Vec<(&str, &[String])> =
        script.commands.iter().map(|it| (it.text.as_str(), &*it.via)).collect();
    let push = script.commands.iter().find(|it| it.program == "git push").unwrap();
    assert!(push.via.iter().any(|it| it == "xargs"), "{texts:?}");
    assert!(push.classes.contains(&"network"), "{push:?}");
    assert!(push.why.iter().any(|(class, _)| *class == "network"), "{push:?}");
    assert_eq!(push.verdict.as_ref().unwrap().decision, Ask);
    let known: Vec<Option<&str>> = push.words.iter().map(|it| it.text.as_deref()).collect();
    assert_eq!(known.get(..3), Some(&[Some("git"), Some("push"), Some("origin")][..]));
    let unknown = push.words.iter().find(|it| it.source == "\"$B\"").unwrap();
    assert_eq!((unknown.text.as_deref(), &*unknown.unknown), (None, &["a variable"][..]));
    let cat = script.commands.first().unwrap();
    assert_eq!(cat.verdict.as_ref().unwrap().decision, Allow);
}

#[test]
fn every_rule_is_told_with_its_place_and_whether_it_applies() {
    let rules = [
        rule(Allow).commands(["git push"]).unwrap().origin("mine.toml:1").id("push"),
        rule(Deny).commands(["rm"]).unwrap().origin("mine.toml:4"),
        rule(Ask).tool(["other"]).unwrap().origin("mine.toml:7"),
    ];
    let (told, decision) = explained(&rules, &shell("git push origin main"), Mode::default());
    let applies: Vec<(&str, bool)> =
        told.rules.iter().map(|it| (it.origin.as_str(), it.applies)).collect();
    assert_eq!(applies, [("mine.toml:1", true), ("mine.toml:4", false), ("mine.toml:7", false)]);
    assert_eq!(told.rules.first().unwrap().id.as_deref(), Some("push"));
    // Nothing can be staged in this setup, but a command that a rule allows needs no staging.
    assert_eq!(decision, Allow);
}

#[test]
fn the_mode_has_its_say_and_a_script_that_is_not_read_says_so() {
    let (told, _) = explained(&[], &shell("ls"), Mode::ConfirmAll);
    assert_eq!(told.verdict.decision, Ask);
    assert_eq!(told.verdict.because.first().unwrap().origin.label(), "mode");
    let (told, _) = explained(&[], &shell("ls\u{0}"), Mode::default());
    assert!(told.scripts.first().unwrap().refused.is_some(), "{told:?}");
    assert_eq!(told.verdict.decision, Deny);
}

proptest! {
    /// The verdict is never looser than the strictest of its commands.
    #[test]
    fn no_command_is_stricter_than_the_whole(
        words in proptest::collection::vec("(ls|rm -r a|git push|cat \\$X|echo a > b|sudo ls|x)", 1..5),
        glue in "(; | && | \\| )",
    ) {
        let text = words.join(&glue);
        let (told, decision) = explained(&[], &shell(&text), Mode::default());
        let commands = told.scripts.iter().flat_map(|it| &it.commands);
        for command in commands {
            let alone = command.verdict.as_ref().map_or(Allow, |it| it.decision);
            prop_assert!(alone <= decision, "{command:?} in {text}");
            prop_assert!(alone != Stage || decision >= Stage);
        }
    }
}
