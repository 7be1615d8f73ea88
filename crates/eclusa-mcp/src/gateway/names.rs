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
mod tests;
