//! What other agents' permission settings come to in this language. Where something cannot be said
//! exactly, a rule that tightens becomes wider and a rule that allows becomes narrower or is left.

use eclusa_config::{Config, Layer, RuleToml};

/// Our tools that read files, and those that write them.
const READERS: [&str; 4] = ["read", "list", "glob", "grep"];
/// Our tools that write files of the workspace.
const WRITERS: [&str; 4] = ["write", "edit", "multi_edit", "make_dir"];

/// What was carried over, and what was not.
#[derive(Debug, Default)]
pub struct ImportedRules {
    /// Rules, each with what it came from.
    pub rules: Vec<(String, RuleToml)>,
    /// What could not be carried over.
    pub left: Vec<SkippedRule>,
}

/// Something that could not be carried over.
#[derive(Debug)]
pub struct SkippedRule {
    /// What it was.
    pub what: String,
    /// Why it stays behind.
    pub why: String,
    /// True when it forbade something: what is here is then looser than what was there.
    pub looser: bool,
}

/// Commands, as other agents write them.
pub(crate) enum ShellPattern<'a> {
    /// Every command.
    All,
    /// Those that begin with these words.
    Begins(Vec<String>),
    /// This text and no other.
    Exact(&'a str),
    /// Texts that fit: `*` is any text.
    Glob(&'a str),
    /// A text with or without stars, made from parts.
    Pattern(String),
    /// Texts in which this regular expression is found.
    Regex(&'a str),
}

impl ImportedRules {
    pub(crate) fn rule(&mut self, from: &str, rule: RuleToml) {
        self.rules.push((from.to_owned(), rule.text("reason", &format!("imported: {from}"))));
    }

    /// Leaves behind what cannot be read as a rule here, with what is wrong with it.
    pub fn keep_readable(&mut self) {
        for (from, rule) in std::mem::take(&mut self.rules) {
            match Config::load(&[Layer::of_person("import", rule.toml())]) {
                Ok(_) => self.rules.push((from, rule)),
                Err(errors) => {
                    let why = errors.0.first().map(|it| it.message.clone()).unwrap_or_default();
                    self.left(from, rule.decision(), &why);
                }
            }
        }
    }

    pub(crate) fn left(&mut self, what: impl Into<String>, decision: &str, why: &str) {
        let looser = decision == "deny" || decision == "ask";
        self.left.push(SkippedRule { what: what.into(), why: why.to_owned(), looser });
    }

    /// A rule about shell commands.
    pub(crate) fn shell(&mut self, from: &str, decision: &str, shell: ShellPattern<'_>) {
        let rule = RuleToml::new(decision);
        let allows = decision == "allow";
        match shell {
            ShellPattern::All if allows => {
                self.left(from, decision, "nothing here allows every command; name those you mean");
            }
            ShellPattern::All => self.rule(from, rule.text("class", "shell")),
            ShellPattern::Begins(words) => match spelt(&words) {
                Some(begins) => self.rule(from, rule.list("command", &[begins])),
                None if allows => {
                    self.left(from, decision, "its words need quotes, which rules do not have");
                }
                None => {
                    let regex = found_anywhere(&words.join(" "));
                    self.rule(from, rule.raw("command", "regex", &regex));
                }
            },
            // A beginning would allow more than the one text.
            ShellPattern::Exact(text) if allows => {
                let text = serde_json::Value::from(text);
                self.rule(from, rule.text("tool", "bash").argument("command", &text));
            }
            ShellPattern::Exact(text) => {
                let words = text.split_whitespace().map(str::to_owned).collect();
                self.shell(from, decision, ShellPattern::Begins(words));
            }
            ShellPattern::Pattern(text) if text.contains('*') => {
                self.shell(from, decision, ShellPattern::Glob(&text));
            }
            ShellPattern::Pattern(text) => self.shell(from, decision, ShellPattern::Exact(&text)),
            ShellPattern::Glob(_) if allows => {
                self.left(
                    from,
                    decision,
                    "a command is allowed by its first words, not by a pattern",
                );
            }
            ShellPattern::Glob(glob) => {
                self.rule(from, rule.raw("command", "regex", &found_anywhere(glob)))
            }
            ShellPattern::Regex(_) if allows => {
                self.left(
                    from,
                    decision,
                    "a command is allowed by its first words, not by its looks",
                );
            }
            ShellPattern::Regex(regex) => self.rule(from, rule.raw("command", "regex", regex)),
        }
    }

    /// A rule about files: `access` is `read` or `write`.
    pub(crate) fn files(&mut self, from: &str, decision: &str, access: &str, glob: Option<&str>) {
        let tools: &[&str] = if access == "read" { &READERS } else { &WRITERS };
        let tools: Vec<String> = tools.iter().map(|it| (*it).to_owned()).collect();
        let rule = RuleToml::new(decision);
        let outside = |it: &str| it.starts_with(['~', '$']) || it.starts_with("//");
        match (decision, glob) {
            (_, Some(glob)) if outside(glob) || glob.split('/').any(|it| it == "..") => {
                match decision {
                    "allow" => self.left(from, decision, "it is outside the workspace"),
                    // Nothing there can be reached as it is.
                    _ => self.left(
                        from,
                        "none",
                        "it is outside the workspace, which is denied anyway",
                    ),
                }
            }
            ("allow", None) => self.rule(from, rule.list("tool", &tools)),
            ("allow", Some(glob)) => {
                self.rule(from, rule.list("tool", &tools).list("path", &[placed(glob)]));
            }
            (_, None) => self.rule(from, rule.text("access", access)),
            (_, Some(glob)) => {
                let glob = glob.trim_start_matches("./").to_owned();
                self.rule(from, rule.text("access", access).list("path", &[glob]));
            }
        }
    }

    /// A rule about hosts that are fetched from.
    pub(crate) fn web(&mut self, from: &str, decision: &str, host: Option<&str>) {
        let rule = RuleToml::new(decision);
        match (decision, host) {
            (_, None) => self.rule(from, rule.text("tool", "web_fetch")),
            ("allow", Some(host)) => {
                self.rule(from, rule.text("tool", "web_fetch").text("domain", host));
            }
            (_, Some(host)) => self.rule(from, rule.text("domain", host)),
        }
    }

    /// A rule about another server's tools.
    pub(crate) fn server(&mut self, from: &str, decision: &str, server: &str, tool: Option<&str>) {
        let rule = RuleToml::new(decision).text("server", server);
        // A foreign tool is called `mcp_{server}_{tool}` here, and its own name is the end of it.
        let rule = match (decision, tool) {
            (_, None) => rule,
            ("allow", Some(tool)) => rule.text("tool", &format!("mcp_{server}_{tool}")),
            (_, Some(tool)) => rule.text("tool", &format!("*{tool}")),
        };
        self.rule(from, rule);
    }
}

/// A path for a rule that allows: at its place, and not at any depth.
fn placed(glob: &str) -> String {
    match glob.strip_prefix("./") {
        Some(rest) if !rest.contains('/') => format!("/{rest}"),
        Some(rest) => rest.to_owned(),
        None => glob.to_owned(),
    }
}

/// Words as a rule about commands writes them, where that is possible.
fn spelt(words: &[String]) -> Option<String> {
    let odd = |it: char| it.is_whitespace() || it.is_control() || "\"'\\$`|;&<>*".contains(it);
    let plain = words.iter().all(|it| !it.is_empty() && !it.contains(odd));
    (plain && !words.is_empty()).then(|| words.join(" "))
}

/// A regular expression that finds what a glob fits, anywhere in a text: never less than the glob.
fn found_anywhere(glob: &str) -> String {
    let literal = |text: &str| {
        let escaped: String = text
            .chars()
            .map(|it| match it {
                '?' => ".".to_owned(),
                it if "\\.+*()|[]{}^$#&-~".contains(it) => format!("\\{it}"),
                it => it.to_string(),
            })
            .collect();
        escaped.split_whitespace().collect::<Vec<_>>().join("\\s+")
    };
    glob.split('*').map(literal).filter(|it| !it.is_empty()).collect::<Vec<_>>().join("(?s:.*)")
}
