//! What a tool that is a program declares that it touches: for rules, and for the sandbox that holds it to that.

use eclusa::{PermissionClass, Touch, policy::Pointer};
use serde_json::{Map, Value};

use crate::{
    error::Problem,
    source::LayerReader,
    spanned::{Keyword, Spanned},
};

/// What a tool declares that it touches.
#[derive(Debug, Clone)]
pub(super) struct Touching {
    /// Each thing, or where in the arguments it is named.
    touched: Vec<(Kind, TouchedName)>,
    reads: bool,
    writes: bool,
    hosts: bool,
    shell: bool,
}

/// The keys of a tool that say what it touches.
pub(super) struct Declared<'a> {
    pub(super) class: Option<&'a Spanned<Keyword<PermissionClass>>>,
    pub(super) reads: Option<&'a [Spanned<String>]>,
    pub(super) writes: Option<&'a [Spanned<String>]>,
    pub(super) hosts: Option<&'a [Spanned<String>]>,
    pub(super) shell: Option<&'a Spanned<String>>,
}

/// What a call is held to in its sandbox. `None`: to what every command is held to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Held {
    /// All that it may read of the workspace.
    pub reads: Option<Vec<String>>,
    /// All that it may write there.
    pub writes: Option<Vec<String>>,
    /// All hosts that it may reach.
    pub hosts: Option<Vec<String>>,
}

/// What is done with something that is touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
    Fetch,
    Run,
}

/// Where the name of something that is touched comes from.
#[derive(Debug, Clone)]
enum TouchedName {
    Argument(Pointer),
    Fixed(String),
}

impl Touching {
    /// What the tool declares, checked.
    pub(super) fn read(
        source: &mut LayerReader<'_>,
        it: &Declared<'_>,
        known: &Map<String, Value>,
    ) -> Touching {
        let declared = [
            (Kind::Read, it.reads),
            (Kind::Write, it.writes),
            (Kind::Fetch, it.hosts),
            (Kind::Run, it.shell.map(std::slice::from_ref)),
        ];
        let mut touched = Vec::new();
        for (kind, places) in declared {
            for place in places.unwrap_or_default() {
                touched.extend(read_place(source, kind, place, known));
            }
        }
        let more = touched.iter().any(|(kind, _)| *kind != Kind::Read);
        let class = it.class.filter(|it| it.it.0 == PermissionClass::ReadOnly);
        if let Some(class) = class.filter(|_| more) {
            let text = "a tool that writes, runs shell text or talks to hosts is not read-only";
            source.wrong(Problem::new(&class.span, text).help("use file, shell, web or generic"));
        }
        let (reads, writes) = (it.reads.is_some(), it.writes.is_some());
        Touching { touched, reads, writes, hosts: it.hosts.is_some(), shell: it.shell.is_some() }
    }

    /// What a call with these arguments would touch. What declares nothing may touch anything.
    pub(super) fn touches(&self, args: &Value) -> Vec<Touch> {
        if !(self.reads || self.writes || self.hosts || self.shell) {
            return vec![Touch::Unknown];
        }
        let mut touches = Vec::new();
        for (kind, place) in &self.touched {
            match place {
                TouchedName::Fixed(name) => touches.push(touch(*kind, &Value::from(name.as_str()))),
                TouchedName::Argument(pointer) => match pointer.find(args) {
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

    /// What a call is held to. Who declares anything but a shell text writes and reaches what it
    /// declares, and nothing else.
    pub(super) fn held(&self, args: &Value) -> Held {
        let declares = (self.reads || self.writes || self.hosts) && !self.shell;
        let touches = self.touches(args);
        let named = |held: bool, name: fn(&Touch) -> Option<&String>| {
            held.then(|| touches.iter().filter_map(name).cloned().collect())
        };
        Held {
            reads: named(self.reads, |it| match it {
                Touch::Read(path) | Touch::Write(path) => Some(path),
                _ => None,
            }),
            writes: named(self.writes || declares, |it| match it {
                Touch::Write(path) => Some(path),
                _ => None,
            }),
            hosts: named(self.hosts || declares, |it| match it {
                Touch::Fetch(host) => Some(host),
                _ => None,
            }),
        }
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

/// One entry of a list: what begins with `/` is a pointer to an argument.
fn read_place(
    source: &mut LayerReader<'_>,
    kind: Kind,
    place: &Spanned<String>,
    known: &Map<String, Value>,
) -> Option<(Kind, TouchedName)> {
    if kind != Kind::Run && !place.it.starts_with('/') {
        let names = known.keys().map(String::as_str);
        let upwards = kind != Kind::Fetch && place.it.split('/').any(|it| it == "..");
        if place.it.is_empty() || upwards {
            let text = format!("`{}` is not a path of the workspace", place.it);
            source.wrong(Problem::new(&place.span, text).nearest(&place.it, names));
        } else if kind != Kind::Fetch && known.contains_key(&place.it) {
            // A path that is called like an argument is hardly ever meant.
            let text = format!("`{}` does not say where the argument is", place.it);
            let name = &place.it;
            let help = format!("write `/{name}`, or `./{name}` for the file of that name");
            source.wrong(Problem::new(&place.span, text).help(help));
        }
        return Some((kind, TouchedName::Fixed(place.it.clone())));
    }
    let pointer = source.keep(&place.span, Pointer::new(&place.it))?;
    if !known.contains_key(pointer.head()) {
        let text = format!("`{}` is not an argument of the tool", place.it);
        let names: Vec<String> = known.keys().map(|it| format!("/{it}")).collect();
        let names = names.iter().map(String::as_str);
        source.wrong(Problem::new(&place.span, text).nearest(&place.it, names));
    }
    Some((kind, TouchedName::Argument(pointer)))
}
