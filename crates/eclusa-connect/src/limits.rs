//! What hooks cannot close in each agent, and what only its person can confirm.

use crate::Agent;

impl Agent {
    /// Ways around the hooks that are left, as `status` tells them.
    pub const fn still_open(self, managed: bool) -> &'static [&'static str] {
        match (self, managed) {
            (Agent::ClaudeCode, true) => {
                &["what a failed call of its own printed cannot be redacted"]
            }
            (Agent::ClaudeCode, false) => &[
                "what a failed call of its own printed cannot be redacted",
                "another hook can change a command after eclusa has allowed it",
                "`disableAllHooks`, `--bare` and `--safe-mode` switch hooks off; `--managed` closes both",
            ],
            (Agent::Codex, true) => &[
                "a hook that is stopped until its time is up lets the call pass",
                "text typed into a running command and web search come to no hook",
            ],
            (Agent::Codex, false) => &[
                "a hook that is stopped until its time is up lets the call pass",
                "text typed into a running command and web search come to no hook",
                "`features.hooks = false` and `--disable hooks` switch hooks off; `--managed` closes that",
            ],
            (Agent::Gemini, _) => &[
                "a hook that is stopped until its time is up lets the call pass",
                "a folder that is not trusted runs no hooks",
            ],
            (Agent::Opencode, _) => &[
                "`--pure` and OPENCODE_PURE=1 load no plugins",
                "another plugin can change a call after eclusa has allowed it",
            ],
            (Agent::Cursor | Agent::Windsurf, _) => {
                &["taken from its manual: not tried with the real program"]
            }
            (Agent::Copilot, _) => &[
                "taken from its manual: not tried with the real program",
                "`disableAllHooks` switches hooks off",
            ],
            (Agent::VsCode | Agent::Zed, _) => &[
                "it has no hooks: its own tools run without eclusa; switch them off in its settings",
            ],
        }
    }

    /// What its person must still confirm there: nobody else may.
    pub const fn to_confirm(self, managed: bool) -> Option<&'static str> {
        match (self, managed) {
            (Agent::Codex, false) => Some(
                "start `codex` once and trust the hooks (`/hooks`): until then it runs none of them",
            ),
            (Agent::Gemini, _) => {
                Some("trust the folder when Gemini CLI asks: elsewhere it runs no hooks")
            }
            (Agent::Opencode, _) => {
                Some("start `opencode` once with a network: it fetches a package that plugins need")
            }
            (Agent::Cursor | Agent::Windsurf, _) => Some("restart it, so that it reads the hooks"),
            _ => None,
        }
    }
}
