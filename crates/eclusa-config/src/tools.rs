//! Tools that are programs, declared in the configuration.

use std::{collections::BTreeMap, time::Duration};

use eclusa::{
    Facts, PermissionClass, Touch,
    policy::Pointer,
    registry::{check_schema, check_tool_name},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    error::Problem,
    source::{LayerReader, check_env},
    spanned::{Keyword, Spanned},
    units::positive_time,
};

/// A tool that is a program.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Tool {
    /// What it does, for the model.
    pub(super) description: String,
    /// Program and arguments. A word that is `{name}` and nothing else stands for that argument,
    /// as one word whatever is in it; an absent argument leaves no word behind. All arguments
    /// are on the program's input too, as JSON. No shell is involved.
    pub(super) command: Spanned<Vec<Spanned<String>>>,
    /// The arguments: a JSON Schema for each.
    pub(super) args: Option<Spanned<BTreeMap<String, Value>>>,
    /// Arguments that must be there.
    pub(super) required: Option<Spanned<Vec<Spanned<String>>>>,
    /// In place of `args` and `required`: the JSON Schema of all arguments.
    pub(super) schema: Option<Spanned<Value>>,
    /// Which rules apply.
    pub(super) class: Option<Spanned<Keyword<PermissionClass>>>,
    /// It may run beside other such tools.
    #[serde(default)]
    pub(super) concurrent: bool,
    /// Label: only looks. Decides nothing.
    #[serde(default)]
    pub(super) read_only: bool,
    /// Label: what it does is hard to take back. Decides nothing.
    #[serde(default)]
    pub(super) destructive: bool,
    /// Ask about it even where its class would not be asked about.
    #[serde(default)]
    pub(super) sensitive: bool,
    /// Other names that lead to it.
    #[serde(default)]
    pub(super) aliases: Vec<Spanned<String>>,
    /// Three to ten words that a search should find it by.
    #[serde(default)]
    pub(super) search_hint: String,
    /// The word for what it does in the log; guessed from the name unless given.
    #[serde(default)]
    pub(super) operation: String,
    /// Reviewers who read its calls besides those who read all, by their names.
    #[serde(default)]
    pub(super) reviewers: Vec<String>,
    /// A checkpoint must open before each call.
    #[serde(default)]
    pub(super) checkpoint: bool,
    /// Someone must argue the other side before each call.
    #[serde(default)]
    pub(super) reverse_thinking: bool,
    /// How long it may run.
    pub(super) timeout: Option<Spanned<String>>,
    /// Environment variables that are passed on to it, by name.
    #[serde(default)]
    pub(super) env: Vec<Spanned<String>>,
    /// Arguments that are paths it reads, as JSON pointers. An empty list says: none.
    pub(super) reads: Option<Vec<Spanned<String>>>,
    /// Arguments that are paths it writes, as JSON pointers. An empty list says: none.
    pub(super) writes: Option<Vec<Spanned<String>>>,
    /// Hosts it talks to: names, or JSON pointers to arguments. An empty list says: none.
    pub(super) hosts: Option<Vec<Spanned<String>>>,
    /// The argument that is shell text it runs, as a JSON pointer.
    pub(super) shell: Option<Spanned<String>>,
}

/// A tool that is a program with a schema. Whoever may start programs makes a
/// [`Tool`](eclusa::Tool) of it.
#[derive(Debug, Clone)]
pub struct CommandTool {
    /// The name the model uses.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// Program and arguments. A word that is `{name}` and nothing else stands for that argument.
    pub command: Vec<String>,
    /// JSON Schema of the arguments.
    pub schema: Value,
    /// What holds for every call of it.
    pub facts: Facts,
    /// How long it may run; `None`: as long as any tool.
    pub time: Option<Duration>,
    /// Environment variables that are passed on to it, by name.
    pub env: Vec<String>,
    /// Reviewers whom its own entry names.
    pub reviewers: Vec<String>,
    /// Where it is written: `file:line`.
    pub origin: String,
    touching: Option<Vec<(Kind, ArgLocation)>>,
}

/// What is done with something that is touched.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Read,
    Write,
    Fetch,
    Run,
}

/// Where the name of something that is touched comes from.
#[derive(Debug, Clone)]
enum ArgLocation {
    Argument(Pointer),
    Host(String),
}

impl CommandTool {
    /// The program and its arguments for one call. An argument is one whole word, whatever is in
    /// it; one that is absent or null leaves no word behind. Lists and tables are JSON.
    pub fn argv(&self, args: &Value) -> Result<Vec<String>, String> {
        let mut argv = Vec::with_capacity(self.command.len());
        for word in &self.command {
            let word = match placeholder(word).and_then(|name| Some((name, self.knows(name)?))) {
                None => word.clone(),
                Some((name, ())) => match args.get(name) {
                    None | Some(Value::Null) => continue,
                    Some(Value::String(text)) if text.contains('\0') => {
                        return Err(format!(
                            "argument `{name}` has a NUL, which no program can be given"
                        ));
                    }
                    Some(Value::String(text)) => text.clone(),
                    Some(value) => value.to_string(),
                },
            };
            argv.push(word);
        }
        Ok(argv)
    }

    /// What a call with these arguments would touch. A tool that declares nothing about it may
    /// touch anything.
    pub fn touches(&self, args: &Value) -> Vec<Touch> {
        let Some(touching) = &self.touching else { return vec![Touch::Unknown] };
        let mut touches = Vec::new();
        for (kind, place) in touching {
            match place {
                ArgLocation::Host(host) => touches.push(Touch::Fetch(host.clone())),
                ArgLocation::Argument(pointer) => match pointer.find(args) {
                    None | Some(Value::Null) => {}
                    Some(Value::Array(items)) => {
                        touches.extend(items.iter().map(|it| touch(*kind, it)));
                    }
                    Some(value) => touches.push(touch(*kind, value)),
                },
            }
        }
        touches
    }

    fn knows(&self, argument: &str) -> Option<()> {
        self.schema.get("properties")?.get(argument).map(|_| ())
    }
}

fn touch(kind: Kind, value: &Value) -> Touch {
    match (kind, value) {
        (Kind::Read, Value::String(path)) => Touch::Read(path.clone()),
        (Kind::Write, Value::String(path)) => Touch::Write(path.clone()),
        (Kind::Fetch, Value::String(host)) => Touch::Fetch(host.clone()),
        (Kind::Run, Value::String(text)) => Touch::Run(text.clone()),
        _ => Touch::Unknown,
    }
}

/// The argument that a word stands for.
fn placeholder(word: &str) -> Option<&str> {
    let name = word.strip_prefix('{')?.strip_suffix('}')?;
    let plain = |it: char| it.is_alphanumeric() || matches!(it, '_' | '-' | '.');
    (!name.is_empty() && name.chars().all(plain)).then_some(name)
}

/// The tool that is meant, or nothing and what is wrong with it.
pub(super) fn read(
    source: &mut LayerReader<'_>,
    name: &str,
    it: &Spanned<Tool>,
) -> Option<CommandTool> {
    let (span, it) = (&it.span, &it.it);
    let before = source.count();
    source.keep(span, check_tool_name(name).map_err(|err| err.to_string()));
    for alias in &it.aliases {
        source.keep(&alias.span, check_tool_name(&alias.it).map_err(|err| err.to_string()));
    }
    let schema = schema(source, span, it);
    let known = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    check_command(source, it, &known);
    check_env(source, &it.env);
    let touching = touching(source, it, &known);
    let time = it.timeout.as_ref().and_then(|it| positive_time(source, it));
    let tool = CommandTool {
        name: name.to_owned(),
        description: it.description.clone(),
        command: it.command.it.iter().map(|it| it.it.clone()).collect(),
        schema,
        facts: facts(it),
        time,
        env: it.env.iter().map(|it| it.it.clone()).collect(),
        reviewers: it.reviewers.clone(),
        origin: source.origin(span),
        touching,
    };
    (source.count() == before).then_some(tool)
}

fn facts(it: &Tool) -> Facts {
    Facts {
        concurrent: it.concurrent,
        read_only: it.read_only,
        destructive: it.destructive,
        aliases: it.aliases.iter().map(|it| it.it.clone()).collect(),
        arg_aliases: Vec::new(),
        search_hint: it.search_hint.clone(),
        class: it.class.as_ref().map(|it| it.it.0),
        audit_operation: it.operation.clone(),
        needs_checkpoint: it.checkpoint,
        needs_reverse_thinking: it.reverse_thinking,
        sensitive: it.sensitive,
        stages: false,
        only_judges: false,
        runs_elsewhere: false,
    }
}

/// The schema of its arguments, checked.
fn schema(source: &mut LayerReader<'_>, span: &std::ops::Range<usize>, it: &Tool) -> Value {
    let (span, schema) = match (&it.schema, &it.args, &it.required) {
        (Some(schema), None, None) => (&schema.span, schema.it.clone()),
        (Some(schema), _, _) => {
            let text = "`schema` takes the place of `args` and `required`";
            source.wrong(Problem::new(&schema.span, text).help("keep one of the two forms"));
            return json!({});
        }
        (None, args, required) => {
            let none = BTreeMap::new();
            let args_of = args.as_ref().map_or(&none, |it| &it.it);
            let required = required.as_ref().map_or(&[][..], |it| it.it.as_slice());
            for name in required.iter().filter(|it| !args_of.contains_key(&it.it)) {
                let text = format!("`{}` is required, but `args` does not have it", name.it);
                let problem = Problem::new(&name.span, text);
                source.wrong(problem.nearest(&name.it, args_of.keys().map(String::as_str)));
            }
            let properties: Map<String, Value> =
                args_of.iter().map(|(name, it)| (name.clone(), it.clone())).collect();
            let required: Vec<&str> = required.iter().map(|it| it.it.as_str()).collect();
            let span = args.as_ref().map_or(span, |it| &it.span);
            let schema = json!({
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false,
            });
            (span, schema)
        }
    };
    let usable = check_schema(&schema)
        .map_err(|err| format!("the schema of the arguments cannot be used: {err}"));
    source.keep(span, usable);
    schema
}

fn check_command(source: &mut LayerReader<'_>, it: &Tool, known: &Map<String, Value>) {
    let Some(program) = it.command.it.first() else {
        let text = "`command` needs a program";
        source.wrong(Problem::new(&it.command.span, text));
        return;
    };
    if program.it.is_empty() || placeholder(&program.it).is_some() {
        let text = "the program cannot be left to the model";
        source.wrong(Problem::new(&program.span, text).help("write its name or path"));
    }
    for word in &it.command.it {
        let inside = known.keys().find(|name| word.it.contains(&format!("{{{name}}}")));
        match (placeholder(&word.it), inside) {
            (Some(name), _) if !known.contains_key(name) => {
                let text = format!("`{{{name}}}` is not an argument of the tool");
                let names = known.keys().map(String::as_str);
                source.wrong(Problem::new(&word.span, text).nearest(name, names));
            }
            (None, Some(name)) => {
                let text = format!("`{{{name}}}` must be a word of its own");
                let help = "an argument is passed as one whole word, never pasted into another";
                source.wrong(Problem::new(&word.span, text).help(help));
            }
            _ => {}
        }
    }
}

/// What a call would touch, as declared; nothing when nothing is declared.
fn touching(
    source: &mut LayerReader<'_>,
    it: &Tool,
    known: &Map<String, Value>,
) -> Option<Vec<(Kind, ArgLocation)>> {
    let shell = it.shell.as_ref().map(std::slice::from_ref);
    let declared = [
        (Kind::Read, it.reads.as_deref()),
        (Kind::Write, it.writes.as_deref()),
        (Kind::Fetch, it.hosts.as_deref()),
        (Kind::Run, shell),
    ];
    let mut touching = Vec::new();
    for (kind, places) in declared {
        for place in places.unwrap_or_default() {
            if matches!(kind, Kind::Fetch) && !place.it.starts_with('/') {
                touching.push((kind, ArgLocation::Host(place.it.clone())));
                continue;
            }
            let Some(pointer) = source.keep(&place.span, Pointer::new(&place.it)) else { continue };
            if !known.contains_key(pointer.head()) {
                let text = format!("`{}` is not an argument of the tool", place.it);
                let names: Vec<String> = known.keys().map(|it| format!("/{it}")).collect();
                let names = names.iter().map(String::as_str);
                source.wrong(Problem::new(&place.span, text).nearest(&place.it, names));
            }
            touching.push((kind, ArgLocation::Argument(pointer)));
        }
    }
    let more = touching.iter().any(|(kind, _)| !matches!(kind, Kind::Read));
    if let Some(class) = it.class.as_ref().filter(|it| it.it.0 == PermissionClass::ReadOnly && more)
    {
        let text = "a tool that writes, runs shell text or talks to hosts is not read-only";
        source.wrong(Problem::new(&class.span, text).help("use file, shell, web or generic"));
    }
    declared.iter().any(|(_, places)| places.is_some()).then_some(touching)
}
