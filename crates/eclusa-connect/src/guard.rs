//! How an agent is started in a sandbox of its own: which key it needs, where it keeps its things,
//! and what it is told so that it asks our model proxy.

use crate::{Agent, shell_quoted};

/// The variable in which a program in a sandbox finds the address of our proxy, which hands requests to itself to the model proxy.
const MODEL_PROXY: &str = "$http_proxy";

/// Where in that proxy a live agent finds our tools.
pub const GUARD_TOOLS_PATH: &str = "/eclusa/mcp";

/// The variable that holds the token which our tools want to see.
const TOKEN: &str = "ECLUSA_GUARD_TOKEN";

/// What an agent does with the workspace while it is guarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuardForm {
    /// It writes to a layer, which is judged as a whole at its end.
    Staged,
    /// It cannot write there, and changes things by calls of our tools, each judged by itself.
    Live,
}

/// What is particular to one form of one agent.
#[derive(Debug, Clone, Copy)]
struct FormRow {
    /// Words before those of the person.
    before: &'static str,
    /// Words after those of the person.
    after: &'static str,
    /// Files below the agent's own directory, written anew at each start.
    files: &'static [(&'static str, &'static str)],
}

/// What is particular to an agent that is guarded.
#[derive(Debug, Clone, Copy)]
pub struct GuardRow {
    /// Whose it is.
    pub agent: Agent,
    /// The variable that holds the key of its model.
    pub key: &'static str,
    /// The variable that it takes the key from without asking about it, on a terminal.
    terminal_key: &'static str,
    /// The header in which the model's service wants the key, and what stands before it.
    pub header: (&'static str, &'static str),
    /// The variable that names another service, and the service otherwise.
    pub service: (&'static str, &'static str),
    /// Words of which one says that it does without a terminal.
    pub headless: &'static [&'static str],
    /// Variables; `HOME` in a value is the agent's own directory.
    variables: &'static [(&'static str, &'static str)],
    staged: FormRow,
    live: FormRow,
}

const CLAUDE_CODE: GuardRow = GuardRow {
    agent: Agent::ClaudeCode,
    key: "ANTHROPIC_API_KEY",
    terminal_key: "ANTHROPIC_AUTH_TOKEN",
    header: ("x-api-key", ""),
    service: ("ANTHROPIC_BASE_URL", "https://api.anthropic.com"),
    headless: &["-p", "--print"],
    variables: &[
        ("CLAUDE_CONFIG_DIR", "HOME"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        // Its own questions are off where nobody could answer them: the sandbox holds it.
        ("IS_SANDBOX", "1"),
    ],
    staged: FormRow {
        before: "",
        after: "",
        files: &[(
            "settings.json",
            "{\"disableAllHooks\": true, \"permissions\": {\"defaultMode\": \"bypassPermissions\"}}\n",
        )],
    },
    live: FormRow {
        before: "--strict-mcp-config --mcp-config=\"$CLAUDE_CONFIG_DIR\"/eclusa-mcp.json",
        after: "",
        files: &[
            (
                "settings.json",
                "{\"disableAllHooks\": true, \"permissions\": {\"allow\": [\"mcp__eclusa\"], \"deny\": \
                 [\"Bash\", \"Edit\", \"Write\", \"NotebookEdit\", \"Monitor\", \"WebFetch\"]}}\n",
            ),
            (
                "eclusa-mcp.json",
                "{\"mcpServers\": {\"eclusa\": {\"type\": \"http\", \"alwaysLoad\": true, \
                 \"url\": \"http://127.0.0.1:3128/eclusa/mcp\", \
                 \"headers\": {\"Authorization\": \"Bearer ${ECLUSA_GUARD_TOKEN}\"}}}}\n",
            ),
        ],
    },
};

/// Codex's settings, with more features and more at the end.
macro_rules! codex_config {
    ($features:literal, $end:literal) => {
        concat!(
            "model_provider = \"eclusa\"\napproval_policy = \"never\"\n\
             # Its own sandbox cannot be made inside ours.\n\
             sandbox_mode = \"danger-full-access\"\n\n\
             [features]\nhooks = false\n",
            $features,
            "\n[model_providers.eclusa]\nname = \"eclusa\"\nbase_url = \"http://127.0.0.1\"\n\
             env_key = \"OPENAI_API_KEY\"\nwire_api = \"responses\"\nsupports_websockets = false\n",
            $end,
        )
    };
}

const CODEX: GuardRow = GuardRow {
    agent: Agent::Codex,
    key: "OPENAI_API_KEY",
    terminal_key: "OPENAI_API_KEY",
    header: ("authorization", "Bearer "),
    service: ("OPENAI_BASE_URL", "https://api.openai.com/v1"),
    headless: &["exec", "e"],
    variables: &[("CODEX_HOME", "HOME")],
    staged: FormRow {
        before: "-c model_providers.eclusa.base_url=\"$http_proxy\"",
        after: "",
        files: &[("config.toml", codex_config!("", ""))],
    },
    live: FormRow {
        before: "-c model_providers.eclusa.base_url=\"$http_proxy\"",
        after: "",
        files: &[(
            "config.toml",
            codex_config!(
                "shell_tool = false\n",
                "\n[mcp_servers.eclusa]\nurl = \"http://127.0.0.1:3128/eclusa/mcp\"\n\
                 bearer_token_env_var = \"ECLUSA_GUARD_TOKEN\"\nrequired = true\n\
                 default_tools_approval_mode = \"approve\"\n"
            ),
        )],
    },
};

const GEMINI: GuardRow = GuardRow {
    agent: Agent::Gemini,
    key: "GEMINI_API_KEY",
    terminal_key: "GEMINI_API_KEY",
    header: ("x-goog-api-key", ""),
    service: ("GOOGLE_GEMINI_BASE_URL", "https://generativelanguage.googleapis.com"),
    headless: &["-p", "--prompt"],
    variables: &[("GEMINI_CLI_HOME", "HOME"), ("GEMINI_CLI_TRUST_WORKSPACE", "true")],
    staged: FormRow {
        before: "",
        after: "--approval-mode yolo",
        files: &[(
            ".gemini/settings.json",
            "{\"security\": {\"auth\": {\"selectedType\": \"gemini-api-key\"}}, \
             \"hooksConfig\": {\"enabled\": false}, \"privacy\": {\"usageStatisticsEnabled\": false}, \
             \"general\": {\"enableAutoUpdate\": false}}\n",
        )],
    },
    live: FormRow {
        before: "",
        after: "",
        files: &[(
            ".gemini/settings.json",
            "{\"security\": {\"auth\": {\"selectedType\": \"gemini-api-key\"}}, \
             \"hooksConfig\": {\"enabled\": false}, \"privacy\": {\"usageStatisticsEnabled\": false}, \
             \"general\": {\"enableAutoUpdate\": false}, \
             \"tools\": {\"exclude\": [\"run_shell_command\", \"write_file\", \"replace\", \"web_fetch\"]}, \
             \"mcpServers\": {\"eclusa\": {\"httpUrl\": \"http://127.0.0.1:3128/eclusa/mcp\", \
             \"headers\": {\"Authorization\": \"Bearer $ECLUSA_GUARD_TOKEN\"}, \"trust\": true}}}\n",
        )],
    },
};

const OPENCODE: GuardRow = GuardRow {
    agent: Agent::Opencode,
    key: "ANTHROPIC_API_KEY",
    terminal_key: "ANTHROPIC_API_KEY",
    header: ("x-api-key", ""),
    service: ("ANTHROPIC_BASE_URL", "https://api.anthropic.com"),
    headless: &["run"],
    variables: &[
        ("XDG_CONFIG_HOME", "HOME/config"),
        ("XDG_DATA_HOME", "HOME/data"),
        ("XDG_STATE_HOME", "HOME/state"),
        ("XDG_CACHE_HOME", "HOME/cache"),
        ("OPENCODE_PURE", "1"),
        ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
    ],
    staged: FormRow {
        before: "",
        after: "",
        files: &[(
            "config/opencode/opencode.json",
            "{\"permission\": \"allow\", \"autoupdate\": false}\n",
        )],
    },
    live: FormRow {
        before: "",
        after: "",
        files: &[(
            "config/opencode/opencode.json",
            // Of two that fit the later counts; `edit` is every tool that writes.
            "{\"permission\": {\"*\": \"allow\", \"bash\": \"deny\", \"edit\": \"deny\", \
             \"webfetch\": \"deny\"}, \"autoupdate\": false, \
             \"mcp\": {\"eclusa\": {\"type\": \"remote\", \"enabled\": true, \"oauth\": false, \
             \"url\": \"http://127.0.0.1:3128/eclusa/mcp\", \
             \"headers\": {\"Authorization\": \"Bearer {env:ECLUSA_GUARD_TOKEN}\"}}}}\n",
        )],
    },
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

    fn form(&self, form: GuardForm) -> FormRow {
        match form {
            GuardForm::Staged => self.staged,
            GuardForm::Live => self.live,
        }
    }

    /// The shell text that starts it: the words of the person, and where its model is asked.
    pub fn command(&self, words: &[String], form: GuardForm) -> String {
        let set = match self.agent {
            Agent::Codex => String::new(),
            Agent::Opencode => format!(
                "OPENCODE_CONFIG_CONTENT='{{\"provider\":{{\"anthropic\":{{\"options\":\
                 {{\"baseURL\":\"'{MODEL_PROXY}'/v1\"}}}}}}}}'"
            ),
            _ => format!("{}={MODEL_PROXY}", self.service.0),
        };
        let form = self.form(form);
        let (program, rest) = words.split_first().map_or(("", words), |(it, rest)| (it, rest));
        let rest: Vec<String> = rest.iter().map(|it| shell_quoted(it)).collect();
        let parts = [
            set,
            shell_quoted(program),
            form.before.to_owned(),
            rest.join(" "),
            form.after.to_owned(),
        ];
        parts.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// Files below the agent's own directory, written anew at each start.
    pub fn files(&self, form: GuardForm) -> &'static [(&'static str, &'static str)] {
        self.form(form).files
    }

    /// Its variables, with its own directory and a token in the place of the key.
    pub fn variables(
        &self,
        home: &str,
        token: &str,
        headless: bool,
    ) -> Vec<(&'static str, String)> {
        let own = self.variables.iter().map(|(name, value)| (*name, value.replace("HOME", home)));
        let key = if headless { self.key } else { self.terminal_key };
        own.chain([(key, token.to_owned()), (TOKEN, token.to_owned())]).collect()
    }

    /// True when it was told to do without a terminal.
    pub fn is_headless(&self, words: &[String]) -> bool {
        words.iter().skip(1).any(|it| self.headless.contains(&it.as_str()))
    }
}

#[cfg(test)]
mod tests;
