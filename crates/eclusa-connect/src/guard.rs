//! How an agent is started in a sandbox of its own: which key it needs, where it keeps its things,
//! and what it is told so that it asks our model proxy.

use crate::entries::shell_quoted;

/// Where in that proxy a live agent finds our tools.
pub(crate) const GUARD_TOOLS_PATH: &str = "/eclusa/mcp";

/// The variable that holds the token which our tools want to see.
pub(crate) const TOKEN: &str = "ECLUSA_GUARD_TOKEN";

/// What an agent does with the workspace while it is guarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GuardForm {
    /// It writes to a layer, which is judged as a whole at its end.
    Staged,
    /// It cannot write there, and changes things by calls of our tools, each judged by itself.
    Live,
}

/// What is particular to one form of one agent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FormSpec {
    /// Words before those of the person.
    pub(crate) before: &'static str,
    /// Words after those of the person.
    pub(crate) after: &'static str,
    /// Files below the agent's own directory, written anew at each start.
    pub(crate) files: &'static [(&'static str, &'static str)],
}

/// What is particular to an agent that is guarded.
pub(crate) struct GuardSpec {
    /// The variable that holds the key of its model.
    pub(crate) key: &'static str,
    /// The variable that it takes the key from without asking about it, on a terminal.
    pub(crate) terminal_key: &'static str,
    /// The header in which the model's service wants the key, and what stands before it.
    pub(crate) header: (&'static str, &'static str),
    /// The variable that names another service, and the service otherwise.
    pub(crate) service: (&'static str, &'static str),
    /// What stands before its program, so that it asks our model proxy: in a sandbox `$http_proxy` is the
    /// address of our proxy, which hands requests to itself to the model proxy.
    pub(crate) assignments: &'static str,
    /// Words of which one says that it does without a terminal.
    pub(crate) headless: &'static [&'static str],
    /// Variables; `HOME` in a value is the agent's own directory.
    pub(crate) variables: &'static [(&'static str, &'static str)],
    pub(crate) staged: FormSpec,
    pub(crate) live: FormSpec,
}

impl GuardSpec {
    fn form(&self, form: GuardForm) -> FormSpec {
        match form {
            GuardForm::Staged => self.staged,
            GuardForm::Live => self.live,
        }
    }

    /// The shell text that starts it: the words of the person, and where its model is asked.
    pub(crate) fn command(&self, words: &[String], form: GuardForm) -> String {
        let form = self.form(form);
        let (program, rest) = words.split_first().map_or(("", words), |(it, rest)| (it, rest));
        let rest: Vec<String> = rest.iter().map(|it| shell_quoted(it)).collect();
        let parts = [
            self.assignments.to_owned(),
            shell_quoted(program),
            form.before.to_owned(),
            rest.join(" "),
            form.after.to_owned(),
        ];
        parts.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// Files below the agent's own directory, written anew at each start.
    pub(crate) fn files(&self, form: GuardForm) -> &'static [(&'static str, &'static str)] {
        self.form(form).files
    }

    /// Its variables, with its own directory and a token in the place of the key.
    pub(crate) fn variables(
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
    pub(crate) fn is_headless(&self, words: &[String]) -> bool {
        words.iter().skip(1).any(|it| self.headless.contains(&it.as_str()))
    }
}
