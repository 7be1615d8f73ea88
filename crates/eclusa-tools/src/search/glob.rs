//! `glob`: files by their names.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use eclusa::{
    Facts, Files, Job, Output, Scene, ToolError, Touch, TypedTool, one_line, policy::HiddenPaths,
    workspace::files::Kind,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{
    cancel::{Cancel, blocking},
    messages::{self, Notes},
    names::NamePattern,
    page::ResultPage,
    walk::{Ground, Visit},
};

const DEFAULT_LIMIT: usize = 200;
const MAX_LIMIT: usize = 1000;

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
    /// The directory; the workspace by default.
    pub path: Option<String>,
    /// How many files to show; 200 by default, 1000 at most.
    pub limit: Option<usize>,
    /// How many files to skip.
    pub offset: Option<usize>,
    /// Also files that .gitignore hides.
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
        messages::facts(&["Glob"], "find files by name pattern, wildcard")
    }

    fn touches(&self, args: &GlobArgs) -> Vec<Touch> {
        vec![Touch::Read(messages::asked(args.path.as_deref()).to_owned())]
    }

    async fn run(&self, args: GlobArgs, job: &Job) -> Result<Output, ToolError> {
        let (files, hidden) = (self.files.clone(), job.hidden().beside(&self.files));
        blocking(job, move |cancel| glob(&files, &hidden, &args, cancel)).await
    }
}

fn glob(
    files: &Files,
    hidden: &HiddenPaths,
    args: &GlobArgs,
    cancel: &Cancel,
) -> Result<Output, ToolError> {
    let (offset, limit) = messages::window(args.offset, args.limit, DEFAULT_LIMIT, MAX_LIMIT)?;
    let names = NamePattern::new(&args.pattern)?;
    let asked = messages::asked(args.path.as_deref());
    let ground = Ground::new(files, hidden.clone(), asked, args.ignored.unwrap_or(false));
    let ground = ground.map_err(messages::unreachable)?;
    messages::permitted(hidden, asked, &ground.from)?;
    let finding = Arc::new(Finding {
        from: ground.from.clone(),
        names,
        page: Mutex::new(ResultPage::new(offset, limit)),
    });
    let left_out = ground.walk(&finding, cancel);
    let page = std::mem::replace(&mut *finding.page(), ResultPage::new(0, 0));
    let (items, total) = page.finish();
    let paths: Vec<String> = items.iter().map(|it| messages::path(&it.path)).collect();
    let notes = Notes::new(&left_out);
    let sum = match total {
        0 => {
            let (pattern, from) = (one_line(&args.pattern), messages::path(&ground.from));
            format!("no file fits `{pattern}` in `{from}`")
        }
        _ => messages::page(items.len(), offset, total, "files"),
    };
    let mut text: String = paths.iter().flat_map(|it| [it.as_str(), "\n"]).collect();
    text.push_str(&format!("[{sum}{}]", notes.in_words()));
    let data = json!({
        "path": messages::path(&ground.from),
        "files": paths,
        "total": total,
        "offset": offset,
        "left_out": notes.data(),
    });
    Ok(Output { text, data: Some(data), ..Output::default() })
}

struct Finding {
    from: std::path::PathBuf,
    names: NamePattern,
    page: Mutex<ResultPage<()>>,
}

impl Finding {
    fn page(&self) -> std::sync::MutexGuard<'_, ResultPage<()>> {
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
