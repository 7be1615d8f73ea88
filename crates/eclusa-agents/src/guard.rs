//! How an agent is started in a sandbox of its own: which key it needs, where it keeps its things,
//! and what it is told so that it asks our model proxy.

use crate::{Agent, shell_quoted};

/// The variable in which a program in a sandbox finds the address of our proxy, which hands requests to itself to the model proxy.
const MODEL_PROXY: &str = "$http_proxy";

/// What is particular to an agent that is guarded.
#[derive(Debug, Clone, Copy)]
pub struct GuardRow {
    /// Whose it is.
    pub agent: Agent,
    /// The variable that holds the key of its model.
    pub key: &'static str,
    /// The header in which the model's service wants the key, and what stands before it.
    pub header: (&'static str, &'static str),
    /// The variable that names another service, and the service otherwise.
    pub service: (&'static str, &'static str),
    /// Words of which one must be there: the agent has no terminal.
    pub headless: &'static [&'static str],
    /// Words before those of the person.
    before: &'static str,
    /// Words after those of the person.
    after: &'static str,
    /// Variables; `HOME` in a value is the agent's own directory.
    variables: &'static [(&'static str, &'static str)],
    /// Files below the agent's own directory, written anew at each start.
    pub files: &'static [(&'static str, &'static str)],
}

const CLAUDE_CODE: GuardRow = GuardRow {
    agent: Agent::ClaudeCode,
    key: "ANTHROPIC_API_KEY",
    header: ("x-api-key", ""),
    service: ("ANTHROPIC_BASE_URL", "https://api.anthropic.com"),
    headless: &["-p", "--print"],
    before: "",
    after: "",
    variables: &[
        ("CLAUDE_CONFIG_DIR", "HOME"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        // Its own questions are off: nobody could answer them, and the sandbox holds it.
        ("IS_SANDBOX", "1"),
    ],
    files: &[(
        "settings.json",
        "{\"disableAllHooks\": true, \"permissions\": {\"defaultMode\": \"bypassPermissions\"}}\n",
    )],
};

const CODEX: GuardRow = GuardRow {
    agent: Agent::Codex,
    key: "OPENAI_API_KEY",
    header: ("authorization", "Bearer "),
    service: ("OPENAI_BASE_URL", "https://api.openai.com/v1"),
    headless: &["exec", "e"],
    before: "-c model_providers.eclusa.base_url=\"$http_proxy\"",
    after: "",
    variables: &[("CODEX_HOME", "HOME")],
    files: &[(
        "config.toml",
        "model_provider = \"eclusa\"\napproval_policy = \"never\"\n\
         # Its own sandbox cannot be made inside ours.\n\
         sandbox_mode = \"danger-full-access\"\n\n\
         [features]\nhooks = false\n\n\
         [model_providers.eclusa]\nname = \"eclusa\"\nbase_url = \"http://127.0.0.1\"\n\
         env_key = \"OPENAI_API_KEY\"\nwire_api = \"responses\"\nsupports_websockets = false\n",
    )],
};

const GEMINI: GuardRow = GuardRow {
    agent: Agent::Gemini,
    key: "GEMINI_API_KEY",
    header: ("x-goog-api-key", ""),
    service: ("GOOGLE_GEMINI_BASE_URL", "https://generativelanguage.googleapis.com"),
    headless: &["-p", "--prompt"],
    before: "",
    after: "--approval-mode yolo",
    variables: &[("GEMINI_CLI_HOME", "HOME"), ("GEMINI_CLI_TRUST_WORKSPACE", "true")],
    files: &[(
        ".gemini/settings.json",
        "{\"security\": {\"auth\": {\"selectedType\": \"gemini-api-key\"}}, \
         \"hooksConfig\": {\"enabled\": false}, \"privacy\": {\"usageStatisticsEnabled\": false}, \
         \"general\": {\"enableAutoUpdate\": false}}\n",
    )],
};

const OPENCODE: GuardRow = GuardRow {
    agent: Agent::Opencode,
    key: "ANTHROPIC_API_KEY",
    header: ("x-api-key", ""),
    service: ("ANTHROPIC_BASE_URL", "https://api.anthropic.com"),
    headless: &["run"],
    before: "",
    after: "",
    variables: &[
        ("XDG_CONFIG_HOME", "HOME/config"),
        ("XDG_DATA_HOME", "HOME/data"),
        ("XDG_STATE_HOME", "HOME/state"),
        ("OPENCODE_PURE", "1"),
        ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
    ],
    files: &[(
        "config/opencode/opencode.json",
        "{\"permission\": \"allow\", \"autoupdate\": false}\n",
    )],
};

impl GuardRow {
    /// The row of the agent whose program this is, by its name.
    pub fn for_program(program: &str) -> Option<GuardRow> {
        match program.rsplit('/').next().unwrap_or_default() {
            "claude" => Some(CLAUDE_CODE),
            "codex" => Some(CODEX),
            "gemini" => Some(GEMINI),
            "opencode" => Some(OPENCODE),
            _ => None,
        }
    }

    /// The shell text that starts it: the words of the person, and where its model is asked.
    pub fn command(&self, words: &[String]) -> String {
        let set = match self.agent {
            Agent::Codex => String::new(),
            Agent::Opencode => format!(
                "OPENCODE_CONFIG_CONTENT='{{\"provider\":{{\"anthropic\":{{\"options\":\
                 {{\"baseURL\":\"'{MODEL_PROXY}'/v1\"}}}}}}}}'"
            ),
            _ => format!("{}={MODEL_PROXY}", self.service.0),
        };
        let (program, rest) = words.split_first().map_or(("", words), |(it, rest)| (it, rest));
        let rest: Vec<String> = rest.iter().map(|it| shell_quoted(it)).collect();
        let parts = [
            set,
            shell_quoted(program),
            self.before.to_owned(),
            rest.join(" "),
            self.after.to_owned(),
        ];
        parts.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// Its variables, with its own directory and a token in the place of the key.
    pub fn variables(&self, home: &str, token: &str) -> Vec<(&'static str, String)> {
        let own = self.variables.iter().map(|(name, value)| (*name, value.replace("HOME", home)));
        own.chain([(self.key, token.to_owned())]).collect()
    }

    /// True when it was told to do without a terminal.
    pub fn is_headless(&self, words: &[String]) -> bool {
        words.iter().skip(1).any(|it| self.headless.contains(&it.as_str()))
    }
}

#[cfg(test)]
mod tests;
