//! `list`: what is in a directory.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError, atomic::Ordering::Relaxed},
};

use eclusa::{
    Facts, Files, Job, Output, Scene, ToolError, Touch, TypedTool, policy::HiddenPaths,
    workspace::files::Kind,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    cancel::{Cancel, blocking},
    ignores::Ignores,
    messages::{self, Notes},
    names::NamePattern,
    page::{Item, ResultPage},
    walk::{Ground, LeftOut, Visit, is_store},
};

const DEFAULT_LIMIT: usize = 200;
const MAX_LIMIT: usize = 1000;

/// Lists what is in a directory of the workspace.
#[derive(Debug, Clone)]
pub struct List {
    files: Files,
}

impl List {
    /// Lists directories of this workspace.
    pub fn new(files: Files) -> List {
        List { files }
    }
}

/// The arguments of `list`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ListArgs {
    /// The directory; the workspace by default.
    pub path: Option<String>,
    /// Also lists its subdirectories.
    pub recursive: Option<bool>,
    /// Only names that fit, such as `*.rs`.
    pub glob: Option<String>,
    /// Also files that .gitignore hides.
    pub ignored: Option<bool>,
    /// How many entries to skip.
    pub offset: Option<usize>,
    /// How many entries to show; 200 by default, 1000 at most.
    pub limit: Option<usize>,
}

impl TypedTool for List {
    type Args = ListArgs;
    const NAME: &'static str = "list";

    fn description(&self, _: &Scene) -> String {
        "Lists a directory, sorted; directories end in `/`, links in `@`. What .gitignore hides is \
         left out. Example: {\"path\": \"src\", \"recursive\": true, \"glob\": \"*.rs\"}"
            .to_owned()
    }

    fn facts(&self) -> Facts {
        messages::facts(
            &["list_files", "ListDir"],
            "list directory contents, files and folders, ls",
        )
    }

    fn touches(&self, args: &ListArgs) -> Vec<Touch> {
        vec![Touch::Read(messages::asked(args.path.as_deref()).to_owned())]
    }

    async fn run(&self, args: ListArgs, job: &Job) -> Result<Output, ToolError> {
        let (files, hidden) = (self.files.clone(), job.hidden().beside(&self.files));
        blocking(job, move |cancel| list(&files, &hidden, &args, cancel)).await
    }
}

/// What is known of an entry: its kind, and its size where it costs nothing to know.
type Known = (Kind, Option<u64>);

fn list(
    files: &Files,
    hidden: &HiddenPaths,
    args: &ListArgs,
    cancel: &Cancel,
) -> Result<Output, ToolError> {
    let (offset, limit) = messages::window(args.offset, args.limit, DEFAULT_LIMIT, MAX_LIMIT)?;
    let names = args.glob.as_deref().map(NamePattern::new).transpose()?;
    let asked = messages::asked(args.path.as_deref());
    let ignored = args.ignored.unwrap_or(false);
    let ground =
        Ground::new(files, hidden.clone(), asked, ignored).map_err(messages::unreachable)?;
    messages::permitted(hidden, asked, &ground.from)?;
    let from = ground.from.clone();
    let listing =
        Arc::new(Listing { ground, names, page: Mutex::new(ResultPage::new(offset, limit)) });
    let left_out = match args.recursive.unwrap_or(false) {
        true => listing.ground.walk(&listing, cancel),
        false => listing.list_one(asked, cancel)?,
    };
    let page = std::mem::replace(&mut *listing.page(), ResultPage::new(0, 0));
    let (items, total) = page.finish();
    let mut text: String = items.iter().map(line).collect();
    let notes = Notes::new(&left_out);
    let sum = match total {
        0 => format!("nothing to list in `{}`", messages::path(&from)),
        _ => messages::page(items.len(), offset, total, "entries"),
    };
    text.push_str(&format!("[{sum}{}]", notes.in_words()));
    let data = json!({
        "path": messages::path(&from),
        "entries": items.iter().map(entry).collect::<Vec<_>>(),
        "total": total,
        "offset": offset,
        "left_out": notes.data(),
    });
    Ok(Output { text, data: Some(data), ..Output::default() })
}

struct Listing {
    ground: Ground,
    names: Option<NamePattern>,
    page: Mutex<ResultPage<Known>>,
}

impl Listing {
    fn page(&self) -> std::sync::MutexGuard<'_, ResultPage<Known>> {
        self.page.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The directory alone, read from its handle.
    fn list_one(&self, asked: &str, cancel: &Cancel) -> Result<LeftOut, ToolError> {
        let Ground { files, hidden, ignored, .. } = &self.ground;
        let ignores = (!ignored).then(|| Ignores::new(files.clone()));
        let mut directory = files.directory(asked).map_err(messages::unreachable)?;
        let left_out = LeftOut::default();
        let from = directory.path.clone();
        // It can be another one by now.
        messages::permitted(hidden, asked, &from)?;
        for entry in directory.by_ref() {
            if cancel.is_called() {
                break;
            }
            let Ok(entry) = entry else {
                left_out.unreadable.fetch_add(1, Relaxed);
                continue;
            };
            let path = from.join(&entry.name);
            let hides = |it: &Ignores| it.hide(&path, entry.kind == Kind::Directory);
            if hidden.hides(&path) {
                left_out.kept_back.fetch_add(1, Relaxed);
            } else if !is_store(&path) && ignores.as_ref().is_some_and(hides) {
                left_out.ignored.fetch_add(1, Relaxed);
            } else {
                self.add(&path, entry.kind, (entry.kind == Kind::File).then_some(entry.size));
            }
        }
        left_out.blocked.store(directory.blocked(), Relaxed);
        Ok(left_out)
    }

    fn add(&self, path: &Path, kind: Kind, size: Option<u64>) {
        let below = path.strip_prefix(&self.ground.from).unwrap_or(path);
        if self.names.as_ref().is_none_or(|it| it.fit(below)) {
            self.page().add(path, (kind, size));
        }
    }
}

impl Visit for Listing {
    fn see(&self, path: &Path, kind: Kind) -> bool {
        self.add(path, kind, None);
        kind == Kind::Directory
    }
}

fn line(item: &Item<Known>) -> String {
    let path = messages::path(&item.path);
    match item.value {
        (Kind::Directory, _) => format!("{path}/\n"),
        (Kind::Link, _) => format!("{path}@\n"),
        (Kind::File, Some(size)) => format!("{path}  {size} bytes\n"),
        (Kind::File, None) => format!("{path}\n"),
        (kind, _) => format!("{path}  ({kind})\n"),
    }
}

fn entry(item: &Item<Known>) -> Value {
    let (kind, size) = item.value;
    let word = match kind {
        Kind::File => "file",
        Kind::Directory => "directory",
        Kind::Link => "link",
        _ => "other",
    };
    let mut entry = json!({"path": messages::path(&item.path), "kind": word});
    if let (Some(size), Value::Object(fields)) = (size, &mut entry) {
        fields.insert("size".to_owned(), size.into());
    }
    entry
}
