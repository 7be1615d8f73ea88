//! `glob`: files by their names.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use eclusa::{
    Facts, Files, HiddenPaths, Job, Output, Scene, ToolError, Touch, TypedTool, files::Kind,
    one_line,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{
    names::Names,
    page::Page,
    told::{self, Notes},
    walk::{Ground, Visit},
    work::{Halt, blocking},
};

const USUAL: usize = 200;
const MOST: usize = 1000;

/// Finds files of the workspace by their names.
#[derive(Debug, Clone)]
pub struct Glob {
    files: Files,
}

impl Glob {
    /// Finds files of this workspace.
    pub fn new(files: Files) -> Glob {
        Glob { files }
    }
}

/// The arguments of `glob`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GlobArgs {
    /// Without a slash it fits a name at any depth, with one the path below `path`.
    pub pattern: String,
    /// The directory; the workspace if left out.
    pub path: Option<String>,
    /// So many files are shown: 200 if left out, 1000 at most.
    pub limit: Option<usize>,
    /// So many files are passed over.
    pub offset: Option<usize>,
    /// Also what .gitignore hides.
    pub ignored: Option<bool>,
}

impl TypedTool for Glob {
    type Args = GlobArgs;
    const NAME: &'static str = "glob";

    fn description(&self, _: &Scene) -> String {
        "Finds files by name, sorted by path. What .gitignore hides is left out. \
         Example: {\"pattern\": \"src/**/*.{ts,tsx}\"}"
            .to_owned()
    }

    fn facts(&self) -> Facts {
        told::facts(&["Glob"], "find files by name pattern, wildcard")
    }

    fn touches(&self, args: &GlobArgs) -> Vec<Touch> {
        vec![Touch::Read(told::asked(args.path.as_deref()).to_owned())]
    }

    async fn run(&self, args: GlobArgs, job: &Job) -> Result<Output, ToolError> {
        let (files, hidden) = (self.files.clone(), job.hidden().beside(&self.files));
        blocking(job, move |halt| glob(&files, &hidden, &args, halt)).await
    }
}

fn glob(
    files: &Files,
    hidden: &HiddenPaths,
    args: &GlobArgs,
    halt: &Halt,
) -> Result<Output, ToolError> {
    let (offset, limit) = told::window(args.offset, args.limit, USUAL, MOST)?;
    let names = Names::new(&args.pattern)?;
    let asked = told::asked(args.path.as_deref());
    let ground = Ground::new(files, hidden.clone(), asked, args.ignored.unwrap_or(false));
    let ground = ground.map_err(told::unreachable)?;
    told::permitted(hidden, asked, &ground.from)?;
    let finding = Arc::new(Finding {
        from: ground.from.clone(),
        names,
        page: Mutex::new(Page::new(offset, limit)),
    });
    let left_out = ground.walk(&finding, halt);
    let page = std::mem::replace(&mut *finding.page(), Page::new(0, 0));
    let (items, total) = page.finish();
    let paths: Vec<String> = items.iter().map(|it| told::path(&it.path)).collect();
    let notes = Notes::of(&left_out);
    let sum = match total {
        0 => {
            let (pattern, from) = (one_line(&args.pattern), told::path(&ground.from));
            format!("no file fits `{pattern}` in `{from}`")
        }
        _ => told::page(items.len(), offset, total, "files"),
    };
    let mut text: String = paths.iter().flat_map(|it| [it.as_str(), "\n"]).collect();
    text.push_str(&format!("[{sum}{}]", notes.in_words()));
    let data = json!({
        "path": told::path(&ground.from),
        "files": paths,
        "total": total,
        "offset": offset,
        "left_out": notes.data(),
    });
    Ok(Output { text, data: Some(data), ..Output::default() })
}

struct Finding {
    from: std::path::PathBuf,
    names: Names,
    page: Mutex<Page<()>>,
}

impl Finding {
    fn page(&self) -> std::sync::MutexGuard<'_, Page<()>> {
        self.page.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Visit for Finding {
    fn see(&self, path: &Path, kind: Kind) -> bool {
        let below = path.strip_prefix(&self.from).unwrap_or(path);
        if kind == Kind::File && self.names.fit(below) {
            self.page().add(path, ());
        }
        kind == Kind::Directory
    }
}
