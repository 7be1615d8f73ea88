//! Tests of names.

use proptest::prelude::*;

use super::*;

/// Shows S4.46.
#[test]
fn a_name_has_the_server_and_the_tool_in_it() {
    assert_eq!(tool_name("github", "search_issues"), "mcp_github_search_issues");
}

#[test]
fn a_long_or_odd_name_is_shortened_and_stays_the_same() {
    let long = tool_name("github", &"x".repeat(90));
    assert_eq!(long.len(), MAX_NAME_LENGTH);
    assert_eq!(long, tool_name("github", &"x".repeat(90)));
    assert_ne!(long, tool_name("github", &"x".repeat(91)));
    assert_ne!(tool_name("a", "b.c"), tool_name("a", "b/c"));
}

/// Shows C20.
#[test]
fn a_name_that_reads_like_another_servers_is_that_servers_in_any_order() {
    let mut all = ["a", "a_b", "a_b_c", "ab", "b"].map(str::to_owned);
    for _ in 0..all.len() {
        all.rotate_left(1);
        let like = |server: &str, tool: &str| {
            reads_like(&tool_name(server, tool), server, &all).map(str::to_owned)
        };
        assert_eq!(like("a", "b_x").as_deref(), Some("a_b"));
        assert_eq!(like("a", "b_c_x").as_deref(), Some("a_b_c"));
        assert_eq!(like("a_b", "c_x").as_deref(), Some("a_b_c"));
        assert_eq!(like("a", "b_c.x").as_deref(), Some("a_b_c"));
        for (server, tool) in [("a", "b"), ("a", "bx"), ("a_b", "x"), ("ab", "x"), ("b", "a_b_x")] {
            assert_eq!(like(server, tool), None, "{server} {tool}");
        }
    }
}

proptest! {
    #[test]
    fn every_name_is_one_that_clients_accept(server in "[a-zA-Z0-9_-]{1,32}", tool in "\\PC{1,200}") {
        let name = tool_name(&server, &tool);
        prop_assert!(name.len() <= MAX_NAME_LENGTH && name.starts_with("mcp_"));
        prop_assert!(name.bytes().all(|it| it.is_ascii_alphanumeric() || b"_-".contains(&it)));
    }
}
