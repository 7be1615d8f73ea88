//! Rules over what tools say of themselves, as far as that is believed.

use super::*;

/// A tool with these labels: of our own, of a server, of a server that a person trusts.
fn judged_from(
    rule: Rule,
    server: Option<(&'static str, bool)>,
    read_only: bool,
    destructive: bool,
) -> Decision {
    let mut tool = Fake::new(PermissionClass::Generic);
    (tool.facts.read_only, tool.facts.destructive) = (read_only, destructive);
    let registration = Registration::new(tool);
    let registration = match server {
        Some((server, trusted)) => registration.foreign(server).trusted(trusted),
        None => registration,
    };
    let registry = Arc::new(Registry::new());
    registry.register(registration).unwrap();
    let rules = Rules::new(vec![rule], "/home/me/ws".as_ref());
    let gate = Gate::builder().registry(registry).policy(rules).build().unwrap();
    gate.check(ToolCall::new("1", "tool", json!({}))).unwrap().1.decision
}

#[test]
fn what_a_server_says_in_its_favour_counts_only_where_it_is_trusted() {
    const OWN: Option<(&str, bool)> = None;
    const TRUSTED: Option<(&str, bool)> = Some(("forge", true));
    const FOREIGN: Option<(&str, bool)> = Some(("forge", false));
    let looks = || rule(Allow).read_only(true);
    let harmless = || rule(Allow).destructive(false);
    for (server, read_only, harmless_too) in
        [(OWN, Allow, Allow), (TRUSTED, Allow, Allow), (FOREIGN, Ask, Ask)]
    {
        assert_eq!(judged_from(looks(), server, true, false), read_only, "{server:?}");
        assert_eq!(judged_from(harmless(), server, false, false), harmless_too, "{server:?}");
        assert_eq!(judged_from(looks(), server, false, false), Ask, "{server:?}");
        assert_eq!(judged_from(harmless(), server, false, true), Ask, "{server:?}");
    }
    // The protocol's own default: destructive unless said, which means nothing where it only looks.
    assert_eq!(judged_from(harmless(), TRUSTED, true, true), Allow);
    assert_eq!(judged_from(harmless(), FOREIGN, true, true), Ask);
}

#[test]
fn what_it_says_against_itself_counts_always_and_doubt_counts_against_it() {
    for server in [None, Some(("forge", true)), Some(("forge", false))] {
        assert_eq!(
            judged_from(rule(Deny).destructive(true), server, false, true),
            Deny,
            "{server:?}"
        );
        assert_eq!(
            judged_from(rule(Deny).read_only(false), server, false, false),
            Deny,
            "{server:?}"
        );
    }
    // It says that it only looks, and nobody trusts it.
    assert_eq!(judged_from(rule(Deny).read_only(false), Some(("forge", false)), true, false), Deny);
    assert_eq!(judged_from(rule(Deny).read_only(false), Some(("forge", true)), true, false), Ask);
    assert_eq!(
        judged_from(rule(Deny).destructive(true), Some(("forge", false)), false, false),
        Deny
    );
    assert_eq!(judged_from(rule(Deny).destructive(true), Some(("forge", true)), false, false), Ask);
}
