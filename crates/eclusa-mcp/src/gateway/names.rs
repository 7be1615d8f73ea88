//! What the tools of other servers are called here: `mcp_{server}_{tool}`, within what clients
//! accept.

use eclusa::Hash;

/// The longest name that a tool gets. Model APIs take 64 characters, and Claude Code puts
/// `mcp__eclusa__` before what we say.
pub const MAX_NAME_LENGTH: usize = 50;

/// How much of a digest stands for what was left out or replaced.
const DIGEST_LENGTH: usize = 8;

/// The name of a server's tool. The same server and tool always get the same name; one that has to
/// be altered ends in a piece of the digest of the whole, so that two do not become one.
pub fn tool_name(server: &str, tool: &str) -> String {
    let whole = format!("mcp_{server}_{tool}");
    let plain = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
    if whole.len() <= MAX_NAME_LENGTH && whole.chars().all(plain) {
        return whole;
    }
    let kept = MAX_NAME_LENGTH - DIGEST_LENGTH - 1;
    let mut name: String =
        whole.chars().map(|it| if plain(it) { it } else { '_' }).take(kept).collect();
    let digest = Hash::sha256(format!("{server}\0{tool}").as_bytes()).to_string();
    name.push('_');
    name.extend(digest.chars().take(DIGEST_LENGTH));
    name
}

/// Whose tool a name reads like, if not that of the server that it was made for. The name of a
/// server may begin like another's: `mcp_a_b_c` reads like the tool `c` of `a_b`, and so it is that
/// server's wherever there is one, whether it has such a tool or not and whoever starts first.
pub(super) fn reads_like<'a>(name: &str, server: &str, all: &'a [String]) -> Option<&'a str> {
    let rest = name.strip_prefix("mcp_")?;
    let fits = |it: &&String| {
        it.len() > server.len()
            && rest.strip_prefix(it.as_str()).is_some_and(|it| it.starts_with('_'))
    };
    all.iter().filter(fits).max_by_key(|it| it.len()).map(String::as_str)
}

/// Why a server cannot have something of this name, which reads like something of another's.
pub(super) fn not_this_servers(name: &str, server: &str, other: &str) -> String {
    format!(
        "`{name}` reads like something of the server `{other}`; call one of the servers `{server}` \
         and `{other}` something else"
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn s4_46_a_name_has_the_server_and_the_tool_in_it() {
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

    #[test]
    fn c20_a_name_that_reads_like_another_servers_is_that_servers_in_any_order() {
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
            for (server, tool) in
                [("a", "b"), ("a", "bx"), ("a_b", "x"), ("ab", "x"), ("b", "a_b_x")]
            {
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
}
