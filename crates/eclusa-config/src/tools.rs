//! Tools that are programs, declared in the configuration.

use std::{collections::BTreeMap, time::Duration};

use eclusa::{
    Facts, PermissionClass, Touch,
    registry::{check_schema, check_tool_name},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    error::Problem,
    source::{LayerReader, check_env},
    spanned::{Keyword, Spanned},
    tool_touches::{Declared, Held, Touching},
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
    /// Whether it runs in the sandbox of commands, with its changes staged. `false`: on the machine
    /// itself, where what it declares is believed.
    pub(super) sandbox: Option<bool>,
    /// What it reads of the workspace: paths, or JSON pointers to arguments that are. An empty list says: none.
    pub(super) reads: Option<Vec<Spanned<String>>>,
    /// What it writes of the workspace: paths, or JSON pointers to arguments that are. An empty list says: none.
    pub(super) writes: Option<Vec<Spanned<String>>>,
    /// Hosts it talks to: names, or JSON pointers to arguments. An empty list says: none.
    pub(super) hosts: Option<Vec<Spanned<String>>>,
    /// The argument that is shell text it runs, as a JSON pointer.
    pub(super) shell: Option<Spanned<String>>,
    /// Program and arguments that take back what a call did outside the workspace, written as
    /// `command` is: `eclusa undo` runs it with the arguments of that call.
    pub(super) undo: Option<Spanned<Vec<Spanned<String>>>>,
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
    /// Whether it runs in the sandbox, with its changes staged.
    pub sandbox: bool,
    /// What takes back what a call did outside the workspace, as `command` is written; empty: nothing does.
    pub undo: Vec<String>,
    touching: Touching,
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
        self.touching.touches(args)
    }

    /// What a call with these arguments is held to in its sandbox.
    pub fn held(&self, args: &Value) -> Held {
        self.touching.held(args)
    }

    /// The words of its command that no argument stands for.
    pub fn fixed_words(&self) -> impl Iterator<Item = &str> {
        self.command.iter().map(String::as_str).filter(|it| placeholder(it).is_none())
    }

    /// The tool that takes back what this one did outside the workspace, if there is one: it gets the
    /// arguments of that call.
    pub fn undo_tool(&self) -> Option<CommandTool> {
        if self.undo.is_empty() {
            return None;
        }
        let facts = Facts {
            aliases: Vec::new(),
            concurrent: false,
            audit_operation: "undo".to_owned(),
            // They keep the call from being made lightly; taking it back is what a person asks for.
            needs_checkpoint: false,
            needs_reverse_thinking: false,
            ..self.facts.clone()
        };
        Some(CommandTool {
            name: format!("{}.undo", self.name),
            description: format!("Undoes a call of `{}`.", self.name),
            command: self.undo.clone(),
            undo: Vec::new(),
            facts,
            ..self.clone()
        })
    }

    fn knows(&self, argument: &str) -> Option<()> {
        self.schema.get("properties")?.get(argument).map(|_| ())
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
    check_command(source, &it.command, &known);
    if let Some(undo) = &it.undo {
        check_command(source, undo, &known);
    }
    check_env(source, &it.env);
    let declared = Declared {
        class: it.class.as_ref(),
        reads: it.reads.as_deref(),
        writes: it.writes.as_deref(),
        hosts: it.hosts.as_deref(),
        shell: it.shell.as_ref(),
    };
    let touching = Touching::read(source, &declared, &known);
    let words = |it: &[Spanned<String>]| it.iter().map(|it| it.it.clone()).collect::<Vec<_>>();
    let time = it.timeout.as_ref().and_then(|it| positive_time(source, it));
    let tool = CommandTool {
        name: name.to_owned(),
        description: it.description.clone(),
        command: words(&it.command.it),
        schema,
        facts: facts(it),
        time,
        env: words(&it.env),
        reviewers: it.reviewers.clone(),
        origin: source.origin(span),
        sandbox: it.sandbox.unwrap_or(true),
        undo: it.undo.as_ref().map(|it| words(&it.it)).unwrap_or_default(),
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
        stages: it.sandbox.unwrap_or(true),
        only_judges: false,
        only_delegates: false,
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

fn check_command(
    source: &mut LayerReader<'_>,
    command: &Spanned<Vec<Spanned<String>>>,
    known: &Map<String, Value>,
) {
    let Some(program) = command.it.first() else {
        let text = "`command` needs a program";
        source.wrong(Problem::new(&command.span, text));
        return;
    };
    if program.it.is_empty() || placeholder(&program.it).is_some() {
        let text = "the program cannot be left to the model";
        source.wrong(Problem::new(&program.span, text).help("write its name or path"));
    }
    for word in &command.it {
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
