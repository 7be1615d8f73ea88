//! Reading rules that are written for gitleaks.

use serde::Deserialize;

use super::rules::{Loaded, RuleError, RuleParts, SecretRule, Unless, checked_id, expression};

/// What we use of such a file. It has more, about files and commits.
#[derive(Deserialize)]
struct File {
    #[serde(default)]
    rules: Vec<GitleaksFile>,
    allowlist: Option<Allow>,
    #[serde(default)]
    allowlists: Vec<Allow>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GitleaksFile {
    id: String,
    #[serde(default)]
    description: String,
    regex: Option<String>,
    secret_group: Option<usize>,
    #[serde(default)]
    entropy: f64,
    #[serde(default)]
    keywords: Vec<String>,
    allowlist: Option<Allow>,
    #[serde(default)]
    allowlists: Vec<Allow>,
}

#[derive(Deserialize, Clone)]
#[serde(rename_all = "camelCase")]
struct Allow {
    #[serde(default)]
    condition: String,
    #[serde(default)]
    regex_target: String,
    #[serde(default)]
    regexes: Vec<String>,
    #[serde(default)]
    stopwords: Vec<String>,
    #[serde(default)]
    target_rules: Vec<String>,
}

pub(super) fn read(text: &str) -> Result<Loaded, RuleError> {
    let file: File = toml::from_str(text).map_err(|error| RuleError::in_toml(text, &error))?;
    let everywhere: Vec<Allow> = file.allowlist.into_iter().chain(file.allowlists).collect();
    let mut loaded = Loaded::default();
    for rule in file.rules {
        match rule.regex.clone() {
            Some(regex) => loaded.rules.push(into_rule(rule, regex, &everywhere)?),
            None => loaded.skipped.push(rule.id),
        }
    }
    Ok(loaded)
}

fn into_rule(
    rule: GitleaksFile,
    regex: String,
    everywhere: &[Allow],
) -> Result<SecretRule, RuleError> {
    let id = checked_id(rule.id)?;
    let general = everywhere
        .iter()
        .filter(|allow| allow.target_rules.is_empty() || allow.target_rules.contains(&id));
    let mut unless = Vec::new();
    for allow in general.chain(&rule.allowlist).chain(&rule.allowlists) {
        exceptions(&id, allow, &mut unless)?;
    }
    // Zero means what nothing means: the first group, if there is one.
    let group = rule.secret_group.filter(|group| *group > 0);
    let (description, keywords, entropy) = (rule.description, rule.keywords, rule.entropy);
    let rest = RuleParts::default();
    let inner = RuleParts { id, description, keywords, regex, group, entropy, unless, ..rest };
    Ok(SecretRule::new(inner))
}

/// Where several things must hold at once, some of them about files, nothing is excepted: what
/// is redacted too often does less harm than what is shown once.
fn exceptions(id: &str, allow: &Allow, unless: &mut Vec<Unless>) -> Result<(), RuleError> {
    if matches!(allow.condition.to_ascii_lowercase().as_str(), "and" | "&&") {
        return Ok(());
    }
    for text in &allow.regexes {
        let regex = expression(id, "allowlist", text)?;
        unless.push(match allow.regex_target.as_str() {
            "match" => Unless::Match(regex),
            "line" => Unless::Line(regex),
            _ => Unless::Secret(regex),
        });
    }
    unless.extend(allow.stopwords.iter().map(|word| Unless::Word(word.to_lowercase())));
    Ok(())
}
