//! What the tools of other servers are called here: `mcp_{server}_{tool}`, within what clients
//! accept.

use eclusa::Hash;

/// The longest name that a tool gets. Model APIs take 64 characters, and Claude Code puts
/// `mcp__eclusa__` before what we say.
pub const LONGEST: usize = 50;

/// How much of a digest stands for what was left out or replaced.
const MARK: usize = 8;

/// The name of a server's tool. The same server and tool always get the same name; one that has to
/// be altered ends in a piece of the digest of the whole, so that two do not become one.
pub fn tool_name(server: &str, tool: &str) -> String {
    let whole = format!("mcp_{server}_{tool}");
    let plain = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
    if whole.len() <= LONGEST && whole.chars().all(plain) {
        return whole;
    }
    let kept = LONGEST - MARK - 1;
    let mut name: String =
        whole.chars().map(|it| if plain(it) { it } else { '_' }).take(kept).collect();
    let digest = Hash::of(format!("{server}\0{tool}").as_bytes()).to_string();
    name.push('_');
    name.extend(digest.chars().take(MARK));
    name
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
        assert_eq!(long.len(), LONGEST);
        assert_eq!(long, tool_name("github", &"x".repeat(90)));
        assert_ne!(long, tool_name("github", &"x".repeat(91)));
        assert_ne!(tool_name("a", "b.c"), tool_name("a", "b/c"));
    }

    proptest! {
        #[test]
        fn every_name_is_one_that_clients_accept(server in "[a-zA-Z0-9_-]{1,32}", tool in "\\PC{1,200}") {
            let name = tool_name(&server, &tool);
            prop_assert!(name.len() <= LONGEST && name.starts_with("mcp_"));
            prop_assert!(name.bytes().all(|it| it.is_ascii_alphanumeric() || b"_-".contains(&it)));
        }
    }
}
