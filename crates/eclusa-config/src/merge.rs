//! Lays one file on top of those below it.

use std::{collections::HashMap, ops::Range, time::Duration};

use eclusa::{Decision, approve::Proof, policy::Matcher, preflight::PreflightStep};

use crate::{
    Config, RedactRule, Setting, agents, commands, diagnostics,
    error::Problem,
    files, fleet,
    models::{self, Chat},
    modes, notifications, preflight, reviewers, rules,
    schema::{self, ConfigFile},
    servers,
    source::LayerReader,
    tighten::{granted, is_looser, set_counts, set_enum, set_tightening, set_trusted_only},
    tools,
    units::{self, Size, positive_time},
    web,
};

/// Tasks of a session start tasks no deeper than this.
const MAX_TASKS: usize = 3;

/// Lays a file on top of a configuration, as far as its trust reaches.
pub(super) fn merge_layer(source: &mut LayerReader<'_>, below: &mut Config, file: &ConfigFile) {
    without(source, below, file);
    fleet::check(source, file.fleet.as_ref());
    words(source, below, file);
    limits(source, below, file);
    effects(source, below, &file.effects);
    undo(source, below, &file.undo);
    redact(source, below, &file.redact);
    review(source, below, &file.review);
    files::merge(source, below, &file.files);
    web::merge(source, &mut below.web, &file.web);
    commands::merge(source, &mut below.commands, &file.commands);
    agents::merge(source, &mut below.agents, &file.agents);
    diagnostics::merge(source, below, &file.diagnostics);
    let known = (&mut below.models, &mut below.personas);
    models::merge(source, known, &file.models, &file.personas);
    chat(source, below, &file.chat);
    models::merge_turn(source, &mut below.turn, &file.limits.turn);
    let mut places: HashMap<String, usize> = HashMap::new();
    for (at, rule) in below.rules.iter().enumerate() {
        if let Some(name) = rule.name() {
            places.entry(name.to_owned()).or_insert(at);
        }
    }
    for written in &file.rules {
        let Some(rule) = rules::read(source, written, &below.blocked, &below.rules, &file.rules)
        else {
            continue;
        };
        let taken = rule.name().and_then(|name| below.rules.get(*places.get(name)?));
        if let (Some(taken), Some(id)) = (taken, &written.it.id) {
            let text = format!("a rule is called `{}` already, at {}", id.it, taken.written_at());
            source.wrong(Problem::new(&id.span, text));
        } else if rule.decision() != Decision::Allow
            || granted(source, &written.span, "a rule that allows")
        {
            if let Some(name) = rule.name() {
                places.insert(name.to_owned(), below.rules.len());
            }
            below.rules.push(rule);
        }
    }
    for (name, written) in &file.tools {
        if !granted(source, &written.span, "a tool") {
            continue;
        }
        if let Some(tool) = tools::read(source, name, written) {
            below.tools.retain(|it| it.name != tool.name);
            below.tools.push(tool);
        }
    }
    for (name, written) in &file.servers {
        if !granted(source, &written.span, "a server") {
            continue;
        }
        if let Some(server) = servers::read(source, name, written) {
            below.servers.retain(|it| it.name != server.name);
            below.servers.push(server);
        }
    }
    modes::merge(source, below, &file.modes);
    let known = (&mut below.notifications, &mut below.approvals);
    notifications::merge(source, known, &file.notifications, &file.approvals);
    preflight::merge_thinker(source, &mut below.reverse_thinker, file.reverse_thinker.as_ref());
    preflight::merge_checkpoint(source, &mut below.checkpoint, file.checkpoint.as_ref());
    for written in &file.reviewers {
        if !granted(source, &written.span, "a reviewer") {
            continue;
        }
        let Some(reviewer) = reviewers::read(source, written) else { continue };
        match below.reviewers.iter_mut().find(|it| it.name == reviewer.name) {
            Some(old) => *old = reviewer,
            None => below.reviewers.push(reviewer),
        }
    }
}

/// Replaces what was said of the same keys below, and adds what there can be several of.
pub(super) fn note(settings: &mut Vec<Setting>, new: Vec<Setting>) {
    for setting in new {
        let several = [
            "rules",
            "modes",
            "reviewers",
            "notifications",
            "redact.rules",
            "without",
            "files.blocked",
        ];
        let adds = |old: &Setting| several.contains(&old.key.as_str()) && old.value != "[]";
        match settings.iter_mut().find(|it| it.key == setting.key && !adds(it)) {
            Some(old) => *old = setting,
            None => settings.push(setting),
        }
    }
}

fn without(source: &mut LayerReader<'_>, below: &mut Config, file: &ConfigFile) {
    let Some(ids) = &file.without else { return };
    for id in &ids.it {
        let known: Vec<&str> = below.rules.iter().filter_map(|it| it.name()).collect();
        if !known.contains(&id.it.as_str()) {
            let problem = Problem::new(&id.span, format!("no rule below is called `{}`", id.it));
            source.wrong(problem.nearest(&id.it, known));
            continue;
        }
        if granted(source, &id.span, "exceptions to other files") {
            let gone = |rule: &eclusa::Rule| rule.name() == Some(&id.it);
            let origins: Vec<String> = (below.rules.iter().filter(|it| gone(it)))
                .map(|it| it.written_at().to_owned())
                .collect();
            below.rules.retain(|it| !gone(it));
            below.settings.retain(|it| it.key != "rules" || !origins.contains(&it.origin));
        }
    }
}

/// What a session with a model begins with.
fn chat(source: &mut LayerReader<'_>, below: &mut Config, chat: &Chat) {
    let said = |it: &str| Some(it.to_owned()).filter(|it| !it.is_empty());
    if let Some(it) = &chat.persona {
        set_trusted_only(source, &it.span, &mut below.chat_persona, said(&it.it));
    }
    if let Some(it) = &chat.model {
        set_trusted_only(source, &it.span, &mut below.chat_model, said(&it.it));
    }
    if let Some(it) = &chat.bell {
        set_trusted_only(source, &it.span, &mut below.chat_bell, it.it);
    }
}

fn words(source: &mut LayerReader<'_>, below: &mut Config, file: &ConfigFile) {
    set_enum(source, &mut below.mode, file.mode.as_ref());
    set_enum(source, &mut below.on_no_approver, file.on_no_approver.as_ref());
    if let Some(language) = &file.language {
        set_trusted_only(source, &language.span, &mut below.language, Some(language.it.0));
    }
    set_enum(source, &mut below.durability, file.audit.durability.as_ref());
    if let Some(args) = &file.audit.args {
        set_trusted_only(source, &args.span, &mut below.args_in_log, args.it.0);
    }
    if let Some(order) = &file.order {
        let passes: Vec<PreflightStep> = order.it.iter().map(|it| it.0).collect();
        let count = |pass| passes.iter().filter(|it| **it == pass).count();
        let [thinking, approval, checkpoint] = PreflightStep::ORDER.map(count);
        match (thinking, approval, checkpoint) {
            (1, 1, 0 | 1) | (0, 1, 1) => {
                set_trusted_only(source, &order.span, &mut below.order, passes);
            }
            _ => {
                let text = "`order` must name approval, and reverse-thinking or checkpoint or both";
                let help = "each once; one that is left out is stood for by the other";
                source.wrong(Problem::new(&order.span, text).help(help));
            }
        }
    }
}

fn limits(source: &mut LayerReader<'_>, below: &mut Config, whole: &schema::ConfigFile) {
    let (limits, file) = (&mut below.limits, &whole.limits);
    let times = [
        (&file.time, &mut limits.time),
        (&file.time_cap, &mut limits.time_cap),
        (&file.approval, &mut limits.approval),
        (&whole.approvals.keep, &mut limits.keep),
        (&file.review, &mut limits.review),
        (&file.checkpoint, &mut limits.checkpoint),
        (&file.audit, &mut limits.audit),
    ];
    for (written, below) in times {
        let Some(written) = written else { continue };
        if let Some(time) = positive_time(source, written) {
            set_tightening(source, &written.span, below, time, |new, old| new > old);
        }
    }
    if let Some(written) = &whole.approvals.proof {
        let looser = |new: &Proof, old: &Proof| new < old;
        set_tightening(source, &written.span, &mut limits.proof, written.it.0, looser);
    }
    let counts = [(&file.concurrent, &mut limits.concurrent), (&file.depth, &mut limits.depth)];
    for (written, below) in counts {
        if let Some(written) = written {
            set_tightening(source, &written.span, below, written.it, |new, old| new > old);
        }
    }
    if let Some(written) = &file.tasks {
        match written.it > MAX_TASKS {
            true => {
                let text = format!("tasks go {MAX_TASKS} deep at most");
                source.wrong(Problem::new(&written.span, text));
            }
            false => {
                let looser = |new: &usize, old: &usize| new > old;
                set_tightening(source, &written.span, &mut below.tasks, written.it, looser);
            }
        }
    }
    if let Some(written) = &file.output {
        let size = match &written.it {
            Size::Bytes(bytes) => Ok(*bytes),
            Size::Text(text) => units::size(text),
        };
        if let Some(size) = source.keep(&written.span, size) {
            let bytes =
                |output: usize| eclusa::Limits { output, ..Default::default() }.output_bytes();
            let looser = |new: &usize, old: &usize| bytes(*new) > bytes(*old);
            set_tightening(source, &written.span, &mut limits.output, size, looser);
        }
    }
    if let Some(cut) = &file.cut {
        set_trusted_only(source, &cut.span, &mut limits.cut, cut.it.0);
    }
}

fn effects(source: &mut LayerReader<'_>, below: &mut Config, file: &schema::EffectsSection) {
    let effects = &mut below.effects;
    let counts = [
        (&file.max_files, &mut effects.max_files),
        (&file.max_lines, &mut effects.max_lines),
        (&file.budget.deleted, &mut effects.budget.deleted),
        (&file.budget.files, &mut effects.budget.files),
        (&file.budget.lines, &mut effects.budget.lines),
    ];
    set_counts(source, counts);
    let sizes = [
        (&file.max_bytes, &mut effects.max_bytes),
        (&file.budget.bytes, &mut effects.budget.bytes),
    ];
    for (written, below) in sizes {
        let Some(written) = written else { continue };
        let most = match &written.it {
            Size::Bytes(bytes) => Ok(Some(*bytes as u64)),
            Size::Text(text) if text == "none" => Ok(None),
            Size::Text(text) => units::size(text).map(|it| Some(it as u64)),
        };
        if let Some(most) = source.keep(&written.span, most) {
            set_tightening(source, &written.span, below, most, is_looser);
        }
    }
    let delete = &mut effects.delete;
    match (&file.delete, &file.allow_delete) {
        (Some(_), Some(older)) => {
            let text = "`allow_delete` is the older way to write `delete`; keep one of them";
            source.wrong(Problem::new(&older.span, text));
        }
        (None, Some(written)) => {
            let decision = if written.it { Decision::Allow } else { Decision::Deny };
            judged(source, &written.span, delete, decision, "deleting");
        }
        (Some(written), None) => judged(source, &written.span, delete, written.it.0, "deleting"),
        (None, None) => {}
    }
    if let Some(written) = &file.executable {
        let (decision, what) = (written.it.0, "what is executable");
        judged(source, &written.span, &mut effects.executable, decision, what);
    }
}

/// Puts what is decided about changes of a sort in the place of what holds below.
fn judged(
    source: &mut LayerReader<'_>,
    span: &Range<usize>,
    below: &mut Decision,
    decision: Decision,
    what: &str,
) {
    if decision == Decision::Stage {
        let text = format!(
            "{what} is allowed, asked about or denied; it is staged by the time it is judged"
        );
        source.wrong(Problem::new(span, text));
    } else {
        set_tightening(source, span, below, decision, |new, old| new < old);
    }
}

fn undo(source: &mut LayerReader<'_>, below: &mut Config, file: &schema::Undo) {
    set_enum(source, &mut below.commit_durability, file.durability.as_ref());
    if let Some(written) = &file.keep {
        let size = match &written.it {
            Size::Bytes(bytes) => Ok(*bytes),
            Size::Text(text) => units::size(text),
        };
        if let Some(size) = source.keep(&written.span, size) {
            set_trusted_only(source, &written.span, &mut below.keep.bytes, size as u64);
        }
    }
    if let Some(written) = &file.recent {
        set_trusted_only(source, &written.span, &mut below.keep.recent, written.it);
    }
}

fn redact(source: &mut LayerReader<'_>, below: &mut Config, file: &schema::Redact) {
    let redact = &mut below.redact;
    if let Some(on) = &file.on {
        set_tightening(source, &on.span, &mut redact.on, on.it, |new, old| *old && !*new);
    }
    if let Some(files) = &file.files {
        set_trusted_only(source, &files.span, &mut redact.files, files.it.clone());
    }
    for rule in &file.rules {
        let regex = &rule.it.regex;
        let usable = Matcher::regex(&regex.it);
        if source.keep(&regex.span, usable).is_some()
            && granted(source, &rule.span, "kinds of secrets")
        {
            redact.rules.push(RedactRule {
                name: rule.it.name.clone(),
                regex: regex.it.clone(),
                keywords: rule.it.keywords.clone(),
                origin: source.origin(&rule.span),
            });
        }
    }
}

fn review(source: &mut LayerReader<'_>, below: &mut Config, file: &schema::Review) {
    let (mut time, mut size) = below.cache;
    if let Some(written) = &file.cache_time
        && let Some(new) = source.keep(&written.span, units::time(&written.it))
    {
        set_tightening(source, &written.span, &mut time, new, |new: &Duration, old| new > old);
    }
    if let Some(written) = &file.cache_size {
        set_tightening(source, &written.span, &mut size, written.it, |new, old| new > old);
    }
    below.cache = (time, size);
    below.review_cache = (!time.is_zero()).then_some((time, size));
}
