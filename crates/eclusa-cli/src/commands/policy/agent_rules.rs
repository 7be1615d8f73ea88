//! What other agents' permission settings come to in this language. Where something cannot be said
//! exactly, a rule that tightens becomes wider and a rule that allows becomes narrower or is left.

use eclusa::Decision;
use eclusa_config::{Config, Layer};

use super::rule_toml::RuleToml;

/// Our tools that read files, and those that write them.
pub(super) const READERS: [&str; 4] = ["read", "list", "glob", "grep"];
/// Our tools that write files of the workspace.
pub(super) const WRITERS: [&str; 4] = ["write", "edit", "multi_edit", "make_dir"];

/// What was carried over, and what was not.
#[derive(Default)]
pub(super) struct ImportedRules {
    /// Rules, each with what it came from.
    pub(super) rules: Vec<(String, RuleToml)>,
    /// What could not be carried over.
    pub(super) left: Vec<Skipped>,
    /// The rules about commands as they were read, in their order.
    pub(super) commands: Vec<CommandRule>,
    /// The rules about files as they were read, in their order.
    pub(super) files: Vec<FileRule>,
}

/// A rule about files, as another agent has it.
pub(super) struct FileRule {
    pub(super) decision: Decision,
    /// What it was.
    pub(super) from: String,
    pub(super) write: bool,
    /// `None`: every file.
    pub(super) glob: Option<String>,
}

/// A rule about commands, as another agent has it.
pub(super) struct CommandRule {
    pub(super) decision: Decision,
    /// What it was.
    pub(super) from: String,
    pub(super) pattern: CommandPattern,
    /// Which of several decides, where the agent has such numbers.
    pub(super) priority: i64,
}

/// Which commands a rule is about.
pub(super) enum CommandPattern {
    All,
    Begins(Vec<String>),
    Exact(String),
    Glob(String),
}

impl CommandRule {
    fn new(decision: &str, from: &str, shell: &Shell<'_>) -> Option<CommandRule> {
        let decision = decided(decision);
        let pattern = match shell {
            Shell::All => CommandPattern::All,
            Shell::Begins(words) => CommandPattern::Begins(words.clone()),
            Shell::Exact(text) => CommandPattern::Exact((*text).to_owned()),
            Shell::Glob(glob) => CommandPattern::Glob((*glob).to_owned()),
            Shell::Pattern(text) if text.contains('*') => CommandPattern::Glob(text.clone()),
            Shell::Pattern(text) => CommandPattern::Exact(text.clone()),
            Shell::Regex(_) => return None,
        };
        Some(CommandRule { decision, from: from.to_owned(), pattern, priority: 0 })
    }

    /// The words that it begins with, if it says any.
    pub(super) fn words(&self) -> Option<String> {
        match &self.pattern {
            CommandPattern::All => None,
            CommandPattern::Begins(words) => Some(words.join(" ")),
            CommandPattern::Exact(text) => Some(text.clone()),
            CommandPattern::Glob(glob) => {
                glob.split('*').next().map(|it| it.trim().to_owned()).filter(|it| !it.is_empty())
            }
        }
    }
}

fn decided(word: &str) -> Decision {
    match word {
        "allow" => Decision::Allow,
        "ask" => Decision::Ask,
        _ => Decision::Deny,
    }
}

/// Something that could not be carried over.
pub(super) struct Skipped {
    /// What it was.
    pub(super) what: String,
    /// Why it stays behind.
    pub(super) why: String,
    /// True when it forbade something: what is here is then looser than what was there.
    pub(super) looser: bool,
}

/// Commands, as other agents write them.
pub(super) enum Shell<'a> {
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
    pub(super) fn rule(&mut self, from: &str, rule: RuleToml) {
        self.rules.push((from.to_owned(), rule.text("reason", &format!("imported: {from}"))));
    }

    /// Leaves behind what cannot be read as a rule here, with what is wrong with it.
    pub(super) fn keep_readable(&mut self) {
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

    pub(super) fn left(&mut self, what: impl Into<String>, decision: &str, why: &str) {
        let looser = decision == "deny" || decision == "ask";
        self.left.push(Skipped { what: what.into(), why: why.to_owned(), looser });
    }

    /// Notes a rule about shell commands that is carried over in another way.
    pub(super) fn command(&mut self, from: &str, decision: &str, shell: &Shell<'_>) {
        self.commands.extend(CommandRule::new(decision, from, shell));
    }

    /// Notes a rule about everything that is carried over in another way.
    pub(super) fn everything(&mut self, from: &str, decision: &str) {
        self.command(from, decision, &Shell::All);
        self.file(from, decision, "read", None);
        self.file(from, decision, "write", None);
    }

    /// A rule about shell commands.
    pub(super) fn shell(&mut self, from: &str, decision: &str, shell: Shell<'_>) {
        self.command(from, decision, &shell);
        self.shell_rule(from, decision, shell);
    }

    fn shell_rule(&mut self, from: &str, decision: &str, shell: Shell<'_>) {
        let rule = RuleToml::new(decision);
        let allows = decision == "allow";
        match shell {
            Shell::All if allows => {
                self.left(from, decision, "nothing here allows every command; name those you mean");
            }
            Shell::All => self.rule(from, rule.text("class", "shell")),
            Shell::Begins(words) => match spelt(&words) {
                Some(begins) => self.rule(from, rule.list("command", &[begins])),
                None if allows => {
                    self.left(from, decision, "its words need quotes, which rules do not have");
                }
                None => {
                    let regex = found(&words.join(" "));
                    self.rule(from, rule.raw("command", "regex", &regex));
                }
            },
            // A beginning would allow more than the one text.
            Shell::Exact(text) if allows => {
                let text = serde_json::Value::from(text);
                self.rule(from, rule.text("tool", "bash").argument("command", &text));
            }
            Shell::Exact(text) => {
                let words = text.split_whitespace().map(str::to_owned).collect();
                self.shell_rule(from, decision, Shell::Begins(words));
            }
            Shell::Pattern(text) => match text.contains('*') {
                true => self.shell_rule(from, decision, Shell::Glob(&text)),
                false => self.shell_rule(from, decision, Shell::Exact(&text)),
            },
            Shell::Glob(_) if allows => {
                self.left(
                    from,
                    decision,
                    "a command is allowed by its first words, not by a pattern",
                );
            }
            Shell::Glob(glob) => self.rule(from, rule.raw("command", "regex", &found(glob))),
            Shell::Regex(_) if allows => {
                self.left(
                    from,
                    decision,
                    "a command is allowed by its first words, not by its looks",
                );
            }
            Shell::Regex(regex) => self.rule(from, rule.raw("command", "regex", regex)),
        }
    }

    /// Notes a rule about files that is carried over in another way.
    pub(super) fn file(&mut self, from: &str, decision: &str, access: &str, glob: Option<&str>) {
        self.files.push(FileRule {
            decision: decided(decision),
            from: from.to_owned(),
            write: access != "read",
            glob: glob.map(str::to_owned),
        });
    }

    /// A rule about files: `access` is `read` or `write`.
    pub(super) fn files(&mut self, from: &str, decision: &str, access: &str, glob: Option<&str>) {
        self.file(from, decision, access, glob);
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
    pub(super) fn web(&mut self, from: &str, decision: &str, host: Option<&str>) {
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
    pub(super) fn server(&mut self, from: &str, decision: &str, server: &str, tool: Option<&str>) {
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
fn found(glob: &str) -> String {
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
