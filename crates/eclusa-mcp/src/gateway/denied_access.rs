//! What a call failed of, where that was the server's sandbox: said to whoever can grant more, and no
//! more than it takes.

use std::time::Instant;

use eclusa::{
    ToolError,
    settings::{Endpoint, WorkspaceAccess},
};

use super::{sanitize::visible, upstream::Upstream};

/// How programs say that they could not write, or were not let see something.
const READ_ONLY: [&str; 3] = ["EROFS", "ead-only file system", "Errno 30"];
const HIDDEN: [&str; 4] = ["EACCES", "ermission denied", "PermissionError", "Errno 13"];

impl Upstream {
    /// What to say about a call that failed, if the sandbox had a part in it. `said` is what the
    /// server says itself.
    pub(super) fn sandbox_hint(&self, said: &str, since: Instant) -> Option<String> {
        let settings = &self.settings;
        let Endpoint::Command(_) = &settings.reach else { return None };
        // A server that is wrapped has its settings on the command line.
        let wrapped = self.world.plain;
        let setting = |flag: String, line: String| match wrapped {
            true => format!("`{flag}`"),
            false => format!("`{line}` in `[servers.{}]`", settings.name),
        };
        let access = |it: &str| setting(format!("--access {it}"), format!("workspace = {it:?}"));
        let hosts = self.up().and_then(|it| it.denied_access).map(|it| it.hosts(since));
        if let Some(hosts) = hosts.filter(|it| !it.is_empty()) {
            let all = hosts.join("`, `");
            let flags = hosts.iter().map(|it| format!("--allow-net {it}")).collect::<Vec<_>>();
            let grant = setting(flags.join(" "), format!("hosts = {hosts:?}"));
            return Some(format!("its sandbox refused access to `{all}` meanwhile; {grant} would"));
        }
        let says = |words: &[&str]| words.iter().any(|it| said.contains(it));
        let grant = match settings.workspace {
            WorkspaceAccess::Write => String::new(),
            WorkspaceAccess::Read | WorkspaceAccess::Hidden => {
                format!("; {} would let it write the workspace", access("write"))
            }
        };
        if settings.sandbox && says(&READ_ONLY) {
            return Some(format!(
                "in its sandbox it writes to its own home directory alone, not beside its \
                 program{grant}"
            ));
        }
        let grant = match settings.workspace {
            WorkspaceAccess::Hidden => {
                format!(", nor the workspace; {} shows it", access("read"))
            }
            WorkspaceAccess::Read | WorkspaceAccess::Write => String::new(),
        };
        (settings.sandbox && says(&HIDDEN))
            .then(|| format!("in its sandbox it sees no secrets{grant}"))
    }

    /// What a server at an address wanted of a person before is not why the next call fails.
    pub(super) fn clear_last_error(&self) {
        if let (Endpoint::Url { .. }, Some(connection)) = (&self.settings.reach, self.up()) {
            let _ = connection.last_error.take();
        }
    }

    /// An error, with what the sandbox had to do with it, or the login.
    pub(super) fn explain_error(&self, mut err: ToolError, since: Instant) -> ToolError {
        if let (Endpoint::Url { .. }, Some(connection)) = (&self.settings.reach, self.up())
            && let Some(last_error) = connection.last_error.take()
        {
            let name = &self.settings.name;
            return ToolError::new(format!(
                "the server `{name}` refused the call: {}",
                visible(last_error.to_string())
            ));
        }
        if let Some(why) = self.sandbox_hint(&err.message, since) {
            err.message = format!("{} ({why})", err.message);
        }
        err
    }
}
