//! Rules as written -> rules as meant, tried on their own examples.

use std::ops::Range;

use eclusa::{
    Blocked, Decision, PermissionClass, Rule, Touch,
    policy::{ConditionError, ExampleCall, Matcher},
};

use crate::{
    Trust,
    error::Problem,
    rule_bounds,
    schema::{self, CommandCondition, Example, Tests},
    source::LayerReader,
    spanned::{RuleDecision, Spanned},
};

/// The rule that is meant, or nothing and what is wrong with it.
pub(super) fn read(
    source: &mut LayerReader<'_>,
    written: &Spanned<schema::Rule>,
    blocked: &Blocked,
    below: &[Rule],
    own: &[Spanned<schema::Rule>],
) -> Option<Rule> {
    let (span, it) = (&written.span, &written.it);
    let before = source.count();
    let mut rule = match it.decision.0 {
        RuleDecision::Decides(decision) => Rule::new(decision),
        // It tightens nothing, and is read as if it did: doubts are remarked on.
        RuleDecision::Warns => Rule::new(Decision::Ask).because("a rule remarks on it").remarking(),
    };
    rule = rule.origin(source.origin(span));
    if source.trust == Trust::Administrator {
        rule = rule.of_administrator();
    }
    if source.shipped {
        rule = rule.of_program();
    }
    if let Some(id) = &it.id {
        rule = rule.id(id.it.as_str());
    }
    if let Some(reason) = &it.reason {
        rule = rule.because(reason);
    }
    if let Some(names) = &it.tool {
        rule = or_wrong(source, &names.span, rule, |rule| rule.tool(names.it.as_slice()));
    }
    if let Some(names) = &it.server {
        rule = or_wrong(source, &names.span, rule, |rule| rule.server(names.it.as_slice()));
    }
    if let Some(classes) = &it.class {
        let all = classes.it.as_slice().iter().map(|it| it.0);
        rule = or_wrong(source, &classes.span, rule, |rule| rule.class(all));
    }
    if let Some(is) = it.read_only {
        rule = rule.read_only(is);
    }
    if let Some(is) = it.destructive {
        rule = rule.destructive(is);
    }
    for (pointer, condition) in &it.arg {
        let matcher = matcher(&condition.it);
        rule = or_wrong(source, &condition.span, rule, |rule| rule.arg(pointer, matcher?));
    }
    if let Some(condition) = &it.command {
        rule = or_wrong(source, &condition.span, rule, |rule| match &condition.it {
            CommandCondition::Beginning(words) => rule.commands([words]),
            CommandCondition::Beginnings(all) => rule.commands(all),
            CommandCondition::Tests(tests) => rule.command(all_of(tests)?),
        });
        let reach = it.path.is_some() || it.access.is_some();
        if rule.decision() == Decision::Allow && reach {
            let text = "a rule that allows commands says nothing of paths";
            let help = "leave out `path` and `access`, or use `effects`";
            source.wrong(Problem::new(&condition.span, text).help(help));
        }
    }
    if let Some(globs) = &it.path {
        rule = or_wrong(source, &globs.span, rule, |rule| rule.path(globs.it.as_slice()));
    }
    if let Some(said) = &it.blocked {
        let wanted = match (said.it, &it.path) {
            (true, None) => Ok(blocked.clone()),
            (false, _) => Err("leave `blocked` out, or write `true`".to_owned()),
            (true, Some(_)) => Err("`blocked` takes the place of `path`; keep one".to_owned()),
        };
        rule = or_wrong(source, &said.span, rule, |rule| rule.blocked(wanted?));
    }
    if let Some(hosts) = &it.domain {
        rule = or_wrong(source, &hosts.span, rule, |rule| rule.domain(hosts.it.as_slice()));
    }
    if let Some(access) = it.access {
        rule = rule.access(access.0);
    }
    if let Some(said) = it.named.as_ref().filter(|it| it.it) {
        match (&it.path, rule.decision()) {
            (Some(_), Decision::Stage | Decision::Ask | Decision::Deny) => rule = rule.named_only(),
            _ => {
                let text = "`named` is for rules that tighten and have a `path`";
                source.wrong(Problem::new(&said.span, text));
            }
        }
    }
    if let Some(tests) = it.effects.as_ref().filter(|_| rule.is_remark()) {
        let text = "a remark is made before a call runs, when its effects are not known";
        source.wrong(Problem::new(&tests.span, text).help("use `path` or `arg`"));
    }
    if let Some(tests) = &it.effects {
        let decision = rule.decision();
        rule = or_wrong(source, &tests.span, rule, |rule| {
            Ok(rule.effects(rule_bounds::effects(&tests.it, decision)?))
        });
    }
    if source.count() > before {
        return None;
    }
    let rule = rule_bounds::bounded(source, written, rule)?;
    let rule = rule_bounds::excepting(source, it, rule, below, own)?;
    let rule = rule_bounds::requiring(source, written, rule)?;
    if rule.decision() == Decision::Allow && !rule.has_conditions() {
        let text = "a rule that allows needs a condition";
        let help =
            "say which `tool`, `class`, `server`, `arg`, `command`, `path` or `domain` it is for";
        source.wrong(Problem::new(span, text).help(help));
        return None;
    }
    if !source.shipped || source.lists_settings {
        try_examples(source, &rule, it);
    }
    Some(rule)
}

/// The rule with one more condition, or as it was and a problem.
fn or_wrong(
    source: &mut LayerReader<'_>,
    span: &Range<usize>,
    rule: Rule,
    add: impl FnOnce(Rule) -> Result<Rule, ConditionError>,
) -> Rule {
    source.keep(span, add(rule.clone())).unwrap_or(rule)
}

fn matcher(written: &schema::Matcher) -> Result<Matcher, ConditionError> {
    match written {
        schema::Matcher::Glob(glob) => Ok(Matcher::glob(glob)),
        schema::Matcher::Bool(it) => Ok(Matcher::equals(*it)),
        schema::Matcher::Integer(it) => Ok(Matcher::equals(*it)),
        schema::Matcher::Float(it) => Ok(Matcher::equals(*it)),
        schema::Matcher::Tests(tests) => all_of(tests),
    }
}

fn all_of(tests: &Tests) -> Result<Matcher, ConditionError> {
    let mut all = Vec::new();
    if let Some(value) = &tests.equals {
        all.push(Matcher::equals(value.clone()));
    }
    if let Some(pattern) = &tests.regex {
        all.push(Matcher::regex(pattern)?);
    }
    if let Some(text) = &tests.contains {
        all.push(Matcher::contains(text)?);
    }
    if let Some(dir) = &tests.under {
        all.push(Matcher::under(dir)?);
    }
    if let Some(other) = &tests.not {
        all.push(!matcher(other)?);
    }
    match (all.len(), all.pop()) {
        (0, _) | (_, None) => {
            let problem = "an empty table says nothing; use equals, regex, contains, under or not";
            Err(ConditionError::Pattern(problem.to_owned()))
        }
        (1, Some(only)) => Ok(only),
        (_, Some(last)) => Ok(Matcher::all(all.into_iter().chain([last]))),
    }
}

/// A rule that does not do what its author says is worse than none.
fn try_examples(source: &mut LayerReader<'_>, rule: &Rule, written: &schema::Rule) {
    for (examples, want) in [(&written.matches, true), (&written.not_match, false)] {
        for example in examples {
            if applies(rule, written, &example.it).is_none_or(|it| it == want) {
                continue;
            }
            let text = match want {
                true => "the rule does not apply to this example of `match`",
                false => "the rule applies to this example of `not_match`",
            };
            source.wrong(Problem::new(&example.span, text).help("fix the rule or the example"));
        }
    }
}

/// Whether the rule applies to an example; `None` where that cannot be tried.
fn applies(rule: &Rule, written: &schema::Rule, example: &Example) -> Option<bool> {
    let reads = example.reads.iter().map(|it| Touch::Read(it.clone()));
    let writes = example.writes.iter().map(|it| Touch::Write(it.clone()));
    let runs = example.runs.iter().map(|it| Touch::Run(it.clone()));
    let fetches = example.fetches.iter().map(|it| Touch::Fetch(it.clone()));
    let touches: Vec<Touch> = reads.chain(writes).chain(runs).chain(fetches).collect();
    let named = written.tool.as_ref().and_then(|it| it.it.as_slice().first());
    let of_rule = written.class.as_ref().and_then(|it| it.it.as_slice().first());
    let class = example.class.as_ref().or(of_rule);
    let class = match (class, &example.runs) {
        (Some(class), _) => class.0,
        (None, Some(_)) => PermissionClass::Shell,
        (None, None) if !example.fetches.is_empty() => PermissionClass::Web,
        (None, None) => PermissionClass::Generic,
    };
    rule.applies_to(&ExampleCall {
        tool: example.tool.as_ref().or(named).map_or("tool", String::as_str),
        class,
        server: example.server.as_deref(),
        args: example.args.as_ref().unwrap_or(&serde_json::json!({})),
        touches: &touches,
    })
}
