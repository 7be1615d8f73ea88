//! `read`: lines of a file with their numbers, or what the file is where it is not text.
//!
//! Neither a file nor a line is held as a whole (`text/page.rs`); only notebooks are, up to a
//! size. Which files there are is the business of [`Files`], and what may be read that of rules.

use std::{
    fs::File,
    io::{self, Read as _},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use eclusa::{
    Facts, Files, Job, Output, PermissionClass, Scene, ToolError, Touch, TypedTool, one_line,
    workspace::{ContentDigest, Opened},
};
use serde_json::json;

use crate::{
    ReadTracker,
    file_tools::{arg_aliases, led_elsewhere, with_file},
    read_tracker::KnownContent,
    text::{FileKind, HEAD, Image, file_kind},
};

mod arguments;
mod book;
mod lines;
mod span;

#[cfg(test)]
mod tests;

use arguments::{ReadArgs, Wanted};

/// How many bytes one answer shows: a little less than what the gate lets through by default.
const SHOWN: usize = 90_000;

/// Larger pictures are described and not shown.
const PICTURE: u64 = 5 << 20;

/// Reads files of the workspace.
#[derive(Debug, Clone)]
pub struct Read {
    files: Files,
    shown: usize,
    max_size: u64,
    seen: ReadTracker,
}

impl Read {
    /// Reads files of this workspace.
    pub fn new(files: Files) -> Read {
        Read { files, shown: SHOWN, max_size: u64::MAX, seen: ReadTracker::default() }
    }

    /// Begins with the first page of a file of up to this many bytes (S1.21). Of a larger one a part
    /// must be named.
    pub fn max_size(self, bytes: u64) -> Read {
        Read { max_size: bytes, ..self }
    }

    /// Remembers here what was read, for the tools that edit.
    pub fn read_tracker(self, seen: ReadTracker) -> Read {
        Read { seen, ..self }
    }

    /// Shows about this many bytes at once, for a gate with another limit on outputs.
    pub fn shown(self, bytes: usize) -> Read {
        Read { shown: bytes, ..self }
    }
}

impl TypedTool for Read {
    type Args = ReadArgs;
    const NAME: &'static str = "read";

    fn description(&self, _: &Scene) -> String {
        "Reads a file of the workspace: its lines, each with its number and a tab in front.\n\
         Long files come in pages, and the end of a page names the next `offset`. \
         Notebooks are shown as cells, images as images; other binary files are described. \
         Example: {\"path\": \"src/main.rs\", \"offset\": 120, \"limit\": 40}"
            .to_owned()
    }

    fn facts(&self) -> Facts {
        Facts {
            concurrent: true,
            read_only: true,
            aliases: ["read_file", "Read", "FileRead"].map(str::to_owned).to_vec(),
            arg_aliases: arg_aliases(),
            search_hint: "view show open cat file lines text notebook".to_owned(),
            class: Some(PermissionClass::ReadOnly),
            audit_operation: "read".to_owned(),
            ..Facts::default()
        }
    }

    fn touches(&self, args: &ReadArgs) -> Vec<Touch> {
        vec![Touch::Read(args.path.clone())]
    }

    async fn run(&self, args: ReadArgs, job: &Job) -> Result<Output, ToolError> {
        let wanted = args.wanted().map_err(ToolError::new)?;
        let (files, shown, path) = (self.files.clone(), self.shown, args.path.clone());
        let (seen, session) = (self.seen.clone(), job.session().to_owned());
        let most = if args.wants_all() { self.max_size } else { u64::MAX };
        let hidden = job.hidden();
        let watch = StopOnDrop::default();
        let unwatched = watch.0.clone();
        let reading = move || {
            let opened = files.file(&path).map_err(|err| ToolError::new(err.to_string()))?;
            led_elsewhere(&files, &hidden, &path, &opened.path)?;
            if opened.size > most {
                let (path, size) = (one_line(&path), opened.size);
                return Err(ToolError::new(format!(
                    "`{path}` has {size} bytes, and files of up to {most} bytes are read from the \
                     beginning (`files.max_size`); give `offset` and `limit`, or search it with `grep`"
                )));
            }
            let (reached, stamp) = (opened.path.clone(), opened.stamp);
            let reading = Reading::new(opened, unwatched)?;
            let was = match reading.head.len() as u64 == reading.size {
                true => KnownContent::Content(ContentDigest::of(&reading.head)),
                false => KnownContent::State(stamp),
            };
            let shown = reading.show(wanted, shown)?;
            seen.read(&session, &reached, was);
            Ok(shown)
        };
        let read = with_file(&self.files, &args.path, reading).await;
        read.unwrap_or_else(|_| {
            Err(ToolError::new(format!("reading `{}` broke off; try again", one_line(&args.path))))
        })
    }
}

/// Says that nobody waits for the answer any more: a call that was taken back or is out of time
/// is dropped, and the thread that reads for it stops.
#[derive(Default)]
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A file that is read for as long as somebody waits.
struct AwaitedFile {
    file: File,
    unwatched: Arc<AtomicBool>,
}

impl io::Read for AwaitedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.unwatched.load(Ordering::Relaxed) {
            true => Err(io::Error::other("the caller no longer waits for it")),
            false => self.file.read(buffer),
        }
    }
}

/// A file being read: its beginning, and the rest.
struct Reading {
    /// The name that was reached.
    path: String,
    /// Its length when it was opened: what is added meanwhile is not read.
    size: u64,
    head: Vec<u8>,
    rest: AwaitedFile,
}

impl Reading {
    fn new(opened: Opened, unwatched: Arc<AtomicBool>) -> Result<Reading, ToolError> {
        let path = one_line(&opened.path.to_string_lossy());
        let mut rest = AwaitedFile { file: opened.file, unwatched };
        let length = opened.size.min(HEAD as u64);
        let mut head = Vec::with_capacity(usize::try_from(length).unwrap_or(HEAD));
        let begun = rest.by_ref().take(length).read_to_end(&mut head);
        begun.map_err(|err| failed(&path, &err))?;
        Ok(Reading { path, size: opened.size, head, rest })
    }

    fn show(self, wanted: Wanted, shown: usize) -> Result<Output, ToolError> {
        let format = match file_kind(&self.head) {
            FileKind::Text(format) => format,
            FileKind::Image(image) => return self.picture(image),
            FileKind::Binary(what) => return Ok(self.binary(what)),
        };
        match wanted {
            Wanted::Bytes(range) => span::show(self, format, range, shown),
            Wanted::Lines { first, count } if self.path.ends_with(".ipynb") => {
                book::show(self, format, first, count, shown)
            }
            Wanted::Lines { first, count } => lines::show(self, format, first, count, shown),
        }
    }

    /// The picture itself, unless it is too large to be looked at.
    fn picture(mut self, image: Image) -> Result<Output, ToolError> {
        let (size, media) = (self.size, image.media_type());
        let data = json!({"path": self.path, "bytes": size, "media_type": media});
        let told = format!("`{}` is an image ({media}, {size} bytes)", self.path);
        if size > PICTURE {
            return Ok(Output {
                text: format!("{told}; it has more than {PICTURE} bytes and is not shown"),
                data: Some(data),
                ..Output::default()
            });
        }
        let rest = size.saturating_sub(self.head.len() as u64);
        let read = self.rest.by_ref().take(rest).read_to_end(&mut self.head);
        read.map_err(|err| failed(&self.path, &err))?;
        Ok(Output {
            text: told,
            data: Some(data),
            attachments: vec![eclusa::Attachment::Image(eclusa::attachment::Media {
                media_type: media.to_owned(),
                bytes: self.head.into(),
            })],
            ..Output::default()
        })
    }

    fn binary(self, what: Option<&str>) -> Output {
        let (path, size) = (&self.path, self.size);
        let named = what.map(|it| format!(": {it}")).unwrap_or_default();
        Output {
            text: format!("`{path}` is binary{named} ({size} bytes); it cannot be shown as text"),
            data: Some(json!({"path": path, "bytes": size, "binary": true, "what": what})),
            ..Output::default()
        }
    }
}

/// The machine refused in the middle.
fn failed(path: &str, err: &io::Error) -> ToolError {
    ToolError::new(format!("cannot read `{path}`: {}", err.to_string().to_lowercase()))
}
