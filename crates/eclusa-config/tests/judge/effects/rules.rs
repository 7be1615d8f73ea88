//! Rules that ask how much changed, and where.

use super::*;

fn decided(rule: &str, changes: Vec<Change>) -> Decision {
    judged(&shipped(&format!("[effects]\nallow_delete = true\n{rule}")), changes).decision
}

#[test]
fn amounts_are_compared() {
    let rule = "[[rules]]\ndecision = 'ask'\neffects = { deleted = '> 2' }\n";
    let gone = |count: usize| (0..count).map(|it| gone(&format!("f{it}"))).collect::<Vec<_>>();
    assert_eq!(decided(rule, gone(2)), Allow);
    assert_eq!(decided(rule, gone(3)), Ask);
    let rule = "[[rules]]\ndecision = 'deny'\neffects = { files = '> 1', bytes = '> 3' }\n";
    assert_eq!(decided(rule, vec![made("a"), made("b")]), Deny);
    assert_eq!(decided(rule, vec![made("a")]), Allow, "all conditions must hold");
}

#[test]
fn places_are_compared() {
    let deny = "[[rules]]\ndecision = 'deny'\neffects = { outside = 'src/**' }\n";
    assert_eq!(decided(deny, vec![made("src/a"), made("src/b/c")]), Allow);
    assert_eq!(decided(deny, vec![made("src/a"), made("docs/b")]), Deny);
    let ask = "[[rules]]\ndecision = 'ask'\neffects = { only = 'target/**' }\n";
    let built = vec![change("target", None, directory()), made("target/a")];
    assert_eq!(decided(ask, built), Ask, "a directory on the way is nothing of its own");
    assert_eq!(decided(ask, vec![made("target/a"), made("b")]), Allow);
}

/// A rule that allows over effects lets staged changes pass, for the commands that it names.
#[test]
fn changes_of_a_command_are_allowed_by_what_they_are() {
    let rules = shipped(
        "[[rules]]\ndecision = 'allow'\ncommand = 'make'\neffects = { only = 'out/**', network = false }\n",
    );
    let args = json!({});
    let judge = |text: &str, path: &str| {
        let touches = [Touch::Run(text.to_owned())];
        let (name, aliases, class, server) = ("bash", &[][..], Shell, None);
        let author =
            Author { name, aliases, class, server, args: &args, touches: &touches, call: None };
        let changes = Changes::of([made(path)]);
        let facts = RepositoryFacts::unknown();
        let moment = JudgeContext::unknown();
        let effects =
            Effects { author, changes: &changes, lines: None, facts, moment, unruled: Ask };
        rules.judge_effects(&effects).decision
    };
    assert_eq!(judge("make all", "out/a"), Allow);
    assert_eq!(judge("make all", "src/a"), Ask);
    assert_eq!(judge("cp a out/a", "out/a"), Ask);
    assert_eq!(judge("make all; cp a out/a", "out/a"), Ask, "every command must be one of them");
    assert_eq!(judge("make all && curl https://a.example", "out/a"), Ask);
}
