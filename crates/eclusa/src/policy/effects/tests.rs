//! Rules over effects: floors and limits, over changes made by hand. The shipped rules are tried
//! beside the configuration that they are written in.

use serde_json::json;

use super::*;
use crate::{Decision::*, PermissionClass::*, Rule};

use nodes::{change, directory, file, link, moved};

mod limits;
mod nodes;
mod properties;

fn judged(rules: &Rules, changes: impl IntoIterator<Item = Change>) -> Verdict {
    let args = json!({});
    let author = Author {
        name: "tool",
        aliases: &[],
        class: Shell,
        server: None,
        args: &args,
        touches: &[],
        call: None,
    };
    rules.judge_effects(&Effects {
        author,
        changes: &Changes::of(changes),
        lines: Some(0),
        facts: RepositoryFacts::unknown(),
        moment: JudgeContext::unknown(),
        unruled: Allow,
    })
}

fn made(path: &str) -> Change {
    change(path, None, file("x\n", 0o644))
}

#[test]
fn nothing_stands_in_for_a_trusted_directory() {
    let rules = Rules::new(vec![], "/ws".as_ref());
    for path in [".git", "sub/.Git", ".github", ".config"] {
        assert_eq!(judged(&rules, [change(path, None, link("evil"))]).decision, Deny);
        assert_eq!(judged(&rules, [made(path)]).decision, Deny);
        assert_eq!(judged(&rules, [change(path, None, directory())]).decision, Allow);
    }
}

/// A change whose path is not one is never committed, whatever rules say.
#[test]
fn paths_that_are_none_are_denied() {
    let all = Rule::new(Allow).path(["**"]).unwrap();
    let rules = Rules::new(vec![all], "/ws".as_ref());
    for path in ["../x", "/etc/x", "a/../../x", "", ".", "./.env", "a//b", "a/"] {
        assert_eq!(judged(&rules, [made(path)]).decision, Deny, "{path:?}");
    }
}
