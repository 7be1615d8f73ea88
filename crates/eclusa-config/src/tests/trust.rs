//! Who may loosen what: the administrator on top, a project beneath, exceptions by name.

use eclusa::{Decision, Mode};

use super::*;
use crate::Trust;

fn layers(administrator: &str, person: &str) -> Config {
    let top = Layer::of_administrator("/etc/eclusa/eclusa.toml", administrator);
    // Wherever it stands in the list.
    let one = Config::load(&[top.clone(), Layer::of_person("mine.toml", person)]).unwrap();
    let other = Config::load(&[Layer::of_person("mine.toml", person), top]).unwrap();
    assert_eq!(one.settings(), other.settings());
    one
}

#[test]
fn nothing_loosens_what_the_administrator_says() {
    let config = layers("mode = 'confirm-all'\n[limits]\ntime = '5s'", "mode = 'yolo'");
    assert_eq!(config.mode, Mode::ConfirmAll);
    assert_eq!(config.limits.time.as_secs(), 5);
    let of = |key: &str| config.settings().into_iter().rfind(|it| it.key == key).unwrap().origin;
    assert_eq!(of("mode"), "/etc/eclusa/eclusa.toml:1");
}

/// A list of what is allowed is the administrator's, as far as others have the same in theirs.
#[test]
fn a_list_of_other_things_is_not_stricter_than_the_administrators() {
    let administrator = "[commands]\nhosts = ['a.example', 'b.example']\nlive = ['target']\nwritable = ['/srv/out']\n";
    let person =
        "[commands]\nhosts = ['b.example', 'c.example']\nlive = ['src']\nwritable = ['/srv']\n";
    let commands = layers(administrator, person).commands;
    assert_eq!(commands.hosts, ["b.example"]);
    assert!(commands.live.is_empty() && commands.writable.is_empty(), "{commands:?}");
    assert!(layers(administrator, "").commands.hosts.is_empty(), "it opens nothing by itself");
}

/// Exceptions open what their own file and those below block.
#[test]
fn an_exception_opens_nothing_that_the_administrator_blocks() {
    let blocked = |administrator: &str, person: &str, name: &str| {
        let files = |it: &str| format!("[files]\nblocked = {it}\n");
        let config = layers(&files(administrator), &files(person));
        config.blocked.by(std::path::Path::new(name)).is_some()
    };
    assert!(blocked("['*.vault']", "['!*.vault']", "sub/a.vault"));
    assert!(blocked("['.env']", "['!.env']", ".env"));
    assert!(!blocked("['*.vault', '!ok.vault']", "[]", "ok.vault"), "their own exception");
    assert!(!blocked("['*.vault']", "['!.env']", ".env"), "a person's own affair");
    assert!(blocked("['!a.vault']", "['*.vault']", "b.vault"));
}

/// Whoever names a mode on the command line has done with rules about modes, but for the administrator's.
#[test]
fn the_administrators_modes_stay_where_a_person_names_one() {
    let modes = |name: &str, mode: &str| format!("[[modes]]\nclient = '{name}'\nmode = '{mode}'\n");
    let person = format!("mode = 'yolo'\n{}", modes("b", "confirm-all"));
    let mut config = layers(&modes("a", "confirm-all"), &person);
    assert_eq!(config.modes.len(), 2);
    config.keep_administrators_modes();
    assert!(config.modes.iter().all(|it| it.client.as_ref().unwrap().matches("a")));
    assert_eq!(config.modes.len(), 1);
}

/// A reviewer that is let pass where it fails has its time, whatever others say of time.
#[test]
fn nobody_takes_the_time_of_an_administrators_reviewer() {
    let reviewer =
        "[[reviewers]]\nname = 'guard'\ncommand = ['/usr/bin/guard']\non_error = 'allow'\n";
    let config = layers(reviewer, "[limits]\nreview = '1ms'\n");
    assert_eq!(config.reviewers[0].time, Some(eclusa::Limits::default().review));
}

/// None is stricter than another: whoever runs the machine says who commits there.
#[test]
fn the_administrators_identity_takes_the_place_of_a_persons() {
    let identity = |it: &str| format!("[commands]\nidentity = '{it}'\n");
    let (ci, ana) = (identity("CI <ci@example.org>"), identity("Ana <ana@example.org>"));
    let of = |administrator: &str, person: &str| layers(administrator, person).commands.identity;
    let name = |it: Option<(String, String)>| it.unwrap().0;
    assert_eq!(name(of(&ci, &ana)), "CI");
    assert_eq!(name(of(&ci, "")), "CI");
    assert_eq!(name(of("", &ana)), "Ana");
}

/// What their reviewers and reverse thinkers ask is their question.
#[test]
fn a_reviewer_and_a_thinker_are_known_to_be_an_administrators() {
    let both = "[reverse_thinker]\ncommand = ['/usr/bin/think']\n\
                [[reviewers]]\nname = 'guard'\ncommand = ['/usr/bin/guard']\n";
    for (config, whose) in [(layers(both, ""), true), (layers("", both), false)] {
        assert_eq!(config.reviewers[0].administrators, whose);
        assert_eq!(config.reverse_thinker.unwrap().administrators, whose);
    }
}

#[test]
fn what_is_stricter_than_the_administrator_stands() {
    let config = layers("mode = 'auto-approve'\n[limits]\ntime = '5s'", "mode = 'confirm-all'\n");
    assert_eq!(config.mode, Mode::ConfirmAll);
    let of = |key: &str| config.settings().into_iter().rfind(|it| it.key == key).unwrap().origin;
    assert_eq!(
        (of("mode"), of("limits.time")),
        ("mine.toml:1".into(), "/etc/eclusa/eclusa.toml:3".into())
    );
}

/// A broad denial has exceptions in its own file or above, and nowhere below.
#[test]
fn an_exception_stands_in_the_same_file_or_a_stricter_one() {
    let deny = "[[rules]]\nid = 'no'\ndecision = 'deny'\ntool = '*'\n";
    let except = "[[rules]]\ndecision = 'allow'\ntool = 'note'\nexcept = 'no'\n";
    let load = |layers: &[Layer]| Config::load(layers).map_err(|err| err.to_string());
    let person = |name: &str, text: &str| Layer::of_person(name, text);
    let project = |name: &str, text: &str| Layer::of_project(name, text);
    let top = |name: &str, text: &str| Layer::of_administrator(name, text);
    assert!(load(&[person("a", &format!("{deny}{except}"))]).is_ok());
    assert!(load(&[person("a", deny), person("b", except)]).is_ok());
    assert!(load(&[person("a", deny), top("b", except)]).is_ok());
    let below = load(&[person("a", except), person("b", deny)]).unwrap_err();
    assert!(below.starts_with("a:4:10: no rule of this file or below is called `no`"), "{below}");
    let under = load(&[top("b", deny), person("a", except)]).unwrap_err();
    assert!(under.contains("no rule of this file or below is called `no`"), "{under}");
    let without = load(&[top("b", deny), person("a", "without = ['no']")]).unwrap_err();
    assert!(without.contains("no rule below is called `no`"), "{without}");
    let ask = except.replace("allow", "ask");
    let found = [person("a", deny), project("b", &ask)];
    assert!(left_out(&found).contains("cannot bring exceptions to other files"));
    let rules = load(&found).unwrap().rules;
    assert!(rules.iter().any(|it| it.written_at() == "b:1"), "the rule itself holds");
    assert!(load(&[project("b", &format!("{deny}{ask}"))]).is_ok(), "its own rules are its own");
}

/// The examples of a rule over commands are judged command by command.
#[test]
fn examples_of_commands_are_taken_apart() {
    let load =
        |text: &str| Config::load(&[Layer::of_person("f", text)]).map_err(|it| it.to_string());
    let deny = "[[rules]]\ndecision = 'deny'\ncommand = 'git push'\n";
    assert!(load(&format!("{deny}match = [{{ runs = 'ls; env sudo git -C x push' }}]")).is_ok());
    assert!(load(&format!("{deny}not_match = [{{ runs = 'echo git push' }}]")).is_ok());
    assert!(load(&format!("{deny}not_match = [{{ runs = 'sh -c \"git push\"' }}]")).is_err());
    let allow = deny.replace("deny", "allow");
    assert!(load(&format!("{allow}match = [{{ runs = 'git push && git push x' }}]")).is_ok());
    assert!(load(&format!("{allow}match = [{{ runs = 'git push && ls' }}]")).is_err());
    let secrets = "[[rules]]\ndecision = 'deny'\npath = '*.pem'\nmatch = [{ runs = 'cat a.pem' }]";
    assert!(load(secrets).is_ok(), "paths of commands are paths of the call");
}

#[test]
fn trust_has_a_word_for_each() {
    assert_eq!(Layer::of_administrator("a", "").trust, Trust::Administrator);
    let rule = "[[rules]]\ndecision = 'allow'\ntool = 'x'";
    let config = layers(rule, "");
    assert!(
        config
            .rules
            .iter()
            .any(|it| it.decision() == Decision::Allow && it.named_tools().any(|it| it == "x"))
    );
}
