//! Grants as rules.

use eclusa::approve::GrantScope;

use super::*;
use crate::{Config, Layer};

fn grant() -> Grant {
    grant_for(GrantScope::default())
}

fn grant_for(scope: GrantScope) -> Grant {
    let (tool, revision) = ("note".to_owned(), "r".to_owned());
    Grant { tool, revision, args: None, scope: Some(scope) }
}

/// The narrowest rule that covers what was approved, and it can be read.
#[test]
fn a_rule_is_as_narrow_as_what_was_approved() {
    let texts = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    let commands = texts(&["git push origin main $", "curl https://a.example/x $"]);
    for (scope, line) in [
        (
            GrantScope { commands, ..GrantScope::default() },
            r#"command = ["git push origin main $", "curl https://a.example/x $"]"#,
        ),
        (GrantScope { paths: texts(&["/a.md"]), ..GrantScope::default() }, r#"path = "/a.md""#),
        (
            GrantScope { hosts: texts(&["a.example"]), ..GrantScope::default() },
            r#"domain = "a.example""#,
        ),
    ] {
        let rule = rule_text(&grant_for(scope));
        assert!(rule.lines().any(|it| it == line), "{rule}");
        Config::load(&[Layer::of_person("f", rule)]).unwrap();
    }
}

#[test]
fn comments_and_rules_are_kept() {
    let before = "# mine\nmode = \"confirm-all\" # careful\n\n[[rules]]\ntool = \"echo\" # why\ndecision = \"deny\"\n";
    let after = with_rule(before, &grant()).unwrap();
    assert!(after.starts_with(before), "{after}");
    assert!(after.ends_with(&format!("{}\n", rule_text(&grant()))), "{after}");
}
