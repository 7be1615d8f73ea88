//! `eclusa policy export`: the person's own rules, as another agent's settings.
//!
//! Only what means the same there is written. Where a rule that tightens stays behind, no rule
//! that allows is written for the same kind of tool: the other agent asks instead.

use serde_json::{Value, json};

use super::layers::{self, SourceRule};
use crate::{
    args::{Agent, Global},
    context::AppContext,
    failure::{Exit, Failure},
    screen::{Screen, note, sanitize},
};

/// What a rule is about, in words that other agents have.
#[derive(Debug, Clone, PartialEq, Eq)]
enum About {
    /// Commands that begin with these words.
    Command(String),
    /// A path that is read.
    Read(String),
    /// A path that is written.
    Write(String),
    /// A host that is fetched from.
    Host(String),
    /// A server's tools, or one of them.
    Server(String, Option<String>),
}

impl About {
    fn kind(&self) -> &'static str {
        match self {
            About::Command(_) => "command",
            About::Read(_) | About::Write(_) => "path",
            About::Host(_) => "domain",
            About::Server(..) => "server",
        }
    }
}

/// One statement: what becomes of what. `stage` is a question elsewhere.
struct Statement {
    decision: &'static str,
    about: About,
    origin: String,
}

/// A rule that stays behind, and why.
struct Skipped {
    origin: String,
    why: String,
}

pub(super) fn run(global: &Global, agent: Agent, screen: &mut Screen) -> Result<Exit, Failure> {
    let ctx = AppContext::open(global)?;
    let (mut said, mut left, mut lost) = (Vec::new(), Vec::new(), Vec::new());
    for rule in layers::rules(&ctx.config).iter().filter(|it| !it.is_shipped()) {
        let decision = decision(rule);
        let abouts = about(rule).and_then(|all| {
            // A single star fits slashes there: the same text would allow more.
            let starred = |it: &About| match it {
                About::Read(glob) | About::Write(glob) => glob.replace("**", "").contains('*'),
                About::Command(_) | About::Host(_) | About::Server(..) => false,
            };
            let strange = all.iter().find(|it| {
                !knows(agent, it)
                    || (agent == Agent::Opencode && decision == "allow" && starred(it))
            });
            match strange {
                Some(it) => Err(format!("{agent} has no such rules about a {}", it.kind())),
                // What nobody allowed is asked about there; no rule says so.
                None if agent == Agent::Cursor && decision == "ask" => {
                    Err(format!("{agent} has no rules that ask"))
                }
                None => Ok(all),
            }
        });
        match abouts {
            Ok(all) => said.extend(all.into_iter().map(|about| Statement {
                decision,
                about,
                origin: rule.origin.clone(),
            })),
            Err(why) => {
                if decision != "allow" {
                    lost.extend(kinds(rule));
                }
                left.push(Skipped { origin: rule.origin.clone(), why });
            }
        }
    }
    said.retain(|it| {
        let doubtful = it.decision == "allow" && lost.contains(&it.about.kind());
        if doubtful {
            let why = "a rule that tightens the same kind stays behind".to_owned();
            left.push(Skipped { origin: it.origin.clone(), why });
        }
        !doubtful
    });
    left.push(Skipped {
        origin: "defaults".to_owned(),
        why: "the shipped rules and what holds without rules are not written out".to_owned(),
    });
    let text = match agent {
        Agent::ClaudeCode => claude(&said),
        Agent::Codex => codex(&said),
        Agent::Cursor => cursor(&said),
        Agent::Gemini => gemini(&said),
        Agent::Opencode => opencode(&said),
    };
    if global.json {
        let left: Vec<Value> =
            left.iter().map(|it| json!({"origin": it.origin, "why": it.why})).collect();
        screen.json(&json!({"text": text, "statements": said.len(), "left": left}))?;
        return Ok(Exit::Done);
    }
    screen.line(&sanitize(text.trim_end()))?;
    for Skipped { origin, why } in &left {
        note(&format!("not carried over: {origin}: {why}"));
    }
    Ok(Exit::Done)
}

fn decision(rule: &SourceRule) -> &'static str {
    match rule.decision() {
        "allow" => "allow",
        "deny" => "deny",
        _ => "ask",
    }
}

/// Whether an agent has rules about this.
fn knows(agent: Agent, about: &About) -> bool {
    match (agent, about) {
        (Agent::ClaudeCode | Agent::Cursor, _) | (_, About::Command(_)) => true,
        (Agent::Codex, _) => false,
        (Agent::Gemini, about) => matches!(about, About::Server(..)),
        (Agent::Opencode, about) => matches!(about, About::Read(_) | About::Write(_)),
    }
}

/// The kinds of tools that a rule may be about, where nobody can say it better.
fn kinds(rule: &SourceRule) -> Vec<&'static str> {
    let all = ["command", "path", "domain", "server"];
    let named: Vec<&'static str> =
        all.into_iter().filter(|it| rule.keys.contains_key(it)).collect();
    if named.is_empty() { all.to_vec() } else { named }
}

/// What a rule is about, when it can be said elsewhere.
fn about(rule: &SourceRule) -> Result<Vec<About>, String> {
    let keys: Vec<&str> = rule.conditions().map(|(key, _)| key).collect();
    let list = |key: &str| {
        let texts = rule.texts(key).unwrap_or_default();
        texts.into_iter().map(str::to_owned).collect::<Vec<String>>()
    };
    let plain = |texts: &[String]| texts.iter().all(|it| !it.starts_with('!') && !it.contains('?'));
    let strange = || Err(format!("its conditions ({}) cannot be said elsewhere", keys.join(", ")));
    match keys.as_slice() {
        ["command"] => match list("command") {
            // A table is about the text as it stands.
            none if none.is_empty() => strange(),
            all if all.iter().any(|it| it.contains('*')) => strange(),
            all => Ok(all.into_iter().map(About::Command).collect()),
        },
        ["server"] => match list("server") {
            all if all.iter().any(|it| it.contains(['*', '?'])) => strange(),
            all => Ok(all.into_iter().map(|it| About::Server(it, None)).collect()),
        },
        ["server", "tool"] | ["tool", "server"] => match (list("server"), list("tool")) {
            (servers, tools) if servers.iter().chain(&tools).any(|it| it.contains(['*', '?'])) => {
                strange()
            }
            (servers, tools) => Ok(servers
                .iter()
                .flat_map(|it| {
                    // Tools of others are called `mcp_{server}_{tool}` here.
                    let mark = format!("mcp_{it}_");
                    tools.iter().map(move |tool| {
                        let tool = tool.strip_prefix(&mark).unwrap_or(tool);
                        About::Server(it.clone(), Some(tool.to_owned()))
                    })
                })
                .collect()),
        },
        ["path", "access"] | ["access", "path"] if plain(&list("path")) => {
            let write = list("access") == ["write"];
            let one = |it: String| if write { About::Write(it) } else { About::Read(it) };
            Ok(list("path").into_iter().map(one).collect())
        }
        ["path"] if plain(&list("path")) && rule.decision() != "allow" => {
            let both = |it: String| [About::Read(it.clone()), About::Write(it)];
            Ok(list("path").into_iter().flat_map(both).collect())
        }
        ["tool", "path"] | ["path", "tool"] if plain(&list("path")) => {
            let tools = list("tool");
            // Elsewhere one word stands for all of them: to allow one is not to allow the others.
            let all = |known: &[&str]| {
                tools.iter().all(|it| known.contains(&it.as_str()))
                    && (rule.decision() != "allow"
                        || known.iter().take(2).all(|it| tools.iter().any(|tool| tool == it)))
            };
            match (all(&super::agent_rules::READERS), all(&super::agent_rules::WRITERS)) {
                (true, _) => Ok(list("path").into_iter().map(About::Read).collect()),
                (_, true) => Ok(list("path").into_iter().map(About::Write).collect()),
                _ => strange(),
            }
        }
        ["tool", "domain"] | ["domain", "tool"]
            if plain(&list("domain")) && list("tool") == ["web_fetch"] =>
        {
            Ok(list("domain").into_iter().map(About::Host).collect())
        }
        ["domain"] if plain(&list("domain")) && rule.decision() != "allow" => {
            Ok(list("domain").into_iter().map(About::Host).collect())
        }
        _ => strange(),
    }
}

fn claude(said: &[Statement]) -> String {
    let rules = |decision: &str| -> Vec<String> {
        let mine = said.iter().filter(|it| it.decision == decision);
        let path = |it: &str| {
            if it.contains('/') {
                format!("/{}", it.trim_start_matches('/'))
            } else {
                it.to_owned()
            }
        };
        mine.map(|it| match &it.about {
            About::Command(words) => format!("Bash({words}:*)"),
            About::Read(glob) => format!("Read({})", path(glob)),
            About::Write(glob) => format!("Edit({})", path(glob)),
            About::Host(host) => format!("WebFetch(domain:{host})"),
            About::Server(server, None) => format!("mcp__{server}"),
            About::Server(server, Some(tool)) => format!("mcp__{server}__{tool}"),
        })
        .collect()
    };
    let permissions = json!({"allow": rules("allow"), "ask": rules("ask"), "deny": rules("deny")});
    format!("{:#}", json!({"permissions": permissions}))
}

fn cursor(said: &[Statement]) -> String {
    let rules = |decision: &str| -> Vec<String> {
        let mine = said.iter().filter(|it| it.decision == decision);
        mine.flat_map(|it| match &it.about {
            About::Command(words) => match words.split_once(' ') {
                None => vec![format!("Shell({words})")],
                Some((program, rest)) => {
                    vec![format!("Shell({program}:{rest})"), format!("Shell({program}:{rest} *)")]
                }
            },
            About::Read(glob) => vec![format!("Read({glob})")],
            About::Write(glob) => vec![format!("Write({glob})")],
            About::Host(host) => vec![format!("WebFetch({host})")],
            About::Server(server, None) => vec![format!("Mcp({server}:*)")],
            About::Server(server, Some(tool)) => vec![format!("Mcp({server}:{tool})")],
        })
        .collect()
    };
    let permissions = json!({"allow": rules("allow"), "deny": rules("deny")});
    format!("{:#}", json!({"permissions": permissions}))
}

fn codex(said: &[Statement]) -> String {
    let rule = |it: &Statement| {
        let About::Command(words) = &it.about else { return String::new() };
        let words: Vec<&str> = words.split_whitespace().collect();
        let decision = match it.decision {
            "allow" => "allow",
            "deny" => "forbidden",
            _ => "prompt",
        };
        format!("prefix_rule(pattern = {}, decision = \"{decision}\")\n", json!(words))
    };
    said.iter().map(rule).collect()
}

fn gemini(said: &[Statement]) -> String {
    // The highest number decides there; the strictest does here.
    let rule = |it: &Statement| {
        let (decision, priority) = match it.decision {
            "allow" => ("allow", 100),
            "deny" => ("deny", 300),
            _ => ("ask_user", 200),
        };
        let about = match &it.about {
            About::Command(words) => {
                format!("toolName = \"run_shell_command\"\ncommandPrefix = {}", json!(words))
            }
            About::Server(server, None) => format!("mcpName = {}", json!(server)),
            About::Server(server, Some(tool)) => {
                format!("mcpName = {}\ntoolName = {}", json!(server), json!(tool))
            }
            About::Read(_) | About::Write(_) | About::Host(_) => return String::new(),
        };
        format!("[[rule]]\n{about}\ndecision = \"{decision}\"\npriority = {priority}\n\n")
    };
    said.iter().map(rule).collect()
}

fn opencode(said: &[Statement]) -> String {
    // The last that fits decides there, so they stand from loose to strict.
    let tool = |name: &str, pattern: fn(&About, &str) -> Vec<String>| {
        let mut lines: Vec<(String, &str)> = Vec::new();
        for decision in ["allow", "ask", "deny"] {
            for it in said.iter().filter(|it| it.decision == decision) {
                for pattern in pattern(&it.about, decision) {
                    lines.retain(|(other, _)| *other != pattern);
                    lines.push((pattern, decision));
                }
            }
        }
        let lines: Vec<String> = lines
            .iter()
            .map(|(it, decision)| format!("      {}: {}", json!(it), json!(decision)))
            .collect();
        (!lines.is_empty())
            .then(|| format!("    {}: {{\n{}\n    }}", json!(name), lines.join(",\n")))
    };
    let tools = [
        tool("bash", |it, _| match it {
            About::Command(words) => vec![words.clone(), format!("{words} *")],
            _ => Vec::new(),
        }),
        tool("read", |it, decision| match it {
            About::Read(glob) => wide(glob, decision),
            _ => Vec::new(),
        }),
        tool("edit", |it, decision| match it {
            About::Write(glob) => wide(glob, decision),
            _ => Vec::new(),
        }),
    ];
    let tools: Vec<String> = tools.into_iter().flatten().collect();
    format!("{{\n  \"permission\": {{\n{}\n  }}\n}}", tools.join(",\n"))
}

/// A glob of ours in patterns of opencode, where a name fits at its place alone and a star fits
/// slashes: never less where it tightens.
fn wide(glob: &str, decision: &str) -> Vec<String> {
    if decision == "allow" {
        return vec![glob.to_owned()];
    }
    let anywhere = !glob.trim_end_matches('/').contains('/');
    let placed = glob.trim_end_matches("/**").trim_matches('/');
    let mut all = vec![placed.to_owned(), format!("{placed}/*")];
    if anywhere {
        all.extend([format!("*/{placed}"), format!("*/{placed}/*")]);
    }
    all
}
